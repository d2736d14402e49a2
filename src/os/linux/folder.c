/* folder.c: folders of one process: opening below them, and listing those whose names are numbers.
 *
 * Not readdir: that allocates with a malloc of its own. A process with 100,000 descriptors is
 * listed in 100 calls. Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include "util/memory.h"
#include "util/number.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRIES_BYTES = 32 * 1024 };

int linux_process_open(const struct os *os, int64_t pid, const char *name, int flags)
{
    char path[PROCESS_PATH];
    if (!linux_process_path(path, pid, name))
        return -EINVAL;
    return linux_open(os, os->proc, path, flags);
}

static int append(struct linux_numbers *numbers, uint64_t number)
{
    void *items = numbers->items;
    if (memory_grow(&items, &numbers->capacity, numbers->count, sizeof *numbers->items) < 0)
        return -ENOMEM;
    numbers->items = items;
    numbers->items[numbers->count++] = number;
    return 0;
}

/* Takes the entries of one call; what is no number is passed over. */
static int take_entries(const char *bytes, size_t size, size_t limit, struct linux_numbers *out,
                        bool *cut)
{
    struct cursor cursor = cursor_over(bytes, size);
    struct span name;
    int more = 1;
    while (!*cut && (more = linux_entry_next(&cursor, &name)) > 0) {
        const char *at = name.bytes, *end = at + name.size;
        uint64_t number;
        bool is_number = number_u64(&at, end, &number) && at == end && number <= INT32_MAX;
        *cut = is_number && out->count == limit;
        if (is_number && !*cut && append(out, number) < 0)
            return -ENOMEM;
    }
    return more < 0 ? more : 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* In order already but in a tree of files; one that was closed and opened again while we read may
 * stand there twice. */
static void put_in_order(struct linux_numbers *numbers)
{
    bool ordered = true;
    for (size_t i = 1; i < numbers->count && ordered; i++)
        ordered = numbers->items[i - 1] < numbers->items[i];
    if (ordered)
        return;
    qsort(numbers->items, numbers->count, sizeof *numbers->items, compare);
    size_t kept = 1;
    for (size_t i = 1; i < numbers->count; i++)
        if (numbers->items[i] != numbers->items[kept - 1])
            numbers->items[kept++] = numbers->items[i];
    numbers->count = kept;
}

int linux_numbers_read(int directory, size_t limit, struct linux_numbers *out, bool *cut)
{
    *cut = false;
    alignas(8) char entries[ENTRIES_BYTES];
    while (!*cut) {
        long size = syscall(SYS_getdents64, directory, entries, sizeof entries);
        if (size < 0)
            return -errno;
        if (size == 0)
            break;
        int result = take_entries(entries, (size_t)size, limit, out, cut);
        if (result < 0)
            return result;
    }
    put_in_order(out);
    return 0;
}

void linux_numbers_done(struct linux_numbers *numbers)
{
    memory_free(numbers->items);
    *numbers = (struct linux_numbers){0};
}
