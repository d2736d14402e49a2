/* parse_vmstat.c: /proc/vmstat, "key number" per line.
 *
 * Swap is counted in pages, of whatever size this kernel has.
 * Thread rule: pure. */
#include "os/linux/machine/host_files.h"

void host_parse_vmstat(const char *bytes, size_t size, uint64_t page_bytes, struct values *machine)
{
    const struct host_field fields[] = {
        {"pswpin", VITALS_HOST_SWAP_IN_BYTES, page_bytes},
        {"pswpout", VITALS_HOST_SWAP_OUT_BYTES, page_bytes},
        {"oom_kill", VITALS_HOST_OOM_KILLS, 1},
    };
    struct cursor text = cursor_over(bytes, size);
    struct span line, key;
    while (host_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        if (cursor_word(&at, &key))
            host_field_set(fields, ARRAY_COUNT(fields), key, &at, machine);
    }
}
