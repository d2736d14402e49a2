/* state.h: what the back end keeps, and the files it is made of. Private to this folder. */
#ifndef VITALS_GPU_NVIDIA_STATE_H
#define VITALS_GPU_NVIDIA_STATE_H

#include "gpu/nvidia/library.h"

#include <stdatomic.h>

/* A re-partitioned device has new instances each time, and slots stand for ever. */
enum {
    NVIDIA_SLOTS_MAX = 1024,
    NVIDIA_LINKS_MAX = 36,  /* of one device */
    NVIDIA_UTILIZATIONS = 6 /* sm, memory, encoder, decoder, jpeg, optical flow */
};

/* A process on the device, from call to call. */
struct nvidia_user {
    int64_t pid;
    double busy_seconds;
    double ratios[NVIDIA_UTILIZATIONS]; /* of the last window that had samples */
    uint64_t until_us;                  /* its samples are counted up to here */
};

/* What a device does not have, by the function that said so and what it was asked for: it is not
 * asked again for a while. */
enum { NVIDIA_WHICH_MAX = 128 };
struct nvidia_unsupported {
    uint64_t since_ns; /* 0: nothing is known yet */
    unsigned opened;   /* nvidia.opened then */
    uint64_t unsupported[NVML_FUNCTIONS][NVIDIA_WHICH_MAX / 64];
    uint64_t unknown[NVML_FUNCTIONS][NVIDIA_WHICH_MAX / 64]; /* the driver lacks the function */
};

/* Two samples of the performance monitor. */
struct nvidia_gpm {
    bool begun;
    nvml_return code; /* of beginning */
    nvml_gpm_sample samples[2];
    unsigned newer;    /* of the two */
    uint64_t taken_ns; /* when; 0: there is none */
    struct value busy; /* of a partition: what was read last */
};

/* A device or a MIG instance. */
struct nvidia_device {
    /* the scan's alone */
    struct gpu_identity who;
    uint64_t scanned;             /* the number of the last scan that listed it */
    unsigned opened;              /* nvidia.opened when it was prepared */
    nvml_return known;            /* code of the last scan of it */
    bool partition;               /* set once, as all that follows up to the next comment, */
    bool has_node;                /* before there is a handle */
    unsigned minor;               /* of its node, where it has one */
    char bus_id[32];              /* as the kernel writes it, or "" */
    unsigned fans, capability[2]; /* compute capability; 0.0: not known */

    /* set by scans, read by the device's thread */
    _Atomic(nvml_device) handle; /* NULL: cannot be reached, */
    atomic_int missing;          /* for this vitals_availability */
    atomic_bool partitioned;     /* its processes are its partitions' */

    /* the thread that reads the device; the scan while `shut` is set (nvidia_enter) */
    double busy_seconds;
    uint64_t utilization_ns; /* when utilization was read last; 0: not, or not well */
    int links;               /* NVLinks; -1: not asked yet */
    struct nvidia_unsupported absent;
    nvml_event_set events; /* NULL: none, for this code */
    nvml_return events_code;
    uint64_t xids, xid_last;
    struct nvidia_gpm gpm;
    void *list;         /* for the driver to write processes to */
    unsigned list_room; /* in entries of the largest layout */
    struct nvml_process_sample *samples;
    unsigned sample_room;
    bool old_samples;                  /* the driver tells of four engines only */
    uint64_t cursor_us;                /* samples are counted up to here; 0: none yet */
    uint64_t samples_ns;               /* when there were any, last */
    struct nvidia_user *users, *spare; /* in the order of pids */
    size_t user_count, user_capacity, spare_capacity;
};

struct nvidia {
    const vitals_context *context;

    /* Changed by scans while `shut` is set and no thread is inside. */
    struct nvml nvml;

    /* the scan's alone */
    uint64_t scans;
    char driver_version[80], cuda_version[16];
    signed char driver_state, cuda_state;
    unsigned last_count;            /* of devices without partitions */
    unsigned opened;                /* how often the library was */
    uint64_t retry_ns;              /* not before this moment is it opened anew for lost devices */
    uint64_t retry_wait_ns;         /* and how long after that is the next; 0: the shortest */
    uint64_t bound;                 /* what devices the kernel module had when it was opened */
    char shut_message[GPU_MESSAGE]; /* why it is shut */

    /* any thread */
    atomic_bool shut;            /* the driver restarts: no thread may enter */
    atomic_uint inside;          /* threads that may call the driver now */
    atomic_ullong hostengine_ns; /* when it was last looked for */
    atomic_int hostengine;       /* HAVE: the performance monitor may be read; DENIED; UNSET */

    /* Of the current scan; the identities do not change before the next one. */
    atomic_uint listed;
    uint32_t list[GPU_DEVICES_MAX]; /* slots */

    struct nvidia_device *devices[NVIDIA_SLOTS_MAX]; /* by slot; set once */
    uint32_t count;
};

/* Every caller of the driver except the scan enters before and leaves after. Returns false while
 * the library is reopened: there are no devices then. Never waits. */
bool nvidia_enter(struct nvidia *nvidia);
void nvidia_leave(struct nvidia *nvidia);

