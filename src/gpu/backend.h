/* backend.h: the contract between vitals and a vendor.
 *
 * A back end is a record of functions. It reads devices and fills plain data; it knows nothing of
 * rows, workers or screens. All calls but `open` and `close` of one back end come from its workers,
 * which may be replaced: when a call hangs, its device stays with the hung thread and the other
 * devices are read by a new one. So:
 *   - `scan`, `diagnose`, `sample` and `processes` may run on different threads at once, the last
 *     two for different devices;
 *   - for one device they never run at once, but for a `sample` of slow metrics
 * (VITALS_PRICE_SLOW), which are asked for in calls of their own, on a thread of their own: what
 * such a reading keeps stands apart in the device's slot;
 *   - what belongs to one device (cursors, integrals) lives in that device's slot of the state;
 *   - slots are never freed or moved before `close`, and `close` is not called while a thread
 *     hangs.
 * Everything is filled with plain bytes, so that a worker can become a process one day. */
#pragma once

#include "gpu/sweep.h"
#include "model/row_batch.h"
#include "os/world.h"

enum {
    GPU_DEVICES_MAX = 128, /* devices and partitions of one back end */
    GPU_PROCESSES_MAX = 1024,
    GPU_NODES_MAX = 3,
    GPU_NAME = 96,
    GPU_MESSAGE = 256
};

/* Values of a device that are computed from its processes. Such a device is sampled directly after
 * `processes`, so that both come from the same sweep. */
enum {
    GPU_SWEPT_LOAD = 1,    /* utilization_ratio, busy_seconds */
    GPU_SWEPT_ENGINES = 2, /* the table of engines */
    GPU_SWEPT_MEMORY = 4,  /* memory_used_bytes */
    GPU_SWEPT_ALL = 7
};

/* A device node that programs open; numbers of a character device. */
struct gpu_node {
    uint32_t major, minor;
};

/* The identity of a device. `slot` identifies it in later calls and never changes; texts are
 * unescaped. */
struct gpu_identity {
    uint32_t slot;
    uint32_t index;      /* as in the vendor's tools; for a partition, within its device */
    int32_t parent_slot; /* for a partition, else -1 */
    bool shares_address; /* with its whole device: its clients are found by its nodes alone */
    char uuid[GPU_NAME]; /* unique; made of bus identifier and index if the vendor has none */
    char name[GPU_NAME];
    char vendor[16];
    char pci_bus_id[32];
    char driver_version[80];
    char cuda_version[16];                                       /* "" if there is none */
    signed char name_state, pci_state, driver_state, cuda_state; /* vitals_availability */
    struct value gpu_instance_id, compute_instance_id;
    unsigned swept; /* bits GPU_SWEPT_…; only for a back end that sweeps */
    uint32_t node_count;
    struct gpu_node nodes[GPU_NODES_MAX]; /* a process that uses the device has one of them open */
};

/* The result of a scan. */
struct gpu_scan {
    signed char state;         /* VITALS_HAVE, or why there are no devices */
    char message[GPU_MESSAGE]; /* one line for a person: "driver 580.95, 8 devices" */
    uint32_t count;
    uint32_t expected; /* of `listed`: devices that the driver says there are; 0: not known */
    struct gpu_identity devices[GPU_DEVICES_MAX]; /* a device comes before its partitions */
};

/* One reading of one device: a row batch, whose `wanted` is the set of requested metrics.
 *   - One row of VITALS_TABLE_GPU without key or label: readings, without the values of struct
 *     gpu_identity and without the number of processes.
 *   - Rows of the child tables, without key, identified by their label. A table with any wanted
 *     metric is listed whole: a row that is left out no longer exists.
 *
 * A metric that is wanted and not set is UNSUPPORTED. Implausible numbers from the driver are
 * FAILED, never clamped. */
struct gpu_sample {
    uint64_t stamp_ns; /* monotonic, right before the reading */
    signed char state; /* VITALS_HAVE, or why the device cannot be read (it is lost, or asleep):
                        * that is then the reason of every value that is not in the batch, older
                        * ones too */
    struct row_batch batch;
};

