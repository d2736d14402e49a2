/* errors.c: see errors.h. */
#include "gpu/nvidia/errors.h"

#include "util/base.h"

#include <stdio.h>

vitals_availability nvml_availability(nvml_return code)
{
    static const struct {
        nvml_return code;
        vitals_availability availability;
    } meanings[] = {
        {NVML_SUCCESS, VITALS_HAVE},
        {NVML_NOT_SUPPORTED, VITALS_UNSUPPORTED},
        {NVML_FUNCTION_NOT_FOUND, VITALS_UNSUPPORTED},
        {NVML_VGPU_ECC_NOT_SUPPORTED, VITALS_UNSUPPORTED},
        {NVML_FREQ_NOT_SUPPORTED, VITALS_UNSUPPORTED},
        {NVML_ARGUMENT_VERSION_MISMATCH, VITALS_UNSUPPORTED},
        {NVML_DEPRECATED, VITALS_UNSUPPORTED},
        {NVML_NO_PERMISSION, VITALS_DENIED},
        {NVML_OPERATING_SYSTEM, VITALS_DENIED}, /* "blocked by the operating system or a cgroup" */
        {NVML_DRIVER_NOT_LOADED, VITALS_GONE},
        {NVML_GPU_IS_LOST, VITALS_GONE},
        {NVML_GPU_NOT_FOUND, VITALS_GONE},
        {NVML_TIMEOUT, VITALS_TIMED_OUT},
        {NVML_NO_DATA, VITALS_NOT_YET},
        {NVML_NOT_READY, VITALS_NOT_YET},
    };
    for (size_t i = 0; i < ARRAY_COUNT(meanings); i++) {
        if (meanings[i].code == code)
            return meanings[i].availability;
    }
    return VITALS_FAILED;
}

bool nvml_lacks(nvml_return code)
{
    return nvml_availability(code) == VITALS_UNSUPPORTED && code != NVML_NOT_SUPPORTED;
}

static vitals_availability explain_mismatch(const char *library, char *out, size_t capacity)
{
    snprintf(out, capacity,
             "driver library%s%s does not match the kernel module; reboot or reload the module",
             *library ? " " : "", library);
    return VITALS_FAILED;
}

vitals_availability nvml_explain_init(nvml_return code, const char *library, char *out,
                                      size_t capacity)
{
    static const struct {
        nvml_return code;
        vitals_availability availability;
        const char *message;
    } failures[] = {
        {NVML_DRIVER_NOT_LOADED, VITALS_UNSUPPORTED,
         "NVIDIA driver not loaded; load its kernel module (modprobe nvidia)"},
        {NVML_NO_PERMISSION, VITALS_DENIED,
         "no permission to /dev/nvidia*; add yourself to the group that owns them"},
        {NVML_OPERATING_SYSTEM, VITALS_DENIED,
         "/dev/nvidiactl is blocked by a cgroup or a sandbox; allow it there"},
        {NVML_LIBRARY_NOT_FOUND, VITALS_FAILED,
         "the NVIDIA driver library lacks another of its libraries; reinstall the driver"},
        {NVML_GPU_IS_LOST, VITALS_GONE,
         "the NVIDIA driver lost a device while starting; reset it or reboot"},
    };
    if (code == NVML_LIB_RM_VERSION_MISMATCH)
        return explain_mismatch(library, out, capacity);
    for (size_t i = 0; i < ARRAY_COUNT(failures); i++) {
        if (failures[i].code == code) {
            snprintf(out, capacity, "%s", failures[i].message);
            return failures[i].availability;
        }
    }
    snprintf(out, capacity,
             "the NVIDIA driver does not start (nvmlInit says %u); see the kernel log, and in a "
             "container whether /dev/nvidia* are there",
             code);
    return VITALS_FAILED;
}
