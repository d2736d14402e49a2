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
 * /proc/stat tells (btime), which is up to a second early. Needs VITALS_PROCESS_START_SECONDS, and
 * VITALS_HOST_BOOT_TIME_SECONDS in the same snapshot. */
VITALS_API VITALS_CHECKED vitals_availability vitals_psutil_create_time(const vitals_row *process,
                                                                        double *out)
    VITALS_NONNULL(2);

/* Computes psutil's Process.cpu_percent(): of clock ticks, one decimal; 0.0 where `older` is NULL
 * or has no earlier reading of the process, as psutil's first call. Needs
 * VITALS_PROCESS_CPU_USER_SECONDS and VITALS_PROCESS_CPU_SYSTEM_SECONDS. */
VITALS_API VITALS_CHECKED vitals_availability vitals_psutil_cpu_percent(
    const vitals_row *process, const vitals_snapshot *older, double *out) VITALS_NONNULL(3);

/* Computes psutil's Process.memory_percent(): resident of the machine's memory. Needs
 * VITALS_PROCESS_RESIDENT_BYTES, and VITALS_HOST_MEMORY_TOTAL_BYTES in the same snapshot. */
VITALS_API VITALS_CHECKED vitals_availability
vitals_psutil_memory_percent(const vitals_row *process, double *out) VITALS_NONNULL(2);

/* Computes psutil.cpu_percent() of the machine or of one CPU: of clock ticks, each field clamped at
 * 0, one decimal; 0.0 without an older reading. Needs a row of VITALS_TABLE_HOST or
 * VITALS_TABLE_CPU with its ten fields of CPU time, of which a kernel may lack the later ones. */
VITALS_API VITALS_CHECKED vitals_availability vitals_psutil_system_cpu_percent(
    const vitals_row *row, const vitals_snapshot *older, double *out) VITALS_NONNULL(3);

/* Computes psutil's virtual_memory().used before 7.1: total less free, cached and buffers; total
 * less free where that is negative. Needs a row of VITALS_TABLE_HOST. */
VITALS_API VITALS_CHECKED vitals_availability vitals_psutil_memory_used(const vitals_row *host,
                                                                        uint64_t *out)
    VITALS_NONNULL(2);

#ifdef __cplusplus
}
#endif

#endif
