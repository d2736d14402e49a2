/* process_nodes.c: whether a process has a device node open.
 *
 * statx through the links of /proc/PID/fd reaches the node itself, whatever the process calls it in
 * its mount namespace, and with AT_STATX_DONT_SYNC asks no server. Thread rule: any thread. */
#include "os/linux/process/process_tables.h"

#include "util/number.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DESCRIPTORS_MAX = 1 << 16 };

static bool is_device(int folder, uint64_t descriptor, uint32_t major, uint32_t minor)
{
    char name[NUMBER_TEXT];
    struct statx status;
    name[number_print_u64(name, descriptor)] = '\0';
    return statx(folder, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &status) == 0 &&
           S_ISCHR(status.stx_mode) && status.stx_rdev_major == major &&
           status.stx_rdev_minor == minor;
}

bool os_process_has_device(const struct os *os, int64_t pid, uint32_t major, uint32_t minor)
{
    int folder = linux_process_open(os, pid, "fd", O_DIRECTORY);
    if (folder < 0)
        return false;
    struct linux_numbers numbers = {0};
    bool cut, found = false;
    if (linux_numbers_read(folder, DESCRIPTORS_MAX, &numbers, &cut) == 0) {
        for (size_t i = 0; i < numbers.count && !found; i++)
            found = is_device(folder, numbers.items[i], major, minor);
    }
    linux_numbers_done(&numbers);
    close(folder);
    return found;
}
