/* driver_files.c: the files of a driver in /proc and /dev, to find out why a device is missing. */
#include "os/linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int os_proc_text(const struct os *os, const char *path, char *out, size_t capacity)
{
    int64_t size = linux_read_line(os, os->proc, path, out, capacity);
    return size < 0 ? (int)size : 0;
}

int os_dev_access(const struct os *os, const char *path)
{
    if (os->dev < 0)
        return -ENOENT;
    return faccessat(os->dev, path, R_OK | W_OK, AT_EACCESS) < 0 ? -errno : 0;
}
