/* phases.h: what each phase of a recorded run used, by name, and statistics of it. */
#ifndef VITALS_LIBRECORD_PHASES_H
#define VITALS_LIBRECORD_PHASES_H

#include <vitals/record/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number that stands for many. Of none at all each is NaN, but COUNT and TOTAL are 0. */
typedef enum vitals_statistic {
    VITALS_STATISTIC_COUNT = 1,
    VITALS_STATISTIC_MIN,
    VITALS_STATISTIC_MAX,
    VITALS_STATISTIC_MEAN,
    VITALS_STATISTIC_TOTAL,
    VITALS_STATISTIC_DEVIATION /* of a sample: divided by the count less one; NaN of one value */
} vitals_statistic;

typedef struct vitals_phases vitals_phases;

/* All calls of one name. */
typedef struct vitals_phase vitals_phase;

/* A series within a phase. */
typedef struct vitals_phase_measure vitals_phase_measure;

/* Computes the phases of a recording; *out is the caller's to free, and borrows from the recording,
 * which must outlive it. Errors: EMEMORY. Cost: all samples are looked at, for each span. */
VITALS_API VITALS_CHECKED int vitals_recording_phases(const vitals_recording *recording,
                                                      vitals_phases **out, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Frees the phases. Accepts NULL. */
VITALS_API void vitals_phases_free(vitals_phases *phases);

/* Return the phase after `previous` (NULL: the first), in the order in which they first began, NULL
 * behind the last; and the number of names beyond 1000, which are left out. */
VITALS_API const vitals_phase *vitals_phases_next(const vitals_phases *phases,
                                                  const vitals_phase *previous) VITALS_NONNULL(1);
VITALS_API size_t vitals_phases_left_out(const vitals_phases *phases) VITALS_NONNULL(1);

/* Returns the whole run as one phase, without a name and calls. Never NULL. */
VITALS_API const vitals_phase *vitals_phases_whole(const vitals_phases *phases) VITALS_NONNULL(1);

/* Return the name of a phase (text from outside); how many of its calls ended, and how many did
 * not; the samples within; when it first began, in seconds of the realtime clock; and a statistic
 * of how long its calls took. */
VITALS_API const char *vitals_phase_name(const vitals_phase *phase) VITALS_NONNULL(1);
VITALS_API size_t vitals_phase_calls(const vitals_phase *phase) VITALS_NONNULL(1);
VITALS_API size_t vitals_phase_open_calls(const vitals_phase *phase) VITALS_NONNULL(1);
VITALS_API size_t vitals_phase_samples(const vitals_phase *phase) VITALS_NONNULL(1);
VITALS_API double vitals_phase_first_seconds(const vitals_phase *phase) VITALS_NONNULL(1);
VITALS_API double vitals_phase_seconds(const vitals_phase *phase, vitals_statistic statistic)
    VITALS_NONNULL(1);

/* Returns the measure of a phase after `previous` (NULL: the first), NULL behind the last. */
VITALS_API const vitals_phase_measure *vitals_phase_next_measure(
    const vitals_phase *phase, const vitals_phase_measure *previous) VITALS_NONNULL(1);

/* Find the measure of a phase, by VITALS_MEASURE_… (measures.h) or by the name of its series, and
 * by its subject ("": the run; else as in account.h); NULL where it was not recorded. */
VITALS_API const vitals_phase_measure *vitals_phase_find_measure(const vitals_phase *phase,
                                                                 vitals_measure measure,
                                                                 const char *subject)
    VITALS_NONNULL(1, 3);
VITALS_API const vitals_phase_measure *vitals_phase_find_series(const vitals_phase *phase,
                                                                const char *name,
                                                                const char *subject)
    VITALS_NONNULL(1, 2, 3);

/* Return the series that a measure is of; of a gauge, a statistic of the samples within the phase;
 * of a counter, how much it grew between begin and end of all calls. NaN where that is not known.
 */
VITALS_API const vitals_series *vitals_phase_measure_series(const vitals_phase_measure *measure)
    VITALS_NONNULL(1);
VITALS_API double vitals_phase_measure_value(const vitals_phase_measure *measure,
                                             vitals_statistic statistic) VITALS_NONNULL(1);
VITALS_API double vitals_phase_measure_growth(const vitals_phase_measure *measure)
    VITALS_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
