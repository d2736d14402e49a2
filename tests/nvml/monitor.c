/*
 * monitor.c - answers of what a program makes first and asks later: sets of events, and samples of
 * the performance monitor. Both belong to the scenario, and end with it.
 *
 * A GPU has had as many Xids as its `xids` says, each of number `xid`; a set tells of those that
 * came after the GPU was registered with it. Waiting is not simulated: without an event, it is a
 * timeout at once.
 */
#include "call.h"

#include <string.h>

enum { EVENT_XID = 8, EVENT_MARK = 0x65767300, GPM_MARK = 0x67706d00, GPM_VERSION = 1 };

/* -- events ---------------------------------------------------------------------------------------
 */

static struct event_set *event_set_of(struct call *call, nvml_event_set handle)
{
    uintptr_t number = (uintptr_t)handle ^ (uintptr_t)EVENT_MARK;
    struct event_set *sets = call->scenario->event_sets;
    return number < EVENT_SETS_MAX && sets[number].used ? &sets[number] : NULL;
}

static uint64_t count_xids(struct call *call, int gpu)
{
    uint64_t count = 0;
    struct device *device = scenario_find(call->scenario, gpu, -1);
    if (device)
        value_peek(&device->fields[FIELD_XIDS], call->elapsed_ns, &count);
    return count;
}

nvml_return answer_nvmlEventSetCreate(struct call *call, nvml_event_set *set)
{
    if (!set)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (uintptr_t i = 0; i < EVENT_SETS_MAX; i++) {
        if (call->scenario->event_sets[i].used)
            continue;
        call->scenario->event_sets[i] = (struct event_set){.used = true};
        *set = (nvml_event_set)(EVENT_MARK | i); // NOLINT: a handle that must not be dereferenced
        return NVML_SUCCESS;
    }
    return NVML_ERROR_UNKNOWN;
}

