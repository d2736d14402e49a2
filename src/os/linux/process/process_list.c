/* process_list.c: every pid in /proc. Reads into a buffer of 64 KiB that is kept between ticks:
 * readdir reads 32 KiB at a time, one more system call per tick with a thousand processes.
 * Thread rule: one thread per list. */
#include "os/linux/linux.h"

#include "util/memory.h"
#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES_BYTES = 64 * 1024 };

struct process_list_stream {
    int directory;
    alignas(8) char entries[ENTRIES_BYTES];
};

int os_pids_append(struct os_pids *pids, int64_t pid)
{
    void *items = pids->items;
    if (memory_grow(&items, &pids->capacity, pids->count, sizeof *pids->items) < 0)
        return -ENOMEM;
    pids->items = items;
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
    return os_list_numbers(os, ".", pids);
}

int os_list_numbers(const struct os *os, const char *folder, struct os_pids *pids)
{
    struct process_list_stream *stream = pids->stream;
    pids->count = 0;
    if (stream == NULL) {
        int directory = linux_open(os, os->proc, folder, O_DIRECTORY);
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
    if (result == 0)
        sort_pids(pids);
    return result;
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
