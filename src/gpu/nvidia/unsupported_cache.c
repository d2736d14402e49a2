/* unsupported_cache.c: what a device does not have is asked for once a minute and not at each tick:
 * a GeForce has no error correction, a partition no fan. It may come, as utilization does when a
 * device is no longer partitioned. Thread rule: the thread that reads the device. */
#include "gpu/nvidia/errors.h"
#include "gpu/nvidia/state.h"

#include <string.h>

#define ASK_AGAIN_NS (60 * NS_PER_SECOND)

void nvidia_refresh_unsupported(const struct nvidia *nvidia, struct nvidia_device *device)
{
    struct nvidia_unsupported *absent = &device->absent;
    uint64_t now_ns = nvidia_now_ns(nvidia);
    if (absent->since_ns != 0 && absent->opened == nvidia->opened &&
        now_ns - absent->since_ns < ASK_AGAIN_NS)
        return;
    memset(absent, 0, sizeof *absent);
    absent->since_ns = now_ns;
    absent->opened = nvidia->opened;
}

static size_t index_of(size_t function)
{
    return (function - offsetof(struct nvml, nvmlInit_v2)) / sizeof(nvml_plain_call *);
}

nvml_return nvidia_absence(const struct nvidia_device *device, size_t function, unsigned which)
{
    size_t index = index_of(function);
    uint64_t bit = UINT64_C(1) << which % 64;
    if (which >= NVIDIA_WHICH_MAX)
        return NVML_SUCCESS;
    if (device->absent.unknown[index][which / 64] & bit)
        return NVML_FUNCTION_NOT_FOUND;
    return device->absent.unsupported[index][which / 64] & bit ? NVML_NOT_SUPPORTED : NVML_SUCCESS;
}

nvml_return nvidia_note(struct nvidia_device *device, size_t function, unsigned which,
                        nvml_return code)
{
    size_t index = index_of(function);
    if (which >= NVIDIA_WHICH_MAX || nvml_availability(code) != VITALS_UNSUPPORTED)
        return code;
    uint64_t *bits = nvml_lacks(code) ? device->absent.unknown[index]
                                      : device->absent.unsupported[index];
    bits[which / 64] |= UINT64_C(1) << which % 64;
    return code;
}
