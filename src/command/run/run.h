/* run.h: what the parts of `vitals run` share. One thread. */
#ifndef VITALS_COMMAND_RUN_RUN_H
#define VITALS_COMMAND_RUN_RUN_H

#include "command/command.h"
#include "command/run/run_export.h"
#include "record/observer.h"

#include <sys/stat.h>

enum { EXIT_LIMIT_TIME = 124, EXIT_BEFORE_RUN = 125, EXIT_LIMIT = 137 };

/* Everything that a run is told, and what it points to. */
struct run_plan {
    vitals_options world;
    vitals_usage_options usage;
    vitals_run_options options;
    const char **devices; /* NULL at the end */
    struct record_observer observer;
    struct recorder_options recorder;
    struct run_export exporter;
    bool records;
    char recording[4096];      /* its path; of several runs that of this one */
    char totals[4096];         /* "": there is no backup */
    struct stat totals_before; /* no mode: nothing was there */
};

/* run_options.c: of the settings; what is wrong is said. 0, or an exit code. Nothing is written
 * yet; run_plan_prepare makes the recording, where there is one of a single run. */
int run_plan_init(struct run_plan *plan, const struct settings *settings);
int run_plan_prepare(struct run_plan *plan, const struct argument_settings *arguments);
void run_plan_done(struct run_plan *plan);

/* The file that is recorded into; NULL: none, or standard output. */
const char *run_plan_file(const struct run_plan *plan);

/* Of several runs, the recording of the one that comes: from 1 on. 0, or an exit code. */
int run_plan_record(struct run_plan *plan, const struct argument_settings *arguments,
                    const struct recording_settings *recording, const struct run_settings *run,
                    uint64_t number);

/* run_options.c: takes --rotate and --keep over, for run, track and record; 0, or an exit code
 * after what is wrong was said. */
int recording_take_rotation(struct recorder_options *options,
                            const struct recording_settings *recording);

/* Whether a recording can stand there: a regular file, or nothing yet. 0, or an exit code after
 * what is wrong was said; `option` is how the file was named ("--record "). */
int recording_check_place(const char *option, const char *path);

/* What to say behind the message of a recorder that could not be opened there: the way out where a
 * file is in the way, or "". `code` is what it returned. */
const char *recording_way_out(const struct recorder_options *options, const char *path, int code);

/* Removes the file of totals, where one was written: not what stood there before. */
void run_totals_remove(const struct run_plan *plan);

/* run.c: whether the recording stopped before its end; if so and no account is wanted, says so. */
bool run_recording_stopped(const struct run_plan *plan, const vitals_account *account);
void run_tell_stopped(const struct run_plan *plan, const vitals_account *account);

/* Prints an account to stderr. */
void run_print_account(const struct settings *settings, const vitals_account *account);

/* run_repeat.c: figures of several runs. */
struct repeat;

struct repeat *repeat_new(void); /* NULL when memory is out */
void repeat_free(struct repeat *repeat);

/* Takes an account over. False when memory is out. */
bool repeat_add(struct repeat *repeat, vitals_account *account);

int repeat_text(const struct repeat *repeat, const struct account_view *view,
                vitals_write_fn *write, void *data);
int repeat_json(const struct repeat *repeat, vitals_write_fn *write, void *data);

#endif
