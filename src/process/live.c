/* live.c: a handle on one process, which proves at each call whose it is.
 *
 * The proof: its stat was opened at the beginning and still reads, so the process has lived from
 * then to now, and the pid has been its own all the while. Whatever was opened by pid in between
 * was the process's. What is asked of it stands in query/, one file per question.
 * Thread rule: one thread at a time per handle. */
#include "process/live.h"

#include "core/error.h"
#include "core/memory.h"

#include <errno.h>

enum { STATUS_LIMIT = 64 * 1024 };

static bool is_gone(int result)
{
    return result == -ENOENT || result == -ESRCH;
}

/* ---- opening ---- */

/* Threads have a folder in /proc too, which is not listed: their pid is that of another process. */
static bool is_thread(const struct os *os, int64_t pid)
{
    struct buffer text = {0};
    struct os_status status;
    bool cut;
    bool thread = os_process_file(os, pid, "status", STATUS_LIMIT, &text, &cut) == 0 &&
                  os_parse_status(text.bytes, text.size, &status) &&
                  (status.has & OS_STATUS_GROUP) != 0 && status.group != pid;
    buffer_done(&text);
    return thread;
}

static int read_stat(const vitals_process *process, struct os_stat *out)
{
    char text[OS_STAT_TEXT];
    return os_process_stat(&process->files, text, out);
}

static int begin(vitals_process *process, int64_t pid, vitals_error *error)
{
    const struct os *os = &process->context->os;
    int result = os_process_open(os, pid, false, &process->files);
    bool thread = result == 0 && is_thread(os, pid);
    struct os_stat stat;
    if (result == 0)
        result = read_stat(process, &stat);
    if (thread || is_gone(result))
        return error_set(error, VITALS_EGONE, thread ? 0 : -result, "no process has the pid %lld",
                         (long long)pid);
    if (result == 0 && (stat.has & OS_STAT_START) == 0)
        result = -EBADMSG;
    if (result == -ENOTSUP)
        return error_set(error, VITALS_EUNSUPPORTED, -result, "this build cannot see processes");
    if (result < 0)
        return error_system(error, -result, "process %lld", (long long)pid);
    process->start_ticks = stat.start_ticks;
    return 0;
}

int vitals_process_open(vitals_context *context, int64_t pid, vitals_process **out,
                        vitals_error *error)
{
    if (pid < 1)
        return error_set(error, VITALS_EARGUMENT, 0, "%lld is no pid", (long long)pid);
    vitals_process *process = memory_alloc(sizeof *process);
    if (process == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    process->context = context;
    process->files = (struct os_process){.pid = pid, .stat = -1, .statm = -1};
    int code = begin(process, pid, error);
    if (code < 0) {
        vitals_process_free(process);
        return code;
    }
    *out = process;
    return 0;
}

static bool same_text(vitals_text text, const char *string)
{
    return span_equal((struct span){text.bytes, text.size}, string);
}

/* Whether the pids of the snapshot are the pids of the context. */
static bool same_origin(const vitals_context *context, const vitals_snapshot *snapshot)
{
    return same_text(vitals_snapshot_boot_id(snapshot), context->origin.boot_id) &&
           vitals_snapshot_pid_namespace(snapshot) == context->origin.pid_namespace;
}

int vitals_process_of(vitals_context *context, const vitals_row *row, vitals_process **out,
                      vitals_error *error)
{
    const vitals_snapshot *snapshot = vitals_row_snapshot(row);
    uint64_t pid = 0;
    double start_seconds = 0;
    if (vitals_row_entity(row) != VITALS_PROCESS ||
        !vitals_snapshot_has_metric(snapshot, VITALS_PROCESS_PID) ||
        !vitals_snapshot_has_metric(snapshot, VITALS_PROCESS_START_SECONDS))
        return error_set(error, VITALS_EARGUMENT, 0,
                         "a process is found by a row of the table process that has pid and "
                         "start_seconds");
    if (!same_origin(context, snapshot))
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
    vitals_process_free(process);
    return error_set(error, VITALS_EGONE, 0, "process %llu has ended; another has its pid",
                     (unsigned long long)pid);
}

void vitals_process_free(vitals_process *process)
{
    if (process == NULL)
        return;
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

/* Reads its stat: 0 while the process lives, else VITALS_EGONE with its message. */
static int prove(const vitals_process *process, struct os_stat *stat, vitals_error *error)
{
    if (read_stat(process, stat) == 0 && (stat->has & OS_STAT_START) != 0 &&
        stat->start_ticks == process->start_ticks)
        return 0;
    return error_set(error, VITALS_EGONE, 0, "process %lld has ended",
                     (long long)process->files.pid);
}

int live_prove(const vitals_process *process, vitals_error *error)
{
    struct os_stat stat;
    return prove(process, &stat, error);
}

/* A kernel thread lives without memory of its own: files that tell of it are empty, although the
 * kernel answers ESRCH for some of them (seen on 6.18). */
static bool is_kernel_thread(const struct os_stat *stat)
{
    unsigned needed = OS_STAT_VIRTUAL | OS_STAT_STATE;
    return (stat->has & needed) == needed && stat->virtual_bytes == 0 && stat->state != 'Z' &&
           stat->state != 'X';
}

int live_file(const vitals_process *process, const char *name, size_t limit, struct buffer *out,
              bool *cut, vitals_error *error)
{
    long long pid = process->files.pid;
    struct os_stat stat;
    int result = os_process_file(&process->context->os, pid, name, limit, out, cut);
    int code = prove(process, &stat, error);
    if (code < 0)
        return code;
    if (result == -ESRCH && is_kernel_thread(&stat)) {
        *cut = false;
        return 0;
    }
    if (is_gone(result)) // a zombie, or no such file
        return error_set(error, VITALS_EGONE, -result, "process %lld has no %s any more", pid,
                         name);
    if (result == -ENOMEM)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    return result < 0 ? error_system(error, -result, "%s of process %lld", name, pid) : 0;
}

/* ---- acting on it ---- */

static int signal_error(const vitals_process *process, int signal, int result, vitals_error *error)
{
    long long pid = process->files.pid;
    if (is_gone(result))
        return error_set(error, VITALS_EGONE, -result, "process %lld has ended", pid);
    if (result == -EINVAL)
        return error_set(error, VITALS_EARGUMENT, EINVAL, "there is no signal %d", signal);
    if (result == -ENOSYS || result == -ENOTSUP)
        return error_set(error, VITALS_EUNSUPPORTED, -result,
                         "process %lld cannot be signalled safely here: no pidfd", pid);
    return error_system(error, -result, "signal %d to process %lld", signal, pid);
}

int vitals_process_signal(vitals_process *process, int signal, vitals_error *error)
{
    int pidfd = os_pidfd_open(&process->context->os, process->files.pid);
    if (pidfd < 0)
        return signal_error(process, signal, pidfd, error);
    // Opened by pid: the proof that comes after says that it is this process's.
    int code = live_prove(process, error);
    int result = code == 0 ? os_pidfd_signal(pidfd, signal) : 0;
    os_close_descriptor(pidfd);
    return result < 0 ? signal_error(process, signal, result, error) : code;
}
