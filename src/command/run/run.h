/* run.h: shared by the parts of `vitals run`. One thread. */
#pragma once

#include "command/command.h"
#include "command/run/run_export.h"
#include "record/observer.h"

#include <sys/stat.h>

enum { EXIT_LIMIT_TIME = 124, EXIT_BEFORE_RUN = 125, EXIT_LIMIT = 137 };

/* The options of a run, and the memory that they point to. */
struct run_plan {
    vitals_options world;
    vitals_usage_options usage;
    vitals_run_options options;
    struct record_observer observer;
    struct recorder_options recorder;
    struct run_export exporter;
    bool records;
    char recording[4096];      /* path of the recording; of several runs that of the current one */
    char totals[4096];         /* "": no backup */
    struct stat totals_before; /* mode 0: the file did not exist */
};

/* Fills the plan from the settings. Returns 0, or an exit code after a message. Nothing is written
 * yet; run_plan_prepare makes the recording, if there is one of a single run. run_options.c */
int run_plan_init(struct run_plan *plan, const struct settings *settings);
int run_plan_prepare(struct run_plan *plan);
void run_plan_done(struct run_plan *plan);

/* Returns the file that is recorded into; NULL: none, or standard output. */
const char *run_plan_file(const struct run_plan *plan);

/* Prepares the recording of the next of several runs, counted from 1. Returns 0, or an exit
 * code. */
int run_plan_record(struct run_plan *plan, const struct recording_settings *recording,
                    const struct run_settings *run, uint64_t number);

/* Makes the options of a recorder, for run, track and record. Returns 0, or an exit code after a
 * message. run_options.c */
int recording_options(const struct recording_settings *recording, const char *path,
                      uint64_t interval_ns, struct recorder_options *out);

/* Checks that a recording can be written there: a regular file, or nothing yet. Returns 0, or an
 * exit code after a message; `option` is how the file was named ("--record "). */
int recording_check_place(const char *option, const char *path);

/* Returns a hint for the message of a recorder that could not be opened, if a file is in the way,
 * or "". `code` is the error that the recorder returned. */
const char *recording_overwrite_hint(const struct recorder_options *options, const char *path,
                                     int code);

/* Removes the file of totals if this run wrote it; an older file stays. */
void run_totals_remove(const struct run_plan *plan);

/* True if the recording stopped before its end; prints a message if no account is wanted. run.c */
bool run_recording_stopped(const struct run_plan *plan, const vitals_account *account);
void run_tell_stopped(const struct run_plan *plan, const vitals_account *account);

/* Prints an account to stderr. */
void run_print_account(const struct settings *settings, const vitals_account *account);

/* Figures of several runs; of zeros there are none. run_repeat.c */
struct repeat {
    vitals_account **runs; /* owned */
    size_t count, capacity;
};

void repeat_done(struct repeat *repeat);

/* Adds an account, which it then owns. Returns false if memory is exhausted. */
bool repeat_add(struct repeat *repeat, vitals_account *account);

int repeat_text(const struct repeat *repeat, const struct account_view *view,
                vitals_write_fn *write, void *data);
int repeat_json(const struct repeat *repeat, vitals_write_fn *write, void *data);
