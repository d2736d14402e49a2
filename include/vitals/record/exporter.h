/* exporter.h: exports samples and the account of a run to MLflow, OpenTelemetry, TensorBoard, or a
 * file for Prometheus' node_exporter.
 *
 *     vitals_exporter_options options;
 *     vitals_exporter_options_init(&options, sizeof options);
 *     options.mlflow = "http://mlflow.example:5000";
 *     vitals_exporter_open(&options, &exporter, &error);
 *     vitals_exporter_sample(exporter, snapshot, usage, &error);        … again and again
 *     vitals_exporter_account(exporter, account, &error);
 *     vitals_exporter_close(exporter, 5000000000, &error);
 *
 * A program of its own, libexec/vitals/tell, speaks with the servers; vitals_exporter_open starts
 * it, and nothing else does. It is no child of the caller and need not be waited for, has a session
 * of its own, ends after vitals_exporter_close, and ends itself if the caller dies. A sample that
 * it does not take in time is dropped and counted: the caller waits for that program, at most as
 * long as each function says, and never for a network.
 *
 * Descriptors are close-on-exec, no handler of a signal is changed and no SIGPIPE is raised. In a
 * process that was forked after the open each function returns EARGUMENT; close then closes the
 * copy's descriptors, of which the exporter notices nothing. While a run samples
 * (vitals_exporter_observer), another thread may wait and ask; else one thread at a time. */
#ifndef VITALS_LIBRECORD_EXPORTER_H
#define VITALS_LIBRECORD_EXPORTER_H

#include <vitals/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_exporter vitals_exporter;

/* Grows at its end only, by the rule of vitals_options. Strings are copied by the open. */
typedef struct vitals_exporter_options {
    size_t size;
    const char *program;      /* path of the exporter; NULL: the one installed with this library */
    char *const *environment; /* of the exporter: logins, proxies, MLFLOW_… and OTEL_… alone
                                 (docs/telling.md); NULL at its end. NULL: the caller's */
    uint64_t interval_ns;     /* of the samples; 1 s */
    uint64_t patience_ns;     /* the exporter ends so long after the close at the latest; 5 s */

    /* Where to: at least one. NULL: not there. */
    const char *mlflow; /* an MLflow server; "": that of MLFLOW_TRACKING_URI */
    const char *otlp;   /* an OpenTelemetry collector; "": that of OTEL_EXPORTER_OTLP_ENDPOINT */
    const char *tensorboard; /* a folder, which is made */
    const char *textfile;    /* a file *.prom for node_exporter */

    /* The run of MLflow. */
    const char *mlflow_run_id; /* to continue; NULL: that of MLFLOW_RUN_ID, else a new one */
    int mlflow_new_run;        /* not 0: a new run in any case, below that of MLFLOW_RUN_ID */
    const char
        *mlflow_experiment;      /* its name; NULL: that of MLFLOW_EXPERIMENT_NAME or _ID, or "0" */
    const char *mlflow_run_name; /* NULL: that of MLFLOW_RUN_NAME, or none */
    const char *mlflow_prefix;   /* of the processes' metrics; NULL: "system/process/" */
    uint64_t mlflow_interval_ns; /* a point covers so much time; 10 s */
    uint64_t mlflow_samples;     /* times this number; 1 */
    double mlflow_max_cpus;      /* CPUs that are 100 %; 0: the cgroup's limit, else 1 */
    uint64_t mlflow_max_memory;  /* bytes that are 100 %; 0: the limit, else the machine's memory */
    const char *mlflow_unsent;   /* a folder for what a server missed, for `vitals send`; NULL: it
                                    waits in memory and is lost at the end */

    /* What is measured. */
    char *const *argv;     /* the command of the run; NULL: a process that runs already */
    const char *name;      /* of the program; NULL: that of argv[0], or "vitals" */
    int64_t pid;           /* of that process; 0: none, or the command's, which is not known yet */
    const char *user;      /* the owner of the run; NULL: not told */
    double expected_cores; /* as in vitals_usage_options, as a parameter of MLflow; 0: none */
    uint64_t memory_limit; /* of the run in bytes, likewise; 0: none */
    const char
        *command_line; /* how much of command lines leaves the machine: "off", "argv0",
                          "redacted" (without what looks like a secret), "full"; NULL: "off" */
} vitals_exporter_options;

/* Fills in the defaults. `size` is sizeof(vitals_exporter_options) as the caller was compiled; not
 * a byte beyond it is written. */
VITALS_API void vitals_exporter_options_init(vitals_exporter_options *options, size_t size)
    VITALS_NONNULL(1);

/* Starts the exporter; *out is the caller's to close. Servers are reached later: see
 * vitals_exporter_wait. Errors: EARGUMENT (an address that can never work, no destination, a word
 * that is none), EGONE, EDENIED (the program cannot be executed), ESYSTEM (it does not read for 2
 * s), EUNSUPPORTED (a build without exporters), EMEMORY. Cost: two forks. */
