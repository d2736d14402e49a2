/* signal.c: signals, which reach one process and no other.
 *
 * Thread rule: one thread at a time per handle. */
#include "process/live.h"

#include "util/error.h"

#include <errno.h>

int live_no_pidfd(const vitals_process *process, vitals_error *error)
{
    bool live = process->context->os.live;
    return error_set(error, VITALS_EUNSUPPORTED, live ? -process->pidfd : 0,
                     "process %lld cannot be signalled or waited for safely: %s",
                     (long long)process->files.pid,
                     live ? "no pidfd is to be had here" : "its pid is of another /proc");
}

static int signal_error(const vitals_process *process, int signal, int result, vitals_error *error)
{
    long long pid = process->files.pid;
    if (result == -ESRCH)
        return error_set(error, VITALS_EGONE, ESRCH, "process %lld has ended", pid);
    if (result == -EINVAL)
        return error_set(error, VITALS_EARGUMENT, EINVAL, "there is no signal %d", signal);
    return error_system(error, -result, "signal %d to process %lld", signal, pid);
}

int vitals_process_signal(vitals_process *process, int signal, vitals_error *error)
{
    if (process->pidfd < 0)
        return live_no_pidfd(process, error);
    int result = os_pidfd_signal(process->pidfd, signal);
    return result < 0 ? signal_error(process, signal, result, error) : 0;
}
