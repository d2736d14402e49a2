/* backend.h: the contract between vitals and a vendor.
 *
 * A back end is a record of functions. It reads devices and fills plain data; it knows nothing of
 * rows, lanes or screens. All calls but `open` and `close` of one back end come from its lane,
 * which may be replaced: when a call hangs, its device stays with the hung thread and the other
 * devices are read by a new one. So:
 *   - `scan`, `sample` and `processes` may run on different threads at once, for different devices,
 *     never at once for the same device;
 *   - what belongs to one device (cursors, integrals) lives in that device's slot of the state;
 *   - slots are never freed or moved before `close`, and `close` is not called while a thread
 * hangs. Everything is filled with plain bytes, so that a lane can become a process one day. */
#ifndef VITALS_GPU_BACKEND_H
#define VITALS_GPU_BACKEND_H

#include "metric/values.h"
#include "os/world.h"

enum {
    GPU_DEVICES_MAX = 128, /* devices and partitions of one back end */
    GPU_CHILDREN_MAX = 32,
    GPU_PROCESSES_MAX = 1024,
    GPU_NAME = 96,
    GPU_LABEL = 24,
    GPU_MESSAGE = 256
};

/* Who a device is. `slot` names it in later calls and stands for ever; text is raw. */
struct gpu_identity {
    uint32_t slot;
    uint32_t index;      /* as the vendor's tools count; a partition's within its device */
    int32_t parent_slot; /* of a partition, else -1 */
    char uuid[GPU_NAME]; /* unique; made of bus id and index where the vendor has none */
    char name[GPU_NAME];
    char vendor[16];
    char pci_bus_id[32];
    char driver_version[80];
    char cuda_version[16];                                       /* "" where there is none */
    signed char name_state, pci_state, driver_state, cuda_state; /* vitals_availability */
    struct value gpu_instance_id, compute_instance_id;
};

/* What a scan found. */
struct gpu_scan {
    signed char state;         /* VITALS_HAVE, or why there are no devices */
    char message[GPU_MESSAGE]; /* one line for a person: "driver 580.95, 8 devices" */
    uint32_t count;
    struct gpu_identity devices[GPU_DEVICES_MAX]; /* a device stands before its partitions */
};

/* A row of a child table (gpu_engine, gpu_sensor, gpu_clock, gpu_pool). */
struct gpu_child {
    vitals_entity entity;
    char label[GPU_LABEL];
    struct value at[4]; /* by the metric's number */
};

/* One reading of one device. */
struct gpu_sample {
    uint64_t stamp_ns;    /* monotonic, right before the reading */
    signed char state;    /* VITALS_HAVE, or why nothing at all can be read of the device (it is
                           * lost): then that is the reason of every value, also of older ones */
    struct values values; /* of VITALS_GPU, without identity, texts and processes */
    char compute_mode[GPU_LABEL];
    signed char compute_mode_state;
    uint32_t child_count;
    struct gpu_child children[GPU_CHILDREN_MAX];
};

/* One process on one device. A partition's processes are listed with the partition. */
struct gpu_process {
    int64_t pid;
    bool compute, graphics;
    struct value memory_used_bytes;
    struct value utilization_ratio, memory_busy_ratio, encoder_ratio, decoder_ratio;
    struct value busy_seconds; /* integrated, since the back end first saw it */
};

struct gpu_processes {
    uint64_t stamp_ns;
    signed char state; /* VITALS_HAVE (also of an empty list), or why it is not known */
    bool cut;          /* there were more than GPU_PROCESSES_MAX */
    uint32_t count;
    struct gpu_process items[GPU_PROCESSES_MAX]; /* in the order of pids */
};

/* One sweep of /proc for all vendors that learn of processes from it (fdinfo); others ignore it. */
struct gpu_sweep;

struct gpu_backend {
    const char *name;    /* "nvidia" */
    bool only_on_demand; /* not among the default back ends */

    /* Makes the state. 0, or negative (then nothing else is called): `state` of *why says whether
     * it is unsupported (no library, no device: say which), denied or failed. */
    int (*open)(const vitals_context *context, void **state, struct gpu_scan *why);
    void (*scan)(void *state, struct gpu_scan *out);
    /* Fills what is in `wanted`; never more driver calls than that needs. */
    void (*sample)(void *state, uint32_t slot, const struct metric_set *wanted,
                   struct gpu_sample *out);
    void (*processes)(void *state, uint32_t slot, const struct gpu_sweep *swept,
                      const struct metric_set *wanted, struct gpu_processes *out);
    /* One line for `vitals doctor`: what was tried, in which order, with what result. */
    void (*diagnose)(void *state, char *out, size_t capacity);
    void (*close)(void *state);
};

/* All back ends, in the order of their rows; ends with NULL. */
extern const struct gpu_backend *const gpu_backends[];

/* Whether `backends` (a comma list, NULL: the default) names the back end; and whether every name
 * in the list is one (else *unknown is the first that is not). */
bool gpu_backend_enabled(const struct gpu_backend *backend, const char *backends);
bool gpu_backends_known(const char *backends, struct span *unknown);

/* The names of all back ends, with commas between. */
void gpu_backends_names(char *out, size_t capacity);

/* Whether the demo knows the scenario; and the names that it knows, with spaces between. */
bool gpu_demo_known(const char *scenario);
void gpu_demo_names(char *out, size_t capacity);

#endif
