/* process_metrics_status.c: what /proc/PID/status tells, all of it from one reading.
 *
 * A field that a zombie lacks is VITALS_GONE. A kernel thread has no memory: its sizes are 0, as
 * its PSS is. Any other missing field is VITALS_UNSUPPORTED: an older kernel. Thread rule: any
 * thread. */
#include "os/linux/process/process_metrics.h"

#include "util/number.h"
#include "util/signal_names.h"

#include <string.h>
#include <sys/stat.h>

/* A line lists the process's groups, which may be 65536. */
enum { STATUS_LIMIT = 1 << 20 };

static void set_names(struct row_batch *out, vitals_metric metric, struct buffer *names)
{
    if (names->failed)
        batch_set_missing(out, metric, VITALS_FAILED);
    else
        batch_set_text(out, metric, (struct span){names->bytes, names->size});
    buffer_reset(names);
}

static void set_capabilities(struct metrics_reading *reading, vitals_metric metric, bool known,
                             uint64_t mask, vitals_availability missing)
{
    if (!batch_wants(reading->out, metric))
        return;
    if (!known) {
        batch_set_missing(reading->out, metric, missing);
        return;
    }
    // Only a mask without a gap can be all that there are.
    uint64_t last = 63, told;
    char text[NUMBER_TEXT];
    if (mask != 0 && (mask & (mask + 1)) == 0) {
        linux_read_line(reading->os, reading->os->proc, "sys/kernel/cap_last_cap", text,
                        sizeof text);
        last = number_is_u64(text, &told) && told < 64 ? told : 63;
    }
    struct buffer names = {0};
    linux_format_capabilities(mask, (unsigned)last, &names);
    set_names(reading->out, metric, &names);
    buffer_done(&names);
}

/* A signal may be pending for the process or for its first thread. */
static void set_signals(struct row_batch *out, const struct os_status *status,
                        vitals_availability missing)
{
    enum { ANY_PENDING = OS_STATUS_PENDING | OS_STATUS_THREAD_PENDING };
    const struct {
        vitals_metric metric;
        unsigned bits;
        uint64_t mask;
    } masks[] = {
        {VITALS_PROCESS_SIGNALS_BLOCKED, OS_STATUS_BLOCKED, status->blocked},
        {VITALS_PROCESS_SIGNALS_IGNORED, OS_STATUS_IGNORED, status->ignored},
        {VITALS_PROCESS_SIGNALS_CAUGHT, OS_STATUS_CAUGHT, status->caught},
        {VITALS_PROCESS_SIGNALS_PENDING, ANY_PENDING, status->pending | status->thread_pending},
    };
    struct buffer names = {0};
    for (size_t i = 0; i < ARRAY_COUNT(masks); i++) {
        if (!batch_wants(out, masks[i].metric))
            continue;
        if ((status->has & masks[i].bits) != masks[i].bits) {
            batch_set_missing(out, masks[i].metric, missing);
            continue;
        }
        signal_names_of_mask(masks[i].mask, &names);
        set_names(out, masks[i].metric, &names);
    }
    buffer_done(&names);
}

/* Their numbers, joined by commas. */
static void set_groups(struct row_batch *out, const struct os_status *status,
                       vitals_availability missing)
{
    vitals_metric metric = VITALS_PROCESS_SUPPLEMENTARY_GIDS;
    if (!batch_wants(out, metric))
        return;
    if ((status->has & OS_STATUS_GROUPS) == 0) {
        batch_set_missing(out, metric, missing);
        return;
    }
    struct buffer numbers = {0};
    struct cursor cursor = cursor_over(status->groups.bytes, status->groups.size);
    for (struct span word; cursor_word(&cursor, &word);) {
        if (numbers.size > 0)
            buffer_string(&numbers, ",");
        buffer_append(&numbers, word.bytes, word.size);
    }
    if (numbers.size == 0)
        batch_set_string(out, metric, "");
    else
        set_names(out, metric, &numbers);
    buffer_done(&numbers);
}

static void set_texts(struct metrics_reading *reading, const struct os_status *status,
                      vitals_availability missing)
{
    static const char *const MODES[] = {"disabled", "strict", "filter"};
    struct row_batch *out = reading->out;
    set_capabilities(reading, VITALS_PROCESS_CAPABILITIES, (status->has & OS_STATUS_EFFECTIVE) != 0,
                     status->effective, missing);
    set_capabilities(reading, VITALS_PROCESS_CAPABILITIES_PERMITTED,
                     (status->has & OS_STATUS_PERMITTED) != 0, status->permitted, missing);
    bool has_mode = (status->has & OS_STATUS_SECCOMP) != 0;
    if (has_mode && status->seccomp < ARRAY_COUNT(MODES))
        batch_set_string(out, VITALS_PROCESS_SECCOMP, MODES[status->seccomp]);
    else
        batch_set_missing(out, VITALS_PROCESS_SECCOMP, has_mode ? VITALS_FAILED : missing);

    bool has_cpus = (status->has & OS_STATUS_CPUS) != 0;
    uint64_t count;
    if (has_cpus)
        batch_set_text(out, VITALS_PROCESS_CPUS_ALLOWED_LIST, status->cpus);
    else
        batch_set_missing(out, VITALS_PROCESS_CPUS_ALLOWED_LIST, missing);
    if (has_cpus && linux_count_cpus(status->cpus, &count))
        batch_set_u64(out, VITALS_PROCESS_CPUS_ALLOWED, count);
    else
        batch_set_missing(out, VITALS_PROCESS_CPUS_ALLOWED, has_cpus ? VITALS_FAILED : missing);
}

