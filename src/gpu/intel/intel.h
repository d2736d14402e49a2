/* intel.h: the back end for Intel's devices: the kernel drivers i915 and xe.
 *
 * Everything comes from /sys, from perf counters of the device where those are permitted, and from
 * the descriptors that programs have open; no library of Intel's is asked. The size of a card's
 * memory, and how much of it is in use, the kernel tells only to those who open the device: that is
 * done for a moment, while the device is awake; where it is not permitted they are estimated, and
 * say so. */
#ifndef VITALS_GPU_INTEL_INTEL_H
#define VITALS_GPU_INTEL_INTEL_H

#include "gpu/backend.h"

extern const struct gpu_backend gpu_backend_intel;

/* Who counts: the operating system, but in tests, where there is no such device. */
struct intel_counting {
    int (*add)(const struct os *os, struct os_perf *perf, uint32_t type, unsigned cpu,
               const struct os_perf_event *event);
    int (*read)(const struct os_perf *perf, uint64_t *values);
    void (*close)(struct os_perf *perf);
};

/* Who opens a card's node and asks its driver: likewise. */
struct intel_asking {
    int (*open)(const struct os *os, const char *name, uint32_t major, uint32_t minor);
    int (*ask)(int descriptor, unsigned command, void *argument, size_t size);
    void (*close)(int descriptor);
};

/* For tests, before the first sample; `counting` stays the caller's. */
void intel_count_with(void *state, const struct intel_counting *counting);
void intel_ask_with(void *state, const struct intel_asking *asking);

#endif
