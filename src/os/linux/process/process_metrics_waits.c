/* process_metrics_waits.c: how often a process gave the CPU up, and how long it waited for what.
 *
 * /proc/PID/status and schedstat tell of the first thread alone. The kernel's own sums need
 * CAP_NET_ADMIN; without it the files of all threads are added, and those that ended are missing.
 * A sum marked exact was proven so. Thread rule: any thread. */
#include "os/linux/process/process_metrics.h"

#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 1 << 17, STATUS_LIMIT = 1 << 20, SCHEDSTAT_LIMIT = 256 };

static void set_seconds(struct row_batch *out, vitals_metric metric, uint64_t ns,
                        vitals_availability state)
{
    struct value value = value_f64((double)ns / (double)NS_PER_SECOND);
    value.state = (signed char)state;
    batch_set_value(out, metric, value);
}

enum delay_accounting { ACCOUNTING_OFF, ACCOUNTING_ON, ACCOUNTING_UNKNOWN };

/* Without taskstats: stat has this one of the delays, and of the first thread only. */
static void set_block_delay(struct metrics_reading *reading, enum delay_accounting accounting)
{
    if (!batch_wants(reading->out, VITALS_PROCESS_BLOCK_DELAY_SECONDS))
        return;
    const struct os_stat *stat = metrics_stat(reading);
    struct value value = value_missing(VITALS_UNSUPPORTED);
    if (stat == NULL) {
        value = value_missing(os_availability(reading->stat_error));
    } else if ((stat->has & OS_STAT_BLOCKED) != 0 &&
               (accounting == ACCOUNTING_ON || stat->blocked_ticks != 0)) {
        bool alone = (stat->has & OS_STAT_THREADS) != 0 && stat->threads == 1;
        value = value_f64((double)stat->blocked_ticks / reading->os->ticks_per_second);
        value.state = (signed char)(alone ? VITALS_HAVE : VITALS_LOWER_BOUND);
    }
    batch_set_value(reading->out, VITALS_PROCESS_BLOCK_DELAY_SECONDS, value);
}

/* Delays that the kernel counts where it is told to: before 5.14 no file says whether it is. A
 * number above 0 has been counted in any case. */
static void set_delays(struct metrics_reading *reading, enum delay_accounting accounting,
                       int result, const struct linux_taskstats *stats)
{
    const struct {
        vitals_metric metric;
        uint64_t ns;
    } delays[] = {
        {VITALS_PROCESS_BLOCK_DELAY_SECONDS, stats->block_delay_ns},
        {VITALS_PROCESS_SWAP_DELAY_SECONDS, stats->swap_delay_ns},
        {VITALS_PROCESS_RECLAIM_DELAY_SECONDS, stats->reclaim_delay_ns},
    };
    for (size_t i = 0; i < ARRAY_COUNT(delays); i++) {
        vitals_metric metric = delays[i].metric;
        bool counted = accounting == ACCOUNTING_ON || delays[i].ns != 0;
        if (accounting == ACCOUNTING_OFF)
            batch_set_missing(reading->out, metric, VITALS_UNSUPPORTED);
        else if (result < 0 && metric == VITALS_PROCESS_BLOCK_DELAY_SECONDS)
            set_block_delay(reading, accounting);
        else if (result < 0)
            batch_set_missing(reading->out, metric, os_availability(result));
        else if (counted)
            set_seconds(reading->out, metric, delays[i].ns, VITALS_HAVE);
        else
            batch_set_missing(reading->out, metric, VITALS_UNSUPPORTED);
    }
}

struct sums {
    size_t threads;
    int error;    /* why a file of one could not be read, negative; 0: none */
    unsigned has; /* of every thread: TASK_… */
    uint64_t voluntary, involuntary;
    bool scheduled; /* schedstat was read of every thread */
    bool counted;   /* and is nonzero for one: all zeros if the kernel does not count */
    uint64_t run_ns, delay_ns;
    bool whole;   /* proven: no thread has ended before or while we read */
    bool missing; /* proven: one has */
};

/* A thread that has just ended is none. */
static void add_thread(const struct os *threads, int64_t tid, bool switches, struct buffer *text,
                       struct sums *sums)
{
    struct linux_schedstat schedule = {0};
    struct linux_task_status status = {0};
    char name[NUMBER_TEXT];
    bool cut;
    number_print_i64(name, tid);
    buffer_reset(text);
    int result = os_process_file(threads, tid, "schedstat", SCHEDSTAT_LIMIT, text, &cut);
    // A kernel may lack the file while the thread lives.
    if (result == -ESRCH || (result == -ENOENT && faccessat(threads->proc, name, F_OK, 0) != 0))
        return;
    sums->error = result < 0 && result != -ENOENT ? result : sums->error;
    bool scheduled = result == 0 && linux_parse_schedstat(text->bytes, text->size, &schedule);
    bool counted = scheduled && !span_starts((struct span){text->bytes, text->size}, "0 0 0\n");
    if (switches) {
        buffer_reset(text);
        result = os_process_file(threads, tid, "status", STATUS_LIMIT, text, &cut);
        if (result == -ESRCH || result == -ENOENT)
            return;
        sums->error = result < 0 ? result : sums->error;
        if (result == 0)
            linux_parse_task_status(text->bytes, text->size, &status);
    }

    sums->threads++;
    sums->has &= status.has;
    sums->voluntary = saturating_add(sums->voluntary, status.voluntary);
    sums->involuntary = saturating_add(sums->involuntary, status.involuntary);
    sums->scheduled &= scheduled;
    sums->counted |= counted;
    sums->run_ns = saturating_add(sums->run_ns, schedule.run_ns);
    sums->delay_ns = saturating_add(sums->delay_ns, schedule.delay_ns);
}

