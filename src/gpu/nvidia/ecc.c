/* ecc.c: memory errors, memory that was taken out of use because of them, and Xid errors, with
 * which the driver reports faults of a device.
 *
 * For Xids each device has its own set of events, made at its first scan, so that events between
 * two samples wait there; a sample empties it without waiting. */
#include "gpu/nvidia/reader.h"

/* A counter: the kind of error, and the period. */
struct ecc_counter {
    vitals_metric metric;
    unsigned type, since;
};

void nvidia_read_ecc(struct nvidia_reader *reader)
{
    static const struct ecc_counter counters[] = {
        {VITALS_GPU_ECC_ERRORS_UNCORRECTED, NVML_ERROR_UNCORRECTED, NVML_ECC_VOLATILE},
        {VITALS_GPU_ECC_ERRORS_CORRECTED, NVML_ERROR_CORRECTED, NVML_ECC_VOLATILE},
        {VITALS_GPU_ECC_ERRORS_UNCORRECTED_EVER, NVML_ERROR_UNCORRECTED, NVML_ECC_AGGREGATE},
        {VITALS_GPU_ECC_ERRORS_CORRECTED_EVER, NVML_ERROR_CORRECTED, NVML_ECC_AGGREGATE},
    };
    for (size_t i = 0; i < ARRAY_COUNT(counters) && !reader->lost; i++) {
        if (!reader_wants(reader, counters[i].metric))
            continue;
        uint64_t errors = 0;
        nvml_return code = READER_ASK(reader, (unsigned)i, nvmlDeviceGetTotalEccErrors,
                                      counters[i].type, counters[i].since, &errors);
        reader_set(reader, counters[i].metric, code, nvml_count(errors, EXACT_MAX));
    }
}

void nvidia_read_error_locations(struct nvidia_reader *reader)
{
    static const char *const labels[] = {
        "l1_cache",       "l2_cache",       "device_memory", "register_file",
        "texture_memory", "texture_shared", "cbu",           "sram"};
    static const struct ecc_counter counters[] = {
        {VITALS_GPU_ERROR_CORRECTED, NVML_ERROR_CORRECTED, NVML_ECC_VOLATILE},
        {VITALS_GPU_ERROR_UNCORRECTED, NVML_ERROR_UNCORRECTED, NVML_ECC_VOLATILE},
        {VITALS_GPU_ERROR_CORRECTED_EVER, NVML_ERROR_CORRECTED, NVML_ECC_AGGREGATE},
        {VITALS_GPU_ERROR_UNCORRECTED_EVER, NVML_ERROR_UNCORRECTED, NVML_ECC_AGGREGATE},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(labels) && !reader->lost; i++) {
        struct value values[ARRAY_COUNT(counters)] = {0};
        bool asked = false, counted = false;
        for (size_t j = 0; j < ARRAY_COUNT(counters) && !reader->lost; j++) {
            if (!reader_wants(reader, counters[j].metric))
                continue;
            uint64_t errors = 0;
            nvml_return code = reader_check(
                reader, READER_ASK(reader, i * 4 + (unsigned)j, nvmlDeviceGetMemoryErrorCounter,
                                   counters[j].type, counters[j].since, i, &errors));
            if (code == NVML_INVALID_ARGUMENT) /* the device does not have this memory location */
                code = nvidia_note(reader->device,
                                   offsetof(struct nvml, nvmlDeviceGetMemoryErrorCounter),
                                   i * 4 + (unsigned)j, NVML_NOT_SUPPORTED);
            values[j] = code == NVML_SUCCESS ? nvml_count(errors, EXACT_MAX)
                                             : value_missing(nvml_availability(code));
            asked = true;
            counted = counted || nvml_availability(code) != VITALS_UNSUPPORTED;
        }
        if (asked && !counted) /* a location in which the device counts no errors has no row */
            continue;
        reader_list(reader, VITALS_GPU_ERROR_CORRECTED, labels[i]);
        for (size_t j = 0; j < ARRAY_COUNT(counters); j++) {
            if (values[j].state != VITALS_UNSET)
                gpu_fill_child(reader->sample, counters[j].metric, labels[i], values[j]);
        }
    }
}

