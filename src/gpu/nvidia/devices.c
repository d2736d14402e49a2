/* devices.c: the list of devices and MIG instances, and their identity.
 *
 * A device is known by its UUID and keeps its slot for ever. A device that the driver cannot reach
 * any more keeps its place and identity; the driver itself keeps a lost device until it is
 * reloaded. Constant properties are read once. */
#include "gpu/nvidia/state.h"
#include "gpu/pci.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>

enum { PARTS_MAX = 32, PARTS_USUAL = 8, FANS_MAX = 16, CAPABILITY_MAX = 99 };

/* ---- slots ---- */

/* Returns the device that was last at this place, so that a lost device keeps its identity. */
static struct nvidia_device *find_place(const struct nvidia *nvidia, unsigned index)
{
    for (uint32_t i = 0; i < nvidia->count; i++) {
        struct nvidia_device *device = nvidia->devices[i];
        if (!device->partition && device->who.index == index &&
            device->scanned + 1 == nvidia->scans)
            return device;
    }
    return NULL;
}

/* Returns the device with the UUID; NULL if memory or slots are exhausted, or the UUID belongs to
 * another device. */
static struct nvidia_device *claim(struct nvidia *nvidia, const char *uuid)
{
    for (uint32_t i = 0; i < nvidia->count; i++) {
        struct nvidia_device *known = nvidia->devices[i];
        if (strcmp(known->who.uuid, uuid) == 0)
            return known->scanned == nvidia->scans ? NULL : known;
    }
    if (nvidia->count == NVIDIA_SLOTS_MAX)
        return NULL;
    struct nvidia_device *device = memory_alloc(sizeof *device);
    if (!device)
        return NULL;
    device->who.slot = nvidia->count;
    device->links = -1;
    device->events_code = NVML_NOT_SUPPORTED;
    snprintf(device->who.uuid, sizeof device->who.uuid, "%s", uuid);
    nvidia->devices[nvidia->count++] = device;
    return device;
}

static void list_device(struct nvidia *nvidia, struct nvidia_device *device, struct gpu_scan *out)
{
    if (out->count == GPU_DEVICES_MAX)
        return;
    device->scanned = nvidia->scans;
    nvidia->list[out->count] = device->who.slot;
    out->devices[out->count++] = device->who;
    atomic_store_explicit(&nvidia->listed, out->count, memory_order_release);
}

void nvidia_listed(void *state, struct gpu_scan *out)
{
    const struct nvidia *nvidia = state;
    out->count = atomic_load_explicit(&nvidia->listed, memory_order_acquire);
    out->expected = atomic_load_explicit(&nvidia->expected, memory_order_relaxed);
    for (uint32_t i = 0; i < out->count; i++)
        out->devices[i] = nvidia->devices[nvidia->list[i]]->who;
}

/* ---- identity ---- */

static signed char read_text(nvml_text_call *read, nvml_device handle, char *out, unsigned size)
{
    nvml_return code = read ? read(handle, out, size) : (nvml_return)NVML_FUNCTION_NOT_FOUND;
    out[size - 1] = '\0';
    if (code != NVML_SUCCESS)
        out[0] = '\0';
    return (signed char)nvml_availability(code);
}

static void identify(const struct nvidia *nvidia, struct nvidia_device *device, nvml_device handle,
                     unsigned index)
{
    const struct nvml *nvml = &nvidia->nvml;
    struct gpu_identity *who = &device->who;
    who->index = index;
    who->parent_slot = -1;
    snprintf(who->vendor, sizeof who->vendor, "nvidia");
    who->driver_state = nvidia->driver_state;
    snprintf(who->driver_version, sizeof who->driver_version, "%s", nvidia->driver_version);
    who->cuda_state = nvidia->cuda_state;
    snprintf(who->cuda_version, sizeof who->cuda_version, "%s", nvidia->cuda_version);
    who->gpu_instance_id = who->compute_instance_id = value_missing(VITALS_UNSUPPORTED);
    if (!handle) {
        who->name_state = who->pci_state = (signed char)nvml_availability(device->known);
        return;
    }
    who->name_state = read_text(nvml->nvmlDeviceGetName, handle, who->name, sizeof who->name);
    struct nvml_pci_info pci = {0};
    who->pci_state = (signed char)nvml_availability(
        NVML_CALL(nvml, nvmlDeviceGetPciInfo_v3, handle, &pci));
    device->pci_id = who->pci_state > 0 ? pci.pci_device_id : 0;
    device->pci_subsystem_id = who->pci_state > 0 ? pci.pci_subsystem_id : 0;
    if (who->pci_state > 0)
        snprintf(who->pci_bus_id, sizeof who->pci_bus_id, "%.*s", (int)sizeof pci.bus_id - 1,
                 pci.bus_id);
    char bus_id[PCI_BUS_ID]; /* other threads read device->bus_id meanwhile */
    if (pci_parse_bus_id((struct span){who->pci_bus_id, strlen(who->pci_bus_id)}, bus_id) &&
        strcmp(device->bus_id, bus_id) != 0)
        memcpy(device->bus_id, bus_id, sizeof device->bus_id);
}

