/* nvidia.c: the record of the back end; opens, closes and reopens the driver. */
#include "gpu/nvidia/state.h"
#include "gpu/pci.h"
#include "util/hash.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>

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

bool nvidia_is_asleep(const struct nvidia *nvidia, const struct nvidia_device *device,
                      char status[PCI_STATUS])
{
    char folder[OS_SYS_PATH];
    if (!device->bus_id[0])
        return false;
    pci_folder(folder, device->bus_id);
    return pci_is_asleep(&nvidia->context->os, folder, status);
}

/* Returns a hash of the kernel module's devices; 0: unknown. */
static uint64_t bound_devices(const vitals_context *context)
{
    struct os_sys_names names;
    uint64_t sum = 1;
    os_sys_names(&names, &context->os, "bus/pci/drivers/nvidia");
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        if (strchr(name, ':')) /* an address; other names are files of the module */
            sum += hash_bytes(name, strlen(name)) | 1;
    }
    return names.result < 0 ? 0 : sum;
}

/* Asks the driver and its newest CUDA for their versions. */
static void read_versions(struct nvidia *nvidia)
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
        return gpu_backend_refuse(why, VITALS_FAILED, "out of memory");
    nvidia->context = context;
    struct nvml_failure failure;
    if (nvml_open(&nvidia->nvml, context, &failure) < 0) {
        memory_free(nvidia);
        return gpu_backend_refuse(why, failure.state, failure.message);
    }
    nvidia->opened = 1;
    nvidia->bound = bound_devices(context);
    read_versions(nvidia);
    *state = nvidia;
    return 0;
}

/* Releases the driver's resources for the devices, and closes it. No thread may be inside. */
static void end_driver(struct nvidia *nvidia)
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
        end_driver(nvidia);
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

/* ---- the driver is unloaded and loaded while vitals runs; the scan's thread ----
 *
 * The library counts the devices once, when it is opened, and its handles die with the driver. So
 * it is reopened if the driver reports that it was unloaded, if no device can be reached, and if
 * the kernel module has other devices than before (hot-plug). Slots stay; a scan gives them new
 * handles. While another thread is inside the library, the next scan tries again: no wait. */

/* A device that is permanently lost is tried again at increasing intervals: each try may add a line
 * to the kernel's log. */
#define RETRY_NS     (30 * NS_PER_SECOND)
#define RETRY_MAX_NS (600 * NS_PER_SECOND)

static void shut(struct nvidia *nvidia, const char *why)
{
    snprintf(nvidia->shut_message, sizeof nvidia->shut_message, "%s", why);
    os_trace(&nvidia->context->os, "nvidia: %s", why);
    atomic_store(&nvidia->shut, true);
    for (uint32_t i = 0; i < nvidia->count; i++)
        nvidia_lose(nvidia->devices[i], VITALS_GONE);
}

/* Closes the library before it is reopened. Returns false if a thread is inside. */
static bool end(struct nvidia *nvidia)
{
    if (!nvidia->nvml.library)
        return true;
    if (atomic_load(&nvidia->inside) > 0)
        return false;
    end_driver(nvidia);
    return true;
}

void nvidia_check_driver(struct nvidia *nvidia, nvml_return code, unsigned lost, unsigned count)
{
    uint64_t now_ns = os_now_ns(&nvidia->context->os);
    if (lost < count)
        nvidia->retry_wait_ns = 0;
    if (code == NVML_UNINITIALIZED || code == NVML_DRIVER_NOT_LOADED) {
        shut(nvidia, "the driver was unloaded; it is opened again when it is there");
        (void)end(nvidia);
    } else if (count > 0 && lost == count && now_ns >= nvidia->retry_ns) {
        uint64_t wait_ns = nvidia->retry_wait_ns != 0 ? nvidia->retry_wait_ns : RETRY_NS;
        nvidia->retry_ns = now_ns + wait_ns;
        nvidia->retry_wait_ns = wait_ns < RETRY_MAX_NS / 2 ? 2 * wait_ns : RETRY_MAX_NS;
        shut(nvidia, "all devices are lost; the driver is opened anew");
        (void)end(nvidia);
    }
}

static bool open_anew(struct nvidia *nvidia)
{
    struct nvml_failure failure;
    if (nvml_open(&nvidia->nvml, nvidia->context, &failure) < 0) {
        snprintf(nvidia->shut_message, sizeof nvidia->shut_message, "%s", failure.message);
        return false;
    }
    nvidia->opened++;
    nvidia->bound = bound_devices(nvidia->context);
    read_versions(nvidia);
    atomic_store(&nvidia->shut, false);
    return true;
}

bool nvidia_is_up(struct nvidia *nvidia)
{
    if (atomic_load(&nvidia->shut)) {
        /* Closed in one scan and reopened in a later one: other contexts of this program close the
         * library in between, and only the last close shuts it down. */
        bool closed = !nvidia->nvml.library;
        return end(nvidia) && closed && open_anew(nvidia);
    }
    uint64_t bound = bound_devices(nvidia->context);
    if (nvidia->bound == 0)
        nvidia->bound = bound;
    if (bound == nvidia->bound || bound == 0 || atomic_load(&nvidia->inside) > 0)
        return true; /* a device that hangs does not affect the others */
    shut(nvidia, "the kernel module has other devices than before; the driver is opened anew");
    return end(nvidia) && open_anew(nvidia);
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
