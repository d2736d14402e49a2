/* state.h: the state of the NVIDIA back end, and its files. Private to this folder. */
#pragma once

#include "gpu/nvidia/library.h"
#include "gpu/pci.h"

#include <stdatomic.h>

/* A re-partitioned device has new instances each time, and slots are never freed. */
enum {
    NVIDIA_SLOTS_MAX = 1024,
    NVIDIA_LINKS_MAX = 36,  /* for each device */
    NVIDIA_UTILIZATIONS = 6 /* sm, memory, encoder, decoder, jpeg, optical flow */
};

/* State of a process on the device, kept between calls. */
struct nvidia_user {
    int64_t pid;
    double busy_seconds;
    double ratios[NVIDIA_UTILIZATIONS]; /* of the last window that had samples */
    uint64_t until_us;                  /* samples up to here are counted */
};

/* Unsupported functions of a device, by the function and its argument: they are not called again
 * for a while. */
enum { NVIDIA_WHICH_MAX = 128 };
struct nvidia_unsupported {
    uint64_t since_ns; /* 0: nothing is cached */
    unsigned opened;   /* nvidia.opened at that time */
    uint64_t unsupported[NVML_FUNCTIONS][NVIDIA_WHICH_MAX / 64];
    uint64_t unknown[NVML_FUNCTIONS][NVIDIA_WHICH_MAX / 64]; /* the driver lacks the function */
};

/* Two samples of the performance monitor. */
struct nvidia_gpm {
    bool begun;
    nvml_return code; /* result of starting */
    nvml_gpm_sample samples[2];
    unsigned newer;    /* of the two */
    uint64_t taken_ns; /* time of the sample; 0: none */
    struct value busy; /* for a partition: the last reading */
};

/* A device or a MIG instance. */
struct nvidia_device {
    /* used by the scan only */
    struct gpu_identity who;
    uint64_t scanned;                  /* the number of the last scan that listed it */
    unsigned opened;                   /* nvidia.opened when it was prepared */
    nvml_return known;                 /* code of its last scan */
    bool partition;                    /* set once, like all fields up to the next comment, */
    bool has_node;                     /* before there is a handle */
    unsigned minor;                    /* number of its node, if it has one */
    char bus_id[32];                   /* as the kernel writes it, or "" */
    unsigned pci_id, pci_subsystem_id; /* device << 16 | vendor; 0: not known */
    unsigned fans, capability[2];      /* compute capability; 0.0: not known */

    /* set by scans, read by the device's thread */
    _Atomic(nvml_device) handle; /* NULL: cannot be reached, */
    atomic_int missing;          /* for this vitals_availability */
    atomic_bool partitioned;     /* its processes are listed with its partitions */

    /* used by the thread that reads the device; by the scan while `shut` is set (nvidia_enter) */
    double busy_seconds;
    uint64_t utilization_ns; /* when utilization was last read; 0: never, or the last read failed */
    int links;               /* NVLinks; -1: not asked yet */
    struct nvidia_unsupported absent;
    nvml_event_set events; /* NULL: none, because of this code */
    nvml_return events_code;
    uint64_t xids, xid_last;
    struct nvidia_gpm gpm;
    void *list;         /* buffer for the driver's process lists */
    unsigned list_room; /* in entries of the largest layout */
    struct nvml_process_sample *samples;
    unsigned sample_room;
    bool old_samples;                  /* the driver reports only four engines */
    uint64_t cursor_us;                /* samples up to here are counted; 0: none yet */
    uint64_t samples_ns;               /* when there were samples last */
    struct nvidia_user *users, *spare; /* in the order of pids */
    size_t user_count, user_capacity, spare_capacity;
};

struct nvidia {
    const vitals_context *context;

    /* Changed by scans while `shut` is set and no thread is inside. */
    struct nvml nvml;

    /* used by the scan only */
    uint64_t scans;
    char driver_version[80], cuda_version[16];
    signed char driver_state, cuda_state;
    unsigned last_count;            /* of devices without partitions */
    unsigned opened;                /* how often the library was opened */
    uint64_t retry_ns;              /* earliest time to reopen it for lost devices */
    uint64_t retry_wait_ns;         /* the interval after that; 0: the shortest */
    uint64_t bound;                 /* the kernel module's devices when the library was opened */
    char shut_message[GPU_MESSAGE]; /* why the driver is shut */

    /* used by any thread */
    atomic_bool shut;            /* the driver restarts: no thread may enter */
    atomic_uint inside;          /* threads that are inside, and may call the driver */
    atomic_ullong hostengine_ns; /* time of the last check */
    atomic_int hostengine;       /* HAVE: the performance monitor may be read; DENIED; UNSET */

    /* The current scan's list; the identities do not change before the next one. */
    atomic_uint listed, expected;
    uint32_t list[GPU_DEVICES_MAX]; /* slots */

    struct nvidia_device *devices[NVIDIA_SLOTS_MAX]; /* by slot; set once */
    uint32_t count;
};

/* Every caller of the driver except the scan enters before and leaves after. Returns false while
 * the library is reopened: there are no devices then. Never waits. */
