/* recording.h: reads a recording of vitals or of another tool.
 *
 * The content tells the form, never the name. Text that is cut off or broken is read as far as it
 * is whole, and `problem` says what is missing; a database that SQLite cannot read is refused. One
 * thread. */
#pragma once

#include <stdbool.h>

#include "feed/feed.h"

struct recording;

/* One quantity over time. */
struct series {
    const char *name;    /* of a measure, or the column of the file */
    const char *unit;    /* a base unit, or "" */
    const char *subject; /* "", "root", "descendants", "system", a UUID */
    const char *label;
    bool counter;
    size_t count;
    const double *seconds; /* realtime of each reading; of a missing value that of the one before */
    const double *values;  /* NaN: missing there */
};

/* A phase: the beginning and the end of a mark in one thread (mark.h). */
struct recorded_phase {
    const char *name;
    double begin, end; /* realtime seconds; end NaN: never ended */
    int64_t pid, tid;
    int depth; /* phases of its thread that were open when it began */
};

/* Errors: EGONE, EDENIED, ESYSTEM, EUNSUPPORTED (a newer schema, built without SQLite), EFORMAT
 * where there is one, else EARGUMENT: no recording. */
int recording_open(const char *path, struct recording **out, vitals_error *error);

/* The same, with named sub-tracking files of gpu_tracker in place of the one beside it. Errors:
 * also EARGUMENT if the recording is not gpu_tracker's, EFORMAT if a file holds no phases. */
int recording_open_tracked(const char *path, const char *const *phases, size_t count,
                           struct recording **out, vitals_error *error);
void recording_close(struct recording *recording);

/* "vitals", "vitals-csv", "resource-tracker", "resource-tracker-0.1", "resource-tracker-0.4",
 * "resource-tracker-rs", "gpu-tracker", "json" (an account alone). */
const char *recording_format(const struct recording *recording);

/* Returns the problems of the recording, a sentence a line; "" if it has none. */
const char *recording_problem(const struct recording *recording);

/* Returns the stored account, or one made of the samples ("partial"). Borrowed. */
const vitals_account *recording_account(const struct recording *recording);

/* Returns the realtime seconds of its samples: as many as each series has points. The values of a
 * series may have been read earlier. */
const double *recording_seconds(const struct recording *recording, size_t *count);

const struct series *recording_series(const struct recording *recording, size_t *count);
const struct series *recording_find(const struct recording *recording, const char *name,
                                    const char *subject);
const struct recorded_phase *recording_phases(const struct recording *recording, size_t *count);

/* An account from its JSON (docs/account.md). Unknown members are ignored; known ones must be
 * valid. `path` is for messages. The caller frees *out. Errors: EFORMAT, EUNSUPPORTED (a newer
 * schema, or built without JSON), EMEMORY. */
int account_json_read(const char *path, const char *bytes, size_t size, vitals_account **out,
                      vitals_error *error);

/* True if a file may hold snapshots: SQLite, by its first bytes. */
bool recording_has_frames(const char *path);

/* Opens the snapshots of a recording as a feed that can seek. Broken ones are skipped and reported
 * after all others. Errors: EUNSUPPORTED if it holds none. */
int recording_feed(const char *path, struct feed *out, vitals_error *error);
