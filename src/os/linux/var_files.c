/* var_files.c: what services keep below /var. Thread rule: workers only, a disk answers. */
#include "os/linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <sys/stat.h>

enum { ENTRIES_BYTES = 32 * 1024 };

int os_var_changed(const struct os *os, const char *path, uint64_t *changed_ns)
{
    struct stat status;
    if (os->var < 0)
        return -ENOENT;
    if (fstatat(os->var, path, &status, 0) < 0)
        return -errno;
    *changed_ns = (uint64_t)status.st_mtim.tv_sec * NS_PER_SECOND +
                  (uint64_t)status.st_mtim.tv_nsec;
    return 0;
}

struct var_listing {
    os_var_visit *visit;
    void *data;
};

static int visit_var_entry(struct span name, void *data)
{
    const struct var_listing *listing = data;
    return listing->visit(name, listing->data) ? 0 : 1;
}

int os_var_list(const struct os *os, const char *path, os_var_visit *visit, void *data)
{
    int folder = os->var < 0 ? -ENOENT : linux_open(os, os->var, path, O_DIRECTORY);
    if (folder < 0)
        return folder;
    alignas(8) char entries[ENTRIES_BYTES];
    struct var_listing listing = {visit, data};
    int result = linux_entries_each(folder, entries, sizeof entries, visit_var_entry, &listing);
    os_close_descriptor(folder);
    return result < 0 ? result : 0;
}