/* The owner of the process's folder, where nothing else is wanted: that is its effective user and
 * group. If the process may not be traced, its files belong to root (fs/proc/base.c), the folder
 * does not: one call, a seventh of the time. */
static bool read_owner(struct metrics_reading *reading, const vitals_metric *metrics)
{
    char path[PROCESS_PATH];
    struct stat status;
    for (; *metrics != 0; metrics++)
        if (batch_wants(reading->out, *metrics) && *metrics != VITALS_PROCESS_EFFECTIVE_UID &&
            *metrics != VITALS_PROCESS_EFFECTIVE_GID)
            return false;
    if (!reading->os->live || !linux_process_path(path, reading->pid, "") ||
        fstatat(reading->os->proc, path, &status, 0) != 0)
        return false;
    batch_set_u64(reading->out, VITALS_PROCESS_EFFECTIVE_UID, status.st_uid);
    batch_set_u64(reading->out, VITALS_PROCESS_EFFECTIVE_GID, status.st_gid);
    return true;
}

/* The fields of all metrics that are wanted; and those that tell what has memory, where one of them
 * is missing. */
static unsigned wanted_of(const struct row_batch *out)
{
#define NUMBER(name, member, label, form, metric) {VITALS_PROCESS_##metric, OS_STATUS_##name},
    static const struct {
        vitals_metric metric;
        unsigned bits;
    } NEEDS[] = {OS_STATUS_METRICS(NUMBER){VITALS_PROCESS_CAPABILITIES, OS_STATUS_EFFECTIVE},
                 {VITALS_PROCESS_CAPABILITIES_PERMITTED, OS_STATUS_PERMITTED},
                 {VITALS_PROCESS_SECCOMP, OS_STATUS_SECCOMP},
                 {VITALS_PROCESS_CPUS_ALLOWED, OS_STATUS_CPUS},
                 {VITALS_PROCESS_CPUS_ALLOWED_LIST, OS_STATUS_CPUS},
                 {VITALS_PROCESS_SUPPLEMENTARY_GIDS, OS_STATUS_GROUPS},
                 {VITALS_PROCESS_SIGNALS_BLOCKED, OS_STATUS_BLOCKED},
                 {VITALS_PROCESS_SIGNALS_IGNORED, OS_STATUS_IGNORED},
                 {VITALS_PROCESS_SIGNALS_CAUGHT, OS_STATUS_CAUGHT},
                 {VITALS_PROCESS_SIGNALS_PENDING, OS_STATUS_PENDING | OS_STATUS_THREAD_PENDING}};
#undef NUMBER
    unsigned wanted = 0;
    for (size_t i = 0; i < ARRAY_COUNT(NEEDS); i++)
        wanted |= batch_wants(out, NEEDS[i].metric) ? NEEDS[i].bits : 0;
    return wanted;
}

void metrics_read_status(struct metrics_reading *reading, const vitals_metric *metrics)
{
    if (read_owner(reading, metrics))
        return;
    struct os_status status;
    bool cut;
    int result = metrics_file(reading, "status", STATUS_LIMIT, &cut);
    const unsigned sizes = OS_STATUS_VIRTUAL_PEAK | OS_STATUS_ANON;
    const unsigned wanted = wanted_of(reading->out);
    if (result < 0 ||
        !os_parse_status(reading->text.bytes, reading->text.size, wanted | sizes, &status)) {
        batch_missing_all(reading->out, metrics,
                          result < 0 ? batch_reason(reading, result) : VITALS_FAILED);
        return;
    }
    bool zombie = status.state == 'Z' || status.state == 'X';
    vitals_availability missing = cut ? VITALS_FAILED : zombie ? VITALS_GONE : VITALS_UNSUPPORTED;
    /* A process without memory has sizes of 0; a peak of none is none. */
    bool memory = (status.has & sizes) != 0;
    unsigned has = status.has;
    bool lacks_size = (wanted & ~has) >= OS_STATUS_LOCKED; // from there on all are sizes
    if (!memory && missing == VITALS_UNSUPPORTED && lacks_size &&
        metrics_kind_of(reading) == PROCESS_KERNEL_THREAD)
        has |= ~((unsigned)OS_STATUS_LOCKED - 1);
#define NUMBER(name, member, label, form, metric) \
    {VITALS_PROCESS_##metric, OS_STATUS_##name, status.member},
    const struct metrics_number numbers[] = {OS_STATUS_METRICS(NUMBER)};
#undef NUMBER
    batch_set_numbers(reading->out, numbers, ARRAY_COUNT(numbers), has, VITALS_HAVE, missing);
    set_texts(reading, &status, missing);
    set_signals(reading->out, &status, missing);
    set_groups(reading->out, &status, missing);
}

/* Those of <linux/capability.h> in the order of their numbers, which never change; one that is
 * newer than this list is written as its number. */
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
