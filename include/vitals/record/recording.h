/* recording.h: reads a recording of vitals, gpu_tracker or resource-tracker.
 *
 * The content tells the form, never the name. Text that is cut off or broken is read as far as it
 * is whole, and vitals_recording_problem says what is missing. A recording is read as a whole,
 * thinned where its curves have more than 2^24 numbers, and is data from then on: any thread may
 * look. What functions here return is borrowed and lives as long as the recording. */
#ifndef VITALS_LIBRECORD_RECORDING_H
#define VITALS_LIBRECORD_RECORDING_H

#include <vitals/account.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_recording vitals_recording;

/* Reads a regular file; *out is the caller's to close. `phases`, `phase_count` (NULL, 0: what
 * stands beside the file) name sub-tracking files of gpu_tracker that belong to it. Errors: EGONE,
 * EDENIED, ESYSTEM (it cannot be read), EFORMAT (no recording), EARGUMENT (no regular file, or
 * phases of what is no tracking file), EUNSUPPORTED (a newer form, a build without what reads it),
 * EMEMORY. Cost: the file is read once. */
VITALS_API VITALS_CHECKED int vitals_recording_open(const char *path, const char *const *phases,
                                                    size_t phase_count, vitals_recording **out,
                                                    vitals_error *error) VITALS_NONNULL(1, 4);

/* Frees a recording and all that it lent. Accepts NULL. */
VITALS_API void vitals_recording_close(vitals_recording *recording);

/* Returns the form of the file: "vitals", "vitals-csv", "gpu-tracker", "resource-tracker",
 * "resource-tracker-0.1", "resource-tracker-0.4", "resource-tracker-rs", "json" (an account
 * alone). */
VITALS_API const char *vitals_recording_form(const vitals_recording *recording) VITALS_NONNULL(1);

/* Returns what is wrong with the file, a sentence a line; "" where nothing is. Text from outside:
 * format it (text.h) before it is shown. */
VITALS_API const char *vitals_recording_problem(const vitals_recording *recording)
    VITALS_NONNULL(1);

/* Returns the account that it holds, or one made of its samples (attribute state: "partial"), with
 * all attributes: command, host, interval_ns. Never NULL. */
VITALS_API const vitals_account *vitals_recording_account(const vitals_recording *recording)
    VITALS_NONNULL(1);

/* Returns 1 if the file holds whole snapshots too, for vitals_feed_open; 0 if not, or if it cannot
 * be read. */
VITALS_API int vitals_recording_has_snapshots(const char *path) VITALS_NONNULL(1);

/* ---- curves ---- */

/* Returns the moments of the samples, *count of them, in seconds of the realtime clock. */
VITALS_API const double *vitals_recording_seconds(const vitals_recording *recording, size_t *count)
    VITALS_NONNULL(1, 2);

/* One quantity over time: a column of the recording. */
typedef struct vitals_series vitals_series;

/* Returns the series after `previous` (NULL: the first); NULL behind the last. */
VITALS_API const vitals_series *vitals_recording_next_series(const vitals_recording *recording,
                                                             const vitals_series *previous)
    VITALS_NONNULL(1);

/* Find the series of a measure (VITALS_MEASURE_…, measures.h), or with a name, by its subject ("":
 * the run; else as in account.h); NULL where there is none. */
VITALS_API const vitals_series *vitals_recording_find_measure(const vitals_recording *recording,
                                                              vitals_measure measure,
                                                              const char *subject)
    VITALS_NONNULL(1, 3);
VITALS_API const vitals_series *vitals_recording_find_series(const vitals_recording *recording,
                                                             const char *name, const char *subject)
    VITALS_NONNULL(1, 2, 3);

/* Return the name of a series (of a measure, or the file's own), its base unit ("" of a count), its
 * subject as in account.h, and its label for people ("" without one). Text from outside: format it
 * before it is shown. vitals_series_is_counter returns 1 if it only grows, else 0. */
VITALS_API const char *vitals_series_name(const vitals_series *series) VITALS_NONNULL(1);
VITALS_API const char *vitals_series_unit(const vitals_series *series) VITALS_NONNULL(1);
VITALS_API const char *vitals_series_subject(const vitals_series *series) VITALS_NONNULL(1);
VITALS_API const char *vitals_series_label(const vitals_series *series) VITALS_NONNULL(1);
VITALS_API int vitals_series_is_counter(const vitals_series *series) VITALS_NONNULL(1);

/* Return the values of a series, as many as the recording has samples, NaN where one is missing;
 * and when each was read, in seconds of the realtime clock, which may be before its sample. */
VITALS_API const double *vitals_series_values(const vitals_series *series, size_t *count)
    VITALS_NONNULL(1, 2);
VITALS_API const double *vitals_series_seconds(const vitals_series *series, size_t *count)
    VITALS_NONNULL(1, 2);

/* ---- marks ---- */

/* A phase as it was marked: one call, in one thread (mark.h). What all calls of a name used is in
 * phases.h. */
typedef struct vitals_span vitals_span;

/* Returns the span after `previous` (NULL: the first), in the order in which they began; NULL
 * behind the last. */
VITALS_API const vitals_span *vitals_recording_next_span(const vitals_recording *recording,
                                                         const vitals_span *previous)
    VITALS_NONNULL(1);

/* Return the name of a span (text from outside); its begin and end in seconds of the realtime
 * clock, the end NaN where it never came; its process and thread, 0 where they were not told; and
 * how many phases of its thread were open when it began. */
VITALS_API const char *vitals_span_name(const vitals_span *span) VITALS_NONNULL(1);
VITALS_API double vitals_span_begin_seconds(const vitals_span *span) VITALS_NONNULL(1);
VITALS_API double vitals_span_end_seconds(const vitals_span *span) VITALS_NONNULL(1);
VITALS_API int64_t vitals_span_pid(const vitals_span *span) VITALS_NONNULL(1);
VITALS_API int64_t vitals_span_tid(const vitals_span *span) VITALS_NONNULL(1);
VITALS_API int vitals_span_depth(const vitals_span *span) VITALS_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