/* Reads constant properties, before other threads see a handle of the device. */
static void prepare(const struct nvidia *nvidia, struct nvidia_device *device, nvml_device handle)
{
    const struct nvml *nvml = &nvidia->nvml;
    unsigned *capability = device->capability;
    device->opened = nvidia->opened;

    /* /dev/nvidiaN, which programs that use the device open. */
    enum { MAJOR = 195, CONTROL = 255 };
    unsigned minor = NVML_NOT_AVAILABLE_32;
    nvml_return code = NVML_CALL(nvml, nvmlDeviceGetMinorNumber, handle, &minor);
    device->has_node = code == NVML_SUCCESS && minor < CONTROL;
    device->minor = minor;
    device->who.node_count = device->has_node;
    device->who.nodes[0] = (struct gpu_node){MAJOR, minor};

    if (NVML_CALL(nvml, nvmlDeviceGetCudaComputeCapability, handle, &capability[0],
                  &capability[1]) != NVML_SUCCESS ||
        capability[0] > CAPABILITY_MAX || capability[1] > CAPABILITY_MAX)
        capability[0] = capability[1] = 0;

    /* A driver that does not count fans is asked for each fan if it exists. */
    unsigned fans = 0, percent;
    code = NVML_CALL(nvml, nvmlDeviceGetNumFans, handle, &fans);
    if (code == NVML_FUNCTION_NOT_FOUND) {
        for (fans = 0; fans < FANS_MAX; fans++) {
            if (NVML_CALL(nvml, nvmlDeviceGetFanSpeed_v2, handle, fans, &percent) != NVML_SUCCESS)
                break;
        }
    } else if (code != NVML_SUCCESS) {
        fans = 0;
    }
    device->fans = fans <= FANS_MAX ? fans : 0;
    nvidia_watch(nvml, device, handle);
}

/* ---- MIG instances ---- */

static struct value read_instance(nvml_u32_call *read, nvml_device handle)
{
    unsigned number = NVML_NOT_AVAILABLE_32;
    nvml_return code = read ? read(handle, &number) : (nvml_return)NVML_FUNCTION_NOT_FOUND;
    if (code != NVML_SUCCESS)
        return value_missing(nvml_availability(code));
    return number == NVML_NOT_AVAILABLE_32 ? value_missing(VITALS_UNSUPPORTED) : value_u64(number);
}

