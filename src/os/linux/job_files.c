/* job_files.c: what services leave below /run and /var. The content is not parsed here.
 *
 * Only root, and users that root trusts with it, may write in such a folder; still, only regular
 * files are opened, links are not followed, and no more is read than there is room for. Thread
 * rule: workers only, a disk answers. */
#include "os/linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <sys/stat.h>

enum { ENTRIES_BYTES = 32 * 1024 };

int os_job_files_open(const struct os *os, enum os_job_files where, const char *path)
{
    int root = where == OS_JOB_FILES_RUN ? os->run : os->var;
    return root < 0 ? -ENOENT : linux_open(os, root, path, O_DIRECTORY);
}

int os_note_read(int folder, const char *name, char *out, size_t capacity, size_t *size)
{
    static const struct os silent = {0}; // that a device has no note is not worth a line
    struct stat status;
    *size = 0;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    // Should it become a FIFO meanwhile, opening returns at once and reading it by place fails.
    int descriptor = linux_open(&silent, folder, name, O_NOFOLLOW);
    if (descriptor < 0)
        return descriptor;
    int result = linux_read_bytes(descriptor, false, out, capacity, size);
    os_close_descriptor(descriptor);
    return result;
}

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
