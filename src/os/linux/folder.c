/* folder.c: folders of one process: opens below them, and lists entries whose names are numbers. A
 * process with 100,000 descriptors is listed in 100 calls. Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include "util/number.h"

#include <errno.h>
#include <stdalign.h>

enum { ENTRIES_BYTES = 32 * 1024 };

int linux_process_open(const struct os *os, int64_t pid, const char *name, int flags)
{
    char path[PROCESS_PATH];
    if (!linux_process_path(path, pid, name))
        return -EINVAL;
    return linux_open(os, os->proc, path, flags);
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
    alignas(8) char entries[ENTRIES_BYTES];
    struct number_listing listing = {out, limit};
    int result = linux_entries_each(directory, entries, sizeof entries, add_number, &listing);
    *cut = result == LISTING_CUT;
    if (result < 0)
        return result;
    // A descriptor that was closed and opened again while the folder was read may be listed twice.
    os_pids_settle(out);
    return 0;
}