static void scan_partition(struct nvidia *nvidia, const struct nvidia_device *parent,
                           unsigned index, struct gpu_scan *out)
{
    const struct nvml *nvml = &nvidia->nvml;
    nvml_device handle = NULL, whole = atomic_load(&parent->handle);
    char uuid[GPU_NAME];
    if (NVML_CALL(nvml, nvmlDeviceGetMigDeviceHandleByIndex, whole, index, &handle) !=
            NVML_SUCCESS ||
        !handle)
        return; /* a gap: instances keep their index when an earlier one is destroyed */
    if (read_text(nvml->nvmlDeviceGetUUID, handle, uuid, sizeof uuid) < 0 || !*uuid)
        snprintf(uuid, sizeof uuid, "MIG-%.70s/%u", parent->who.uuid, index);
    struct nvidia_device *device = claim(nvidia, uuid);
    if (!device)
        return;
    struct gpu_identity *who = &device->who;
    if (!device->partition) {
        device->partition = true;
        *who = parent->who;
        who->slot = nvidia->count - 1;
        who->parent_slot = (int32_t)parent->who.slot;
        snprintf(who->uuid, sizeof who->uuid, "%s", uuid);

        /* "NVIDIA A100-SXM4-80GB MIG 3g.40gb" is a 3g.40gb; without a profile in the name it is
         * made from the attributes: slices, and memory in whole GiB, rounded up as in NVIDIA's
         * names. */
        static const char mark[] = "MIG ";
        char name[GPU_NAME];
        signed char state = read_text(nvml->nvmlDeviceGetName, handle, name, sizeof name);
        const char *profile = strstr(name, mark);
        struct nvml_attributes has = {0};
        who->name_state = VITALS_HAVE;
        if (profile) {
            snprintf(who->name, sizeof who->name, "%s", profile + sizeof mark - 1);
        } else if (NVML_CALL(nvml, nvmlDeviceGetAttributes_v2, handle, &has) == NVML_SUCCESS) {
            char compute[16] = "";
            if (has.compute_slices != has.gpu_slices)
                snprintf(compute, sizeof compute, "%uc.", has.compute_slices);
            snprintf(who->name, sizeof who->name, "%s%ug.%llugb", compute, has.gpu_slices,
                     (unsigned long long)((has.memory_mib + 1023) / 1024));
        } else {
            who->name_state = state;
            snprintf(who->name, sizeof who->name, "%s", name);
        }

        who->gpu_instance_id = read_instance(nvml->nvmlDeviceGetGpuInstanceId, handle);
        who->compute_instance_id = read_instance(nvml->nvmlDeviceGetComputeInstanceId, handle);
        memcpy(device->bus_id, parent->bus_id, sizeof device->bus_id);
        memcpy(device->capability, parent->capability, sizeof device->capability);
    }
    who->index = index;
    atomic_store(&device->missing, VITALS_HAVE);
    atomic_store(&device->handle, handle);
    list_device(nvidia, device, out);
}

/* The partitions of a device that is not queried, or cannot be reached, stay listed, with the state
 * of the device. */
static void keep_partitions(struct nvidia *nvidia, const struct nvidia_device *parent, bool lost,
                            struct gpu_scan *out)
{
    for (uint32_t i = 0; i < nvidia->count; i++) {
        struct nvidia_device *device = nvidia->devices[i];
        if (!device->partition || device->who.parent_slot != (int32_t)parent->who.slot ||
            device->scanned + 1 != nvidia->scans)
            continue;
        if (lost)
            nvidia_lose(device, (vitals_availability)atomic_load(&parent->missing));
        list_device(nvidia, device, out);
    }
}

/* ---- devices ---- */

static void scan_lost(struct nvidia *nvidia, unsigned index, nvml_return code, struct gpu_scan *out)
{
    struct nvidia_device *device = find_place(nvidia, index);
    if (!device) {
        char uuid[GPU_NAME]; /* until its identity can be read */
        snprintf(uuid, sizeof uuid, "nvidia-%u", index);
        device = claim(nvidia, uuid);
        if (!device)
            return;
        device->known = code;
        identify(nvidia, device, NULL, index);
    }
    nvidia_lose(device, nvml_availability(code));
    list_device(nvidia, device, out);
    keep_partitions(nvidia, device, true, out);
}

