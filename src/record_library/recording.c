/* recording.c: see <vitals/record/recording.h>. The public types are those of record/recording.h by
 * another name. */
#include <vitals/record/recording.h>

#include <vitals/usage.h>

#include "record/recording.h"
#include "record_library/library.h"

static const struct recording *inside(const vitals_recording *recording)
{
    return (const struct recording *)recording;
}

int vitals_recording_open(const char *path, const char *const *phases, size_t phase_count,
                          vitals_recording **out, vitals_error *error)
{
    struct recording *recording;
    locale_t locale = library_enter();
    int code = recording_open_tracked(path, phases, phase_count, &recording, error);
    library_leave(locale);
    if (code == 0)
        *out = (vitals_recording *)recording;
    return code;
}

void vitals_recording_close(vitals_recording *recording)
{
    recording_close((struct recording *)recording);
}

const char *vitals_recording_form(const vitals_recording *recording)
{
    return recording_format(inside(recording));
}

const char *vitals_recording_problem(const vitals_recording *recording)
{
    return recording_problem(inside(recording));
}

const vitals_account *vitals_recording_account(const vitals_recording *recording)
{
    return recording_account(inside(recording));
}

int vitals_recording_has_snapshots(const char *path)
{
    struct feed feed = {0};
    vitals_error error;
    vitals_snapshot *snapshot = NULL;
    if (!recording_has_frames(path) || recording_feed(path, &feed, &error) < 0)
        return 0;
    int found = feed.next(feed.data, &snapshot, &error) == 1;
    vitals_snapshot_unref(snapshot);
    feed_close(&feed);
    return found;
}

/* ---- curves ---- */

const double *vitals_recording_seconds(const vitals_recording *recording, size_t *count)
{
    return recording_seconds(inside(recording), count);
}

const vitals_series *vitals_recording_next_series(const vitals_recording *recording,
                                                  const vitals_series *previous)
{
    size_t count;
    const struct series *items = recording_series(inside(recording), &count);
    return library_next(items, count, sizeof *items, previous);
}

const vitals_series *vitals_recording_find_series(const vitals_recording *recording,
                                                  const char *name, const char *subject)
{
    return (const vitals_series *)recording_find(inside(recording), name, subject);
}

const vitals_series *vitals_recording_find_measure(const vitals_recording *recording,
                                                   vitals_measure measure, const char *subject)
{
    const char *name = vitals_measure_name(measure);
    return name != NULL ? vitals_recording_find_series(recording, name, subject) : NULL;
}

const char *vitals_series_name(const vitals_series *series)
{
    return ((const struct series *)series)->name;
}

const char *vitals_series_unit(const vitals_series *series)
{
    return ((const struct series *)series)->unit;
}

const char *vitals_series_subject(const vitals_series *series)
{
    return ((const struct series *)series)->subject;
}

const char *vitals_series_label(const vitals_series *series)
{
    const char *label = ((const struct series *)series)->label;
    return label != NULL ? label : "";
}

int vitals_series_is_counter(const vitals_series *series)
{
    return ((const struct series *)series)->counter;
}

const double *vitals_series_values(const vitals_series *series, size_t *count)
{
    *count = ((const struct series *)series)->count;
    return ((const struct series *)series)->values;
}

const double *vitals_series_seconds(const vitals_series *series, size_t *count)
{
    *count = ((const struct series *)series)->count;
    return ((const struct series *)series)->seconds;
}

/* ---- marks ---- */

const vitals_span *vitals_recording_next_span(const vitals_recording *recording,
                                              const vitals_span *previous)
{
    size_t count;
    const struct recorded_phase *items = recording_phases(inside(recording), &count);
    return library_next(items, count, sizeof *items, previous);
}

const char *vitals_span_name(const vitals_span *span)
{
    return ((const struct recorded_phase *)span)->name;
}

double vitals_span_begin_seconds(const vitals_span *span)
{
    return ((const struct recorded_phase *)span)->begin;
}

double vitals_span_end_seconds(const vitals_span *span)
{
    return ((const struct recorded_phase *)span)->end;
}

int64_t vitals_span_pid(const vitals_span *span)
{
    return ((const struct recorded_phase *)span)->pid;
}

int64_t vitals_span_tid(const vitals_span *span)
{
    return ((const struct recorded_phase *)span)->tid;
}

int vitals_span_depth(const vitals_span *span)
{
    return ((const struct recorded_phase *)span)->depth;
}
