/* live.c: a handle on one process, which proves at each call whose it is; what it may set, signals,
 * and waiting for the end.
 *
 * The proof: its stat was opened at the beginning and still reads, so the process has lived from
 * then to now, and the pid has been its own all the while. Whatever was opened by pid in between
 * was the process's, and so was its pidfd, by which it is signalled and waited for. Its
 * answers are made in query.c. Thread rule: one thread at a time per handle. */
#include "process/live.h"

#include "model/words.h"
#include "process/table.h"
#include "util/cursor.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

enum { STATUS_LIMIT = 64 * 1024 };

/* ---- opening ---- */

/* Threads have a folder in /proc too, which is not listed. The process that it is a thread of, or 0
 * for what is none. */
static int64_t process_of_thread(const struct os *os, int64_t pid)
{
    struct buffer text = {0};
    struct os_status status;
    bool cut;
    bool thread = os_process_file(os, pid, "status", STATUS_LIMIT, &text, &cut) == 0 &&
                  os_parse_status(text.bytes, text.size, OS_STATUS_GROUP, &status) &&
                  (status.has & OS_STATUS_GROUP) != 0 && (int64_t)status.group != pid;
    buffer_done(&text);
    return thread ? (int64_t)status.group : 0;
}

static int read_stat(const vitals_process *process, struct os_stat *out)
{
    char text[OS_STAT_TEXT];
    return os_process_stat(&process->files, text, out);
}

static int begin(vitals_process *process, int64_t pid, vitals_error *error)
{
    static const int64_t PID_MAX = 4194304; // the kernel's PID_MAX_LIMIT
    const struct os *os = &process->context->os;
    struct os_stat stat;
    int64_t owner = 0;
    int result = os_process_open(os, pid, false, &process->files);
    if (result == 0) {
        /* A sandbox may refuse it in its own ways, and reading goes on without. */
        int pidfd = process->pidfd = os_pidfd_open(os, pid);
        if (pidfd == -EMFILE || pidfd == -ENFILE || pidfd == -ENOMEM)
            result = pidfd;
    }
    if (result == 0) {
        owner = process->pidfd >= 0 ? 0 : process_of_thread(os, pid); // a pidfd is of no thread
        result = read_stat(process, &stat); // the others were opened by pid, so it comes last
    }

    if (process_is_gone(result)) {
        /* The kernel may know a process that /proc does not show us, now as before. */
        int pidfd = os_pidfd_open(os, pid);
        struct os_process files = {.pid = pid, .stat = -1, .statm = -1};
        bool hidden = pidfd >= 0 && process_is_gone(os_process_open(os, pid, false, &files));
        os_process_close(&files);
        os_close_descriptor(pidfd);
        if (hidden)
            return error_set(error, VITALS_EDENIED, -result,
                             "process %lld is hidden from you (/proc is mounted with hidepid)",
                             (long long)pid);
        return error_set(error, VITALS_EGONE, -result, "no process has the pid %lld%s",
                         (long long)pid, pid > PID_MAX ? "; pids are never that large" : "");
    }
    if (owner != 0)
        return error_set(error, VITALS_EGONE, 0,
                         "no process has the pid %lld: it is the id of a thread of process %lld",
                         (long long)pid, (long long)owner);
    if (result == 0 && (stat.has & OS_STAT_START) == 0)
        result = -EBADMSG;
    if (result == -ENOTSUP)
        return error_set(error, VITALS_EUNSUPPORTED, -result, "this build cannot see processes");
    if (result < 0)
        return error_system(error, -result, "process %lld", (long long)pid);
    process->start_ticks = stat.start_ticks;
    return 0;
}

/* A handle that holds no file yet; NULL, with the error, if memory ran out. */
static vitals_process *new_handle(const vitals_context *context, int64_t id, vitals_error *error)
{
    vitals_process *process = memory_alloc(sizeof *process);
    if (process == NULL) {
        (void)error_no_memory(error);
        return NULL;
    }
    process->context = context;
    process->files = (struct os_process){.pid = id, .stat = -1, .statm = -1};
    process->pidfd = -1;
    process->how.state = VITALS_NOT_YET;
    return process;
}

