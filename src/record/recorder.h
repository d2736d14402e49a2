/* recorder.h: writes what a run or a machine did into a file, as it happens.
 *
 * Formats are a table (recorder_formats.c): vitals' own SQLite and CSV, and the files of
 * resource-tracker (0.5 and up to 0.3) and gpu_tracker. After kill -9 at most one sample, or one
 * second, is missing and the file is whole. One thread. */
#ifndef VITALS_RECORD_RECORDER_H
#define VITALS_RECORD_RECORDER_H

#include <stdbool.h>

#include <vitals/vitals.h>

struct recorder;

struct recorder_options {
    const char *path;   /* NULL or "-": standard output, text formats alone */
    const char *format; /* NULL: by the path's ending; a name of recorder_formats.c */
    bool overwrite;     /* else a file that is there and is not empty is refused */
    bool no_header;     /* text formats */
    uint64_t interval_ns;
    uint64_t rotate_bytes, rotate_ns; /* 0: never; else PATH.1, PATH.2 … beside it */
    unsigned keep;                    /* of those; 0: all */
    bool frames;                      /* whole snapshots too (SQLite) */
    int stop; /* readable once we are told to end: then a reader that takes nothing is waited for
               * a second and no longer; 0: nothing tells */
};

/* Whether each of its samples tells of the machine, which then must be read for each. */
bool recorder_samples_machine(const struct recorder_options *options);

/* Whether its rows are those of a process, and of a machine alone it would tell nothing true. */
bool recorder_needs_processes(const struct recorder_options *options);

/* Whether such a recording can be made at all: a format that there is, lines where they go to
 * standard output. Touches nothing. Errors: EARGUMENT. */
int recorder_check(const struct recorder_options *options, vitals_error *error);

/* False where the format is one that has no room for snapshots. */
bool recorder_may_keep_frames(const struct recorder_options *options);

/* Errors: EARGUMENT (format), EDENIED, ESYSTEM, EUNSUPPORTED (built without SQLite). */
int recorder_open(const struct recorder_options *options, struct recorder **out,
                  vitals_error *error);

/* What a text attribute of the run is ("command"); before or after samples. */
int recorder_attribute(struct recorder *recorder, const char *name, vitals_text text,
                       vitals_error *error);

/* Gives an account the attributes that the recording has and it has not. Errors: EMEMORY. */
int recorder_describe(const struct recorder *recorder, vitals_account *account,
                      vitals_error *error);
int recorder_sample(struct recorder *recorder, const vitals_snapshot *snapshot,
                    const vitals_usage *usage, vitals_error *error);
int recorder_mark(struct recorder *recorder, const vitals_mark *mark, vitals_error *error);

/* The final account. */
int recorder_account(struct recorder *recorder, const vitals_account *account, vitals_error *error);

/* Puts a finished run's account into a recording that another process wrote and closed. */
int recording_put_account(const char *path, const vitals_account *account, vitals_error *error);

/* Commits and closes. Accepts NULL. */
int recorder_close(struct recorder *recorder, vitals_error *error);

/* Names of formats, for messages; NULL after the last. */
const char *recorder_format_name(size_t index);

#endif
