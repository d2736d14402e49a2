/* account.h: what a run used, figure by figure, each with how it was measured.
 *
 * Made by vitals_run_command, by a run (run.h), from a recording, or from the JSON of another. An
 * account is data: it is immutable once it is given out, may be read from any thread, and outlives
 * what it was made of. */
#ifndef VITALS_ACCOUNT_H
#define VITALS_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/measures.h>
#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_account vitals_account;
typedef struct vitals_figure vitals_figure;

/* Frees an account and its figures. Accepts NULL. */
VITALS_API void vitals_account_free(vitals_account *account);

/* Returns the exit status as a shell reports it: the exit code, 128 + the signal, 126, 127; -1 if
 * the command has not ended, or its exit status is not known. */
VITALS_API int vitals_account_exit_code(const vitals_account *account) VITALS_NONNULL(1);

/* Returns the signal that ended the command, or 0. */
VITALS_API int vitals_account_signal(const vitals_account *account) VITALS_NONNULL(1);

/* Returns why the command could not be started; size 0 if it was started. */
VITALS_API vitals_text vitals_account_failure(const vitals_account *account) VITALS_NONNULL(1);

/* Returns the figure after `previous` (NULL: the first), or NULL after the last, in the order in
 * which a person reads them. Names end in their unit, as those of metrics do: VITALS_FIGURE_…
 * below, and in measures.h those of every measure that was sampled: of a gauge its peak, mean and
 * least (memory_resident_peak_bytes: the statistic stands before the unit, or at the end where
 * there is none: threads_peak), of a counter its growth under the measure's own name. More may
 * come. */
VITALS_API const vitals_figure *vitals_account_next(const vitals_account *account,
                                                    const vitals_figure *previous)
    VITALS_NONNULL(1);

/* Return the name of a figure ("cpu_user_seconds"), its unit ("seconds"; "" for a count), and how
 * it was measured or why it was not ("wait4", "the sampler did not answer"). Borrowed, never NULL,
 * safe to print. */
