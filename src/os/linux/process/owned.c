/* owned.c: tables of what a process may not have: memory and files.
 *
 * Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include <errno.h>
#include <fcntl.h>

enum process_kind linux_kind_of(const struct os_stat *stat)
{
    if ((stat->has & OS_STAT_STATE) == 0)
        return PROCESS_UNKNOWN;
    if (stat->state == 'Z' || stat->state == 'X')
        return PROCESS_ZOMBIE;
    bool kernel = (stat->has & OS_STAT_FLAGS) != 0 && (stat->flags & OS_KERNEL_THREAD) != 0;
    return kernel ? PROCESS_KERNEL_THREAD : PROCESS_ORDINARY;
}

static enum process_kind read_kind(const struct os *os, int64_t pid)
{
    char text[OS_STAT_TEXT];
    struct os_stat stat;
    return os_stat_of(os, pid, text, &stat) < 0 ? PROCESS_UNKNOWN : linux_kind_of(&stat);
}

int64_t linux_living_thread(const struct os *os, int64_t pid, struct os *threads)
{
    enum { THREADS_MAX = 1 << 10 };
    *threads = *os;
    threads->proc = linux_process_open(os, pid, "task", O_DIRECTORY);
    if (threads->proc < 0)
        return 0;
    struct os_pids tids = {0};
    bool cut;
    int64_t living = 0;
    int result = linux_numbers_read(threads->proc, THREADS_MAX, &tids, &cut);
    for (size_t i = 0; result == 0 && i < tids.count && living == 0; i++)
        if (read_kind(threads, tids.items[i]) == PROCESS_ORDINARY)
            living = tids.items[i];
    os_pids_done(&tids);
    if (living == 0)
        os_close_descriptor(threads->proc);
    return living;
}

bool linux_stat_memory(const struct os *os, int64_t pid, struct linux_stat_memory *out)
{
    char text[OS_STAT_TEXT];
    int file = linux_process_open(os, pid, "stat", 0);
    int64_t size = file < 0 ? file : linux_read(file, text, sizeof text, 0);
    os_close_descriptor(file);
    return size > 0 && linux_parse_stat_memory(text, (size_t)size, out);
}

bool linux_lacks_memory(const struct os *os, int64_t pid)
{
    struct linux_stat_memory memory;
    return os->live && linux_stat_memory(os, pid, &memory) && memory.environment.start == 0;
}

int linux_read_owned(const struct os *os, int64_t pid, linux_table_reader *reader, int of_zombie,
                     struct row_batch *out)
{
    size_t before = out->row_count;
    int result = reader(os, pid, out);
    bool is_bare = result == 0 || result == -ESRCH || result == -EACCES || result == -EAGAIN;
    if (out->failed || out->row_count != before || !is_bare)
        return result;
    enum process_kind kind = read_kind(os, pid);
    if (kind != PROCESS_ZOMBIE)
        return kind == PROCESS_KERNEL_THREAD ? 0 : result;
    struct os threads;
    int64_t living = linux_living_thread(os, pid, &threads);
    if (living == 0)
        return of_zombie;
    result = reader(&threads, living, out);
    os_close_descriptor(threads.proc);
    return result;
}
