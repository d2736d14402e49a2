/* account.h: what a run used, figure by figure, each with how it was got.
 *
 * Made by vitals_run_command, by a run (run.h), from a recording, or from the JSON of another. An
 * account is data: immutable once it is given out, any thread, needs nothing to live on. */
#ifndef VITALS_ACCOUNT_H
#define VITALS_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_account vitals_account;
typedef struct vitals_figure vitals_figure;

/* Accepts NULL. Figures live as long as their account. */
VITALS_API void vitals_account_free(vitals_account *account);

/* What a shell would say: the exit code, 128 + the signal, 126, 127. */
VITALS_API int vitals_account_exit_code(const vitals_account *account) VITALS_NONNULL(1);

/* The signal that ended the command, or 0. */
VITALS_API int vitals_account_signal(const vitals_account *account) VITALS_NONNULL(1);

/* Why the command could not be started; size 0 where it was. */
VITALS_API vitals_text vitals_account_failure(const vitals_account *account) VITALS_NONNULL(1);

/* The figures, in the order in which a person reads them; NULL: the first, NULL after the last.
 * Names end in their unit, as those of metrics do. What a person asks first:
 *
 *     wall_seconds · cpu_seconds cpu_user_seconds cpu_system_seconds cpu_cores
 *     memory_peak_bytes where it was counted, else memory_peak_low_bytes (a lower
 *         bound), memory_peak_high_bytes (an estimate), memory_peak_sum_bytes
 *     disk_read_bytes disk_written_bytes
 *     minor_faults major_faults voluntary_switches involuntary_switches
 *     processes, and processes_left where some still run
 *     gpu_memory_peak_bytes gpu_busy_ratio gpu_busy_seconds, of each device that the run used
 *     cpu_coverage_ratio: CPU time that sampling saw over what was counted
 *
 * and behind them those of every measure of usage.h that was sampled: of a gauge its peak, mean and
 * least (memory_resident_peak_bytes, memory_resident_mean_bytes, memory_resident_min_bytes: the
 * statistic stands before the unit, or at the end where there is none: threads_peak), of a counter
 * its growth under the measure's own name. More may come. */
VITALS_API const vitals_figure *vitals_account_next(const vitals_account *account,
                                                    const vitals_figure *previous)
    VITALS_NONNULL(1);

/* What it is ("cpu_user_seconds"), its unit ("seconds"; "" for a count), and how it was got or why
 * it was not ("wait4", "the sampler did not answer"). Borrowed, never NULL, safe to print. */
VITALS_API const char *vitals_figure_name(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_unit(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_source(const vitals_figure *figure) VITALS_NONNULL(1);

/* Of what: "" for the whole tree, "root" for its first process, "descendants" for the rest,
 * "system" for the machine, else a device's UUID (of a device whose driver gives none, its label)
 * or the name of a disk, a network interface, a phase. The label is for people: "GPU 0", or "".
 * Borrowed, never NULL, safe to print. */
VITALS_API const char *vitals_figure_subject(const vitals_figure *figure) VITALS_NONNULL(1);
VITALS_API const char *vitals_figure_label(const vitals_figure *figure) VITALS_NONNULL(1);

/* The figure; above zero *out was written. VITALS_HAVE is exact. */
VITALS_API VITALS_CHECKED vitals_availability vitals_figure_value(const vitals_figure *figure,
                                                                  double *out) VITALS_NONNULL(1, 2);

/* The figure with that name and subject ("" or a UUID); NULL where there is none. */
VITALS_API const vitals_figure *vitals_account_find(const vitals_account *account, const char *name,
                                                    const char *subject) VITALS_NONNULL(1, 2, 3);

/* What is known of the run beside figures; size 0 where it is not. Names:
 *
 *     command (as a shell would read it) working_directory user host boot_id version
 *     started_ns (realtime) interval_ns expected_cores exit (the code, as text) signal
 *     state: "complete"; "partial" where it was cut off and made of what was left; "running"
 *     missing: what could not be counted and why, a sentence a line
 *     rungs: what was counted with, best first: "cgroup2 perf wait4 sampling"
 *     gpu_drivers: of each device that was used a line: its vendor, its kernel driver, its subject
 *
 * Borrowed. */
VITALS_API vitals_text vitals_account_attribute(const vitals_account *account, const char *name)
    VITALS_NONNULL(1, 2);

/* All of them, in a fixed order; NULL: the first, NULL after the last. */
VITALS_API const char *vitals_account_next_attribute(const vitals_account *account,
                                                     const char *previous) VITALS_NONNULL(1);

/* One JSON object of the form in docs/account.md. Returns 0, or what `write` returned to stop. */
VITALS_API VITALS_CHECKED int vitals_account_json(const vitals_account *account,
                                                  vitals_write_fn *write, void *data)
    VITALS_NONNULL(1, 2);

#ifdef __cplusplus
}
#endif

#endif
