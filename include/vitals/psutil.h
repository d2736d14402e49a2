/* psutil.h: psutil's numbers, to compare with while moving from it.
 *
 * Where psutil defines a number otherwise than vitals does, these compute psutil's from rows of
 * vitals: a start time on whole seconds of boot, percent with one decimal, memory that is "used"
 * by an older formula. Pure functions of rows: nothing is read, any thread. docs/psutil.md says for
 * each of psutil's methods what it is here. */
#ifndef VITALS_PSUTIL_H
#define VITALS_PSUTIL_H

#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes psutil's Process.create_time(): seconds since 1970, on the whole second of boot that
 * /proc/stat tells (btime), which is up to a second early. Needs process.start_seconds, and
 * host.boot_time_seconds in the same snapshot. */
VITALS_API VITALS_CHECKED vitals_availability vitals_psutil_create_time(const vitals_row *process,
                                                                        double *out)
    VITALS_NONNULL(1, 2);

/* Computes psutil's Process.cpu_percent(): of clock ticks, one decimal; 0.0 where `older` is NULL
 * or has no earlier reading of the process, as psutil's first call. Needs process.cpu_user_seconds
 * and cpu_system_seconds. */
VITALS_API VITALS_CHECKED vitals_availability vitals_psutil_cpu_percent(
    const vitals_row *process, const vitals_snapshot *older, double *out) VITALS_NONNULL(1, 3);

/* Computes psutil's Process.memory_percent(): resident of the machine's memory. Needs
 * process.resident_bytes, and host.memory_total_bytes in the same snapshot. */
VITALS_API VITALS_CHECKED vitals_availability
vitals_psutil_memory_percent(const vitals_row *process, double *out) VITALS_NONNULL(1, 2);

/* Computes psutil.cpu_percent() of the machine or of one CPU: of clock ticks, each field clamped at
 * 0, one decimal; 0.0 without an older reading. A row of host or cpu with its ten fields of CPU
 * time, of which a kernel may lack the later ones. */
VITALS_API VITALS_CHECKED vitals_availability vitals_psutil_system_cpu_percent(
    const vitals_row *row, const vitals_snapshot *older, double *out) VITALS_NONNULL(1, 3);

/* Computes psutil's virtual_memory().used before 7.1: total less free, cached and buffers; total
 * less free where that is negative. A row of host. */
VITALS_API VITALS_CHECKED vitals_availability vitals_psutil_memory_used(const vitals_row *host,
                                                                        uint64_t *out)
    VITALS_NONNULL(1, 2);

#ifdef __cplusplus
}
#endif

#endif
