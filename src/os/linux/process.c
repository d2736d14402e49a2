/* process.c: the files of one process, kept open where the caller says so, and its CPU clock.
 *
 * A kept file reads as long as its process lives and then answers ESRCH, whoever has the pid: that
 * is what identity rests on (tests/unit/test_process_table.c shows it with a reused pid).
 * Thread rule: any thread; a struct os_process belongs to one. */
#include "os/linux/linux.h"

#include "core/number.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum { PATH_TEXT = 64 };

/* "123/stat"; false for a name that is too long. */
static bool path_of(char out[static PATH_TEXT], int64_t pid, const char *name)
{
    size_t length = strlen(name);
    if (length > PATH_TEXT - NUMBER_TEXT - 2)
        return false;
    size_t used = number_print_i64(out, pid);
    out[used++] = '/';
    memcpy(out + used, name, length + 1);
    return true;
}

static int open_file(const struct os *os, int64_t pid, const char *name)
{
    char path[PATH_TEXT];
    if (pid < 1 || !path_of(path, pid, name))
        return -EINVAL;
    return linux_open(os, os->proc, path, 0);
}

int os_process_open(const struct os *os, int64_t pid, bool statm, struct os_process *process)
{
    struct os_process opened = {.pid = pid, .stat = open_file(os, pid, "stat"), .statm = -1};
    if (opened.stat < 0)
        return opened.stat;
    if (statm)
        os_process_open_statm(os, &opened);
    *process = opened;
    return 0;
}

int os_process_open_statm(const struct os *os, struct os_process *process)
{
    int statm = open_file(os, process->pid, "statm");
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

int os_process_resident_pages(const struct os_process *process, uint64_t *pages)
{
    char text[256];
    int64_t size = linux_read(process->statm, text, sizeof text, 0);
    if (size < 0)
        return (int)size;
    return os_parse_statm(text, (size_t)size, pages) ? 0 : -EBADMSG;
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
    int descriptor = open_file(os, pid, name);
    if (descriptor < 0)
        return descriptor;
    int result = linux_read_all(descriptor, limit, is_given_at_once(name), out, cut);
    os_close_descriptor(descriptor);
    return result;
}
