/* job_files.c: small files that services leave below /run and /var. The content is not parsed here.
 *
 * Only root, and users that root trusts with it, may write in such a folder; still, only regular
 * files are opened, links are not followed, and no more is read than there is room for. Thread
 * rule: workers only, a disk answers. */
#include "os/linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int os_job_files_open(const struct os *os, enum os_job_files where, const char *path)
{
    int root = where == OS_JOB_FILES_RUN ? os->run : os->var;
    return root < 0 ? -ENOENT : linux_open(os, root, path, O_DIRECTORY);
}

static int read_whole(int descriptor, char *out, size_t capacity, size_t *size)
{
    while (*size < capacity) {
        int64_t got = linux_read(descriptor, out + *size, capacity - *size, *size);
        if (got <= 0)
            return (int)got;
        *size += (size_t)got;
    }
    char beyond;
    int64_t more = linux_read(descriptor, &beyond, 1, capacity);
    return more > 0 ? -EFBIG : (int)more;
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
    int result = read_whole(descriptor, out, capacity, size);
    os_close_descriptor(descriptor);
    return result;
}
