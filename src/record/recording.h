/* recording.h: a file that somebody recorded, read again, whoever wrote it.
 *
 * The form is told by the content, never by the name. Text that is cut off or broken is read as far
 * as it goes, and `problem` says what is missing; a database that SQLite cannot read is refused.
 * One thread. */
#ifndef VITALS_RECORD_RECORDING_H
#define VITALS_RECORD_RECORDING_H

#include <stdbool.h>

#include "feed/feed.h"

struct recording;

/* One quantity over time. */
struct series {
    const char *name;    /* of a measure where we have it, else the column of the file */
    const char *unit;    /* base units, as measures have; "" where there is none */
    const char *subject; /* "", "root", "descendants", "system", a UUID */
    const char *label;
    bool counter;
    size_t count;
    const double
        *seconds;         /* realtime, when each was read; where it is missing, as the one before */
    const double *values; /* NaN: missing there */
};

/* A phase, paired: what began and ended in one thread (mark.h). */
struct recorded_phase {
    const char *name;
    double begin, end; /* realtime seconds; end NaN: never ended */
    int64_t pid, tid;
    int depth; /* phases of its thread that were open when it began */
};

/* Errors: EGONE, EDENIED, ESYSTEM, EUNSUPPORTED (a newer schema, built without SQLite), EFORMAT
 * where there is one, else EARGUMENT: no recording. */
int recording_open(const char *path, struct recording **out, vitals_error *error);

/* The same, with sub-tracking files of gpu_tracker, which lets each process have one of any name,
 * in the place of the one beside it. Errors: also EARGUMENT where the recording is none of
 * gpu_tracker, EFORMAT where a file tells no phases. */
int recording_open_tracked(const char *path, const char *const *phases, size_t count,
                           struct recording **out, vitals_error *error);
void recording_close(struct recording *recording);

/* "vitals", "vitals-csv", "resource-tracker", "resource-tracker-0.3", "resource-tracker-rs",
 * "gpu-tracker", "json" (an account alone). */
const char *recording_format(const struct recording *recording);

/* What is wrong with it, a sentence a line; "" where nothing is. */
const char *recording_problem(const struct recording *recording);

/* The account: the one that was stored, else folded from what was recorded ("partial"). Borrowed.
 */
const vitals_account *recording_account(const struct recording *recording);

/* Realtime seconds at which its samples were taken: as many as every series has points. A series
 * may have been read before. */
const double *recording_seconds(const struct recording *recording, size_t *count);

const struct series *recording_series(const struct recording *recording, size_t *count);
const struct series *recording_find(const struct recording *recording, const char *name,
                                    const char *subject);
const struct recorded_phase *recording_phases(const struct recording *recording, size_t *count);

/* Whether a file is one that may hold snapshots: SQLite, by its first bytes. */
bool recording_has_frames(const char *path);

/* Its snapshots, where it holds whole ones: can seek. Those that are broken are passed over, and
 * said once all others were given. Errors: EUNSUPPORTED: it holds none. */
int recording_feed(const char *path, struct feed *out, vitals_error *error);

#endif
