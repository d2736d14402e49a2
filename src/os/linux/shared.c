/* shared.c: see os/shared.h. */
#include "os/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/file.h"

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

int os_replace_file(const char *path, const void *bytes, size_t size)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    char beside[PATH_BYTES];
    int length = snprintf(beside, sizeof(beside), "%s.new", path), code = 0;
    if (length < 0 || (size_t)length >= sizeof(beside))
        return -ENAMETOOLONG;
    int file = open(beside, flags, 0600);
    /* One that an earlier run left is not followed and not written: it goes. */
    if (file < 0 && errno == EEXIST && unlink(beside) == 0)
        file = open(beside, flags, 0600);
    if (file < 0)
        return -errno;
    if (!file_write_all(file, bytes, size))
        code = -errno;
    if (close(file) < 0 && code == 0)
        code = -errno;
    if (code == 0 && rename(beside, path) < 0)
        code = -errno;
    if (code < 0)
        (void)unlink(beside);
    return code;
}
