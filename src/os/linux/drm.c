/* drm.c: commands of a DRM driver, by ioctl(2) on a node that is opened for it.
 *
 * A node is opened only if its device number is the expected one, as /dev/dri may hold anything.
 * Open descriptors are recorded, so that the sweep of /proc does not take vitals for a client.
 * Thread rule: any thread; a descriptor belongs to one. */
#include "os/linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { COMMAND_BASE = 0x40, NODE_PATH = 64 };

static bool is_device(const struct stat *status, uint32_t number_major, uint32_t number_minor)
{
    return S_ISCHR(status->st_mode) && major(status->st_rdev) == number_major &&
           minor(status->st_rdev) == number_minor;
}

/* More at once than there are workers in drivers; one beyond is swept like any client. */
enum { OURS_MAX = 64 };
static atomic_int ours[OURS_MAX]; /* descriptors and one; 0: free */

static void replace(int before, int after)
{
    for (size_t i = 0; i < OURS_MAX; i++) {
        int expected = before;
        if (atomic_compare_exchange_strong(&ours[i], &expected, after))
            return;
    }
}

bool os_drm_is_ours(int64_t pid, uint64_t descriptor)
{
    if (pid != getpid() || descriptor >= INT32_MAX)
        return false;
    for (size_t i = 0; i < OURS_MAX; i++) {
        if (atomic_load(&ours[i]) == (int)descriptor + 1)
            return true;
    }
    return false;
}

void os_drm_close(int descriptor)
{
    if (descriptor < 0)
        return;
    close(descriptor);
    replace(descriptor + 1, 0);
}

int os_drm_open(const struct os *os, const char *name, uint32_t major, uint32_t minor)
{
    char path[NODE_PATH];
    struct stat status;
    int size = snprintf(path, sizeof path, "dri/%s", name);
    if (!os->live || os->dev < 0)
        return -ENOTSUP;
    if (size < 0 || size >= NODE_PATH || strchr(name, '/') != NULL)
        return -EINVAL;
    if (fstatat(os->dev, path, &status, 0) < 0) {
        int error = errno;
        linux_trace(os, path, error);
        return -error;
    }
    if (!is_device(&status, major, minor))
        return -ENODEV;
    int descriptor = linux_open(os, os->dev, path, O_RDWR | O_NONBLOCK | O_NOCTTY);
    if (descriptor >= 0 && (fstat(descriptor, &status) < 0 || !is_device(&status, major, minor))) {
        close(descriptor);
        return -ENODEV;
    }
    if (descriptor >= 0)
        replace(0, descriptor + 1);
    return descriptor;
}

int os_drm_ask(int descriptor, unsigned command, void *argument, size_t size)
{
    unsigned long request = _IOC(_IOC_READ | _IOC_WRITE, 'd', COMMAND_BASE + command, size);
    int result;
    do
        result = ioctl(descriptor, request, argument);
    while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : 0;
}
