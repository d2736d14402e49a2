/* table_threads.c: the threads of a process, each from up to three files below one folder.
 *
 * A file costs three system calls and is opened only where a column needs it. A thread that ends
 * while we read has no row. Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include "model/words.h"
#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum {
    THREAD_ROWS_MAX = 1 << 17,
    STATUS_LIMIT = 1 << 20, /* its groups may be 65536 */
};

enum { FILE_STAT = 1u << 0, FILE_SCHEDSTAT = 1u << 1, FILE_STATUS = 1u << 2 };

static const struct {
    vitals_metric metric;
    unsigned files;
} COLUMNS[] = {
    {VITALS_THREAD_NAME, FILE_STAT},
    {VITALS_THREAD_STATE, FILE_STAT},
    {VITALS_THREAD_START_SECONDS, FILE_STAT},
    {VITALS_THREAD_CPU_SECONDS, FILE_SCHEDSTAT},
    {VITALS_THREAD_CPU_USER_SECONDS, FILE_STAT},
    {VITALS_THREAD_CPU_SYSTEM_SECONDS, FILE_STAT},
    {VITALS_THREAD_RUN_DELAY_SECONDS, FILE_SCHEDSTAT},
    {VITALS_THREAD_CPU, FILE_STAT},
    {VITALS_THREAD_NICE, FILE_STAT},
    {VITALS_THREAD_SCHEDULING_POLICY, FILE_STAT},
    {VITALS_THREAD_REALTIME_PRIORITY, FILE_STAT},
    {VITALS_THREAD_MINOR_FAULTS, FILE_STAT},
    {VITALS_THREAD_MAJOR_FAULTS, FILE_STAT},
    {VITALS_THREAD_VOLUNTARY_CONTEXT_SWITCHES, FILE_STATUS},
    {VITALS_THREAD_INVOLUNTARY_CONTEXT_SWITCHES, FILE_STATUS},
    {VITALS_THREAD_CPUS_ALLOWED_LIST, FILE_STATUS},
};

/* A kernel that does not count writes zeros, and none of what it did not write is there. */
static bool is_uncounted(const struct linux_schedstat *schedule)
{
    return schedule->run_ns == 0 && schedule->delay_ns == 0 && schedule->runs == 0;
}

/* The data read of one thread. `files` says what there is. */
struct thread {
    uint64_t tid;
    unsigned files;
    int errors[3]; /* by file: why it could not be read, negative */
    struct os_stat stat;
    struct linux_schedstat schedule;
    struct linux_task_status status;
};

struct threads_reader {
    struct os threads; /* whose folder of threads stands in for /proc */
    unsigned files;
    struct buffer text[3]; /* by file; what a thread borrows lies there */
};

static bool take_stat(struct thread *thread, const struct buffer *text)
{
    return os_parse_stat(text->bytes, text->size, &thread->stat);
}

static bool take_schedstat(struct thread *thread, const struct buffer *text)
{
    return linux_parse_schedstat(text->bytes, text->size, &thread->schedule);
}

static bool take_status(struct thread *thread, const struct buffer *text)
{
    linux_parse_task_status(text->bytes, text->size, &thread->status);
    return true;
}

static const struct {
    const char *name;
    size_t limit;
    bool (*take)(struct thread *thread, const struct buffer *text);
} FILES[] = {
    {"stat", OS_STAT_TEXT, take_stat},
    {"schedstat", OS_STAT_TEXT, take_schedstat},
    {"status", STATUS_LIMIT, take_status},
};

/* False where the thread has ended. */
static bool read_thread(struct threads_reader *reader, unsigned files, struct thread *thread)
{
    for (size_t i = 0; i < ARRAY_COUNT(FILES); i++) {
        if ((files >> i & 1) == 0)
            continue;
        struct buffer *text = &reader->text[i];
        buffer_reset(text);
        bool cut, may_lack = 1u << i == FILE_SCHEDSTAT; // a kernel need not have it
        int result = os_process_file(&reader->threads, (int64_t)thread->tid, FILES[i].name,
                                     FILES[i].limit, text, &cut);
        if (result == -ESRCH || (result == -ENOENT && !may_lack))
            return false;
        if (result == 0 && (text->size == 0 || !FILES[i].take(thread, text)))
            result = -EBADMSG;
        thread->errors[i] = result;
        if (result == 0)
            thread->files |= 1u << i;
    }
    return true;
}

