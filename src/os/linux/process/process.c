/* process.c: the files of one process, kept open if the caller asks for it; its CPU clock; whether
 * it has a device open or shares its memory with another one.
 *
 * A kept file reads as long as its process lives and then fails with ESRCH, even if the pid is
 * reused: identity rests on that (tests/unit/process/test_process_table.c shows it with a reused
 * pid). Thread rule: any thread; a struct os_process belongs to one. */
#include "os/linux/process/process_tables.h"

#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int linux_process_open(const struct os *os, int64_t pid, const char *name, int flags)
{
    char path[PROCESS_PATH];
    if (!linux_process_path(path, pid, name))
        return -EINVAL;
    return linux_open(os, os->proc, path, flags);
}

int os_process_open(const struct os *os, int64_t pid, bool statm, struct os_process *process)
{
    struct os_process opened = {
        .pid = pid, .stat = linux_process_open(os, pid, "stat", 0), .statm = -1};
    if (opened.stat < 0)
        return opened.stat;
    if (statm)
        os_process_open_statm(os, &opened);
    *process = opened;
    return 0;
}

int os_thread_open(const struct os *os, int64_t pid, int64_t tid, struct os_process *thread)
{
    char name[48];
    (void)snprintf(name, sizeof name, "task/%lld/stat", (long long)tid);
    int stat = linux_process_open(os, pid, name, 0);
    if (stat >= 0)
        *thread = (struct os_process){.pid = tid, .stat = stat, .statm = -1};
    return stat < 0 ? stat : 0;
}

int os_process_open_statm(const struct os *os, struct os_process *process)
{
    int statm = linux_process_open(os, process->pid, "statm", 0);
    if (statm < 0)
        return statm;
    process->statm = statm;
    return 0;
}

void os_process_close(struct os_process *process)
{
    os_close_descriptor(process->stat);
    os_close_descriptor(process->statm);
    process->stat = process->statm = -1;
}

int os_process_stat(const struct os_process *process, char text[static OS_STAT_TEXT],
                    struct os_stat *out)
{
    int64_t size = linux_read(process->stat, text, OS_STAT_TEXT, 0);
    if (size < 0)
        return (int)size;
    return os_parse_stat(text, (size_t)size, out) ? 0 : -EBADMSG;
}

int os_stat_of(const struct os *os, int64_t pid, char text[static OS_STAT_TEXT],
               struct os_stat *out)
{
    struct os_process process;
    int result = os_process_open(os, pid, false, &process);
    if (result < 0)
        return result;
    result = os_process_stat(&process, text, out);
    os_process_close(&process);
    return result;
}

int os_process_statm(const struct os_process *process, struct os_statm *out)
{
    char text[256];
    int64_t size = linux_read(process->statm, text, sizeof text, 0);
    if (size < 0)
        return (int)size;
    return os_parse_statm(text, (size_t)size, out) ? 0 : -EBADMSG;
}

int os_process_memory(const struct os *os, int64_t pid, uint64_t *virtual_bytes,
                      struct os_statm *statm)
{
    enum { THREADS_MAX = 1 << 10 };
    struct os threads = *os; // whose folder of threads stands in for /proc
    threads.proc = linux_process_open(os, pid, "task", O_DIRECTORY);
    if (threads.proc < 0)
        return threads.proc;
    struct os_pids tids = {0};
    bool cut;
    int result = linux_numbers_read(threads.proc, THREADS_MAX, &tids, &cut);
    *virtual_bytes = 0; // of a thread that has ended, reaped or not
    for (size_t i = 0; i < tids.count && result == 0 && *virtual_bytes == 0; i++) {
        char text[OS_STAT_TEXT];
        struct os_stat stat;
        struct os_process files;
        if (os_process_open(&threads, tids.items[i], true, &files) < 0)
            continue;
        if (files.statm >= 0 && os_process_statm(&files, statm) == 0 &&
            os_process_stat(&files, text, &stat) == 0)
            *virtual_bytes = stat.virtual_bytes;
        os_process_close(&files);
    }
    os_pids_done(&tids);
    os_close_descriptor(threads.proc);
    return result == 0 && *virtual_bytes == 0 ? -ESRCH : result;
}

int os_process_cpu_ns(const struct os *os, int64_t pid, uint64_t *ns)
{
    if (!os->live || pid < 1)
        return -ENOTSUP;
    // The id of a process's clock, as clock_getcpuclockid(3) makes it but without its extra call:
    // the pid's complement above three bits, of which 2 means scheduler time of all threads.
    clockid_t clock = (clockid_t)((~(uint32_t)pid << 3) | 2u);
    struct timespec time;
    if (clock_gettime(clock, &time) != 0)
        return errno == EINVAL ? -ESRCH : -errno; // EINVAL: no such process
    *ns = (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
    return 0;
}

int os_process_file(const struct os *os, int64_t pid, const char *name, size_t limit,
                    struct buffer *out, bool *cut)
{
    // Files of one record, or of plain memory. Not so: lists, such as task/N/children and maps,
    // which end a read where the next record does not fit.
    static const char *const GIVEN_AT_ONCE[] = {"cgroup",    "cmdline", "io",
                                                "schedstat", "stat",    "status"};
    bool at_once = false;
    for (size_t i = 0; i < ARRAY_COUNT(GIVEN_AT_ONCE); i++)
        at_once |= strcmp(name, GIVEN_AT_ONCE[i]) == 0;
    int descriptor = linux_process_open(os, pid, name, 0);
    if (descriptor < 0)
        return descriptor;
    int result = linux_read_all(descriptor, limit, at_once, out, cut);
    os_close_descriptor(descriptor);
    return result;
}

/* statx through the links of /proc/PID/fd reaches the node itself, whatever the process calls it in
 * its mount namespace, and with AT_STATX_DONT_SYNC asks no server. */
bool os_process_has_device(const struct os *os, int64_t pid, uint32_t major, uint32_t minor)
{
    enum { DESCRIPTORS_MAX = 1 << 16 };
    int folder = linux_process_open(os, pid, "fd", O_DIRECTORY);
    if (folder < 0)
        return false;
    struct os_pids numbers = {0};
    bool cut, found = false;
    int result = linux_numbers_read(folder, DESCRIPTORS_MAX, &numbers, &cut);
    for (size_t i = 0; result == 0 && i < numbers.count && !found; i++) {
        char name[NUMBER_TEXT];
        struct statx status;
        number_print_u64(name, (uint64_t)numbers.items[i]);
        found = linux_statx(folder, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE,
                            &status) == 0 &&
                S_ISCHR(status.stx_mode) && status.stx_rdev_major == major &&
                status.stx_rdev_minor == minor;
    }
    os_pids_done(&numbers);
    os_close_descriptor(folder);
    return found;
}

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
