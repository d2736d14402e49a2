/* run_export.h: run and track tell others: --mlflow, --otlp, --tensorboard.
 *
 * Nothing here fails or delays the job beyond --tell-wait: what cannot be told is said in a line.
 * The program is started before the job and is none of its processes; the sampler's process writes
 * samples to it, and the end is written here. One thread. */
#ifndef VITALS_COMMAND_RUN_RUN_EXPORT_H
#define VITALS_COMMAND_RUN_RUN_EXPORT_H

#include <stdatomic.h>

#include "command/export/exporter.h"

/* observer_pair.c: two observers of one run: a recording and an exporter. If one fails, it is not
 * called again and the other goes on; the failure is reported at the end, with the account. Called
 * in the sampler's process. */
struct observer_pair {
    vitals_run_observer face;
    const vitals_run_observer *each[2];
    vitals_request *request; /* what both want; owned */
    bool stopped[2];         /* sampler's process; so the next */
    vitals_error error;      /* the first */
};

/* Both are borrowed; the descriptor that stays open is that of the second. Errors: EMEMORY. */
int observer_pair_init(struct observer_pair *pair, const vitals_run_observer *first,
                       const vitals_run_observer *second, vitals_error *error);
void observer_pair_done(struct observer_pair *pair);

struct run_export {
    struct exporter exporter; /* link NULL: nothing is exported */
    vitals_run_observer face;
    vitals_request *request;
    struct buffer line;     /* sampler's process or thread */
    uint64_t wait_ns;       /* that a sample may take to leave */
    char *own[3];           /* "NAME=VALUE" that the command has in the place of ours; NULL */
    const char **variables; /* the command's environment; NULL: as ours */
    struct observer_pair pair;
    const char *policy;        /* --cmdline */
    _Atomic uint64_t *dropped; /* of the sampler's process too; NULL: not counted */
    int interrupts;            /* once it is held */
    bool held, said_gone;
};

/* Prepares the export of a run; run_export_done frees it. */
void run_export_init(struct run_export *observer, const struct argument_settings *arguments,
                     const struct export_settings *export);

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

/* A sample without an observer: of vitals record. */
void run_export_sample(struct run_export *observer, const vitals_snapshot *snapshot,
                       const vitals_usage *usage);

/* The job has ended, and its exit code is to be given: from here on a signal ends all waiting, and
 * not us. */
void run_export_hold(struct run_export *observer);

/* The account, how it ended, and the page of it; then waits for what is still to be sent: all of it
 * within --tell-wait. Says what was not told. `recording`: NULL, or the path of one that is
 * finished. */
void run_export_end(struct run_export *observer, const struct settings *settings,
                    const vitals_account *account, const char *recording);
void run_export_done(struct run_export *observer);

/* run_page.c: the page of vitals report, of the account (its JSON) or a recording, in a folder of
 * its own that run_page_remove removes. Of a recording that is too long for the time that is left
 * it is of the account alone, which is said. False: it could not be made. */
struct run_page {
    const char *title;             /* NULL: none */
    uint64_t deadline_ns;          /* monotonic */
    int interrupts;                /* once it can be read there is no time left; -1 */
    char folder[4096], path[4200]; /* "": there is none */
};

bool run_page_make(struct run_page *page, const char *temporary, const struct account_view *view,
                   const char *recording, const char *account);
void run_page_remove(struct run_page *page);

#endif
