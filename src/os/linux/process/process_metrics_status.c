/* process_metrics_status.c: what /proc/PID/status tells, all of it from one reading.
 *
 * What a zombie no longer has is gone; what else has no line the kernel does not tell: an older
 * one, or of a thread of its own, which has no memory. Thread rule: any thread. */
#include "os/linux/process/process_metrics.h"

#include "util/number.h"

#include <string.h>
#include <sys/stat.h>

/* A line lists the process's groups, which may be 65536. */
enum { STATUS_LIMIT = 1 << 20 };

static const struct {
    vitals_metric metric;
    uint16_t place; /* in os_status */
    unsigned bit;
} NUMBERS[] = {
#define NUMBER(metric, place, bit)                                                  \
    {                                                                               \
        VITALS_PROCESS_##metric, offsetof(struct os_status, place), OS_STATUS_##bit \
    }
    NUMBER(UID, uid, UID),
    NUMBER(EFFECTIVE_UID, effective_uid, UIDS),
    NUMBER(SAVED_UID, saved_uid, UIDS),
    NUMBER(GID, gid, GID),
    NUMBER(EFFECTIVE_GID, effective_gid, GIDS),
    NUMBER(SAVED_GID, saved_gid, GIDS),
    NUMBER(NAMESPACE_PID, namespace_pid, NAMESPACE_PID),
    NUMBER(TRACER_PID, tracer_pid, TRACER),
    NUMBER(UMASK, umask, UMASK),
    NUMBER(NO_NEW_PRIVILEGES, no_new_privileges, NO_NEW_PRIVILEGES),
    NUMBER(VIRTUAL_PEAK_BYTES, virtual_peak_bytes, VIRTUAL_PEAK),
    NUMBER(LOCKED_BYTES, locked_bytes, LOCKED),
    NUMBER(RESIDENT_ANON_BYTES, anon_bytes, ANON),
    NUMBER(RESIDENT_FILE_BYTES, file_bytes, FILE),
    NUMBER(RESIDENT_SHMEM_BYTES, shmem_bytes, SHMEM),
    NUMBER(SWAPPED_BYTES, swapped_bytes, SWAPPED),
    NUMBER(HUGETLB_BYTES, hugetlb_bytes, HUGETLB),
#undef NUMBER
};

/* ---- texts ---- */

/* The number of the kernel's last capability. */
static unsigned last_capability(const struct os *os)
{
    char text[NUMBER_TEXT];
    uint64_t last;
    linux_read_line(os, os->proc, "sys/kernel/cap_last_cap", text, sizeof text);
    return number_is_u64(text, &last) && last < 64 ? (unsigned)last : 63;
}

static void set_capabilities(struct metrics_reading *reading, vitals_metric metric, uint64_t mask)
{
    if (!batch_wants(reading->out, metric))
        return;
    // Only a mask without a gap can be all that there are.
    bool may_be_all = mask != 0 && (mask & (mask + 1)) == 0;
    struct buffer names = {0};
    linux_format_capabilities(mask, may_be_all ? last_capability(reading->os) : 63, &names);
    if (names.failed)
        batch_set_missing(reading->out, metric, VITALS_FAILED);
    else
        batch_set_text(reading->out, metric, (struct span){names.bytes, names.size});
    buffer_done(&names);
}

static void set_seccomp(struct row_batch *out, uint64_t mode)
{
    static const char *const MODES[] = {"disabled", "strict", "filter"};
    if (mode < ARRAY_COUNT(MODES))
        batch_set_string(out, VITALS_PROCESS_SECCOMP, MODES[mode]);
    else
        batch_set_missing(out, VITALS_PROCESS_SECCOMP, VITALS_FAILED);
}

static void set_cpus(struct row_batch *out, struct span list)
{
    uint64_t count;
    batch_set_text(out, VITALS_PROCESS_CPUS_ALLOWED_LIST, list);
    if (linux_count_cpus(list, &count))
        batch_set_u64(out, VITALS_PROCESS_CPUS_ALLOWED, count);
    else
        batch_set_missing(out, VITALS_PROCESS_CPUS_ALLOWED, VITALS_FAILED);
}