VITALS_API const char *vitals_figure_name(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_unit(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_source(const vitals_figure *figure) VITALS_NONNULL(1);

/* Return the subject of a figure: "" for the whole tree, "root" for its first process,
 * "descendants" for the rest, "system" for the machine, else a device's UUID (of a device whose
 * driver gives none, its label) or the name of a disk, a network interface, a phase. The label is
 * for people: "GPU 0", or "". Borrowed, never NULL, safe to print. */
VITALS_API const char *vitals_figure_subject(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_label(const vitals_figure *figure) VITALS_NONNULL(1);

/* Reads the value of a figure. If the result is above zero, *out was written; VITALS_HAVE is exact.
 */
VITALS_API VITALS_CHECKED vitals_availability vitals_figure_value(const vitals_figure *figure,
                                                                  double *out) VITALS_NONNULL(1, 2);

/* Writes the value of a figure as a person reads it, by its unit, as vitals_metric_format writes a
 * metric ("28.45MiB", "3 %", "1:10:56"), or the word for the reason ("denied"), into `out`
 * (capacity bytes, NUL-terminated), cut where it does not fit. Returns `out`; "" for a capacity of
 * 0. */
VITALS_API const char *vitals_figure_string(const vitals_figure *figure, vitals_text_form form,
                                            char *out, size_t capacity) VITALS_NONNULL(1);

/* Names of figures that are no statistic of one measure. */
#define VITALS_FIGURE_WALL_SECONDS            "wall_seconds"       /* the time that it took */
#define VITALS_FIGURE_CPU_CORES               "cpu_cores"          /* CPUs in use on average */
#define VITALS_FIGURE_CPU_COVERAGE_RATIO      "cpu_coverage_ratio" /* CPU time sampled, of all */
#define VITALS_FIGURE_MEMORY_PEAK_BYTES       "memory_peak_bytes"  /* where it is counted; else: */
#define VITALS_FIGURE_MEMORY_PEAK_LOW_BYTES   "memory_peak_low_bytes"  /* a lower bound */
#define VITALS_FIGURE_MEMORY_PEAK_HIGH_BYTES  "memory_peak_high_bytes" /* an estimate */
#define VITALS_FIGURE_MEMORY_PEAK_SUM_BYTES   "memory_peak_sum_bytes"  /* of each process, summed */
#define VITALS_FIGURE_SWAP_PEAK_BYTES         "swap_peak_bytes"        /* at one moment */
#define VITALS_FIGURE_PROCESSES               "processes"      /* how many there ever were */
#define VITALS_FIGURE_PROCESSES_LEFT          "processes_left" /* that still run */
#define VITALS_FIGURE_PROCESSES_SEEN          "processes_seen" /* that a sample saw */
#define VITALS_FIGURE_TASKS_PEAK              "tasks_peak"     /* processes and threads */
#define VITALS_FIGURE_OOM_KILLS               "oom_kills"      /* for want of memory */
#define VITALS_FIGURE_CPU_PRESSURE_SECONDS    "cpu_pressure_seconds"
#define VITALS_FIGURE_MEMORY_PRESSURE_SECONDS "memory_pressure_seconds"
#define VITALS_FIGURE_IO_PRESSURE_SECONDS     "io_pressure_seconds"
#define VITALS_FIGURE_GPU_BUSY_RATIO          "gpu_busy_ratio"   /* of the time, by device */
#define VITALS_FIGURE_OWN_CPU_SECONDS         "own_cpu_seconds"  /* by vitals' own threads: run.h */
#define VITALS_FIGURE_OWN_THREADS             "own_threads"      /* likewise */
#define VITALS_FIGURE_FIGURES_LEFT_OUT        "figures_left_out" /* for want of room */

/* Finds the figure with that name (VITALS_FIGURE_…) and subject ("" or a UUID); NULL if there is
 * none. */
VITALS_API const vitals_figure *vitals_account_find(const vitals_account *account, const char *name,
                                                    const char *subject) VITALS_NONNULL(1, 2, 3);

/* Names of attributes. */
#define VITALS_ATTRIBUTE_STATE             "state"   /* one of VITALS_RUN_COMPLETE, … */
#define VITALS_ATTRIBUTE_COMMAND           "command" /* as a shell would read it */
#define VITALS_ATTRIBUTE_WORKING_DIRECTORY "working_directory"
#define VITALS_ATTRIBUTE_USER              "user"
#define VITALS_ATTRIBUTE_HOST              "host"
#define VITALS_ATTRIBUTE_BOOT_ID           "boot_id"
#define VITALS_ATTRIBUTE_VERSION           "version"    /* of vitals */
#define VITALS_ATTRIBUTE_STARTED_NS        "started_ns" /* realtime */
#define VITALS_ATTRIBUTE_INTERVAL_NS       "interval_ns"
#define VITALS_ATTRIBUTE_EXIT              "exit" /* the code, as text */
#define VITALS_ATTRIBUTE_SIGNAL            "signal"
#define VITALS_ATTRIBUTE_EXPECTED_CORES    "expected_cores"
#define VITALS_ATTRIBUTE_SYSTEM_CORES      "system_cores"
#define VITALS_ATTRIBUTE_METHODS           "rungs"       /* so in JSON; "cgroup2 wait4", … */
#define VITALS_ATTRIBUTE_MISSING           "missing"     /* what and why, in lines */
#define VITALS_ATTRIBUTE_GPU_DRIVERS       "gpu_drivers" /* vendor, driver, subject: lines */
#define VITALS_ATTRIBUTE_LIMIT             "limit"       /* passed: VITALS_RUN_LIMIT_… */
#define VITALS_ATTRIBUTE_LIMIT_WORDS       "limit_words" /* the same as a sentence */

/* What the attribute `state` is. */
#define VITALS_RUN_COMPLETE "complete"
#define VITALS_RUN_PARTIAL  "partial" /* cut off, and made of what was left */
#define VITALS_RUN_RUNNING  "running"

/* Returns what is known of the run beside figures, by the name of an attribute
 * (VITALS_ATTRIBUTE_…); size 0 if it is not known. Borrowed. */
VITALS_API vitals_text vitals_account_attribute(const vitals_account *account, const char *name)
    VITALS_NONNULL(1, 2);

/* Returns the name of the attribute after `previous` (NULL: the first), or NULL after the last. */
VITALS_API const char *vitals_account_next_attribute(const vitals_account *account,
                                                     const char *previous) VITALS_NONNULL(1);

/* Writes the account as one JSON object, as docs/account.md describes it, in pieces. Errors:
 * ESYSTEM
 * (`write` stopped; error.detail is what it returned). */
VITALS_API VITALS_CHECKED int vitals_account_json(const vitals_account *account,
                                                  vitals_write_fn *write, void *data,
                                                  vitals_error *error) VITALS_NONNULL(1, 2);

#ifdef __cplusplus
}
#endif

#endif
