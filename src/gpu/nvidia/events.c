/* events.c: Xid errors, by which the driver says what went wrong on a device.
 *
 * Each device has a set of its own, which is made at its first scan, so that what happens between
 * two samples waits there; a sample empties it without waiting. */
#include "gpu/nvidia/errors.h"
#include "gpu/nvidia/reader.h"

enum { EVENTS_AT_ONCE = 16 }; /* a storm of them is counted on in the next sample */

/* ---- making and ending ---- */

static nvml_return watch(const struct nvml *nvml, struct nvidia_device *device, nvml_device handle)
{
    uint64_t types = 0;
    nvml_return code = NVML_CALL(nvml, nvmlDeviceGetSupportedEventTypes, handle, &types);
    if (code != NVML_SUCCESS)
        return code;
    if (!(types & NVML_EVENT_XID))
        return NVML_NOT_SUPPORTED;
    code = NVML_CALL(nvml, nvmlEventSetCreate, &device->events);
    if (code != NVML_SUCCESS || !device->events) {
        device->events = NULL;
        return code != NVML_SUCCESS ? code : (nvml_return)NVML_UNKNOWN;
    }
    code = NVML_CALL(nvml, nvmlDeviceRegisterEvents, handle, (uint64_t)NVML_EVENT_XID,
                     device->events);
    if (code != NVML_SUCCESS)
        nvidia_unwatch(nvml, device);
    return code;
}

void nvidia_watch(const struct nvml *nvml, struct nvidia_device *device, nvml_device handle)
{
    device->events_code = watch(nvml, device, handle);
}

void nvidia_unwatch(const struct nvml *nvml, struct nvidia_device *device)
{
    if (device->events)
        (void)NVML_CALL(nvml, nvmlEventSetFree, device->events);
    device->events = NULL;
    device->events_code = NVML_UNINITIALIZED;
}

/* ---- reading ---- */

static nvml_return next_event(const struct nvml *nvml, nvml_event_set set, struct nvml_event *event)
{
    *event = (struct nvml_event){0};
    nvml_return code = NVML_CALL(nvml, nvmlEventSetWait_v2, set, event, 0);
    return code == NVML_FUNCTION_NOT_FOUND ? NVML_CALL(nvml, nvmlEventSetWait, set, event, 0)
                                           : code;
}

/* NVML_TIMEOUT: there are none. Partitions share the set of their device, and say nothing. */
void nvidia_read_events(struct nvidia_reader *reader)
{
    struct nvidia_device *device = reader->device;
    nvml_return code = device->events_code;
    for (int i = 0; i < EVENTS_AT_ONCE && device->events && code == NVML_SUCCESS; i++) {
        struct nvml_event event;
        code = next_event(reader->nvml, device->events, &event);
        if (code != NVML_SUCCESS || !(event.type & NVML_EVENT_XID))
            continue;
        device->xids++;
        device->xid_last = event.data;
    }
    if (code == NVML_TIMEOUT)
        code = NVML_SUCCESS;
    reader_set(reader, VITALS_GPU_XID_ERRORS, code, value_u64(device->xids));
    reader_set(reader, VITALS_GPU_XID_LAST, code,
               device->xids > 0 ? nvml_count(device->xid_last, UINT32_MAX)
                                : value_missing(VITALS_NOT_YET));
}
