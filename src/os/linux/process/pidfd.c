/* pidfd.c: a descriptor that means one process, to signal it and no other, and to wait for it
 * (Linux 5.3); and how a process ended.
 *
 * Called by number: the C library learned the names late. Thread rule: any thread. */
#include "os/linux/linux.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

int os_pidfd_ended(int pidfd)
{
    struct pollfd watched = {.fd = pidfd, .events = POLLIN};
    int ready;
    do
        ready = poll(&watched, 1, 0);
    while (ready < 0 && errno == EINTR);
    if (ready < 0)
        return -errno;
    return (watched.revents & POLLNVAL) != 0 ? -EBADF : ready;
}

/* A word of wait(2). */
static struct os_exit exit_of(int status)
{
    return (struct os_exit){
        .state = VITALS_HAVE, .code = status >> 8 & 0xFF, .signal = status & 0x7F};
}

#ifndef P_PIDFD
#define P_PIDFD 3 /* Linux 5.4 */
#endif

/* PIDFD_GET_INFO as Linux 6.13 has it: its first size, which later kernels go on taking. */
struct pidfd_info_64 {
    uint64_t mask; /* what is asked, and then what is told */
    uint64_t cgroup;
    uint32_t pid, group, parent;
    uint32_t uids[2], ids[6];
    int32_t exit_code; /* of wait(2), with MASK_EXIT (6.15) */
};

_Static_assert(sizeof(struct pidfd_info_64) == 64, "PIDFD_INFO_SIZE_VER0");
_Static_assert(offsetof(struct pidfd_info_64, exit_code) == 60, "the last field of that size");

enum { PIDFD_MAGIC = 0xFF, PIDFD_INFO = 11, MASK_CGROUP = 1 << 2, MASK_EXIT = 1 << 3 };

/* Negative errno; -ENOTSUP where this kernel does not tell. */
static int ask(int pidfd, uint64_t mask, struct pidfd_info_64 *out)
{
    *out = (struct pidfd_info_64){.mask = mask};
    if (ioctl(pidfd, _IOWR(PIDFD_MAGIC, PIDFD_INFO, struct pidfd_info_64), out) < 0)
        return -errno;
    return (out->mask & mask) == mask ? 0 : -ENOTSUP;
}

int linux_pidfd_cgroup(int pidfd, uint64_t *id)
{
    struct pidfd_info_64 info;
    int code = ask(pidfd, MASK_CGROUP, &info);
    if (code == 0)
        *id = info.cgroup;
    return code;
}

/* The exit status of a process that was reaped while the pidfd was open; any user may read it. */
static bool told_by_pidfd(int pidfd, struct os_exit *out)
{
    struct pidfd_info_64 info;
    if (ask(pidfd, MASK_EXIT, &info) < 0)
        return false;
    *out = exit_of(info.exit_code);
    return true;
}

/* proc_pid_stat(5): "(52) exit_code %d (since Linux 3.5)", behind the state, which is the third. */
bool os_parse_stat_exit(const char *bytes, size_t size, int *status)
{
    enum { STATE = 3, EXIT_CODE = 52, STATUS_MAX = 0xFFFF };
    struct os_stat stat;
    if (!os_parse_stat(bytes, size, &stat) || (stat.has & OS_STAT_STATE) == 0 || stat.state != 'Z')
        return false;
    const char *behind_name = stat.name.bytes + stat.name.size + 1;
    struct cursor cursor = cursor_over(behind_name, (size_t)(bytes + size - behind_name));
    struct span line, word;
    if (!cursor_line(&cursor, &line) || line.bytes + line.size == bytes + size)
        return false; // without its newline the last word may have been cut
    cursor = cursor_over(line.bytes, line.size);
    for (int number = STATE; number < EXIT_CODE; number++)
        if (!cursor_word(&cursor, &word))
            return false;
    uint64_t value;
    if (!cursor_u64(&cursor, &value) || value > STATUS_MAX)
        return false;
    *status = (int)value;
    return true;
}

void os_pidfd_exit(const struct os *os, int pidfd, const struct os_process *process, bool reap,
                   struct os_exit *out)
{
    // The exit status of a child of ours. __WALL includes children that send another signal than
    // SIGCHLD.
    int flags = WEXITED | WNOHANG | __WALL | (reap ? 0 : WNOWAIT);
    siginfo_t info = {0};
    int result;
    do
        result = waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, flags);
    while (result < 0 && errno == EINTR);
    if (result == 0 && info.si_pid != 0) {
        bool exited = info.si_code == CLD_EXITED;
        *out = (struct os_exit){.state = VITALS_HAVE,
                                .code = exited ? info.si_status : 0,
                                .signal = exited ? 0 : info.si_status};
        return;
    }
    *out = (struct os_exit){.state = VITALS_UNSUPPORTED};
    if (told_by_pidfd(pidfd, out))
        return;

    // The exit status of a zombie. The kernel writes 0 for a reader that may not trace it, and to
    // such a reader it refuses the zombie's exe; for others exe no longer exists. (Plain files of a
    // zombie are root's.) The kept stat answers for this process only; exe is found by pid, and the
    // stat that is read after it proves that it was the same.
    char path[PROCESS_PATH], target[1], text[OS_STAT_TEXT];
    bool may_see = linux_process_path(path, process->pid, "exe") &&
                   (readlinkat(os->proc, path, target, sizeof target) >= 0 || errno == ENOENT);
    int64_t size = linux_read(process->stat, text, sizeof text, 0);
    int status;
    if (size > 0 && os_parse_stat_exit(text, (size_t)size, &status))
        *out = status != 0 || may_see ? exit_of(status) : (struct os_exit){.state = VITALS_DENIED};
    else
        told_by_pidfd(pidfd, out); // it was reaped since
}

int os_watch_new(void)
{
    int watch = epoll_create1(EPOLL_CLOEXEC);
    return watch < 0 ? -errno : watch;
}

int os_watch_add(int watch, int descriptor, uint64_t tag)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = tag};
    return epoll_ctl(watch, EPOLL_CTL_ADD, descriptor, &event) < 0 ? -errno : 0;
}

void os_watch_remove(int watch, int descriptor)
{
    // It fails only where it is not in it.
    (void)epoll_ctl(watch, EPOLL_CTL_DEL, descriptor, NULL);
}

int os_watch_ready(int watch, uint64_t *tags, size_t capacity)
{
    enum { AT_ONCE = 64 };
    struct epoll_event events[AT_ONCE];
    int count;
    do
        count = epoll_wait(watch, events, (int)size_min(capacity, AT_ONCE), 0);
    while (count < 0 && errno == EINTR);
    for (int i = 0; i < count; i++)
        tags[i] = events[i].data.u64;
    return count < 0 ? -errno : count;
}
