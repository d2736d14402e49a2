/* parse_diskstats.c: /proc/diskstats.
 *
 * "major minor name" and 11, 15 or 17 numbers (kernel documentation, admin-guide/iostats), or 4
 * for the partitions of kernels before 2.6.25; Linux 2.4 puts the first number before the name.
 * Thread rule: pure. */
#include "os/linux/machine/host_files.h"

#include "util/memory.h"

#include <string.h>

enum { COLUMNS_OLD = 4, COLUMNS_MIN = 11 };

/* Where the four numbers of an old kernel's partition belong. */
static const unsigned char OLD[COLUMNS_OLD] = {OS_DISK_READS, OS_DISK_SECTORS_READ, OS_DISK_WRITES,
                                               OS_DISK_SECTORS_WRITTEN};

struct os_device *host_device_add(struct os_devices *devices, struct span name)
{
    if (name.size == 0 || name.size >= OS_DEVICE_NAME)
        return NULL;
    void *items = devices->items;
    if (memory_grow(&items, &devices->capacity, devices->count, sizeof *devices->items) != 0)
        return NULL;
    devices->items = items;
    struct os_device *device = &devices->items[devices->count++];
    *device = (struct os_device){0};
    memcpy(device->name, name.bytes, name.size);
    return device;
}

static bool is_number(struct span word)
{
    for (size_t i = 0; i < word.size; i++)
        if (word.bytes[i] < '0' || word.bytes[i] > '9')
            return false;
    return true;
}

/* The name, and the numbers behind it; false where there are too few. */
static bool take_line(struct cursor *at, struct span name, struct os_device *out)
{
    unsigned count = 0;
    if (is_number(name)) {
        struct cursor first = cursor_over(name.bytes, name.size);
        if (!cursor_u64(&first, &out->numbers[count++]) || !cursor_word(at, &name) ||
            name.size >= OS_DEVICE_NAME)
            return false;
        memset(out->name, 0, sizeof out->name);
        memcpy(out->name, name.bytes, name.size);
    }
    while (count < OS_DEVICE_NUMBERS && cursor_u64(at, &out->numbers[count]))
        count++;
    out->has = (1u << count) - 1;
    if (count == COLUMNS_OLD) {
        out->has = 0;
        for (unsigned i = COLUMNS_OLD; i-- > 0;) {
            out->numbers[OLD[i]] = out->numbers[i];
            out->has |= 1u << OLD[i];
        }
    }
    return count == COLUMNS_OLD || count >= COLUMNS_MIN;
}

signed char host_list_state(bool any, bool partial, bool whole)
{
    if (!any)
        return VITALS_UNSUPPORTED;
    // Where no line could be read, nothing is known: not even that it is at least 0.
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
        struct os_device *device = host_device_add(out, name);
        if (device == NULL && name.size < OS_DEVICE_NAME)
            return -1;
        if (device == NULL || !take_line(&at, name, device)) {
            out->count -= device != NULL;
            partial = true;
        }
    }
    out->state = host_list_state(any, partial, out->count > 0);
    return 0;
}
