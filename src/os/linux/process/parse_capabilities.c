/* parse_capabilities.c: capabilities as names, and lists of CPUs as a count. Pure.
 *
 * The names are those of <linux/capability.h> in the order of their numbers, which never change;
 * one that is newer than this list is written as its number. */
#include "os/linux/process/process_metrics.h"

// clang-format off
static const char *const NAMES[] = {
    "chown", "dac_override", "dac_read_search", "fowner", "fsetid", "kill", "setgid", "setuid",
    "setpcap", "linux_immutable", "net_bind_service", "net_broadcast", "net_admin", "net_raw",
    "ipc_lock", "ipc_owner", "sys_module", "sys_rawio", "sys_chroot", "sys_ptrace", "sys_pacct",
    "sys_admin", "sys_boot", "sys_nice", "sys_resource", "sys_time", "sys_tty_config", "mknod",
    "lease", "audit_write", "audit_control", "setfcap", "mac_override", "mac_admin", "syslog",
    "wake_alarm", "block_suspend", "audit_read", "perfmon", "bpf", "checkpoint_restore",
};
// clang-format on

enum { CAPABILITIES_MAX = 64 };

void linux_format_capabilities(uint64_t mask, unsigned last, struct buffer *out)
{
    uint64_t all = last < CAPABILITIES_MAX - 1 ? ((uint64_t)1 << (last + 1)) - 1 : UINT64_MAX;
    if (mask == all) {
        buffer_string(out, "all");
        return;
    }
    for (unsigned i = 0, count = 0; i < CAPABILITIES_MAX; i++) {
        if ((mask >> i & 1) == 0)
            continue;
        buffer_string(out, count++ != 0 ? "," : "");
        if (i < ARRAY_COUNT(NAMES))
            buffer_string(out, NAMES[i]);
        else
            buffer_u64(out, i);
    }
}

bool linux_count_cpus(struct span list, uint64_t *out)
{
    enum { CPUS_MAX = 1 << 20 };
    struct cursor cursor = cursor_over(list.bytes, list.size);
    uint64_t count = 0, next = 0;
    while (!cursor_done(&cursor)) {
        uint64_t first, last;
        if (!cursor_u64(&cursor, &first))
            return false;
        last = first;
        if (cursor_literal(&cursor, "-") && !cursor_u64(&cursor, &last))
            return false;
        // In ascending order, or one would be counted twice.
        if (first < next || last < first || last >= CPUS_MAX)
            return false;
        count += last - first + 1;
        next = last + 1;
        if (!cursor_done(&cursor) && (!cursor_literal(&cursor, ",") || cursor_done(&cursor)))
            return false;
    }
    *out = count;
    return count != 0;
}
