/* live.c: a handle on one process, which proves at each call whose it is.
 *
 * The proof: its stat was opened at the beginning and still reads, so the process has lived from
 * then to now, and the pid has been its own all the while. Whatever was opened by pid in between
 * was the process's, and so was its pidfd, by which it is signalled and waited for. What is asked
 * of it. Thread rule: one thread at a time per handle. */
#include "process/live.h"

#include "process/table.h"
#include "util/error.h"
#include "util/memory.h"

#include <errno.h>

enum { STATUS_LIMIT = 64 * 1024 };

static bool is_gone(int result)
{
    return result == -ENOENT || result == -ESRCH;
}

/* ---- opening ---- */

/* Threads have a folder in /proc too, which is not listed. The process that it is a thread of, or 0
 * for what is none. */
static int64_t process_of_thread(const struct os *os, int64_t pid)
{
    struct buffer text = {0};
    struct os_status status;
    bool cut;
    bool thread = os_process_file(os, pid, "status", STATUS_LIMIT, &text, &cut) == 0 &&
                  os_parse_status(text.bytes, text.size, &status) &&
                  (status.has & OS_STATUS_GROUP) != 0 && status.group != pid;
    buffer_done(&text);
    return thread ? status.group : 0;
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
        owner = process_of_thread(os, pid);
        result = read_stat(process, &stat); // the others were opened by pid, so it comes last
    }

    if (is_gone(result)) {
        /* The kernel may know a process that /proc does not show us, now as before. */
        int pidfd = os_pidfd_open(os, pid);
        struct os_process files = {.pid = pid, .stat = -1, .statm = -1};
        bool hidden = pidfd >= 0 && is_gone(os_process_open(os, pid, false, &files));
        os_process_close(&files);
        os_close_descriptor(pidfd);
        if (hidden)
            return error_set(error, VITALS_EDENIED, -result,
                             "process %lld is hidden from you (/proc is mounted with hidepid)",
                             (long long)pid);
        return error_set(error, VITALS_EGONE, -result, "no process has the pid %lld%s",
                         (long long)pid,
                         pid > PID_MAX ? ", and none ever will: it is too large" : "");
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

int vitals_process_open(vitals_context *context, int64_t pid, vitals_process **out,
                        vitals_error *error)
{
    if (pid < 1)
        return error_set(error, VITALS_EARGUMENT, 0, "%lld is no pid: they begin at 1",
                         (long long)pid);
    vitals_process *process = memory_alloc(sizeof *process);
    if (process == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    process->context = context;
    process->files = (struct os_process){.pid = pid, .stat = -1, .statm = -1};
    process->pidfd = -1;
    process->how.state = VITALS_NOT_YET;
    int code = begin(process, pid, error);
    if (code < 0) {
        vitals_process_free(process);
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
    if (vitals_row_entity(row) != VITALS_PROCESS ||
        !vitals_snapshot_has_metric(snapshot, VITALS_PROCESS_PID) ||
        !vitals_snapshot_has_metric(snapshot, VITALS_PROCESS_START_SECONDS))
        return error_set(error, VITALS_EARGUMENT, 0,
                         "a process is found by a row of the table process that has pid and "
                         "start_seconds");
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
    vitals_process_free(process);
    return error_set(error, VITALS_EGONE, 0, "process %llu has ended; another has its pid",
                     (unsigned long long)pid);
}

void vitals_process_free(vitals_process *process)
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
    if (read_stat(process, &stat) == 0 && (stat.has & OS_STAT_START) != 0 &&
        stat.start_ticks == process->start_ticks)
        return 0;
    return error_set(error, VITALS_EGONE, 0, "process %lld has ended",
                     (long long)process->files.pid);
}
