/* state.h: what the back end keeps, and the files it is made of. Nobody outside this folder
 * includes it. */
#ifndef VITALS_GPU_NVIDIA_STATE_H
#define VITALS_GPU_NVIDIA_STATE_H

#include "gpu/nvidia/library.h"

#include <stdatomic.h>

/* A re-partitioned device has new instances each time, and slots stand for ever. */
enum { NVIDIA_SLOTS_MAX = 1024 };

/* A process on the device, from call to call. */
struct nvidia_user {
    int64_t pid;
    double busy_seconds;
    double ratios[4];  /* sm, memory, encoder, decoder: of the last window that had samples */
    uint64_t until_us; /* its samples are counted up to here */
};

/* A device or a MIG instance. */
struct nvidia_device {
    /* the scan's alone */
    struct gpu_identity who;
    uint64_t scanned;  /* the number of the last scan that listed it */
    nvml_return known; /* code of the last scan of it */

    /* set by scans, read by whoever reads the device */
    _Atomic(nvml_device) handle; /* NULL: cannot be reached, */
    atomic_int missing;          /* for this vitals_availability */
    atomic_bool partitioned;     /* its processes are its partitions' */
    bool partition;              /* set once */

    /* the thread that reads the device */
    double busy_seconds;
    uint64_t utilization_ns; /* when utilization was read last; 0: not, or not well */
    void *list;              /* for the driver to write processes to */
    unsigned list_room;      /* in entries of the largest layout */
    struct nvml_process_sample *samples;
    unsigned sample_room;
    uint64_t cursor_us;                /* samples are counted up to here; 0: none yet */
    uint64_t samples_ns;               /* when there were any, last */
    struct nvidia_user *users, *spare; /* in the order of pids */
    size_t user_count, user_capacity, spare_capacity;
};

struct nvidia {
    const vitals_context *context;
    struct nvml nvml;

    /* the scan's alone */
    uint64_t scans;
    char driver_version[80], cuda_version[16];
    signed char driver_state, cuda_state;
    unsigned last_count; /* of devices without partitions */

    struct nvidia_device *devices[NVIDIA_SLOTS_MAX]; /* by slot; set once */
    uint32_t count;
};

uint64_t nvidia_now_ns(const struct nvidia *nvidia);

/* The device cannot be reached from now on, until a scan finds it again. */
void nvidia_lose(struct nvidia_device *device, vitals_availability reason);

void nvidia_scan(void *state, struct gpu_scan *out); /* devices.c */
void nvidia_sample(void *state, uint32_t slot, const struct metric_set *wanted,
                   struct gpu_sample *out); /* sample.c */
void nvidia_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                      const struct metric_set *wanted, struct gpu_processes *out);

/* ---- the pure steps of processes.c ---- */

enum { NVIDIA_UNWRITTEN = 0xa5 }; /* what a list is filled with before the driver writes to it */

/* A list as the driver left it. */
struct nvidia_list {
    const unsigned char *bytes;
    size_t room;     /* bytes, written or not */
    size_t count;    /* entries, says the driver */
    size_t promised; /* bytes of an entry, says the function's name */
    bool graphics;   /* what the list is of; else those that compute */
};

/* Finds out the layout and adds the processes; false (and nothing added) where none fits. */
bool nvidia_decode_list(const struct nvidia_list *list, struct gpu_processes *out);

/* Of the first `count` of device->samples, those newer than since_us and of a known user go into
 * the users' shares, and the cursor moves. since_us is not before the cursor. Returns how many they
 * were; they are the first ones then, in the order of time. */
unsigned nvidia_count_samples(struct nvidia_device *device, unsigned count, uint64_t since_us);

#endif
