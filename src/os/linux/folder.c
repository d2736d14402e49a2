/* folder.c: folders of one process: opens below them, and lists entries whose names are numbers. A
 * process with 100,000 descriptors is listed in 100 calls. Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include "util/memory.h"
#include "util/number.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_BYTES = 32 * 1024 };

int linux_process_open(const struct os *os, int64_t pid, const char *name, int flags)
{
    char path[PROCESS_PATH];
    if (!linux_process_path(path, pid, name))
        return -EINVAL;
    return linux_open(os, os->proc, path, flags);
}

struct number_listing {
    struct linux_numbers *numbers;
    size_t limit;
};

enum { LISTING_CUT = 1 };

static int add_number(struct span name, void *data)
{
    const struct number_listing *listing = data;
    struct linux_numbers *numbers = listing->numbers;
    const char *at = name.bytes, *end = at + name.size;
    uint64_t number;
    if (!number_u64(&at, end, &number) || at != end || number > INT32_MAX)
        return 0;
    if (numbers->count == listing->limit)
        return LISTING_CUT;

    void *items = numbers->items;
    if (memory_grow(&items, &numbers->capacity, numbers->count, sizeof *numbers->items) < 0)
        return -ENOMEM;
    numbers->items = items;
    numbers->items[numbers->count++] = number;
    return 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int linux_numbers_read(int directory, size_t limit, struct linux_numbers *out, bool *cut)
{
    alignas(8) char entries[ENTRIES_BYTES];
    struct number_listing listing = {out, limit};
    int result = linux_entries_each(directory, entries, sizeof entries, add_number, &listing);
    *cut = result == LISTING_CUT;
    if (result < 0)
        return result;

    // The kernel lists in order, a tree of files need not. A descriptor that was closed and opened
    // again while the folder was read may be listed twice.
    bool ordered = true;
    for (size_t i = 1; i < out->count && ordered; i++)
        ordered = out->items[i - 1] < out->items[i];
    if (ordered)
        return 0;
    qsort(out->items, out->count, sizeof *out->items, compare);
    size_t kept = 1;
    for (size_t i = 1; i < out->count; i++)
        if (out->items[i] != out->items[kept - 1])
            out->items[kept++] = out->items[i];
    out->count = kept;
    return 0;
}

void linux_numbers_done(struct linux_numbers *numbers)
{
    memory_free(numbers->items);
    *numbers = (struct linux_numbers){0};
}