bool nvidia_enter(struct nvidia *nvidia);
void nvidia_leave(struct nvidia *nvidia);

/* Marks the device as unreachable until a scan finds it again. */
void nvidia_lose(struct nvidia_device *device, vitals_availability reason);

/* Returns the handle of the device, or that of the device of a partition; may be NULL. */
nvml_device nvidia_whole(const struct nvidia *nvidia, const struct nvidia_device *device);

/* True if the kernel has suspended the device: the driver is then not called, because that would
 * wake it. Reads one small file. `status`: as for pci_is_asleep, kept if there is no bus id. */
bool nvidia_is_asleep(const struct nvidia *nvidia, const struct nvidia_device *device,
                      char status[PCI_STATUS]);

/* ---- unload and reload of the driver: nvidia.c, the scan's thread ---- */

/* True if the driver can be called now; reopens it if that is due. */
bool nvidia_is_up(struct nvidia *nvidia);

/* Called after a scan that listed `count` devices, of which `lost` could not be reached: shuts the
 * driver if it must be reopened. `code` is the result of counting the devices. */
void nvidia_check_driver(struct nvidia *nvidia, nvml_return code, unsigned lost, unsigned count);

void nvidia_scan(void *state, struct gpu_scan *out); /* devices.c */
void nvidia_listed(void *state, struct gpu_scan *out);
void nvidia_sample(void *state, uint32_t slot, struct gpu_sample *out); /* sample.c */
void nvidia_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                      const struct metric_set *wanted, struct gpu_processes *out);
void nvidia_diagnose(const vitals_context *context, void *state, struct row_batch *out);

/* Clears the cache of unsupported functions once it is a minute old. reader.c */
void nvidia_refresh_unsupported(const struct nvidia *nvidia, struct nvidia_device *device);

/* Returns the cached code if the function at that offset of struct nvml is unsupported for the
 * device; else NVML_SUCCESS, and it must be called. `which`: the function's argument. */
nvml_return nvidia_absence(const struct nvidia_device *device, size_t function, unsigned which);

/* Caches the code, and returns it. */
nvml_return nvidia_note(struct nvidia_device *device, size_t function, unsigned which,
                        nvml_return code);

/* NVIDIA_ASK(nvml, device, which, nvmlDeviceGetName, handle, …): as NVML_CALL, but skips cached
 * unsupported functions. For the thread that reads the device. */
#define NVIDIA_ASK(library, device, which, name, ...)                           \
    (nvidia_absence(device, offsetof(struct nvml, name), which) != NVML_SUCCESS \
         ? nvidia_absence(device, offsetof(struct nvml, name), which)           \
         : nvidia_note(device, offsetof(struct nvml, name), which,              \
                       NVML_CALL(library, name, __VA_ARGS__)))

/* Registers for Xid events of a device that has a handle now. ecc.c */
void nvidia_watch(const struct nvml *nvml, struct nvidia_device *device, nvml_device handle);
void nvidia_unwatch(const struct nvml *nvml, struct nvidia_device *device);

/* gpm.c */
void nvidia_end_gpm(const struct nvml *nvml, struct nvidia_device *device);
bool nvidia_finds_hostengine(const vitals_context *context);

/* Fills in the driver's accounting of each listed process, if it is wanted.
 * process_utilization.c */
void nvidia_read_accounts(const struct nvidia *nvidia, nvml_device handle,
                          const struct metric_set *wanted, struct gpu_processes *out);

/* Fills in the utilization of each listed process, if it is wanted. process_utilization.c */
void nvidia_read_utilizations(const struct nvidia *nvidia, struct nvidia_device *device,
                              nvml_device handle, const struct metric_set *wanted,
                              struct gpu_processes *out);

/* ---- pure functions ---- */

/* Parses the version in the text of /proc/driver/nvidia/version; "" if there is none. diagnose.c */
void nvidia_module_version(const char *text, char *out, size_t capacity);

enum {
    NVIDIA_UNWRITTEN = 0xa5
}; /* the buffer is filled with this before the driver writes to
    * it */

/* A list as written by the driver. */
struct nvidia_list {
    const unsigned char *bytes;
    size_t room;      /* bytes, written or not */
    size_t count;     /* number of entries, from the driver */
    size_t promised;  /* bytes of an entry, for this version of the function */
    enum gpu_use use; /* kind of the listed processes */
};

/* Deduces the layout and adds the processes; returns false and adds nothing if no layout
 * matches. */
bool nvidia_decode_list(const struct nvidia_list *list, struct gpu_processes *out);

/* Widens `count` samples of the older function, in a buffer with room for the newer ones. */
void nvidia_widen_samples(struct nvml_process_sample *samples, unsigned count);

/* Adds those of the first `count` of device->samples that are newer than since_us and of a known
 * user to the users' shares, and advances the cursor. since_us is not before the cursor. Returns
 * their number; they are then the first samples, sorted by time. */
unsigned nvidia_count_samples(struct nvidia_device *device, unsigned count, uint64_t since_us);