int vitals_process_open(vitals_context *context, int64_t pid, vitals_process **out,
                        vitals_error *error)
{
    if (pid < 1)
        return error_set(error, VITALS_EARGUMENT, 0, "%lld is not a pid; pids begin at 1",
                         (long long)pid);
    vitals_process *process = new_handle(context, pid, error);
    if (process == NULL)
        return VITALS_EMEMORY;
    int code = begin(process, pid, error);
    if (code < 0) {
        vitals_process_close(process);
        return code;
    }
    *out = process;
    return 0;
}

int vitals_process_of(vitals_context *context, const vitals_row *row, vitals_process **out,
                      vitals_error *error)
{
    const vitals_snapshot *snapshot = vitals_row_snapshot(row);
    uint64_t pid = 0;
    double start_seconds = 0;
    if (vitals_row_table(row) != VITALS_TABLE_PROCESS ||
        !vitals_snapshot_has_metric(snapshot, VITALS_PROCESS_PID) ||
        !vitals_snapshot_has_metric(snapshot, VITALS_PROCESS_START_SECONDS))
        return error_set(error, VITALS_EARGUMENT, 0,
                         "the row must be of the table process, with pid and start_seconds");
    vitals_text boot_id = vitals_snapshot_boot_id(snapshot);
    if (!span_equal((struct span){boot_id.bytes, boot_id.size}, context->origin.boot_id) ||
        vitals_snapshot_pid_namespace(snapshot) != context->origin.pid_namespace)
        return error_set(error, VITALS_EGONE, 0,
                         "the row is of another boot or another pid namespace");
    vitals_availability known = vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &start_seconds);
    if (known <= 0 || vitals_row_u64(row, VITALS_PROCESS_PID, &pid) <= 0)
        return error_set(error, known == VITALS_DENIED ? VITALS_EDENIED : VITALS_EGONE, 0,
                         "the row does not say when its process started (%s)",
                         vitals_availability_name(known));
    vitals_process *process;
    int code = vitals_process_open(context, (int64_t)pid, &process, error);
    if (code < 0)
        return code;
    double off = vitals_process_start_seconds(process) - start_seconds;
    double half = 0.5 / context->os.ticks_per_second;
    if (off > -half && off < half) {
        *out = process;
        return 0;
    }
    vitals_process_close(process);
    return error_set(error, VITALS_EGONE, 0, "process %llu has ended; another has its pid",
                     (unsigned long long)pid);
}

int vitals_process_thread(vitals_process *process, int64_t tid, vitals_process **out,
                          vitals_error *error)
{
    if (tid < 1)
        return error_set(error, VITALS_EARGUMENT, 0, "%lld is not a tid; tids begin at 1",
                         (long long)tid);
    vitals_process *thread = new_handle(process->context, tid, error);
    if (thread == NULL)
        return VITALS_EMEMORY;
    struct os_stat stat = {.has = 0};
    int result = os_thread_open(&process->context->os, process->files.pid, tid, &thread->files);
    if (result == 0)
        result = read_stat(thread, &stat);
    if (result == 0 && (stat.has & OS_STAT_START) == 0)
        result = -EBADMSG;
    thread->start_ticks = stat.start_ticks;

    /* Its folder was that of the process, if this lives now. */
    int code = live_prove(process, error);
    if (code == 0 && process_is_gone(result))
        code = error_set(error, VITALS_EGONE, -result, "process %lld has no thread %lld",
                         (long long)process->files.pid, (long long)tid);
    else if (code == 0 && result < 0)
        code = error_system(error, -result, "thread %lld", (long long)tid);
    if (code < 0) {
        vitals_process_close(thread);
        return code;
    }
    *out = thread;
    return 0;
}

void vitals_process_close(vitals_process *process)
{
    if (process == NULL)
        return;
    os_close_descriptor(process->pidfd);
    user_cache_free(process->users);
    os_process_close(&process->files);
    memory_free(process);
}

/* ---- what it is ---- */

int64_t vitals_process_pid(const vitals_process *process)
{
    return process->files.pid;
}

double vitals_process_start_seconds(const vitals_process *process)
{
    return (double)process->start_ticks / process->context->os.ticks_per_second;
}

int vitals_process_is_running(vitals_process *process)
{
    return live_prove(process, NULL) == 0;
}

int live_prove(const vitals_process *process, vitals_error *error)
{
    struct os_stat stat;
    if (process->pidfd >= 0 && os_pidfd_ended(process->pidfd) == 0)
        return 0; // a tenth of what stat costs
    if (read_stat(process, &stat) == 0 && (stat.has & OS_STAT_START) != 0 &&
        stat.start_ticks == process->start_ticks)
        return 0;
    return error_set(error, VITALS_EGONE, 0, "process %lld has ended",
                     (long long)process->files.pid);
}

