/* recorder.h: writes recordings: samples, marks, snapshots and the account of a run.
 *
 *     vitals_recorder_options options;
 *     vitals_recorder_options_init(&options, sizeof options);
 *     options.path = "run.db";
 *     vitals_recorder_open(&options, &recorder, &error);
 *     vitals_recorder_sample(recorder, snapshot, usage, &error);        … again and again
 *     vitals_recorder_put_account(recorder, account, &error);
 *     vitals_recorder_close(recorder, &error);
 *
 * The file is whole at any moment: killed, the program loses at most a sample, or a second.
 *
 * After fork(2) a recorder belongs to the process that opened it: in the child each function
 * returns EARGUMENT and touches no file. A close frees the handle there; what the recorder holds,
 * memory and descriptors, stays until the child ends. (The process in which vitals_run_command
 * samples is an exception: it writes what a vitals_run_recorder observes.) */
#ifndef VITALS_LIBRECORD_RECORDER_H
#define VITALS_LIBRECORD_RECORDER_H

#include <vitals/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_recorder vitals_recorder;

/* Grows at its end only, by the rule of vitals_options. Strings are copied. */
typedef struct vitals_recorder_options {
    size_t size;
    const char *path;     /* NULL or "-": standard output, of forms that are lines of text */
    const char *form;     /* of vitals_recorder_form; NULL: by the ending of the path */
    int overwrite;        /* not 0: a file that is there is replaced; else it must be empty */
    int no_header;        /* not 0: no line of column names */
    int snapshots;        /* not 0: whole snapshots are kept too, packed (form "vitals") */
    uint64_t interval_ns; /* of the samples, for forms that tell it; 1 s */
    uint64_t rotate_bytes, rotate_ns; /* a new file beyond; the old are PATH.1, PATH.2; 0: never */
    unsigned keep;                    /* how many of those stay; 0: all */
} vitals_recorder_options;

/* Fills in the defaults. `size` is sizeof(vitals_recorder_options) as the caller was compiled; not
 * a byte beyond it is written. */
VITALS_API void vitals_recorder_options_init(vitals_recorder_options *options, size_t size)
    VITALS_NONNULL(1);

/* Returns the name of a form that recordings are written in, by an index from 0; NULL behind the
 * last: "vitals" (SQLite), "vitals-csv", "gpu-tracker" (CSV, or SQLite where the path ends in
 * .sqlite), and those of resource-tracker. */
VITALS_API const char *vitals_recorder_form(size_t index);

/* What samples must hold for a form. */
enum {
    VITALS_RECORDER_MACHINE = 1, /* values of the machine in each sample: usage options with
                                    machine_pace VITALS_MACHINE_CLOSELY */
    VITALS_RECORDER_TREE = 2,    /* processes: a usage of the machine alone makes no rows */
};

/* Returns flags of what the form of the options needs; 0 also if there is no such form. */
VITALS_API unsigned vitals_recorder_needs(const vitals_recorder_options *options) VITALS_NONNULL(1);

/* Opens a recorder and makes its file; *out is the caller's to close. Errors: EARGUMENT (no such
 * form; a file that is not empty, without `overwrite`), EGONE, EDENIED, ESYSTEM, EMEMORY,
 * EUNSUPPORTED (a build without SQLite). Cost: it makes the file. */
VITALS_API VITALS_CHECKED int vitals_recorder_open(const vitals_recorder_options *options,
                                                   vitals_recorder **out, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Sets an attribute of the run, with the names of vitals_account_attribute ("command", "host"); at
 * any moment. The text is copied. Errors: ESYSTEM, EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_recorder_set(vitals_recorder *recorder, const char *attribute,
                                                  vitals_text text, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Writes a sample: the values of the usage, to which the snapshot was added, and, where the options
 * say so, the snapshot. Both are the caller's and are not kept. Without an error the sample is
 * written; with one, those before it are whole. Errors: ESYSTEM, EMEMORY. Cost: a write. */
VITALS_API VITALS_CHECKED int vitals_recorder_sample(vitals_recorder *recorder,
                                                     const vitals_snapshot *snapshot,
                                                     const vitals_usage *usage, vitals_error *error)
    VITALS_NONNULL(1, 2, 3);

/* Writes a mark, which begins or ends a phase (mark.h); it is not kept. Errors: as above. */
VITALS_API VITALS_CHECKED int vitals_recorder_mark(vitals_recorder *recorder,
                                                   const vitals_mark *mark, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Writes the final account; attributes that it lacks are those of the recorder. A form of another
 * tool that has no place for it passes over it. Errors: as above. */
VITALS_API VITALS_CHECKED int vitals_recorder_put_account(vitals_recorder *recorder,
                                                          const vitals_account *account,
                                                          vitals_error *error) VITALS_NONNULL(1, 2);

/* Ends the file and frees the recorder, whatever is returned. Accepts NULL. Errors: ESYSTEM. */
VITALS_API int vitals_recorder_close(vitals_recorder *recorder, vitals_error *error);

/* ---- a recording of a run (run.h) ---- */

/* Records what vitals_run_command or a run samples:
 *
 *     vitals_run_recorder_open(&options, &recorder, &error);
 *     run_options.observer = vitals_run_recorder_observer(recorder);
 *     vitals_run_command(&run_options, &account, &error);
 *     vitals_run_recorder_close(recorder, account, &error); */
typedef struct vitals_run_recorder vitals_run_recorder;

/* Makes the file at once, so that one that cannot be written is told before the run. A path is
 * needed. *out is the caller's to close. Errors: those of vitals_recorder_open. */
VITALS_API VITALS_CHECKED int vitals_run_recorder_open(const vitals_recorder_options *options,
                                                       vitals_run_recorder **out,
                                                       vitals_error *error) VITALS_NONNULL(1, 2);

/* Sets an attribute, as vitals_recorder_set, before the run starts; 16 at most. Errors: EARGUMENT
 * (more), EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_run_recorder_set(vitals_run_recorder *recorder,
                                                      const char *attribute, vitals_text text,
                                                      vitals_error *error) VITALS_NONNULL(1, 2);

/* Returns the observer for the options of the run. It lives as long as the recorder, which must
 * outlive the run. */
VITALS_API const vitals_run_observer *vitals_run_recorder_observer(
    const vitals_run_recorder *recorder) VITALS_NONNULL(1);

/* Writes the account (NULL: none) behind the samples, once the run is over, and frees the recorder,
 * whatever is returned. Accepts NULL. Errors: EGONE, EDENIED, ESYSTEM. */
VITALS_API int vitals_run_recorder_close(vitals_run_recorder *recorder,
                                         const vitals_account *account, vitals_error *error);

#ifdef __cplusplus
}
#endif

#endif
