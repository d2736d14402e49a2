/* run_export.h: the exports of run and track: --mlflow, --otlp, --tensorboard.
 *
 * Nothing here fails the job, or delays it beyond --tell-wait: a failed export is reported in one
 * line. The program is started before the job and is not one of its processes; the sampler's
 * process writes samples to it, and this process writes the end. One thread. */
#pragma once

#include "command/export/exporter.h"
#include "export/observer_pair.h"
#include "export/run_sender.h"

struct run_export {
    struct exporter exporter; /* link NULL: no export */
    struct run_sender sender;
    char *own[3];           /* "NAME=VALUE" that replaces our variable for the command; NULL */
    const char **variables; /* the command's environment; NULL: ours */
    struct observer_pair pair;
    int interrupts; /* valid after run_export_take_interrupts */
    bool held, said_gone;
};

/* Prepares the export of a run; run_export_done frees it. */
void run_export_init(struct run_export *observer, const struct settings *settings);

/* Adds itself to the options of a run, beside an observer that is already there. Call it before the
 * run is opened, which copies them. */
void run_export_observe(struct run_export *observer, vitals_run_options *options);

/* Starts the exporter program, if any export was asked for, and waits for the id of an MLflow run;
 * prints a message if no export is possible. Returns whether one is. `job`: the known facts of it.
 */
bool run_export_begin(struct run_export *observer, const struct settings *settings,
                      const struct export_job *job);

/* The pid of the program, or 0 if it has not been started. */
int64_t run_export_pid(const struct run_export *observer);

/* Exports a sample without an observer, for vitals record. */
void run_export_sample(struct run_export *observer, const vitals_snapshot *snapshot,
                       const vitals_usage *usage);

/* Called when the job has ended and its exit code is to be returned: from then on a signal ends all
 * waiting, and not this process. */
void run_export_take_interrupts(struct run_export *observer);

/* Sends the account, the end state and the page, then waits for unsent data; all within
 * --tell-wait. Reports what was not sent. `recording`: NULL, or the path of a finished one. */
void run_export_end(struct run_export *observer, const struct settings *settings,
                    const vitals_account *account, const char *recording);
void run_export_done(struct run_export *observer);
