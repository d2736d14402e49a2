/* shared.c: see os/shared.h. */
#include "os/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

void *os_shared_new(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void os_shared_free(void *memory, size_t size)
{
    if (memory != NULL)
        (void)munmap(memory, size);
}

static int write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

/* One that an earlier run left is not followed and not written: it goes. */
static int create(const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int file = open(path, flags, 0600);
    if (file < 0 && errno == EEXIST && unlink(path) == 0)
        file = open(path, flags, 0600);
    return file < 0 ? -errno : file;
}

int os_replace_file(const char *path, const void *bytes, size_t size)
{
    char beside[PATH_BYTES];
    int length = snprintf(beside, sizeof(beside), "%s.new", path);
    if (length < 0 || (size_t)length >= sizeof(beside))
        return -ENAMETOOLONG;
    int file = create(beside);
    if (file < 0)
        return file;
    int code = write_all(file, bytes, size);
    if (close(file) < 0 && code == 0)
        code = -errno;
    if (code == 0 && rename(beside, path) < 0)
        code = -errno;
    if (code < 0)
        (void)unlink(beside);
    return code;
}
