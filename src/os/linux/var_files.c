/* var_files.c: what services keep below /var. Thread rule: workers only, a disk answers. */
#include "os/linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Takes the entries of one call; false in *go_on: `visit` has had enough. */
static int take_entries(struct cursor cursor, os_var_visit *visit, void *data, bool *go_on)
{
    struct span name;
    int more = 1;
    while (*go_on && (more = linux_entry_next(&cursor, &name)) > 0)
        *go_on = visit(name, data);
    return more < 0 ? more : 0;
}

int os_var_list(const struct os *os, const char *path, os_var_visit *visit, void *data)
{
    int folder = os->var < 0 ? -ENOENT : linux_open(os, os->var, path, O_DIRECTORY);
    if (folder < 0)
        return folder;
    alignas(8) char entries[ENTRIES_BYTES];
    bool go_on = true;
    int result = 0;
    while (result == 0 && go_on) {
        long size = syscall(SYS_getdents64, folder, entries, sizeof entries);
        if (size <= 0) {
            result = size < 0 ? -errno : 0;
            break;
        }
        result = take_entries(cursor_over(entries, (size_t)size), visit, data, &go_on);
    }
    os_close_descriptor(folder);
    return result;
}
