/* recorder.h: writes samples, marks, snapshots and the account of a run into a file as they come.
 *
 * Formats are a table (recorder.c): vitals' own SQLite and CSV, and the files of
 * resource-tracker (0.5 and 0.1) and gpu_tracker. After kill -9 the file is whole and lacks
 * at most one sample or one second. One thread. */
#pragma once

#include <stdbool.h>

#include <vitals/vitals.h>

struct recorder;

struct recorder_options {
    const char *path;   /* NULL or "-": standard output, text formats only */
    const char *format; /* NULL: by the ending of the path */
    bool overwrite;     /* otherwise a file that is not empty is refused */
    bool no_header;     /* text formats */
    uint64_t interval_ns;
    uint64_t rotate_bytes, rotate_ns; /* 0: never; else PATH.1, PATH.2 … beside it */
    unsigned keep;                    /* of those; 0: all */
    bool frames;                      /* whole snapshots too (SQLite) */
    /* A descriptor that becomes readable when the recorder must end: it then waits at most a second
     * for a reader of its output. 0: none. */
    int stop;
};

/* True if the format needs the machine's values in each sample. */
bool recorder_samples_machine(const struct recorder_options *options);

/* True if the format has rows for processes only. */
bool recorder_needs_processes(const struct recorder_options *options);

/* Checks that the format exists, and is made of lines if it goes to standard output. Touches no
 * file. Errors: EARGUMENT. */
int recorder_check(const struct recorder_options *options, vitals_error *error);

/* False if the format cannot hold snapshots. */
bool recorder_may_keep_frames(const struct recorder_options *options);

/* Errors: EARGUMENT (format), EDENIED, ESYSTEM, EUNSUPPORTED (built without SQLite). */
int recorder_open(const struct recorder_options *options, struct recorder **out,
                  vitals_error *error);

/* Sets a text attribute of the run ("command"), before or after samples. */
int recorder_attribute(struct recorder *recorder, const char *name, vitals_text text,
                       vitals_error *error);

/* Sets the attributes that the first sample tells, unless they are set: host, boot_id, version,
 * interval_ns, started_ns. */
int recorder_origin(struct recorder *recorder, const vitals_snapshot *first, vitals_error *error);

/* Copies the attributes that the account lacks from the recorder. Errors: EMEMORY. */
int recorder_describe(const struct recorder *recorder, vitals_account *account,
                      vitals_error *error);
int recorder_sample(struct recorder *recorder, const vitals_snapshot *snapshot,
                    const vitals_usage *usage, vitals_error *error);
int recorder_mark(struct recorder *recorder, const vitals_mark *mark, vitals_error *error);

/* The final account. */
int recorder_account(struct recorder *recorder, const vitals_account *account, vitals_error *error);

/* Writes the account of a finished run into a recording that another process wrote and closed. */
int recording_put_account(const char *path, const vitals_account *account, vitals_error *error);

/* Commits and closes. Accepts NULL. */
int recorder_close(struct recorder *recorder, vitals_error *error);

/* Returns the name of a format; NULL after the last. */
const char *recorder_format_name(size_t index);
