/* history.h: rates over a window, from snapshots that are kept for it.
 *
 * A rate needs an older snapshot: one far enough back for the step in which the counter moves, and
 * as long as the caller wants its averages to be. A history keeps these, and chooses for each
 * metric:
 *
 *     vitals_history_add(history, snapshot);
 *     if (vitals_history_rate(history, row, VITALS_PROCESS_CPU_SECONDS, &cores) > 0) …
 *
 * One thread at a time per history. */
#ifndef VITALS_HISTORY_H
#define VITALS_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/error.h>
#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_history vitals_history;

/* Makes a history for rates over about `window_ns`: between nine tenths and four thirds of it where
 * there is a snapshot of then, and at least ten steps of the counter (vitals_metric_resolution_ns),
 * less a tenth. 0: the shortest window in which each counter has a rate. *out is yours to free;
 * free accepts NULL. Errors: EMEMORY, EARGUMENT (more than a day). */
VITALS_API VITALS_CHECKED int vitals_history_new(uint64_t window_ns, vitals_history **out,
                                                 vitals_error *error) VITALS_NONNULL(2);
VITALS_API void vitals_history_free(vitals_history *history);

/* Keeps a snapshot, with a reference of its own; the newest comes last. One that is not newer than
 * the last is passed over; one of another machine, boot, pid namespace or stream replaces all.
 * Those that no window needs any more are given up: at most 64 are kept, fewer the older they are,
 * and none is older than the window, ten steps of the slowest counter among its columns and twice
 * the cadence of one that is not read at each tick need it, but for one. Cost: no system call. */
VITALS_API void vitals_history_add(vitals_history *history, const vitals_snapshot *snapshot)
    VITALS_NONNULL(1, 2);

/* Computes the growth of a counter per second up to this row, as vitals_row_rate has it, against
 * the snapshot that fits best. While the history is shorter than the window, and for a row that is
 * younger, the rate is over the time that there is. The row is one of the snapshot added last, or
 * of a later one. NOT_YET: no kept snapshot gives a rate; of samples 100 ms apart each from the
 * second on has one of the CPU time of processes and of the machine. */
VITALS_API VITALS_CHECKED vitals_availability vitals_history_rate(const vitals_history *history,
                                                                  const vitals_row *row,
                                                                  vitals_metric metric, double *out)
    VITALS_NONNULL(1, 4);

/* Computes the rates of a whole column, as vitals_history_rate has them: those of the first
 * `capacity` rows of the metric's table, in the order of rows, and as many availabilities (may be
 * NULL). NaN where there is none. Returns how many rows there are; 0 where the table was not asked
 * for. */
VITALS_API size_t vitals_history_rates(const vitals_history *history,
                                       const vitals_snapshot *snapshot, vitals_metric metric,
                                       double *out, signed char *availabilities, size_t capacity)
    VITALS_NONNULL(1, 2);

#ifdef __cplusplus
}
#endif

#endif