nvml_return answer_nvmlEventSetFree(struct call *call, nvml_event_set handle)
{
    struct event_set *set = event_set_of(call, handle);
    if (!set)
        return NVML_ERROR_INVALID_ARGUMENT;
    set->used = false;
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceRegisterEvents(struct call *call, uint64_t types,
                                            nvml_event_set handle)
{
    uint64_t supported = 0;
    struct event_set *set = event_set_of(call, handle);
    if (!set || call->mig >= 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = value_peek(&call->device->fields[FIELD_SUPPORTED_EVENTS], 0, &supported);
    if (result == NVML_SUCCESS && types & ~supported)
        result = NVML_ERROR_NOT_SUPPORTED;
    if (result != NVML_SUCCESS)
        return result;
    if (types & EVENT_XID)
        set->registered |= UINT64_C(1) << call->gpu;
    set->told[call->gpu] = count_xids(call, call->gpu);
    return NVML_SUCCESS;
}

nvml_return answer_nvmlEventSetWait_v2(struct call *call, nvml_event_set handle,
                                       struct nvml_event *event, unsigned timeout_ms)
{
    struct event_set *set = event_set_of(call, handle);
    (void)timeout_ms;
    if (!set || !event)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int gpu = 0; gpu < GPUS_MAX; gpu++) {
        if (!(set->registered >> gpu & 1) || count_xids(call, gpu) <= set->told[gpu])
            continue;
        struct device *device = scenario_find(call->scenario, gpu, -1);
        set->told[gpu]++;
        *event = (struct nvml_event){.device = handle_of(device),
                                     .type = EVENT_XID,
                                     .gpu_instance = NVML_NOT_AVAILABLE_32,
                                     .compute_instance = NVML_NOT_AVAILABLE_32};
        return value_peek(&device->fields[FIELD_XID], call->elapsed_ns, &event->data);
    }
    return NVML_ERROR_TIMEOUT;
}

nvml_return answer_nvmlEventSetWait(struct call *call, nvml_event_set handle, void *event,
                                    unsigned timeout_ms)
{
    struct nvml_event all;
    if (!event)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = answer_nvmlEventSetWait_v2(call, handle, &all, timeout_ms);
    if (result == NVML_SUCCESS)
        memcpy(event, &all, offsetof(struct nvml_event, gpu_instance));
    return result;
}

/* -- the performance monitor ----------------------------------------------------------------------
 */

static struct gpm_sample *gpm_sample_of(struct call *call, nvml_gpm_sample handle)
{
    uintptr_t number = (uintptr_t)handle ^ (uintptr_t)GPM_MARK;
    struct gpm_sample *samples = call->scenario->gpm_samples;
    return number < GPM_SAMPLES_MAX && samples[number].used ? &samples[number] : NULL;
}

nvml_return answer_nvmlGpmQueryDeviceSupport(struct call *call, struct nvml_gpm_support *support)
{
    if (!support)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (support->version != GPM_VERSION)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    return answer_number(call, FIELD_GPM_SUPPORTED, &support->supported);
}

nvml_return answer_nvmlGpmSampleAlloc(struct call *call, nvml_gpm_sample *sample)
{
    if (!sample)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (uintptr_t i = 0; i < GPM_SAMPLES_MAX; i++) {
        if (call->scenario->gpm_samples[i].used)
            continue;
        call->scenario->gpm_samples[i] = (struct gpm_sample){.used = true};
        *sample = (nvml_gpm_sample)(GPM_MARK | i); // NOLINT: a handle that must not be dereferenced
        return NVML_SUCCESS;
    }
    return NVML_ERROR_UNKNOWN;
}

nvml_return answer_nvmlGpmSampleFree(struct call *call, nvml_gpm_sample handle)
{
    struct gpm_sample *sample = gpm_sample_of(call, handle);
    if (!sample)
        return NVML_ERROR_INVALID_ARGUMENT;
    sample->used = false;
    return NVML_SUCCESS;
}

static nvml_return take(struct call *call, const struct device *device, nvml_gpm_sample handle)
{
    uint64_t supported = 0;
    struct gpm_sample *sample = gpm_sample_of(call, handle);
    if (!sample)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = value_peek(&call->device->fields[FIELD_GPM_SUPPORTED], 0, &supported);
    if (result == NVML_SUCCESS && !supported)
        result = NVML_ERROR_NOT_SUPPORTED;
    if (result == NVML_SUCCESS)
        sample->device = device;
    return result;
}

nvml_return answer_nvmlGpmSampleGet(struct call *call, nvml_gpm_sample sample)
{
    return call->mig >= 0 ? NVML_ERROR_INVALID_ARGUMENT : take(call, call->device, sample);
}

/* Of an instance the device is asked, by the number of the instance. */
nvml_return answer_nvmlGpmMigSampleGet(struct call *call, unsigned gpu_instance,
                                       nvml_gpm_sample sample)
{
    for (size_t i = 0; i < call->scenario->device_count && call->mig < 0; i++) {
        struct device *device = call->scenario->devices[i];
        uint64_t number;
        if (device->gpu == call->gpu && device->mig >= 0 &&
            value_peek(&device->fields[FIELD_GPU_INSTANCE], 0, &number) == NVML_SUCCESS &&
            number == gpu_instance)
            return take(call, device, sample);
    }
    return NVML_ERROR_INVALID_ARGUMENT;
}

static void answer_metric(struct call *call, const struct device *device,
                          struct nvml_gpm_metric *metric)
{
    static const struct {
        unsigned number;
        enum device_field field;
    } rows[] = {{1, FIELD_GPM_GRAPHICS},
                {2, FIELD_GPM_SM_ACTIVE},
                {3, FIELD_GPM_SM_OCCUPANCY},
                {5, FIELD_GPM_TENSOR},
                {10, FIELD_GPM_MEMORY_BANDWIDTH}};
    metric->result = NVML_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t number = 0;
        if (rows[i].number != metric->number)
            continue;
        metric->result = value_peek(&device->fields[rows[i].field], call->elapsed_ns, &number);
        metric->value = (double)number;
    }
}

nvml_return answer_nvmlGpmMetricsGet(struct call *call, struct nvml_gpm_metrics *metrics)
{
    if (!metrics || metrics->count > NVML_GPM_METRICS)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (metrics->version != GPM_VERSION)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    const struct gpm_sample *first = gpm_sample_of(call, metrics->first);
    const struct gpm_sample *second = gpm_sample_of(call, metrics->second);
    if (!first || !second || first == second || !first->device || first->device != second->device)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < metrics->count; i++)
        answer_metric(call, second->device, &metrics->metrics[i]);
    return NVML_SUCCESS;
}