/* Adds what every thread tells. */
static int add_threads(struct metrics_reading *reading, bool switches, struct sums *sums)
{
    const uint64_t tick_ns = NS_PER_SECOND / 50; // of HZ 100 twice
    *sums = (struct sums){.has = TASK_VOLUNTARY | TASK_INVOLUNTARY, .scheduled = true};
    struct os threads = *reading->os; // whose folder of threads stands in for /proc
    threads.proc = linux_process_open(reading->os, reading->pid, "task", O_DIRECTORY);
    if (threads.proc < 0)
        return threads.proc;
    uint64_t before = 0, after = 0;
    bool timed = os_process_cpu_ns(reading->os, reading->pid, &before) == 0;
    struct os_pids tids = {0};
    bool cut = false;
    int result = linux_numbers_read(threads.proc, THREADS_MAX, &tids, &cut);
    for (size_t i = 0; result == 0 && i < tids.count; i++)
        add_thread(&threads, tids.items[i], switches, &reading->text, sums);

    // The process's clock counts the threads that ended too. While it stands still, so do theirs,
    // to the nanosecond; of a thread that runs, schedstat is up to a tick behind.
    timed = timed && os_process_cpu_ns(reading->os, reading->pid, &after) == 0;
    if (timed && sums->scheduled) {
        sums->whole = before == after && sums->run_ns == before;
        sums->missing = before == after ? !sums->whole
                                        : before > saturating_add(sums->run_ns, tick_ns);
    }
    os_pids_done(&tids);
    os_close_descriptor(threads.proc);
    return result == 0 && sums->threads == 0 ? -ESRCH : result;
}

static void set_from_threads(struct metrics_reading *reading, bool switches)
{
    struct row_batch *out = reading->out;
    struct sums sums;
    int result = add_threads(reading, switches, &sums);
    vitals_availability missing = result < 0       ? batch_reason(reading, result)
                                  : sums.error < 0 ? os_availability(sums.error)
                                                   : VITALS_UNSUPPORTED;
    if (result < 0)
        sums = (struct sums){0};
    const struct metrics_number numbers[] = {
        {VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES, TASK_VOLUNTARY, sums.voluntary},
        {VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES, TASK_INVOLUNTARY, sums.involuntary},
    };
    if (switches)
        batch_set_numbers(out, numbers, ARRAY_COUNT(numbers), sums.has,
                          sums.whole ? VITALS_HAVE : VITALS_LOWER_BOUND, missing);
    bool exact = sums.whole || (sums.threads == 1 && !sums.missing);
    if (sums.scheduled && sums.counted)
        set_seconds(out, VITALS_PROCESS_RUN_DELAY_SECONDS, sums.delay_ns,
                    exact ? VITALS_HAVE : VITALS_LOWER_BOUND);
    else
        batch_set_missing(out, VITALS_PROCESS_RUN_DELAY_SECONDS, missing);
}

void metrics_read_waits(struct metrics_reading *reading, const vitals_metric *metrics UNUSED)
{
    static const vitals_metric RUNS[] = {VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES,
                                         VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES, 0};
    static const vitals_metric DELAYS[] = {VITALS_PROCESS_BLOCK_DELAY_SECONDS,
                                           VITALS_PROCESS_SWAP_DELAY_SECONDS,
                                           VITALS_PROCESS_RECLAIM_DELAY_SECONDS, 0};
    struct row_batch *out = reading->out;
    bool switches = batch_wants_any(out, RUNS);
    bool runs = switches || batch_wants(out, VITALS_PROCESS_RUN_DELAY_SECONDS);
    enum delay_accounting accounting = ACCOUNTING_OFF;
    if (batch_wants_any(out, DELAYS)) {
        char text[NUMBER_TEXT];
        int64_t size = linux_read_line(reading->os, reading->os->proc, "sys/kernel/task_delayacct",
                                       text, sizeof text);
        accounting = size < 0                 ? ACCOUNTING_UNKNOWN
                     : strcmp(text, "1") == 0 ? ACCOUNTING_ON
                                              : ACCOUNTING_OFF;
    }
    struct linux_taskstats stats = {0};
    int result = -ENOTSUP;
    if (runs || accounting != ACCOUNTING_OFF)
        result = linux_taskstats(reading->os, reading->pid, &stats);
    set_delays(reading, accounting, result, &stats);
    if (!runs)
        return;
    // Nothing ran: a kernel that does not count, or a process of which only a zombie is left.
    if (result < 0 || stats.runs == 0) {
        set_from_threads(reading, switches);
        return;
    }
    // For threads that ended, all kernels keep the number of runs, but only kernels from 2026 on
    // the number of switches. A thread is put on a CPU once more than it was taken off while it
    // runs; if that is all the difference, no switch of an ended thread is missing.
    uint64_t taken_off = saturating_add(stats.voluntary, stats.involuntary);
    bool whole = stats.runs >= taken_off && stats.runs - taken_off <= 1;
    vitals_availability state = whole ? VITALS_HAVE : VITALS_LOWER_BOUND;
    batch_set_u64_as(out, VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES, stats.voluntary, state);
    batch_set_u64_as(out, VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES, stats.involuntary, state);
    set_seconds(out, VITALS_PROCESS_RUN_DELAY_SECONDS, stats.run_delay_ns, VITALS_HAVE);
}
