/* run.h: runs a command and accounts for what it and all its descendants used.
 *
 * The caller's process becomes the launcher: the job's parent and the subreaper of everything
 * that the job leaves behind. It runs no thread and loads no vendor library; what must be sampled
 * is sampled by a second process, which gets 500 ms at the end and is then left behind. The job
 * is never delayed, its standard streams are never touched, its exit status is never changed.
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

typedef struct vitals_run_options {
    size_t size;                 /* sizeof(vitals_run_options), set by init */
    const char *const *argv;     /* NULL-terminated; argv[0] is looked up in PATH */
    const vitals_options *world; /* for the sampler's context; NULL: defaults */
    uint64_t interval_ns;        /* of sampling; 1 s */
    int wait_for_descendants;    /* not 0: also wait for what the command leaves behind */
    uint64_t child_descriptors;  /* soft RLIMIT_NOFILE that the command gets back; 0: as it is */
} vitals_run_options;

VITALS_API void vitals_run_options_init(vitals_run_options *options) VITALS_NONNULL(1);

/* Runs the command to its end. Returns 0 once the command has run, whatever its own exit status,
 * and *out is yours to free; it says also that the command could not be started (126, 127).
 * Errors, before anything was run: EARGUMENT, EMEMORY, ESYSTEM. */
VITALS_API VITALS_CHECKED int vitals_run(const vitals_run_options *options, vitals_account **out,
                                         vitals_error *error) VITALS_NONNULL(1, 2);
VITALS_API void vitals_account_free(vitals_account *account);

/* What a shell would say: the exit code, 128 + the signal, 126, 127. */
VITALS_API int vitals_account_exit_code(const vitals_account *account) VITALS_NONNULL(1);

/* The signal that ended the command, or 0. */
VITALS_API int vitals_account_signal(const vitals_account *account) VITALS_NONNULL(1);

/* Why the command could not be started; size 0 where it was. */
VITALS_API vitals_text vitals_account_failure(const vitals_account *account) VITALS_NONNULL(1);

/* The figures, in the order in which a person reads them; NULL: the first, NULL after the last. */
VITALS_API const vitals_figure *vitals_account_next(const vitals_account *account,
                                                    const vitals_figure *previous)
    VITALS_NONNULL(1);

/* What it is ("cpu_user"), its unit ("seconds"), of which device ("GPU 0", or ""), how it was got
 * ("wait4", "VmHWM, sampled at 1 s"). Borrowed, never NULL, safe to print. */
VITALS_API const char *vitals_figure_name(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_unit(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_device(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_source(const vitals_figure *figure) VITALS_NONNULL(1);

/* The figure; above zero *out was written. VITALS_HAVE is exact. */
VITALS_API VITALS_CHECKED vitals_availability vitals_figure_value(const vitals_figure *figure,
                                                                  double *out) VITALS_NONNULL(1, 2);

/* The figure with that name, of no device; NULL where there is none. */
VITALS_API const vitals_figure *vitals_account_find(const vitals_account *account, const char *name)
    VITALS_NONNULL(1, 2);

#ifdef __cplusplus
}
#endif

#endif
