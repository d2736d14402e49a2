/* intel.h: the back end for Intel's devices: the kernel drivers i915 and xe.
 *
 * Everything comes from /sys, from perf counters of the device where those are permitted, and from
 * the descriptors that programs have open; no library of Intel's is asked. The size of a card's
 * memory, and how much of it is in use, come from an ioctl on the open device: it is opened for a
 * moment while it is awake; if that is not permitted, both are estimates and marked so. */
#ifndef VITALS_GPU_INTEL_INTEL_H
#define VITALS_GPU_INTEL_INTEL_H

#include "gpu/backend.h"

extern const struct gpu_backend gpu_backend_intel;

/* Provides the counters: the operating system, or a simulation in tests. */
struct intel_counting {
    int (*add)(const struct os *os, struct os_perf *perf, uint32_t type, unsigned cpu,
               const struct os_perf_event *event);
    int (*read)(const struct os_perf *perf, uint64_t *values);
    void (*close)(struct os_perf *perf);
};

/* Opens a card's node and queries its driver: likewise. */
struct intel_asking {
    int (*open)(const struct os *os, const char *name, uint32_t major, uint32_t minor);
    int (*ask)(int descriptor, unsigned command, void *argument, size_t size);
    void (*close)(int descriptor);
};

/* For tests, before the first sample; `counting` stays the caller's. */
void intel_count_with(void *state, const struct intel_counting *counting);
void intel_ask_with(void *state, const struct intel_asking *asking);

#endif