void live_keep_statm(vitals_process *process, int statm)
{
    enum { KEPT_BELOW = 128 };
    if (process->files.statm < 0 && statm < KEPT_BELOW)
        process->files.statm = statm;
    if (process->files.statm != statm)
        os_close_descriptor(statm);
}

/* ---- setting ---- */

/* The kernel takes these by pid and knows no pidfd for them, so each is proven before and after: a
 * pid that was given away is not touched, and one that is given away in the very moment is told. */

/* The proof after, and what became of the call. */
static int concluded(const vitals_process *process, const char *what, int result,
                     vitals_error *error)
{
    long long pid = process->files.pid;
    int code = result == -ENOTSUP ? 0 : live_prove(process, error);
    if (code < 0 || result >= 0)
        return code;
    if (result == -ENOTSUP)
        return error_set(error, VITALS_EUNSUPPORTED, ENOTSUP,
                         "process %lld is of another /proc and cannot be changed", pid);
    if (result == -ESRCH)
        return error_set(error, VITALS_EGONE, ESRCH, "process %lld has ended", pid);
    return error_system(error, -result, "setting %s of process %lld", what, pid);
}

int vitals_process_set_nice(vitals_process *process, int nice, vitals_error *error)
{
    enum { NICE_MIN = -20, NICE_MAX = 19 }; // the kernel would clamp
    if (nice < NICE_MIN || nice > NICE_MAX)
        return error_set(error, VITALS_EARGUMENT, 0, "nice is %d to %d, not %d", NICE_MIN, NICE_MAX,
                         nice);
    int code = live_prove(process, error);
    if (code < 0)
        return code;
    int result = os_process_set_nice(&process->context->os, process->files.pid, nice);
    return concluded(process, "nice", result, error);
}

int vitals_process_set_io_priority(vitals_process *process, vitals_io_class io_class, int level,
                                   vitals_error *error)
{
    static const int LEVEL_MAX[] = {
        [VITALS_IO_REALTIME] = 7, [VITALS_IO_BEST_EFFORT] = 7, [VITALS_IO_IDLE] = 0};
    const char *name = vitals_io_class_name(io_class);
    if (name == NULL)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "there is no I/O class %d; there are 0 none, 1 realtime, 2 best_effort "
                         "and 3 idle",
                         (int)io_class);
    if (level < 0 || level > LEVEL_MAX[io_class])
        return error_set(error, VITALS_EARGUMENT, 0, "the level of I/O class %s is 0%s, not %d",
                         name, LEVEL_MAX[io_class] != 0 ? " to 7" : "", level);
    int code = live_prove(process, error);
    if (code < 0)
        return code;
    int result = os_process_set_io_priority(&process->context->os, process->files.pid,
                                            (unsigned)io_class, (unsigned)level);
    return concluded(process, "the I/O priority", result, error);
}

int vitals_process_set_affinity(vitals_process *process, const unsigned *cpus, size_t count,
                                vitals_error *error)
{
    if (cpus == NULL && count > 0)
        return error_set(error, VITALS_EARGUMENT, 0, "%zu CPUs, and no list of them", count);
    int code = live_prove(process, error);
    if (code < 0)
        return code;
    struct os_affinity why;
    int result = os_process_set_affinity(&process->context->os, process->files.pid, cpus, count,
                                         &why);
    if (result == 0 || result == -ENOTSUP || result == -ESRCH)
        return concluded(process, "the CPUs", result, error);
    code = live_prove(process, error);
    if (code < 0)
        return code;

    long long pid = process->files.pid;
    char lost[80] = "";
    if (why.not_restored != 0)
        snprintf(lost, sizeof lost, "; what it had before could not be given back (errno %d)",
                 -why.not_restored);
    if (result != -EINVAL)
        return error_system(error, -result, "setting the CPUs of process %lld%s", pid, lost);
    if (why.eligible[0] == '\0')
        return error_set(error, VITALS_EDENIED, EINVAL,
                         "the kernel does not let the CPUs of process %lld be changed%s", pid,
                         lost);
    return error_set(error, VITALS_EARGUMENT, EINVAL,
                     "process %lld cannot use CPU %u; it may use %s%s", pid, why.missing,
                     why.eligible, lost);
}