/* How a process uses a device. */
enum gpu_use { GPU_COMPUTE = 1, GPU_GRAPHICS = 2, GPU_MPS = 4 };

/* One process on one device. A partition's processes are listed with the partition. */
enum { GPU_PROCESS_NUMBERS = 32 };
struct gpu_process {
    int64_t pid;
    unsigned uses;        /* of enum gpu_use; 0: not known */
    signed char is_ours;  /* HAVE: the pid is one of our namespace. OUTSIDE: it is not, or that is
                           * unproven. UNSET: the back end cannot tell; pid_namespace.h finds out */
    uint64_t start_ticks; /* when it began; 0: not known */
    struct value at[GPU_PROCESS_NUMBERS]; /* by the metric's number; UNSET: unsupported */
};

struct gpu_processes {
    uint64_t stamp_ns;
    signed char state; /* VITALS_HAVE (also for an empty list), or why the list is not known */
    bool cut;          /* more than GPU_PROCESSES_MAX, or some that this user may not see */
    unsigned unread;   /* of enum gpu_use: their lists could not be read this time. Processes that
                        * were known to use the device so may still do so */
    uint32_t count;
    struct gpu_process items[GPU_PROCESSES_MAX]; /* in the order of pids */
};

struct gpu_backend {
    const char *name;    /* "nvidia" */
    bool only_on_demand; /* not among the default back ends */
    bool sweeps;         /* finds processes with a sweep of /proc */

    /* Makes the state. Returns 0 or -1; after an error no other function is called, and `state` of
     * *why is unsupported (no library, no device: its message says which), denied or failed. */
    int (*open)(const vitals_context *context, void **state, struct gpu_scan *why);
    void (*scan)(void *state, struct gpu_scan *out);
    /* Called on any thread during a scan: fills `count` and `devices` with those listed so far, so
     * that a device that hangs hides only the devices after it; and `expected`. Does not call the
     * driver. NULL: a scan reports everything or nothing. */
    void (*listed)(void *state, struct gpu_scan *out);
    /* Reads the metrics in out->batch.wanted, with no more driver calls than they need. */
    void (*sample)(void *state, uint32_t slot, struct gpu_sample *out);
    /* Fills an empty list, all zero but for its items. `swept` is NULL, except for back ends that
     * sweep once there is a sweep. */
    void (*processes)(void *state, uint32_t slot, const struct gpu_sweep *swept,
                      const struct metric_set *wanted, struct gpu_processes *out);
    /* Adds rows to the table diagnosis: what was tried, and the result. `state` is NULL if open
     * failed. */
    void (*diagnose)(const vitals_context *context, void *state, struct row_batch *out);
    void (*close)(void *state);
};

extern const struct gpu_backend gpu_backend_nvidia, gpu_backend_amd, gpu_backend_intel,
    gpu_backend_drm, gpu_backend_demo;

/* All back ends, in the order of their rows; ends with NULL. */
extern const struct gpu_backend *const gpu_backends[];

/* gpu_backend_enabled: true if `backends` (a comma list, NULL: the default) names the back end.
 * gpu_backends_known: true if every name in the list is known; else *unknown is the first that is
 * not. */
bool gpu_backend_enabled(const struct gpu_backend *backend, const char *backends);
bool gpu_backends_known(const char *backends, struct span *unknown);

/* For a back end's `open`: fills in why it cannot be opened, and returns -1. fill.c */
int gpu_backend_refuse(struct gpu_scan *why, vitals_availability state, const char *message);

/* Writes the names of all back ends, separated by commas. */
void gpu_backends_names(char *out, size_t capacity);

/* gpu_demo_known: true if the demo has the scenario. gpu_demo_names: writes the names of all,
 * separated by spaces. */
bool gpu_demo_known(const char *scenario);
void gpu_demo_names(char *out, size_t capacity);

/* Chooses the processes on the demo's devices, if the context has the demo: see demo/scenarios.c.
 * Returns 0 or VITALS_EMEMORY. The caller frees the result with memory_free(context->players). */
int gpu_demo_processes(vitals_context *context);
