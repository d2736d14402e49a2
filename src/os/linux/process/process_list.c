/* process_list.c: every pid in /proc; the children of a process, the members of a cgroup, and
 * whether any process was started at all, without listing the machine.
 *
 * Reads into a buffer of 64 KiB that is kept between ticks: readdir reads 32 KiB at a time, one
 * more system call per tick with a thousand processes. /proc/PID/task/TID/children
 * (CONFIG_PROC_CHILDREN) holds the children that this thread started; a child that ends while it is
 * read may hide another (proc(5)), so a full list must follow now and then. Thread rule: one thread
 * per list. */
#include "os/linux/process/process_tables.h"

#include "util/buffer.h"
#include "util/memory.h"
#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES_BYTES = 64 * 1024 };

struct process_list_stream {
    int directory;
    alignas(8) char entries[ENTRIES_BYTES];
};

int os_pids_append(struct os_pids *pids, int64_t pid)
{
    if (MEMORY_GROW(pids->items, pids->capacity, pids->count) < 0)
        return -ENOMEM;
    pids->items[pids->count++] = pid;
    return 0;
}

static int add_pid(struct span name, void *data)
{
    const char *at = name.bytes, *end = at + name.size;
    uint64_t pid;
    if (at == end || *at == '0' || !number_u64(&at, end, &pid) || at != end || pid > INT32_MAX)
        return 0;
    return os_pids_append(data, (int64_t)pid);
}

static int compare_pids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A real /proc gives them in order; a tree of files need not. */
static void sort_pids(struct os_pids *pids)
{
    for (size_t i = 1; i < pids->count; i++) {
        if (pids->items[i - 1] > pids->items[i]) {
            qsort(pids->items, pids->count, sizeof *pids->items, compare_pids);
            return;
        }
    }
}

int os_list_processes(const struct os *os, struct os_pids *pids)
{
    struct process_list_stream *stream = pids->stream;
    pids->count = 0;
    if (stream == NULL) {
        int directory = linux_open(os, os->proc, ".", O_DIRECTORY);
        if (directory < 0)
            return directory;
        pids->stream = stream = memory_alloc(sizeof *stream);
        if (stream == NULL) {
            os_close_descriptor(directory);
            return -ENOMEM;
        }
        stream->directory = directory;
    }
    if (lseek(stream->directory, 0, SEEK_SET) < 0)
        return -errno;
    int result = linux_entries_each(stream->directory, stream->entries, sizeof stream->entries,
                                    add_pid, pids);
    if (result < 0)
        return result;
    sort_pids(pids);
    /* A procfs lists at least the process that reads it: a folder without one is something else. */
    return pids->count == 0 ? -ENODATA : 0;
}

/* The links of a folder: those of procfs are counted so in proc_root_getattr, of sysfs by its
 * folders. 0: not known. */
static uint64_t links_of(int root, const char *path)
{
    struct stat status;
    return root >= 0 && fstatat(root, path, &status, AT_EMPTY_PATH) == 0 ? status.st_nlink : 0;
}

void linux_learn_count(struct os_process_count *count, uint64_t links, uint64_t listed,
                       uint64_t modules)
{
    enum { AGREEMENTS = 3 };
    if (modules == 0 || links <= listed)
        return;
    uint64_t folders = links - listed;
    bool agrees = folders == count->folders && modules == count->modules;
    if (agrees && listed == count->listed)
        return;
    unsigned agreed = agrees ? count->agreed + 1 : 1;
    *count = (struct os_process_count){folders, listed, modules, agreed, agreed >= AGREEMENTS};
}

int os_list_and_learn(const struct os *os, struct os_pids *pids, struct os_process_count *count)
{
    uint64_t modules = links_of(os->sys, "module"), links = links_of(os->proc, "");
    int result = os_list_processes(os, pids);
    bool same = result == 0 && links == links_of(os->proc, ""); // none came or went meanwhile
    if (same)
        linux_learn_count(count, links, pids->count, modules);
    return result;
}

bool os_count_processes(const struct os *os, struct os_process_count *count, size_t *out)
{
    uint64_t links = count->known ? links_of(os->proc, "") : 0;
    count->known = links > count->folders && links_of(os->sys, "module") == count->modules;
    if (count->known)
        *out = (size_t)(links - count->folders);
    return count->known;
}

void os_pids_settle(struct os_pids *pids)
{
    size_t kept = 0;
    sort_pids(pids);
    for (size_t i = 0; i < pids->count; i++) {
        if (kept == 0 || pids->items[kept - 1] != pids->items[i])
            pids->items[kept++] = pids->items[i];
    }
    pids->count = kept;
}

void os_pids_done(struct os_pids *pids)
{
    struct process_list_stream *stream = pids->stream;
    if (stream != NULL)
        os_close_descriptor(stream->directory);
    memory_free(stream);
    memory_free(pids->items);
    *pids = (struct os_pids){0};
}

struct number_listing {
    struct os_pids *numbers;
    size_t limit;
};

enum { LISTING_CUT = 1 };

static int add_number(struct span name, void *data)
{
    const struct number_listing *listing = data;
    const char *at = name.bytes, *end = at + name.size;
    uint64_t number;
    if (!number_u64(&at, end, &number) || at != end || number > INT32_MAX)
        return 0;
    if (listing->numbers->count == listing->limit)
        return LISTING_CUT;
    return os_pids_append(listing->numbers, (int64_t)number);
}

int linux_numbers_read(int directory, size_t limit, struct os_pids *out, bool *cut)
{
    alignas(8) char entries[ENTRIES_BYTES / 2];
    struct number_listing listing = {out, limit};
    int result = linux_entries_each(directory, entries, sizeof entries, add_number, &listing);
    *cut = result == LISTING_CUT;
    if (result < 0)
        return result;
    // A descriptor that was closed and opened again while the folder was read may be listed twice.
    os_pids_settle(out);
    return 0;
}

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
    int folder = linux_process_open(os, pid, "task", O_DIRECTORY);
    if (folder < 0)
        return folder;
    struct os_pids tasks = {.items = NULL};
    bool cut;
    int code = linux_numbers_read(folder, THREADS_MAX, &tasks, &cut);
    os_close_descriptor(folder);
    for (size_t i = 0; i < tasks.count && code == 0; i++) {
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