int vitals_process_set_limit(vitals_process *process, const char *name, uint64_t soft,
                             uint64_t hard, vitals_error *error)
{
    if (soft > hard)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "the soft limit %llu is above the hard limit %llu",
                         (unsigned long long)soft, (unsigned long long)hard);
    int code = live_prove(process, error);
    if (code < 0)
        return code;
    int result = os_process_set_limit(&process->context->os, process->files.pid, name, soft, hard);
    if (result == -ENOENT) {
        struct buffer names = {0};
        for (size_t i = 0; os_limit_name(i) != NULL; i++) {
            buffer_string(&names, i != 0 ? " " : "");
            buffer_string(&names, os_limit_name(i));
        }
        code = error_set(error, VITALS_EARGUMENT, 0, "there is no limit \"%.32s\"; there are %s",
                         name, names.bytes != NULL ? names.bytes : "none here");
        buffer_done(&names);
        return code;
    }
    char what[48];
    snprintf(what, sizeof what, "the limit %s", name);
    return concluded(process, what, result, error);
}

_Static_assert(VITALS_IO_REALTIME == 1 && VITALS_IO_IDLE == 3, "the kernel's numbers");

const char *vitals_io_class_name(vitals_io_class io_class)
{
    return words_io_class((unsigned)io_class);
}

int vitals_io_class_find(vitals_text name)
{
    const char *word;
    for (unsigned i = 0; (word = words_io_class(i)) != NULL; i++)
        if (span_equal((struct span){name.bytes, name.size}, word))
            return (int)i;
    return -1;
}

/* "0-3,7": how many there are, of which the first `capacity` are written; or VITALS_EARGUMENT. */
static int read_list(vitals_text list, unsigned *cpus, size_t capacity)
{
    /* Above what any kernel can be built for; what os_process_set_affinity has room for. */
    enum { CPU_MAX = (1 << 22) - 1 };
    struct cursor cursor = cursor_over(list.bytes, list.size);
    size_t count = 0;
    do {
        uint64_t first, last;
        if (!cursor_u64(&cursor, &first))
            return VITALS_EARGUMENT;
        last = first;
        if (cursor_literal(&cursor, "-") && !cursor_u64(&cursor, &last))
            return VITALS_EARGUMENT;
        if (first > last || last > CPU_MAX || last - first >= INT_MAX - count)
            return VITALS_EARGUMENT;
        for (uint64_t cpu = first; cpu <= last && count + (cpu - first) < capacity; cpu++)
            cpus[count + (cpu - first)] = (unsigned)cpu;
        count += last - first + 1;
    } while (cursor_literal(&cursor, ","));
    return cursor_done(&cursor) ? (int)count : VITALS_EARGUMENT;
}

int vitals_cpus_parse(vitals_text list, unsigned *cpus, size_t capacity)
{
    int count = read_list(list, NULL, 0); // what is no list writes nothing
    return count < 0 ? count : read_list(list, cpus, capacity);
}

/* ---- signals, and waiting for one ---- */

/* Functions that need a pidfd. A pidfd becomes readable when its process ends, as a zombie too, and
 * then tells how, if the kernel does. No pid is polled, and nothing is waited for twice: what was
 * learned stays in the handle. A status that is not known yet is asked for again: the kernel hides
 * that of a zombie that we may not see, and after it is reaped it may. */

static int no_pidfd(const vitals_process *process, vitals_error *error)
{
    bool live = process->context->os.live;
    return error_set(error, VITALS_EUNSUPPORTED, live ? -process->pidfd : 0,
                     "process %lld cannot be signalled or waited for safely: %s",
                     (long long)process->files.pid,
                     live ? "this kernel has no pidfd" : "its pid is of another /proc");
}

int vitals_process_signal(vitals_process *process, int signal, vitals_error *error)
{
    if (process->pidfd < 0)
        return no_pidfd(process, error);
    int result = os_pidfd_signal(process->pidfd, signal);
    long long pid = process->files.pid;
    if (result == -ESRCH)
        return error_set(error, VITALS_EGONE, ESRCH, "process %lld has ended", pid);
    if (result == -EINVAL)
        return error_set(error, VITALS_EARGUMENT, EINVAL, "there is no signal %d", signal);
    return result < 0 ? error_system(error, -result, "signal %d to process %lld", signal, pid) : 0;
}