static void set_stat(struct row_batch *out, const struct os *os, const struct os_stat *stat)
{
    static const struct {
        vitals_metric metric;
        size_t place;
        unsigned bit;
        bool is_ticks; /* a row has seconds */
    } NUMBERS[] = {
        {VITALS_THREAD_CPU, offsetof(struct os_stat, cpu), OS_STAT_CPU, false},
        {VITALS_THREAD_NICE, offsetof(struct os_stat, nice), OS_STAT_NICE, false},
        {VITALS_THREAD_MINOR_FAULTS, offsetof(struct os_stat, minor_faults), OS_STAT_FAULTS, false},
        {VITALS_THREAD_MAJOR_FAULTS, offsetof(struct os_stat, major_faults), OS_STAT_FAULTS, false},
        {VITALS_THREAD_START_SECONDS, offsetof(struct os_stat, start_ticks), OS_STAT_START, true},
        {VITALS_THREAD_CPU_USER_SECONDS, offsetof(struct os_stat, user_ticks), OS_STAT_TIMES, true},
        {VITALS_THREAD_CPU_SYSTEM_SECONDS, offsetof(struct os_stat, system_ticks), OS_STAT_TIMES,
         true},
    };
    batch_set_text(out, VITALS_THREAD_NAME, stat->name);
    if ((stat->has & OS_STAT_STATE) != 0)
        batch_set_string(out, VITALS_THREAD_STATE, words_state(stat->state));
    for (size_t i = 0; i < ARRAY_COUNT(NUMBERS); i++) {
        uint64_t number;
        memcpy(&number, (const char *)stat + NUMBERS[i].place, sizeof number);
        if ((stat->has & NUMBERS[i].bit) == 0)
            continue;
        if (NUMBERS[i].is_ticks)
            batch_set_f64(out, NUMBERS[i].metric, (double)number / os->ticks_per_second);
        else
            batch_set_u64(out, NUMBERS[i].metric, number); // i64 alike
    }
    if ((stat->has & OS_STAT_POLICY) != 0) {
        batch_set_u64(out, VITALS_THREAD_REALTIME_PRIORITY, stat->realtime_priority);
        batch_set_string(out, VITALS_THREAD_SCHEDULING_POLICY, words_policy(stat->policy));
    }
}

/* A thread is called by its name where that was read, else by its number. */
static void add_row(struct row_batch *out, const struct os *os, const struct thread *thread,
                    unsigned files)
{
    const struct os_stat *stat = &thread->stat;
    const struct linux_schedstat *schedule = &thread->schedule;
    const struct linux_task_status *status = &thread->status; // has nothing that was not read
    char number[NUMBER_TEXT];
    struct span label = {number, number_print_u64(number, thread->tid)};
    if ((thread->files & FILE_STAT) != 0)
        label = stat->name;
    batch_add_row(out, VITALS_TABLE_THREAD, thread->tid, label);
    batch_set_u64(out, VITALS_THREAD_TID, thread->tid);
    if ((thread->files & FILE_STAT) != 0)
        set_stat(out, os, stat);

    // CPU time in nanoseconds where the kernel counts them, else in ticks.
    if ((thread->files & FILE_SCHEDSTAT) != 0 && !is_uncounted(schedule)) {
        batch_set_f64(out, VITALS_THREAD_CPU_SECONDS, (double)schedule->run_ns / 1e9);
        batch_set_f64(out, VITALS_THREAD_RUN_DELAY_SECONDS, (double)schedule->delay_ns / 1e9);
    } else if ((files & FILE_SCHEDSTAT) != 0) {
        uint64_t ticks = saturating_add(stat->user_ticks, stat->system_ticks);
        struct value seconds = value_f64((double)ticks / os->ticks_per_second);
        seconds.state = VITALS_ESTIMATE;
        batch_set_missing(out, VITALS_THREAD_RUN_DELAY_SECONDS, VITALS_UNSUPPORTED);
        if ((stat->has & OS_STAT_TIMES) != 0)
            batch_set_value(out, VITALS_THREAD_CPU_SECONDS, seconds);
    }

    if ((status->has & TASK_VOLUNTARY) != 0)
        batch_set_u64(out, VITALS_THREAD_VOLUNTARY_CONTEXT_SWITCHES, status->voluntary);
    if ((status->has & TASK_INVOLUNTARY) != 0)
        batch_set_u64(out, VITALS_THREAD_INVOLUNTARY_CONTEXT_SWITCHES, status->involuntary);
    if ((status->has & TASK_CPUS) != 0)
        batch_set_text(out, VITALS_THREAD_CPUS_ALLOWED_LIST, status->cpus);
    for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++) {
        unsigned file = COLUMNS[i].files;
        int error = file == FILE_STAT     ? thread->errors[0]
                    : file == FILE_STATUS ? thread->errors[2]
                                          : 0;
        if (error != 0)
            batch_set_missing(out, COLUMNS[i].metric, os_availability(error));
    }
}

int table_threads(const struct os *os, int64_t pid, struct row_batch *out)
{
    struct threads_reader reader = {.threads = *os};
    for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++)
        if (batch_wants(out, COLUMNS[i].metric))
            reader.files |= COLUMNS[i].files;
    reader.threads.proc = linux_process_open(os, pid, "task", O_DIRECTORY);
    if (reader.threads.proc < 0)
        return reader.threads.proc;
    struct os_pids tids = {0};
    bool cut;
    int result = linux_numbers_read(reader.threads.proc, THREAD_ROWS_MAX, &tids, &cut);
    if (result == 0 && cut)
        batch_state(out, VITALS_TABLE_THREAD, VITALS_LOWER_BOUND);

    size_t before = out->row_count;
    for (size_t i = 0; result == 0 && i < tids.count && !out->failed; i++) {
        struct thread thread = {.tid = (uint64_t)tids.items[i]};
        bool lives = read_thread(&reader, reader.files, &thread);
        bool uncounted = (reader.files & FILE_SCHEDSTAT) != 0 && is_uncounted(&thread.schedule);
        if (lives && uncounted && (reader.files & FILE_STAT) == 0)
            lives = read_thread(&reader, FILE_STAT, &thread);
        if (lives)
            add_row(out, os, &thread, reader.files);
    }
    // Also a zombie has its first thread still.
    if (result == 0 && out->row_count == before && !out->failed)
        result = -ESRCH;
    for (size_t i = 0; i < ARRAY_COUNT(reader.text); i++)
        buffer_done(&reader.text[i]);
    os_pids_done(&tids);
    os_close_descriptor(reader.threads.proc);
    return result;
}
