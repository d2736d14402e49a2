/* run.h: runs a command and accounts for what it and all its descendants used.
 *
 * The caller's process becomes the launcher: the job's parent and the subreaper of everything
 * that the job leaves behind. It runs no thread and loads no vendor library; what must be sampled
 * is sampled by a second process, which gets 400 ms at the end and is then left behind, so that
 * all is over within 500 ms. The job is never delayed, its standard streams are never touched, its
 * exit status is never changed.
 *
 * Because of that these functions change the process that calls them, as their names say: they
 * set PR_SET_CHILD_SUBREAPER, take over signals while the job runs, and reap every child. They
 * are for programs that exist to run a command, and must be called from a single thread. */
#ifndef VITALS_RUN_H
#define VITALS_RUN_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_account vitals_account;
typedef struct vitals_figure vitals_figure;

/* Grows at its end only, by the rule of vitals_options; so does what `world` points to. */
typedef struct vitals_run_options {
    size_t size;                 /* sizeof(vitals_run_options), set by init */
    const char *const *argv;     /* NULL-terminated; argv[0] is looked up in PATH */
    const vitals_options *world; /* for the sampler's context; NULL: defaults */
    uint64_t interval_ns;        /* of sampling; 10 ms to 1 day, 1 s */
    int wait_for_descendants;    /* not 0: also wait for what the command leaves behind */
    uint64_t child_descriptors;  /* soft RLIMIT_NOFILE that the command gets back; 0: as it is */
} vitals_run_options;

/* Fills in the defaults. `size` is sizeof(vitals_run_options) as the caller was compiled; not a
 * byte beyond it is written. */
VITALS_API void vitals_run_options_init(vitals_run_options *options, size_t size) VITALS_NONNULL(1);

/* Runs the command to its end. Returns 0 once the command has run, whatever its own exit status,
 * and *out is yours to free; it says also that the command could not be started (126, 127).
 * `options` and what it points to must live until this returns. Errors are those of
 * vitals_context_new for `world`, EARGUMENT, EMEMORY and ESYSTEM. All of them come before the first
 * instruction of the command: where one is returned it has not run, and where it has run nothing
 * can fail any more, only figures be missing. */
VITALS_API VITALS_CHECKED int vitals_run_command(const vitals_run_options *options,
                                                 vitals_account **out, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Accepts NULL. Figures live as long as their account. */
VITALS_API void vitals_account_free(vitals_account *account);

/* What a shell would say: the exit code, 128 + the signal, 126, 127. */
VITALS_API int vitals_account_exit_code(const vitals_account *account) VITALS_NONNULL(1);

/* The signal that ended the command, or 0. */
VITALS_API int vitals_account_signal(const vitals_account *account) VITALS_NONNULL(1);

/* Why the command could not be started; size 0 where it was. */
VITALS_API vitals_text vitals_account_failure(const vitals_account *account) VITALS_NONNULL(1);

/* The figures, in the order in which a person reads them; NULL: the first, NULL after the last.
 * Names end in their unit, as those of metrics do:
 *
 *     wall_seconds · cpu_seconds cpu_user_seconds cpu_system_seconds cpu_cores
 *     memory_peak_low_bytes memory_peak_high_bytes · disk_read_bytes disk_written_bytes
 *     minor_faults major_faults voluntary_switches involuntary_switches
 *     processes, and processes_left where some still run
 *     gpu_memory_peak_bytes gpu_busy_ratio gpu_busy_seconds, of each device that the run used
 *
 * More may come. */
VITALS_API const vitals_figure *vitals_account_next(const vitals_account *account,
                                                    const vitals_figure *previous)
    VITALS_NONNULL(1);

/* What it is ("cpu_user_seconds"), its unit ("seconds"; "" for a count), and how it was got or why
 * it was not ("wait4", "the sampler did not answer"). Borrowed, never NULL, safe to print. */
VITALS_API const char *vitals_figure_name(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_unit(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_source(const vitals_figure *figure) VITALS_NONNULL(1);

/* Of what: "" for the run as a whole, else the device's UUID (of a device whose driver gives none,
 * its label). The label is for people: "GPU 0", or "". Borrowed, never NULL, safe to print. */
VITALS_API const char *vitals_figure_subject(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_label(const vitals_figure *figure) VITALS_NONNULL(1);

/* The figure; above zero *out was written. VITALS_HAVE is exact. */
VITALS_API VITALS_CHECKED vitals_availability vitals_figure_value(const vitals_figure *figure,
                                                                  double *out) VITALS_NONNULL(1, 2);

/* The figure with that name and subject ("" or a UUID); NULL where there is none. */
VITALS_API const vitals_figure *vitals_account_find(const vitals_account *account, const char *name,
                                                    const char *subject) VITALS_NONNULL(1, 2, 3);

#ifdef __cplusplus
}
#endif

#endif