/* A child that a wait has left unreaped is reaped by a later one that reaps; then how it ended is
 * known already. */
static void learn(vitals_process *process, bool reaps)
{
    bool known = process->how.state == VITALS_HAVE;
    struct os_exit how;
    if (known && !(process->unreaped && reaps))
        return;
    os_pidfd_exit(&process->context->os, process->pidfd, &process->files, reaps, &how);
    process->unreaped = !reaps;
    if (!known)
        process->how = how;
}

/* 1 where it has ended, 0 while it lives, or an error. */
static int look(vitals_process *process, bool reaps, vitals_error *error)
{
    if (process->pidfd < 0)
        return no_pidfd(process, error);
    int ended = process->ended ? 1 : os_pidfd_ended(process->pidfd);
    if (ended < 0)
        return error_system(error, -ended, "process %lld", (long long)process->files.pid);
    if (ended == 0)
        return 0;
    process->ended = true;
    learn(process, reaps);
    return 1;
}

static uint64_t deadline_of(const vitals_clock *clock, uint64_t timeout_ns)
{
    if (timeout_ns == 0 || timeout_ns == VITALS_FOREVER)
        return timeout_ns;
    return saturating_add(clock->monotonic_ns(clock->data), timeout_ns);
}

/* 1: something may have ended; 0: the time is over; or an error. */
static int pause_until(const vitals_clock *clock, int descriptor, uint64_t deadline_ns,
                       vitals_error *error)
{
    if (deadline_ns == 0)
        return 0;
    int ready = clock->wait_until(clock->data, descriptor, deadline_ns);
    return ready < 0 ? error_system(error, -ready, "waiting for processes") : ready;
}

static int wait_for_one(vitals_process *process, uint64_t timeout_ns, bool reaps,
                        vitals_error *error)
{
    const vitals_clock *clock = &process->context->os.clock;
    uint64_t deadline_ns = deadline_of(clock, timeout_ns);
    int code;
    while ((code = look(process, reaps, error)) == 0) {
        int ready = pause_until(clock, process->pidfd, deadline_ns, error);
        if (ready < 0)
            return ready;
        if (ready == 0)
            return error_set(error, VITALS_ETIMEOUT, 0, "process %lld still lives",
                             (long long)process->files.pid);
    }
    return code < 0 ? code : 0;
}

int vitals_process_wait(vitals_process *process, uint64_t timeout_ns, vitals_error *error)
{
    return wait_for_one(process, timeout_ns, true, error);
}

int vitals_process_wait_unreaped(vitals_process *process, uint64_t timeout_ns, vitals_error *error)
{
    return wait_for_one(process, timeout_ns, false, error);
}

vitals_availability vitals_process_exit_status(vitals_process *process, int *code, int *signal)
{
    if (process->pidfd < 0)
        return VITALS_UNSUPPORTED;
    if (!process->ended)
        return VITALS_NOT_YET;
    learn(process, !process->unreaped);
    if (process->how.state != VITALS_HAVE)
        return process->how.state;
    if (code != NULL)
        *code = process->how.code;
    if (signal != NULL)
        *signal = process->how.signal;
    return VITALS_HAVE;
}

vitals_availability live_how_ended(const vitals_process *process, struct os_exit *out)
{
    *out = (struct os_exit){.state = VITALS_UNSUPPORTED};
    if (process->pidfd < 0)
        return out->state;
    if (os_pidfd_ended(process->pidfd) > 0)
        os_pidfd_exit(&process->context->os, process->pidfd, &process->files, false, out);
    else
        out->state = VITALS_NOT_YET;
    return out->state;
}

int vitals_process_descriptor(const vitals_process *process)
{
    return process->pidfd < 0 ? -1 : process->pidfd;
}

/* ---- several at once ---- */

static const vitals_wait DEFAULTS = {.timeout_ns = VITALS_FOREVER};

OPTIONS_FORM(FORM, vitals_wait, DEFAULTS, data, 32);

void vitals_wait_init(vitals_wait *how, size_t size)
{
    options_init(&FORM, how, size);
}

struct waiting {
    vitals_process *const *processes;
    size_t count;
    size_t left; /* not told of yet */
    bool *told;
    bool twins;   /* some process stands in the list twice */
    bool stopped; /* by the callback */
    int watch;
    vitals_wait how;
};

static bool reaps(const struct waiting *waiting)
{
    return (waiting->how.flags & VITALS_WAIT_UNREAPED) == 0;
}

