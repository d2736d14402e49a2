/* pidfd.c: a descriptor that means one process, to signal it and nobody else (Linux 5.3).
 *
 * Called by number: the C library learned the names late. Thread rule: any thread. */
#include "os/os.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int os_pidfd_open(const struct os *os, int64_t pid)
{
    if (!os->live)
        return -ENOTSUP;
    if (pid < 1 || pid > INT32_MAX)
        return -ESRCH;
    long descriptor = syscall(SYS_pidfd_open, (pid_t)pid, 0u);
    return descriptor < 0 ? -errno : (int)descriptor; // close-on-exec always
}

int os_pidfd_signal(int pidfd, int signal)
{
    return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0u) < 0 ? -errno : 0;
}