/* The device cannot be reached from now on, until a scan finds it again. */
void nvidia_lose(struct nvidia_device *device, vitals_availability reason);

/* The handle of the device, or of the one that it is a partition of; may be NULL. */
nvml_device nvidia_whole(const struct nvidia *nvidia, const struct nvidia_device *device);

/* Whether the kernel has put the device to sleep: then the driver is not asked, for that would wake
 * it. One small file. */
bool nvidia_is_asleep(const struct nvidia *nvidia, const struct nvidia_device *device);

/* Asks the driver and its newest CUDA for their versions. nvidia.c */
void nvidia_read_versions(struct nvidia *nvidia);

/* Releases the driver's resources for the devices, and closes it. No thread may be inside. nvidia.c
 */
void nvidia_end_driver(struct nvidia *nvidia);

/* ---- the driver goes and comes: nvidia.c, the scan's thread ---- */

/* A number that stands for the kernel module's devices; 0: unknown. */
uint64_t nvidia_bound_devices(const vitals_context *context);

/* Whether the driver can be asked now; opens it anew where it is time for that. */
bool nvidia_is_up(struct nvidia *nvidia);

/* After a scan that listed `count` devices, of which `lost` could not be reached: shuts the driver
 * where it must be opened anew. `code` is what counting the devices gave. */
void nvidia_check_driver(struct nvidia *nvidia, nvml_return code, unsigned lost, unsigned count);

void nvidia_scan(void *state, struct gpu_scan *out); /* devices.c */
void nvidia_listed(void *state, struct gpu_scan *out);
void nvidia_sample(void *state, uint32_t slot, struct gpu_sample *out); /* sample.c */
void nvidia_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                      const struct metric_set *wanted, struct gpu_processes *out);
void nvidia_diagnose(const vitals_context *context, void *state, struct row_batch *out);

/* Forgets what a device does not have when that is a minute old. reader.c */
void nvidia_refresh_unsupported(const struct nvidia *nvidia, struct nvidia_device *device);

/* What the function at that place of struct nvml said of the device, where that was that there is
 * none; else NVML_SUCCESS, and it is to be asked. `which`: what of it. */
nvml_return nvidia_absence(const struct nvidia_device *device, size_t function, unsigned which);

/* Notes what it says now, and passes it on. */
nvml_return nvidia_note(struct nvidia_device *device, size_t function, unsigned which,
                        nvml_return code);

/* NVIDIA_ASK(nvml, device, which, nvmlDeviceGetName, handle, …): as NVML_CALL, but what is not
 * there is not asked for. For the thread that reads the device. */
#define NVIDIA_ASK(library, device, which, name, ...)                           \
    (nvidia_absence(device, offsetof(struct nvml, name), which) != NVML_SUCCESS \
         ? nvidia_absence(device, offsetof(struct nvml, name), which)           \
         : nvidia_note(device, offsetof(struct nvml, name), which,              \
                       NVML_CALL(library, name, __VA_ARGS__)))

/* Xid events of a device that has a handle now. ecc.c */
void nvidia_watch(const struct nvml *nvml, struct nvidia_device *device, nvml_device handle);
void nvidia_unwatch(const struct nvml *nvml, struct nvidia_device *device);

/* gpm.c */
void nvidia_end_gpm(const struct nvml *nvml, struct nvidia_device *device);
bool nvidia_finds_hostengine(const vitals_context *context);

/* What the driver keeps of each of the processes listed, where it is wanted.
 * process_utilization.c */
void nvidia_read_accounts(const struct nvidia *nvidia, nvml_device handle,
                          const struct metric_set *wanted, struct gpu_processes *out);

/* What each of the processes listed did, where it is wanted. process_utilization.c */
void nvidia_read_utilizations(const struct nvidia *nvidia, struct nvidia_device *device,
                              nvml_device handle, const struct metric_set *wanted,
                              struct gpu_processes *out);

/* ---- pure steps ---- */

/* The version in the text of /proc/driver/nvidia/version; "" where there is none. diagnose.c */
void nvidia_module_version(const char *text, char *out, size_t capacity);

enum { NVIDIA_UNWRITTEN = 0xa5 }; /* what a list is filled with before the driver writes to it */

/* A list as the driver left it. */
struct nvidia_list {
    const unsigned char *bytes;
    size_t room;      /* bytes, written or not */
    size_t count;     /* entries, says the driver */
    size_t promised;  /* bytes of an entry, says the function's name */
    enum gpu_use use; /* what the list is of */
};

/* Finds out the layout and adds the processes; false (and nothing added) where none fits. */
bool nvidia_decode_list(const struct nvidia_list *list, struct gpu_processes *out);

/* `count` samples as the older function wrote them, in a buffer that has room for the newer ones.
 */
void nvidia_widen_samples(struct nvml_process_sample *samples, unsigned count);

/* Of the first `count` of device->samples, those newer than since_us and of a known user go into
 * the users' shares, and the cursor moves. since_us is not before the cursor. Returns how many they
 * were; they are the first ones then, in the order of time. */
unsigned nvidia_count_samples(struct nvidia_device *device, unsigned count, uint64_t since_us);

#endif
