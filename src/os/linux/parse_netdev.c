/* parse_netdev.c: /proc/net/dev, summed over all interfaces but loopback.
 *
 * Two lines of titles, then "name: " and sixteen numbers; older kernels print no blank behind the
 * colon. A name may hold a colon itself (an alias), so the last one ends it.
 * Thread rule: pure. */
#include "os/linux/host_files.h"

enum { RECEIVED = 0, TRANSMITTED = 8, COLUMNS = TRANSMITTED + 1 };

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

void host_parse_netdev(const char *bytes, size_t size, struct values *machine)
{
    struct cursor text = cursor_over(bytes, size);
    struct cursor at;
    struct span line, name;
    uint64_t received = 0, transmitted = 0;
    bool any = false, whole = false;
    bool partial = size > 0 && bytes[size - 1] != '\n';
    while (host_line(&text, &line)) {
        if (!split_name(line, &name, &at))
            continue;
        any = true;
        if (span_equal(name, "lo")) {
            whole = true;
            continue;
        }
        uint64_t numbers[COLUMNS];
        unsigned count = 0;
        while (count < COLUMNS && cursor_u64(&at, &numbers[count]))
            count++;
        if (count < COLUMNS) {
            partial = true;
            continue;
        }
        whole = true;
        received = saturating_add(received, numbers[RECEIVED]);
        transmitted = saturating_add(transmitted, numbers[TRANSMITTED]);
    }
    if (!any)
        return;
    // Where no line could be read, nothing is known: not even that it is at least 0.
    signed char state = !partial ? VITALS_HAVE : whole ? VITALS_LOWER_BOUND : VITALS_FAILED;
    values_set(machine, VITALS_HOST_NETWORK_RECEIVED_BYTES,
               (struct value){.as.u64 = received, .state = state});
    values_set(machine, VITALS_HOST_NETWORK_TRANSMITTED_BYTES,
               (struct value){.as.u64 = transmitted, .state = state});
}
