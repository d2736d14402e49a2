/* parse_netdev.c: /proc/net/dev.
 *
 * Two lines of titles, then "name: " and sixteen numbers; older kernels print no blank behind the
 * colon. A name may hold a colon itself (an alias), so the last one ends it.
 * Thread rule: pure. */
#include "os/linux/machine/host_files.h"

/* A line with fewer does not say how much was sent. */
enum { COLUMNS_MIN = OS_NETWORK_TRANSMITTED_BYTES + 1 };

static bool split_name(struct span line, struct span *name, struct cursor *numbers)
{
    for (size_t i = line.size; i > 0; i--) {
        if (line.bytes[i - 1] != ':')
            continue;
        struct cursor at = cursor_over(line.bytes, i - 1);
        cursor_blanks(&at);
        while (!cursor_done(&at) && at.end[-1] == ' ')
            at.end--;
        *name = (struct span){at.at, (size_t)(at.end - at.at)};
        *numbers = cursor_over(line.bytes + i, line.size - i);
        return true;
    }
    return false;
}

int host_parse_netdev(const char *bytes, size_t size, struct os_devices *out)
{
    struct cursor text = cursor_over(bytes, size);
    struct cursor at;
    struct span line, name;
    bool any = false;
    bool partial = size > 0 && bytes[size - 1] != '\n';
    out->count = 0;
    while (host_line(&text, &line)) {
        if (!split_name(line, &name, &at))
            continue;
        any = true;
        struct os_device *device = host_device_add(out, name);
        if (device == NULL && name.size > 0 && name.size < OS_DEVICE_NAME)
            return -1;
        unsigned count = 0;
        while (device != NULL && count < OS_NETWORK_NUMBERS &&
               cursor_u64(&at, &device->numbers[count]))
            device->has |= 1u << count++;
        if (count < COLUMNS_MIN) {
            out->count -= device != NULL;
            partial = true;
        }
    }
    out->state = host_list_state(any, partial, out->count > 0);
    return 0;
}
