/* psutil.c: psutil's numbers computed from our rows, equal to the last digit.
 *
 * Pure functions of rows, with psutil's order of operations, since its rounding shows the
 * difference. docs/psutil.md says what is wrong with some of these numbers. Thread rule: any
 * thread. */
#include <vitals/psutil.h>

#include "util/base.h"

#include <math.h>

/* Python's round(value, 1): to the nearest tenth of the value as it is in binary, a true tie to the
 * even one. value * 10 alone would make ties of what is none, as 0.35. */
static double rounded(double value)
{
    double tenths = value * 10;
    double off = fma(value, 10, -tenths); // what the product lost
    double below = floor(tenths);
    bool tie = !(tenths - below < 0.5) && !(tenths - below > 0.5);
    double nearest = rint(tenths);
    if (tie && off > 0)
        nearest = below + 1;
    else if (tie && off < 0)
        nearest = below;
    return nearest / 10;
}

/* The first that is not perfect. */
static vitals_availability worse(vitals_availability a, vitals_availability b)
{
    return a <= 0 || (b > 0 && a != VITALS_HAVE) ? a : b;
}

/* A value of the machine in the process's snapshot. */
static vitals_availability host_number(const vitals_row *row, vitals_metric metric, double *out)
{
    const vitals_snapshot *snapshot = vitals_row_snapshot(row);
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    return host != NULL ? vitals_row_number(host, metric, out) : VITALS_NOT_REQUESTED;
}

vitals_availability vitals_psutil_create_time(const vitals_row *process, double *out)
{
    double start_seconds, boot_seconds;
    vitals_availability state = vitals_row_f64(process, VITALS_PROCESS_START_SECONDS,
                                               &start_seconds);
    if (state <= 0)
        return state;
    state = worse(state, host_number(process, VITALS_HOST_BOOT_TIME_SECONDS, &boot_seconds));
    if (state <= 0)
        return state;
    *out = start_seconds + floor(boot_seconds); // btime of /proc/stat
    return state;
}

vitals_availability vitals_psutil_cpu_percent(const vitals_row *process,
                                              const vitals_snapshot *older, double *out)
{
    double user, system, window_seconds;
    vitals_availability state = vitals_row_growth(process, older, VITALS_PROCESS_CPU_USER_SECONDS,
                                                  &user, &window_seconds);
    state = worse(
        state, vitals_row_growth(process, older, VITALS_PROCESS_CPU_SYSTEM_SECONDS, &system, NULL));
    if (state == VITALS_NOT_YET) {
        *out = 0; /* as its first call */
        return VITALS_HAVE;
    }
    if (state > 0)
        *out = rounded((user + system) / window_seconds * 100);
    return state;
}

vitals_availability vitals_psutil_memory_percent(const vitals_row *process, double *out)
{
    double resident, total;
    vitals_availability state = vitals_row_number(process, VITALS_PROCESS_RESIDENT_BYTES,
                                                  &resident);
    if (state <= 0)
        return state;
    state = worse(state, host_number(process, VITALS_HOST_MEMORY_TOTAL_BYTES, &total));
    if (state <= 0)
        return state;
    if (!(total > 0))
        return VITALS_FAILED;
    *out = resident / total * 100;
    return state;
}

/* In psutil's order. An older kernel lacks the last ones, and psutil then too. */
static const struct {
    vitals_metric host, cpu;
    bool idle, guest, optional;
} FIELDS[] = {
    {VITALS_HOST_CPU_USER_SECONDS, VITALS_CPU_USER_SECONDS, false, false, false},
    {VITALS_HOST_CPU_NICE_SECONDS, VITALS_CPU_NICE_SECONDS, false, false, false},
    {VITALS_HOST_CPU_SYSTEM_SECONDS, VITALS_CPU_SYSTEM_SECONDS, false, false, false},
    {VITALS_HOST_CPU_IDLE_SECONDS, VITALS_CPU_IDLE_SECONDS, true, false, false},
    {VITALS_HOST_CPU_IOWAIT_SECONDS, VITALS_CPU_IOWAIT_SECONDS, true, false, true},
    {VITALS_HOST_CPU_IRQ_SECONDS, VITALS_CPU_IRQ_SECONDS, false, false, true},
    {VITALS_HOST_CPU_SOFTIRQ_SECONDS, VITALS_CPU_SOFTIRQ_SECONDS, false, false, true},
    {VITALS_HOST_CPU_STEAL_SECONDS, VITALS_CPU_STEAL_SECONDS, false, false, true},
    {VITALS_HOST_CPU_GUEST_SECONDS, VITALS_CPU_GUEST_SECONDS, false, true, true},
    {VITALS_HOST_CPU_GUEST_NICE_SECONDS, VITALS_CPU_GUEST_NICE_SECONDS, false, true, true},
};

vitals_availability vitals_psutil_system_cpu_percent(const vitals_row *row,
                                                     const vitals_snapshot *older, double *out)
{
    vitals_table entity = vitals_row_table(row);
    if (entity != VITALS_TABLE_HOST && entity != VITALS_TABLE_CPU)
        return VITALS_WRONG_METRIC;
    double all = 0, idle[2] = {0}, guest[2] = {0};
    size_t idles = 0, guests = 0;
    bool moved = false; /* some field did not step back */
    vitals_availability state = VITALS_HAVE;
    for (size_t i = 0; i < ARRAY_COUNT(FIELDS) && state > 0; i++) {
        vitals_metric metric = entity == VITALS_TABLE_HOST ? FIELDS[i].host : FIELDS[i].cpu;
        double delta = 0;
        vitals_availability grown = vitals_row_growth(row, older, metric, &delta, NULL);
        moved |= grown > 0;
        if (grown <= 0) /* a field that stepped back did not grow */
            delta = 0;
        all += delta;
        if (FIELDS[i].idle)
            idle[idles++] = delta;
        if (FIELDS[i].guest)
            guest[guests++] = delta;
        if (grown == VITALS_NOT_YET || (FIELDS[i].optional && grown == VITALS_UNSUPPORTED))
            grown = VITALS_HAVE;
        state = worse(state, grown);
    }
    if (state <= 0)
        return state;
    double total = all - guest[0] - guest[1]; /* guests are in user and nice already */
    double busy = total - idle[0] - idle[1];
    *out = moved && total > 0 ? rounded(busy / total * 100) : 0;
    return state;
}

vitals_availability vitals_psutil_memory_used(const vitals_row *host, uint64_t *out)
{
    static const vitals_metric METRICS[] = {
        VITALS_HOST_MEMORY_TOTAL_BYTES, VITALS_HOST_MEMORY_FREE_BYTES,
        VITALS_HOST_MEMORY_CACHED_BYTES, VITALS_HOST_MEMORY_BUFFERS_BYTES};
    uint64_t values[ARRAY_COUNT(METRICS)];
    vitals_availability state = VITALS_HAVE;
    for (size_t i = 0; i < ARRAY_COUNT(METRICS) && state > 0; i++)
        state = worse(state, vitals_row_u64(host, METRICS[i], &values[i]));
    if (state <= 0)
        return state;
    uint64_t total = values[0], unused = values[1];
    uint64_t all = saturating_add(saturating_add(unused, values[2]), values[3]);
    if (all <= total)
        *out = total - all;
    else
        *out = unused <= total ? total - unused : 0;
    return state;
}
