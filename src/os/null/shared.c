/* shared.c: see os/shared.h; there is none here. */
#include "os/shared.h"

#include <errno.h>

void *os_shared_new(size_t size)
{
    (void)size;
    return NULL;
}

void os_shared_free(void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

int os_replace_file(const char *path, const void *bytes, size_t size)
{
    (void)path;
    (void)bytes;
    (void)size;
    return -ENOTSUP;
}