VITALS_API VITALS_CHECKED int vitals_exporter_open(const vitals_exporter_options *options,
                                                   vitals_exporter **out, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Adds to a request what a snapshot must hold for vitals_exporter_sample. With a usage of
 * processes, add that too (vitals_usage_request). Errors: EARGUMENT (after fork), EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_exporter_request(const vitals_exporter *exporter,
                                                      vitals_request *request, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Sends a sample: the snapshot, and the usage to which it was added; NULL: a usage of the machine
 * and its devices alone, which the exporter makes. Both are the caller's and are not kept. Returns
 * 1, or 0 if the exporter did not take it in time: it was dropped and counted. Waits at most an
 * eighth of the interval, and never more than 50 ms. Errors: EARGUMENT (after fork), EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_exporter_sample(vitals_exporter *exporter,
                                                     const vitals_snapshot *snapshot,
                                                     const vitals_usage *usage, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Sends the account, once, at the end; a run that is closed without one is told as killed. An
 * account without an exit status, as of a block of a program, does not end a run of MLflow that was
 * continued. Returns 1 or 0 as vitals_exporter_sample; waits at most 200 ms. Errors: those of
 * vitals_exporter_sample. */
VITALS_API VITALS_CHECKED int vitals_exporter_account(vitals_exporter *exporter,
                                                      const vitals_account *account,
                                                      vitals_error *error) VITALS_NONNULL(1, 2);

/* Sends a file as an artifact of the MLflow run, after the account; it must be there until the
 * close returns. Returns 1 or 0, and waits, as vitals_exporter_account. Errors: those of
 * vitals_exporter_sample. */
VITALS_API VITALS_CHECKED int vitals_exporter_file(vitals_exporter *exporter, const char *path,
                                                   vitals_error *error) VITALS_NONNULL(1, 2);

/* What a run points to (vitals_run_options.observer), to have its samples sent; lives as long as
 * the exporter, which must outlive the run. `also`: another observer, as that of a recorder, which
 * gets everything too; NULL: none. To be called once. A run that measures the calling process
 * leaves the exporter out by vitals_run_exclude(run, vitals_exporter_pid(exporter)).
 * Errors: EARGUMENT (after fork), EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_exporter_observer(vitals_exporter *exporter,
                                                       const vitals_run_observer *also,
                                                       const vitals_run_observer **out,
                                                       vitals_error *error) VITALS_NONNULL(1, 3);

/* ---- what the exporter says ---- */

typedef enum vitals_export_target {
    VITALS_EXPORT_MLFLOW = 1,
    VITALS_EXPORT_OTLP,
    VITALS_EXPORT_TENSORBOARD,
    VITALS_EXPORT_TEXTFILE
} vitals_export_target;

typedef enum vitals_export_state {
    VITALS_EXPORT_OFF = 0,  /* it was not asked for */
    VITALS_EXPORT_STARTING, /* not reached yet; it is tried again */
    VITALS_EXPORT_WORKS,
    VITALS_EXPORT_FAILED, /* for good; vitals_exporter_message says why */
} vitals_export_state;

/* Waits until each destination works or has failed, at most timeout_ns (0: only looks). Returns 1
 * once they have, 0 where the time was over before. Errors: EARGUMENT (after fork), EGONE (the
 * exporter has ended). */
VITALS_API VITALS_CHECKED int vitals_exporter_wait(vitals_exporter *exporter, uint64_t timeout_ns,
                                                   vitals_error *error) VITALS_NONNULL(1);

/* Return what is known since the last vitals_exporter_wait: the state of a destination, the last
 * message for a person (""; one line of text from outside), and of the run of MLflow its id, for
 * MLFLOW_RUN_ID of a command, and its page ("": not known yet). Borrowed until the next wait. */
VITALS_API vitals_export_state vitals_exporter_state(const vitals_exporter *exporter,
                                                     vitals_export_target target) VITALS_NONNULL(1);
VITALS_API const char *vitals_exporter_message(const vitals_exporter *exporter) VITALS_NONNULL(1);
VITALS_API const char *vitals_exporter_run_id(const vitals_exporter *exporter) VITALS_NONNULL(1);
VITALS_API const char *vitals_exporter_run_page(const vitals_exporter *exporter) VITALS_NONNULL(1);

/* Return the pid of the exporter, and how many samples and accounts were dropped. */
VITALS_API int64_t vitals_exporter_pid(const vitals_exporter *exporter) VITALS_NONNULL(1);
VITALS_API uint64_t vitals_exporter_dropped(const vitals_exporter *exporter) VITALS_NONNULL(1);

/* Ends the input of the exporter, waits at most timeout_ns until all is sent, and frees; accepts
 * NULL. An exporter that is not done by then goes on alone, until patience_ns after the close: what
 * it cannot send is heard only with a timeout_ns of at least that. Returns 0 if all is sent; all is
 * freed whatever is returned. Errors: ETIMEOUT (it goes on alone), EGONE (it has ended before),
 * ESYSTEM (something was not sent; the message says what), EARGUMENT (after fork). */
VITALS_API int vitals_exporter_close(vitals_exporter *exporter, uint64_t timeout_ns,
                                     vitals_error *error);

#ifdef __cplusplus
}
#endif

#endif
