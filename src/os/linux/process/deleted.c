/* deleted.c: is it the kernel that says " (deleted)", or is the file called so?
 *
 * /proc writes a path and appends " (deleted)" where the name is gone, so that a file which is
 * called "notes (deleted)" reads the same as a "notes" that was removed. The text alone cannot say,
 * and looking for a file of that name in our own mount namespace finds others' files. An open or
 * mapped file keeps its name in the kernel's memory as long as it has one: so the text is looked up
 * from the process's own root, there only (RESOLVE_CACHED), and the inode compared. Nothing waits
 * for a dead server, no symbolic link leads elsewhere. Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

bool linux_ends_deleted(struct span text, struct span *cut)
{
    static const char MARK[] = " (deleted)";
    const size_t size = sizeof MARK - 1;
    if (text.size <= size || memcmp(text.bytes + text.size - size, MARK, size) != 0)
        return false;
    *cut = (struct span){text.bytes, text.size - size};
    return true;
}

#ifdef SYS_openat2

/* As the kernel has it; <linux/openat2.h> is newer than some that we are built on. */
struct how {
    uint64_t flags, mode, resolve;
};

enum { NO_MAGICLINKS = 0x02, IN_ROOT = 0x10, CACHED = 0x20 };

/* A descriptor that stands for the file, or negative errno. */
static int look_up(int root, const char *path)
{
    const struct how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
                            .resolve = NO_MAGICLINKS | IN_ROOT | CACHED};
    long found = syscall(SYS_openat2, root, path, &how, sizeof how);
    return found < 0 ? -errno : (int)found;
}

#else

static int look_up(int root UNUSED, const char *path UNUSED)
{
    return -ENOSYS;
}

#endif

int linux_root_names(int root, struct span path, const struct linux_file *file)
{
    char text[PATH_BYTES];
    if (path.size == 0 || path.size >= sizeof text || memchr(path.bytes, '\0', path.size) != NULL)
        return 0;
    memcpy(text, path.bytes, path.size);
    text[path.size] = '\0';
    if (root < 0)
        return -1;
    int found = look_up(root, text);
    if (found == -EAGAIN) {
        // The kernel does not have the name in memory, as it would if this were its file. But if it
        // has not even the folder's, that may be one of those that ask a server at every look, and
        // of a name in there nothing can be said.
        char *slash = strrchr(text, '/');
        bool below_root = slash == NULL || slash == text;
        if (!below_root)
            *slash = '\0';
        int folder = below_root ? -1 : look_up(root, text);
        os_close_descriptor(folder);
        return below_root || folder >= 0 ? 0 : -1;
    }
    if (found < 0)
        return found == -ENOENT || found == -ENOTDIR || found == -ELOOP || found == -ENAMETOOLONG
                   ? 0
                   : -1;
    struct statx status;
    int result = linux_statx(found, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &status);
    os_close_descriptor(found);
    if (result < 0)
        return -1;
    bool same_device = !file->has_device ||
                       (status.stx_dev_major == file->major && status.stx_dev_minor == file->minor);
    return status.stx_ino == file->inode && same_device;
}

int linux_process_root(const struct os *os, int64_t pid)
{
    return linux_process_open(os, pid, "root", O_PATH | O_DIRECTORY);
}

int linux_process_names(const struct os *os, int64_t pid, struct span path,
                        const struct linux_file *file)
{
    int root = linux_process_root(os, pid);
    int result = linux_root_names(root, path, file);
    os_close_descriptor(root);
    return result;
}
