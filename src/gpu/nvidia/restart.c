/* restart.c: the driver is unloaded and loaded while vitals runs.
 *
 * The library counts the devices once, when it is opened, and its handles die with the driver. So
 * it is reopened if the driver reports that it was unloaded, if no device can be reached, and if
 * the kernel module has other devices than before (hot-plug). Slots stay; a scan gives them new
 * handles. While another thread is inside the library, the next scan tries again: this function
 * never waits. Thread rule: the scan's thread. */
#include "gpu/nvidia/state.h"
#include "util/hash.h"

#include <stdio.h>
#include <string.h>

/* A device that is lost for good is tried again ever more rarely: each try may leave a line in the
 * kernel's log. */
#define RETRY_NS     (30 * NS_PER_SECOND)
#define RETRY_MAX_NS (600 * NS_PER_SECOND)

static bool add_name(const char *name, void *data)
{
    uint64_t *sum = data;
    if (strchr(name, ':')) /* an address; the others are files of the module */
        *sum += hash_bytes(name, strlen(name)) | 1;
    return true;
}

uint64_t nvidia_bound_devices(const vitals_context *context)
{
    uint64_t sum = 1;
    return os_sys_list(&context->os, "bus/pci/drivers/nvidia", add_name, &sum) < 0 ? 0 : sum;
}

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
    nvidia_end_driver(nvidia);
    return true;
}

void nvidia_check_driver(struct nvidia *nvidia, nvml_return code, unsigned lost, unsigned count)
{
    uint64_t now_ns = gpu_now_ns(&nvidia->context->os);
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
    nvidia->bound = nvidia_bound_devices(nvidia->context);
    nvidia_read_versions(nvidia);
    atomic_store(&nvidia->shut, false);
    return true;
}

bool nvidia_is_up(struct nvidia *nvidia)
{
    if (atomic_load(&nvidia->shut)) {
        /* Closed in one scan and opened in a later one: a second context of this program closes it
         * in between, and only the last of them ends it. */
        bool closed = !nvidia->nvml.library;
        return end(nvidia) && closed && open_anew(nvidia);
    }
    uint64_t bound = nvidia_bound_devices(nvidia->context);
    if (nvidia->bound == 0)
        nvidia->bound = bound;
    if (bound == nvidia->bound || bound == 0 || atomic_load(&nvidia->inside) > 0)
        return true; /* one that hangs does not take the others with it */
    shut(nvidia, "the kernel module has other devices than before; the driver is opened anew");
    return end(nvidia) && open_anew(nvidia);
}
