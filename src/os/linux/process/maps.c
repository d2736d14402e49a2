/* maps.c: which processes share a memory map: kcmp(2), if the caller may read both processes.
 * Thread rule: any thread. */
#include "os/os.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

int os_compare_maps(const struct os *os, int64_t first, int64_t second)
{
    if (!os->live)
        return -ENOTSUP;
    if (first < 1 || first > INT32_MAX || second < 1 || second > INT32_MAX)
        return -ESRCH;
    long order = syscall(SYS_kcmp, (pid_t)first, (pid_t)second, KCMP_VM, 0UL, 0UL);
    if (order < 0)
        return -errno;
    return order <= 2 ? (int)order : -ENOTSUP;
}