/* ---- all of it ---- */

static void set_texts(struct metrics_reading *reading, const struct os_status *status,
                      vitals_availability missing)
{
    struct row_batch *out = reading->out;
    if ((status->has & OS_STATUS_EFFECTIVE) != 0)
        set_capabilities(reading, VITALS_PROCESS_CAPABILITIES, status->effective);
    else
        batch_set_missing(out, VITALS_PROCESS_CAPABILITIES, missing);
    if ((status->has & OS_STATUS_PERMITTED) != 0)
        set_capabilities(reading, VITALS_PROCESS_CAPABILITIES_PERMITTED, status->permitted);
    else
        batch_set_missing(out, VITALS_PROCESS_CAPABILITIES_PERMITTED, missing);
    if ((status->has & OS_STATUS_SECCOMP) != 0)
        set_seccomp(out, status->seccomp);
    else
        batch_set_missing(out, VITALS_PROCESS_SECCOMP, missing);
    if ((status->has & OS_STATUS_CPUS) != 0) {
        set_cpus(out, status->cpus);
    } else {
        batch_set_missing(out, VITALS_PROCESS_CPUS_ALLOWED, missing);
        batch_set_missing(out, VITALS_PROCESS_CPUS_ALLOWED_LIST, missing);
    }
}

static vitals_availability missing_of(const struct os_status *status, bool cut)
{
    if (cut)
        return VITALS_FAILED;
    bool zombie = status->state == 'Z' || status->state == 'X';
    return zombie ? VITALS_GONE : VITALS_UNSUPPORTED;
}

/* ---- the owner of the folder ---- */

static bool wants_nothing_else(const struct row_batch *out, const vitals_metric *metrics)
{
    for (; *metrics != 0; metrics++)
        if (batch_wants(out, *metrics) && *metrics != VITALS_PROCESS_EFFECTIVE_UID &&
            *metrics != VITALS_PROCESS_EFFECTIVE_GID)
            return false;
    return true;
}

/* The folder of a process belongs to its effective user and group. If the process may not be
 * traced, its files belong to root (fs/proc/base.c), the folder does not: one call, a seventh of
 * the time. */
static bool read_owner(struct metrics_reading *reading)
{
    char path[PROCESS_PATH];
    struct stat status;
    if (!reading->os->live || !linux_process_path(path, reading->pid, "") ||
        fstatat(reading->os->proc, path, &status, 0) != 0)
        return false;
    batch_set_u64(reading->out, VITALS_PROCESS_EFFECTIVE_UID, status.st_uid);
    batch_set_u64(reading->out, VITALS_PROCESS_EFFECTIVE_GID, status.st_gid);
    return true;
}

void metrics_read_status(struct metrics_reading *reading, const vitals_metric *metrics)
{
    if (wants_nothing_else(reading->out, metrics) && read_owner(reading))
        return;
    struct os_status status;
    bool cut;
    int result = metrics_file(reading, "status", STATUS_LIMIT, &cut);
    if (result < 0 || !os_parse_status(reading->text.bytes, reading->text.size, &status)) {
        batch_missing_all(reading->out, metrics,
                          result < 0 ? batch_reason(reading, result) : VITALS_FAILED);
        return;
    }
    vitals_availability missing = missing_of(&status, cut);
    for (size_t i = 0; i < ARRAY_COUNT(NUMBERS); i++) {
        uint64_t number;
        memcpy(&number, (const char *)&status + NUMBERS[i].place, sizeof number);
        if ((status.has & NUMBERS[i].bit) != 0)
            batch_set_u64(reading->out, NUMBERS[i].metric, number);
        else
            batch_set_missing(reading->out, NUMBERS[i].metric, missing);
    }
    set_texts(reading, &status, missing);
}
