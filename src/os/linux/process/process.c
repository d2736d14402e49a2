/* process.c: the files of one process, kept open if the caller asks for it, and its CPU clock.
 *
 * A kept file reads as long as its process lives and then fails with ESRCH, even if the pid is
 * reused: identity rests on that (tests/unit/process/test_process_table.c shows it with a reused
 * pid). Thread rule: any thread; a struct os_process belongs to one. */
#include "os/linux/process/process_tables.h"

#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

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

int os_process_statm(const struct os_process *process, struct os_statm *out)
{
    char text[256];
    int64_t size = linux_read(process->statm, text, sizeof text, 0);
    if (size < 0)
        return (int)size;
    return os_parse_statm(text, (size_t)size, out) ? 0 : -EBADMSG;
}

/* The folder of threads stands in for /proc. False where the thread has ended, reaped or not. */
static bool read_memory(const struct os *threads, int64_t tid, uint64_t *virtual_bytes,
                        struct os_statm *statm)
{
    char text[OS_STAT_TEXT];
    struct os_stat stat;
    struct os_process files;
    if (os_process_open(threads, tid, true, &files) < 0)
        return false;
    bool read = files.statm >= 0 && os_process_statm(&files, statm) == 0 &&
                os_process_stat(&files, text, &stat) == 0;
    os_process_close(&files);
    *virtual_bytes = read ? stat.virtual_bytes : 0;
    return *virtual_bytes != 0;
}

int os_process_memory(const struct os *os, int64_t pid, uint64_t *virtual_bytes,
                      struct os_statm *statm)
{
    enum { THREADS_MAX = 1 << 10 };
    struct os threads = *os;
    threads.proc = linux_process_open(os, pid, "task", O_DIRECTORY);
    if (threads.proc < 0)
        return threads.proc;
    struct linux_numbers tids = {0};
    bool cut, found = false;
    int result = linux_numbers_read(threads.proc, THREADS_MAX, &tids, &cut);
    for (size_t i = 0; i < tids.count && result == 0 && !found; i++)
        found = read_memory(&threads, (int64_t)tids.items[i], virtual_bytes, statm);
    linux_numbers_done(&tids);
    os_close_descriptor(threads.proc);
    return result == 0 && !found ? -ESRCH : result;
}

/* The id of a process's clock, as clock_getcpuclockid(3) makes it but without its extra call:
 * the pid's complement above three bits, of which 2 means scheduler time of all threads. */
static clockid_t cpu_clock_of(int64_t pid)
{
    return (clockid_t)((~(uint32_t)pid << 3) | 2u);
}

int os_process_cpu_ns(const struct os *os, int64_t pid, uint64_t *ns)
{
    if (!os->live || pid < 1)
        return -ENOTSUP;
    struct timespec time;
    if (clock_gettime(cpu_clock_of(pid), &time) != 0)
        return errno == EINVAL ? -ESRCH : -errno; // EINVAL: no such process
    *ns = (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
    return 0;
}

/* Files of one record, or of plain memory. Not so: lists, such as task/N/children and maps, which
 * end a read where the next record does not fit. */
static bool is_given_at_once(const char *name)
{
    static const char *const NAMES[] = {"cgroup", "cmdline", "io", "status"};
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        if (strcmp(name, NAMES[i]) == 0)
            return true;
    }
    return false;
}

int os_process_file(const struct os *os, int64_t pid, const char *name, size_t limit,
                    struct buffer *out, bool *cut)
{
    int descriptor = linux_process_open(os, pid, name, 0);
    if (descriptor < 0)
        return descriptor;
    int result = linux_read_all(descriptor, limit, is_given_at_once(name), out, cut);
    os_close_descriptor(descriptor);
    return result;
}