/* Without a buffer the driver only returns the number. */
void nvidia_read_retired_pages(struct nvidia_reader *reader)
{
    static const struct {
        vitals_metric metric;
        unsigned cause;
    } rows[] = {{VITALS_GPU_RETIRED_PAGES_CORRECTED, NVML_RETIRED_SINGLE_BIT},
                {VITALS_GPU_RETIRED_PAGES_UNCORRECTED, NVML_RETIRED_DOUBLE_BIT}};
    for (size_t i = 0; i < ARRAY_COUNT(rows) && !reader->lost; i++) {
        if (!reader_wants(reader, rows[i].metric))
            continue;
        unsigned count = 0;
        nvml_return code = READER_ASK(reader, (unsigned)i, nvmlDeviceGetRetiredPages, rows[i].cause,
                                      &count, NULL);
        if (code == NVML_INSUFFICIENT_SIZE)
            code = NVML_SUCCESS;
        reader_set(reader, rows[i].metric, code, nvml_count(count, 1 << 24));
    }
}

void nvidia_read_remapped_rows(struct nvidia_reader *reader)
{
    static const struct {
        vitals_metric metric;
        unsigned most;
    } rows[] = {{VITALS_GPU_REMAPPED_ROWS_CORRECTED, 1 << 24},
                {VITALS_GPU_REMAPPED_ROWS_UNCORRECTED, 1 << 24},
                {VITALS_GPU_REMAPPED_ROWS_PENDING, 1},
                {VITALS_GPU_REMAPPED_ROWS_FAILED, 1}};
    unsigned now[ARRAY_COUNT(rows)] = {0};
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetRemappedRows, &now[0], &now[1], &now[2],
                                  &now[3]);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        reader_set(reader, rows[i].metric, code, nvml_count(now[i], rows[i].most));
}

enum { EVENTS_AT_ONCE = 16 }; /* the next sample reads the remaining ones */

void nvidia_watch(const struct nvml *nvml, struct nvidia_device *device, nvml_device handle)
{
    uint64_t types = 0;
    device->events = NULL;
    nvml_return code = NVML_CALL(nvml, nvmlDeviceGetSupportedEventTypes, handle, &types);
    if (code == NVML_SUCCESS && !(types & NVML_EVENT_XID))
        code = NVML_NOT_SUPPORTED;
    if (code == NVML_SUCCESS) {
        code = NVML_CALL(nvml, nvmlEventSetCreate, &device->events);
        if (code != NVML_SUCCESS)
            device->events = NULL;
        else if (!device->events)
            code = NVML_UNKNOWN;
    }
    if (code == NVML_SUCCESS) {
        code = NVML_CALL(nvml, nvmlDeviceRegisterEvents, handle, (uint64_t)NVML_EVENT_XID,
                         device->events);
        if (code != NVML_SUCCESS)
            nvidia_unwatch(nvml, device);
    }
    device->events_code = code;
}

void nvidia_unwatch(const struct nvml *nvml, struct nvidia_device *device)
{
    if (device->events)
        (void)NVML_CALL(nvml, nvmlEventSetFree, device->events);
    device->events = NULL;
    device->events_code = NVML_UNINITIALIZED;
}

/* NVML_TIMEOUT: no event. Partitions share the set of their device, and report nothing. */
void nvidia_read_events(struct nvidia_reader *reader)
{
    struct nvidia_device *device = reader->device;
    nvml_return code = device->events_code;
    for (int i = 0; i < EVENTS_AT_ONCE && device->events && code == NVML_SUCCESS; i++) {
        struct nvml_event event = {0};
        code = NVML_CALL(reader->nvml, nvmlEventSetWait_v2, device->events, &event, 0);
        if (code == NVML_FUNCTION_NOT_FOUND)
            code = NVML_CALL(reader->nvml, nvmlEventSetWait, device->events, &event, 0);
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
