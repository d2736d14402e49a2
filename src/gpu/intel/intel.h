/* intel.h: the back end for Intel's devices: the kernel drivers i915 and xe.
 *
 * Everything comes from /sys, from perf counters of the device where those are permitted, and from
 * the descriptors that programs have open; no library of Intel's is asked and no device node is
 * opened. What the kernel tells only to those who open the device (the size of its memory, how much
 * of it is in use) is therefore estimated, and says so. */
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

/* For tests, before the first sample; `counting` stays the caller's. */
void intel_count_with(void *state, const struct intel_counting *counting);

#endif
