/* parse_devices.c: /proc/diskstats and /proc/net/dev.
 *
 * Disks: "major minor name" and 11, 15 or 17 numbers (kernel documentation, admin-guide/iostats),
 * or 4 for the partitions of kernels before 2.6.25; Linux 2.4 puts the first number before the
 * name. Thread rule: pure. */
#include "os/linux/lines.h"
#include "os/linux/machine/host_files.h"

#include "util/memory.h"

#include <string.h>

enum { COLUMNS_OLD = 4, COLUMNS_MIN = 11 };

/* A line of a network interface with fewer numbers lacks the bytes sent. */
enum { NETWORK_MIN = OS_NETWORK_TRANSMITTED_BYTES + 1 };

/* Columns of the four numbers of a partition on an old kernel. */
static const unsigned char OLD[COLUMNS_OLD] = {OS_DISK_READS, OS_DISK_SECTORS_READ, OS_DISK_WRITES,
                                               OS_DISK_SECTORS_WRITTEN};

/* Appends a device without numbers; NULL if the name is invalid, or memory is exhausted. */
static struct os_device *device_add(struct os_devices *devices, struct span name)
{
    if (name.size == 0 || name.size >= OS_DEVICE_NAME)
        return NULL;
    if (MEMORY_GROW(devices->items, devices->capacity, devices->count) != 0)
        return NULL;
    struct os_device *device = &devices->items[devices->count++];
    *device = (struct os_device){0};
    memcpy(device->name, name.bytes, name.size);
    return device;
}

/* Returns how complete a list is; partial: some lines could not be read. */
static signed char list_state(bool any, bool partial, bool whole)
{
    if (!any)
        return VITALS_UNSUPPORTED;
    /* If no line could be read, nothing is known: not even a lower bound of 0. */
    return !partial ? VITALS_HAVE : whole ? VITALS_LOWER_BOUND : VITALS_FAILED;
}

int host_parse_diskstats(const char *bytes, size_t size, struct os_devices *out)
{
    struct cursor text = cursor_over(bytes, size);
    struct span line, name;
    uint64_t number;
    bool any = false;
    bool partial = size > 0 && bytes[size - 1] != '\n';
    out->count = 0;
    while (host_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        if (!cursor_u64(&at, &number) || !cursor_u64(&at, &number) || !cursor_word(&at, &name))
            continue;
        any = true;
        struct cursor first = cursor_over(name.bytes, name.size);
        bool before = name.size < OS_DEVICE_NAME && cursor_u64(&first, &number) &&
                      cursor_done(&first); // of Linux 2.4
        if (before && !cursor_word(&at, &name))
            name.size = 0;
        struct os_device *device = device_add(out, name);
        if (device == NULL && name.size > 0 && name.size < OS_DEVICE_NAME)
            return -1;
        unsigned count = 0;
        if (device != NULL && before)
            device->numbers[count++] = number;
        while (device != NULL && count < OS_DEVICE_NUMBERS &&
               cursor_u64(&at, &device->numbers[count]))
            count++;
        if (count != COLUMNS_OLD && count < COLUMNS_MIN) {
            out->count -= device != NULL;
            partial = true;
            continue;
        }
        device->has = count == COLUMNS_OLD ? 0 : (1u << count) - 1;
        for (unsigned i = COLUMNS_OLD; count == COLUMNS_OLD && i-- > 0;) {
            device->numbers[OLD[i]] = device->numbers[i];
            device->has |= 1u << OLD[i];
        }
    }
    out->state = list_state(any, partial, out->count > 0);
    return 0;
}

/* /proc/net/dev: two header lines, then "name: " and sixteen numbers; older kernels print no blank
 * after the colon. A name may have a colon itself (an alias), so the last one ends it. */
int host_parse_netdev(const char *bytes, size_t size, struct os_devices *out)
{
    struct cursor text = cursor_over(bytes, size);
    struct span line;
    bool any = false;
    bool partial = size > 0 && bytes[size - 1] != '\n';
    out->count = 0;
    while (host_line(&text, &line)) {
        size_t colon = line.size;
        while (colon > 0 && line.bytes[colon - 1] != ':')
            colon--;
        if (colon == 0)
            continue;
        struct cursor at = cursor_over(line.bytes + colon, line.size - colon);
        struct span name = lines_trim((struct span){line.bytes, colon - 1});
        any = true;
        struct os_device *device = device_add(out, name);
        if (device == NULL && name.size > 0 && name.size < OS_DEVICE_NAME)
            return -1;
        unsigned count = 0;
        while (device != NULL && count < OS_NETWORK_NUMBERS &&
               cursor_u64(&at, &device->numbers[count]))
            device->has |= 1u << count++;
        if (count < NETWORK_MIN) {
            out->count -= device != NULL;
            partial = true;
        }
    }
    out->state = list_state(any, partial, out->count > 0);
    return 0;
}
