/* nvidia.c: the record of the back end, and what opens and closes it. */
#include "gpu/nvidia/state.h"
#include "gpu/pci.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>
#include <vitals/error.h>

void nvidia_lose(struct nvidia_device *device, vitals_availability reason)
{
    atomic_store(&device->missing, (int)reason);
    atomic_store(&device->handle, NULL);
}

bool nvidia_enter(struct nvidia *nvidia)
{
    atomic_fetch_add(&nvidia->inside, 1);
    if (!atomic_load(&nvidia->shut))
        return true;
    nvidia_leave(nvidia);
    return false;
}

void nvidia_leave(struct nvidia *nvidia)
{
    atomic_fetch_sub(&nvidia->inside, 1);
}

nvml_device nvidia_whole(const struct nvidia *nvidia, const struct nvidia_device *device)
{
    const struct nvidia_device *whole = device->partition ? nvidia->devices[device->who.parent_slot]
                                                          : device;
    return atomic_load(&whole->handle);
}

bool nvidia_is_asleep(const struct nvidia *nvidia, const struct nvidia_device *device)
{
    char folder[OS_SYS_PATH];
    if (!device->bus_id[0])
        return false;
    pci_folder(folder, device->bus_id);
    return pci_is_asleep(&nvidia->context->os, folder, NULL);
}

void nvidia_read_versions(struct nvidia *nvidia)
{
    const struct nvml *nvml = &nvidia->nvml;
    nvml_return code = NVML_CALL(nvml, nvmlSystemGetDriverVersion, nvidia->driver_version,
                                 sizeof nvidia->driver_version);
    nvidia->driver_version[sizeof nvidia->driver_version - 1] = '\0';
    nvidia->driver_state = (signed char)nvml_availability(code);

    int cuda = 0;
    code = NVML_CALL(nvml, nvmlSystemGetCudaDriverVersion_v2, &cuda);
    if (code == NVML_FUNCTION_NOT_FOUND)
        code = NVML_CALL(nvml, nvmlSystemGetCudaDriverVersion, &cuda);
    nvidia->cuda_state = (signed char)(code == NVML_SUCCESS && cuda <= 0 ? VITALS_FAILED
                                                                         : nvml_availability(code));
    if (nvidia->cuda_state > 0)
        snprintf(nvidia->cuda_version, sizeof nvidia->cuda_version, "%d.%d", cuda / 1000,
                 cuda % 1000 / 10);
}

static int nvidia_open(const vitals_context *context, void **state, struct gpu_scan *why)
{
    struct nvidia *nvidia = memory_alloc(sizeof *nvidia);
    if (!nvidia)
        return gpu_backend_refuse(why, VITALS_FAILED, "out of memory", VITALS_EMEMORY);
    nvidia->context = context;
    struct nvml_failure failure;
    if (nvml_open(&nvidia->nvml, context, &failure) < 0) {
        memory_free(nvidia);
        return gpu_backend_refuse(why, failure.state, failure.message, VITALS_EUNSUPPORTED);
    }
    nvidia->opened = 1;
    nvidia->bound = nvidia_bound_devices(context);
    nvidia_read_versions(nvidia);
    *state = nvidia;
    return 0;
}

void nvidia_end_driver(struct nvidia *nvidia)
{
    for (uint32_t i = 0; i < nvidia->count; i++) {
        nvidia_unwatch(&nvidia->nvml, nvidia->devices[i]);
        nvidia_end_gpm(&nvidia->nvml, nvidia->devices[i]);
    }
    nvml_close(&nvidia->nvml);
}

static void nvidia_close(void *state)
{
    struct nvidia *nvidia = state;
    if (nvidia->nvml.library)
        nvidia_end_driver(nvidia);
    for (uint32_t i = 0; i < nvidia->count; i++) {
        struct nvidia_device *device = nvidia->devices[i];
        memory_free(device->list);
        memory_free(device->samples);
        memory_free(device->users);
        memory_free(device->spare);
        memory_free(device);
    }
    memory_free(nvidia);
}

const struct gpu_backend gpu_backend_nvidia = {
    .name = "nvidia",
    .open = nvidia_open,
    .scan = nvidia_scan,
    .listed = nvidia_listed,
    .sample = nvidia_sample,
    .processes = nvidia_processes,
    .diagnose = nvidia_diagnose,
    .close = nvidia_close,
};