/* Returns false if the device is lost. */
static bool scan_device(struct nvidia *nvidia, unsigned index, struct gpu_scan *out)
{
    const struct nvml *nvml = &nvidia->nvml;
    nvml_device handle = NULL;
    char uuid[GPU_NAME] = "";

    /* A suspended device is not queried: its last identity and its partitions stay. */
    struct nvidia_device *last = find_place(nvidia, index);
    if (last && atomic_load(&last->handle) && nvidia_is_asleep(nvidia, last, NULL)) {
        list_device(nvidia, last, out);
        keep_partitions(nvidia, last, false, out);
        return true;
    }

    nvml_return code = nvml->nvmlDeviceGetHandleByIndex_v2(index, &handle);
    if (code == NVML_SUCCESS && handle)
        code = nvml->nvmlDeviceGetUUID(handle, uuid, sizeof uuid);
    else if (code == NVML_SUCCESS)
        code = NVML_UNKNOWN;
    if (!handle || (code != NVML_SUCCESS && nvml_availability(code) != VITALS_UNSUPPORTED)) {
        os_trace(&nvidia->context->os, "nvidia: device %u: error %u", index, code);
        scan_lost(nvidia, index, code, out);
        return nvml_availability(code) != VITALS_GONE;
    }
    uuid[sizeof uuid - 1] = '\0';
    struct nvidia_device *device = *uuid ? claim(nvidia, uuid) : NULL;
    if (!device) { /* it has no UUID, or that of another device */
        snprintf(uuid, sizeof uuid, "nvidia-%u", index);
        device = claim(nvidia, uuid);
    }
    if (!device)
        return true;
    if (device->who.name_state != VITALS_HAVE || device->who.index != index ||
        device->opened != nvidia->opened)
        identify(nvidia, device, handle, index);
    if (device->opened != nvidia->opened)
        prepare(nvidia, device, handle);
    atomic_store(&device->missing, VITALS_HAVE);
    atomic_store(&device->handle, handle);
    list_device(nvidia, device, out);

    unsigned mode = 0, pending = 0, most = 0;
    bool on = NVML_CALL(nvml, nvmlDeviceGetMigMode, handle, &mode, &pending) == NVML_SUCCESS &&
              mode == 1;
    atomic_store(&device->partitioned, on);
    if (on && NVML_CALL(nvml, nvmlDeviceGetMaxMigDeviceCount, handle, &most) != NVML_SUCCESS)
        most = PARTS_USUAL;
    for (unsigned i = 0; i < most && i < PARTS_MAX; i++)
        scan_partition(nvidia, device, i, out);
    return true;
}

void nvidia_scan(void *state, struct gpu_scan *out)
{
    struct nvidia *nvidia = state;
    unsigned count = 0, lost = 0;
    out->count = 0;
    out->state = VITALS_HAVE;
    nvidia->scans++;
    atomic_store(&nvidia->listed, 0);
    if (!nvidia_is_up(nvidia)) {
        /* While the driver is shut, its devices keep their places. */
        for (unsigned i = 0; i < nvidia->last_count && i < GPU_DEVICES_MAX; i++)
            scan_lost(nvidia, i, NVML_GPU_IS_LOST, out);
        snprintf(out->message, sizeof out->message, "%s", nvidia->shut_message);
        return;
    }
    nvml_return code = nvidia->nvml.nvmlDeviceGetCount_v2(&count);
    if (code != NVML_SUCCESS && nvidia->last_count == 0) {
        out->state = (signed char)nvml_availability(code);
        snprintf(out->message, sizeof out->message,
                 "driver %s does not list its devices (error %u)", nvidia->driver_version, code);
        nvidia_check_driver(nvidia, code, 0, 0);
        return;
    }
    if (code == NVML_SUCCESS)
        nvidia->last_count = count;
    atomic_store_explicit(&nvidia->expected, nvidia->last_count, memory_order_relaxed);
    for (unsigned i = 0; i < nvidia->last_count && i < GPU_DEVICES_MAX; i++)
        lost += !scan_device(nvidia, i, out);

    /* An instance that is no longer listed was destroyed: its handle must not be used. */
    for (uint32_t i = 0; i < nvidia->count; i++) {
        struct nvidia_device *device = nvidia->devices[i];
        if (device->scanned != nvidia->scans && atomic_load(&device->handle))
            nvidia_lose(device, VITALS_GONE);
    }

    unsigned parts = out->count > nvidia->last_count ? out->count - nvidia->last_count : 0;
    int used = snprintf(out->message, sizeof out->message, "driver %s, %u device%s",
                        nvidia->driver_state > 0 ? nvidia->driver_version : "unknown",
                        nvidia->last_count, nvidia->last_count == 1 ? "" : "s");
    if (parts > 0 && used > 0 && (size_t)used < sizeof out->message)
        snprintf(out->message + used, sizeof out->message - (size_t)used, ", %u MIG instance%s",
                 parts, parts == 1 ? "" : "s");

    nvidia_check_driver(nvidia, code, lost, nvidia->last_count);
}