static void tell(struct waiting *waiting, size_t index)
{
    vitals_process *process = waiting->processes[index];
    if (waiting->told[index] || waiting->stopped)
        return;
    if (process->unreaped && reaps(waiting)) /* it had ended before */
        learn(process, true);
    waiting->told[index] = true;
    waiting->left--;
    if (waiting->how.ended != NULL)
        waiting->stopped = waiting->how.ended(waiting->how.data, process) != 0;
}

/* Settles those that have ended by now, in that order. Returns how many there were: 0 if there are
 * no more, or the callback wants no more. */
static int settle_ready(struct waiting *waiting, vitals_error *error)
{
    uint64_t ready[32];
    int count = os_watch_ready(waiting->watch, ready, ARRAY_COUNT(ready));
    if (count < 0)
        return error_system(error, -count, "waiting for processes");
    for (int i = 0; i < count && !waiting->stopped; i++) {
        vitals_process *process = waiting->processes[ready[i]];
        int ended = look(process, reaps(waiting), error);
        if (ended < 0)
            return ended;
        if (ended == 0)
            continue;
        os_watch_remove(waiting->watch, process->pidfd);
        tell(waiting, (size_t)ready[i]);
        for (size_t j = 0; waiting->twins && j < waiting->count; j++)
            if (waiting->processes[j] == process)
                tell(waiting, j);
    }
    return waiting->stopped ? 0 : count;
}

/* Whether all is done that was asked for. */
static bool is_enough(const struct waiting *waiting)
{
    return waiting->left == 0 || waiting->stopped;
}

static int wait_for_all(struct waiting *waiting, vitals_error *error)
{
    const vitals_clock *clock = &waiting->processes[0]->context->os.clock;
    uint64_t deadline_ns = deadline_of(clock, waiting->how.timeout_ns);
    waiting->told = memory_array(waiting->count, sizeof(*waiting->told));
    if (waiting->told == NULL)
        return error_no_memory(error);
    waiting->watch = os_watch_new();
    if (waiting->watch < 0)
        return error_system(error, -waiting->watch, "waiting for %zu processes", waiting->count);

    /* All whose end is not known are watched before the callback is called for any. */
    for (size_t i = 0; i < waiting->count; i++) {
        vitals_process *process = waiting->processes[i];
        if (process->ended)
            continue;
        if (process->pidfd < 0)
            return no_pidfd(process, error);
        int result = os_watch_add(waiting->watch, process->pidfd, i);
        if (result == -EEXIST)
            waiting->twins = true;
        else if (result < 0)
            return error_system(error, -result, "waiting for process %lld",
                                (long long)process->files.pid);
    }
    for (size_t i = 0; i < waiting->count; i++)
        if (waiting->processes[i]->ended)
            tell(waiting, i);

    for (bool over = false; !is_enough(waiting);) {
        int code;
        while ((code = settle_ready(waiting, error)) > 0)
            ;
        if (code < 0 || over || is_enough(waiting))
            return code;
        int ready = pause_until(clock, waiting->watch, deadline_ns, error);
        if (ready < 0)
            return ready;
        over = ready == 0;
    }
    return 0;
}

int vitals_process_wait_several(vitals_process *const *processes, size_t count,
                                const vitals_wait *how, size_t *remaining, vitals_error *error)
{
    struct waiting waiting = {.processes = processes, .count = count, .left = count, .watch = -1};
    int code = options_take(&FORM, how, &waiting.how, error);
    if (code == 0 && processes == NULL && count > 0)
        code = error_set(error, VITALS_EARGUMENT, 0, "%zu processes, and no list of them", count);
    if (code == 0 && (waiting.how.flags & ~(unsigned)VITALS_WAIT_UNREAPED) != 0)
        code = error_set(error, VITALS_EARGUMENT, 0, "flags %#x of a wait: there are none such",
                         waiting.how.flags);
    for (size_t i = 0; i < count && code == 0; i++)
        if (processes[i] == NULL)
            code = error_set(error, VITALS_EARGUMENT, 0, "process %zu of %zu is NULL", i + 1,
                             count);
    if (code == 0 && count > 0)
        code = wait_for_all(&waiting, error);
    os_close_descriptor(waiting.watch);
    memory_free(waiting.told);
    if (code == 0 && remaining != NULL)
        *remaining = waiting.left;
    return code;
}
