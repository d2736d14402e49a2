/* process_children.c: the children of a process, the members of a cgroup, and whether anybody was
 * started at all, without listing the machine.
 *
 * /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN) holds the children that this thread started; a
 * child that ends while it is read may hide another (proc(5)), so a full list must follow now and
 * then. Thread rule: one thread per list. */
#include "os/linux/linux.h"

#include "util/buffer.h"
#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { CHILDREN_BYTES = 1 << 20, GROUP_BYTES = 1 << 16, THREADS_MAX = 4096 };

static int children_of(const struct os *os, int64_t pid, int64_t thread, struct os_pids *pids)
{
    char name[64];
    struct buffer text = {.bytes = NULL};
    bool cut;
    (void)snprintf(name, sizeof(name), "task/%lld/children", (long long)thread);
    int code = os_process_file(os, pid, name, CHILDREN_BYTES, &text, &cut);
    struct cursor cursor = cursor_over(text.bytes, text.size);
    uint64_t child;
    while (code == 0 && cursor_u64(&cursor, &child))
        if (child != 0 && child <= INT32_MAX)
            code = os_pids_append(pids, (int64_t)child);
    buffer_done(&text);
    return code;
}

int os_list_children(const struct os *os, int64_t pid, uint64_t threads, struct os_pids *pids)
{
    if (threads <= 1)
        return children_of(os, pid, pid, pids);
    char path[64];
    struct os_pids tasks = {.items = NULL};
    (void)snprintf(path, sizeof(path), "%lld/task", (long long)pid);
    int code = os_list_numbers(os, path, &tasks);
    for (size_t i = 0; i < tasks.count && i < THREADS_MAX && code == 0; i++) {
        code = children_of(os, pid, tasks.items[i], pids);
        if (code == -ENOENT || code == -ESRCH)
            code = 0; /* that thread has ended */
    }
    os_pids_done(&tasks);
    return code;
}

int os_list_group(int folder, struct os_pids *pids)
{
    struct buffer text = {.bytes = NULL};
    bool cut = false;
    int file = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int code = file < 0 ? -errno : linux_read_all(file, GROUP_BYTES, false, &text, &cut);
    os_close_descriptor(file);
    if (code == 0 && cut)
        code = -ERANGE;
    struct cursor cursor = cursor_over(text.bytes, text.size);
    for (struct span line; code == 0 && cursor_line(&cursor, &line);) {
        struct cursor word = cursor_over(line.bytes, line.size);
        uint64_t pid;
        bool ours = cursor_u64(&word, &pid) && pid != 0 && pid <= INT32_MAX;
        code = ours ? os_pids_append(pids, (int64_t)pid) : -ERANGE;
    }
    if (code == 0)
        os_pids_settle(pids);
    buffer_done(&text);
    return code;
}

int64_t os_last_pid(const struct os *os, int *kept)
{
    char text[128];
    if (*kept < 0)
        *kept = linux_open(os, os->proc, "loadavg", 0);
    int64_t size = *kept < 0 ? *kept : linux_read(*kept, text, sizeof(text) - 1, 0);
    while (size > 0 && text[size - 1] == '\n')
        size--;
    text[size > 0 ? size : 0] = '\0';
    const char *last = strrchr(text, ' ');
    uint64_t pid;
    return last != NULL && number_is_u64(last + 1, &pid) && pid <= INT32_MAX ? (int64_t)pid : -1;
}
