/* collector.h: windows over samples: what was used in this epoch, in this batch?
 *
 *     vitals_collector_begin(collector, "train", &error);
 *         vitals_collector_begin(collector, "epoch", &error);      the window train/epoch
 *         …
 *         vitals_collector_end(collector, "epoch", &collection, &error);
 *
 * A collector samples in a thread of its own from its first window on. Windows nest: one that
 * begins lies in those that are open. Each keeps, of every measure of usage.h, the mean over time,
 * the least, the largest and the last value, and knows what was sampled last when it began.
 *
 * Beside what a usage tells of the tree, the machine and each device, there are
 *   the machine    memory_ratio swap_total_bytes swap_ratio load_5m load_15m
 *   each device    device_memory_free_bytes device_memory_ratio device_memory_busy_ratio
 *                  device_fan_ratio
 *   each process   VITALS_SCOPE_PROCESS, "pid:4711", labeled by its name: cpu_seconds cpu_cores
 *                  memory_resident_bytes memory_ratio running_seconds
 *   on a device    VITALS_SCOPE_PROCESS_GPU, "pid:4711/" and the device: gpu_memory_bytes
 *                  gpu_memory_share_ratio gpu_memory_busy_ratio gpu_utilization_ratio
 * of the first 512 processes of the tree that live at a time. One that has ended keeps its place in
 * the windows in which it lived, with what it was last, until they end.
 *
 * Memory grows with the number of open windows, of devices and of the processes that lived in them
 * (at most 4096 a window; later ones are left out), not with time. Its threads are vitals-run,
 * which samples, those of its sampler, and vitals-collect (vitals_collector_set_every). Any thread;
 * after fork(2) the child can only free it: context.h. */
#ifndef VITALS_COLLECTOR_H
#define VITALS_COLLECTOR_H

#include <vitals/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_collector vitals_collector;
typedef struct vitals_collection vitals_collection;

/* One measure in one window. It grows at its end only and is handed out by pointer alone. */
typedef struct vitals_collected {
    const char *window; /* "train/epoch" */
    double seconds;     /* how long it has been open */
    uint64_t begin_ns;  /* realtime */
    vitals_measure measure;
    vitals_scope scope;
    const char *subject; /* as vitals_usage_value */
    const char *label;
    vitals_availability state; /* below 0: no sample of the window had it, and why */

    /* Of a gauge: the mean over the window's time, the last value held to its end; of a process
     * that has ended: to its last sample. Of a counter: last is its growth in the window, mean that
     * growth per second, least 0 and most as last. */
    double mean, least, most, last;

    uint64_t end_ns;     /* realtime: when this was collected */
    uint64_t sampled_ns; /* realtime: of the newest sample of the collector; 0: none yet */
} vitals_collected;

/* Makes a collector, which measures `options->usage` (no pids: the caller and what it starts), at
 * options->interval_ns, in options->world; the rest must be as vitals_run_options_init left it.
 * NULL: all defaults. The machine is read for each sample unless VITALS_MACHINE_SELDOM was asked
 * for. *out is yours to free. Errors: those of vitals_run_open. */
VITALS_API VITALS_CHECKED int vitals_collector_new(const vitals_run_options *options,
                                                   vitals_collector **out, vitals_error *error)
    VITALS_NONNULL(2);

/* Frees a collector: ends the sampling and its thread. Accepts NULL. Not from a callback. */
VITALS_API void vitals_collector_free(vitals_collector *collector);

/* Opens a window in the innermost one that is open; the first starts the sampling. Errors:
 * EARGUMENT (a tag that is empty, holds a slash or is longer than 63 bytes; one that is open
 * already; more than 32 windows), EMEMORY, ESYSTEM (the thread). Cost: of the first the start of a
 * thread; of a later one no system call. */
VITALS_API VITALS_CHECKED int vitals_collector_begin(vitals_collector *collector, const char *tag,
                                                     vitals_error *error) VITALS_NONNULL(1, 2);

/* Closes the window with that tag (NULL: the innermost), and those in it. `last` (may be NULL)
 * receives their measures, yours to free. Errors: EARGUMENT (no such window is open), EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_collector_end(vitals_collector *collector, const char *tag,
                                                   vitals_collection **last, vitals_error *error)
    VITALS_NONNULL(1);

/* Restarts the window with that tag (NULL: all), and those in it. Errors: as above. Cost: no system
 * call. */
VITALS_API VITALS_CHECKED int vitals_collector_reset(vitals_collector *collector, const char *tag,
                                                     vitals_error *error) VITALS_NONNULL(1);

/* Collects the open windows as they are now; *out is yours to free. Errors: EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_collector_collect(vitals_collector *collector,
                                                       vitals_collection **out, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Called periodically, in a thread of its own that opens a window with this tag. Returns 0 to go
 * on, anything else to end. The collection is borrowed. */
typedef int vitals_collect_fn(void *data, const vitals_collection *collection);

/* Calls `told` every interval_ns, in a thread of its own, with the window of that tag, which it
 * opens, until `told` returns anything but 0 or the collector is freed. One at a time. Errors:
 * EARGUMENT (one runs already, an interval below 1 ms, the tag), ESYSTEM. */
VITALS_API VITALS_CHECKED int vitals_collector_set_every(vitals_collector *collector,
                                                         const char *tag, uint64_t interval_ns,
                                                         vitals_collect_fn *told, void *data,
                                                         vitals_error *error)
    VITALS_NONNULL(1, 2, 4);

/* Sets what is called in that same thread: `began` before the first callback, `ended` after the
 * last, also if the collector is freed. Each may be NULL. Takes effect with the next
 * vitals_collector_set_every. */
VITALS_API void vitals_collector_set_around(vitals_collector *collector, void (*began)(void *data),
                                            void (*ended)(void *data)) VITALS_NONNULL(1);

/* Returns the entry after `previous` (NULL: the first), or NULL after the last. In the order of
 * windows, outer ones first, then of scopes, subjects and measures. */
VITALS_API const vitals_collected *vitals_collection_next(const vitals_collection *collection,
                                                          const vitals_collected *previous)
    VITALS_NONNULL(1);

/* Finds the entry of a window, measure, scope and subject; NULL if there is none. */
VITALS_API const vitals_collected *vitals_collection_find(const vitals_collection *collection,
                                                          const char *window,
                                                          vitals_measure measure,
                                                          vitals_scope scope, const char *subject)
    VITALS_NONNULL(1, 2, 5);

/* Frees a collection and its entries. Accepts NULL. */
VITALS_API void vitals_collection_free(vitals_collection *collection);

#ifdef __cplusplus
}
#endif

#endif
