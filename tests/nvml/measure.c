/*
 * measure.c - answers with more than one number in them: memory, utilization, clocks, temperature,
 * memory errors, samples, field values, NVLink. Single numbers are rows of calls.def.
 */
#include "call.h"

#include <string.h>
#include <time.h>

/* -- memory ---------------------------------------------------------------------------------------
 */

/* total == reserved + used + free unless the scenario says what is free. */
static nvml_return read_memory(struct call *call, struct nvml_memory_v2 *out)
{
    nvml_return result = read_field(call, FIELD_MEMORY_TOTAL, &out->total);
    if (result == NVML_SUCCESS)
        result = read_field(call, FIELD_MEMORY_USED, &out->used);
    if (result != NVML_SUCCESS)
        return result;
    if (read_field(call, FIELD_MEMORY_RESERVED, &out->reserved) != NVML_SUCCESS)
        out->reserved = 0;
    uint64_t taken = out->used + out->reserved;
    if (read_field(call, FIELD_MEMORY_FREE, &out->free) != NVML_SUCCESS)
        out->free = taken < out->total ? out->total - taken : 0;
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetMemoryInfo_v2(struct call *call, struct nvml_memory_v2 *memory)
{
    struct nvml_memory_v2 all = {.version = NVML_STRUCT_VERSION(struct nvml_memory_v2, 2)};
    if (!memory)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (memory->version != all.version)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvml_return result = read_memory(call, &all);
    if (result == NVML_SUCCESS)
        *memory = all;
    return result;
}

/* The first version counts what is reserved as used. */
nvml_return answer_nvmlDeviceGetMemoryInfo(struct call *call, struct nvml_memory *memory)
{
    struct nvml_memory_v2 all = {0};
    if (!memory)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = read_memory(call, &all);
    if (result == NVML_SUCCESS)
        *memory = (struct nvml_memory){all.total, all.free,
                                       all.used == UINT64_MAX ? all.used : all.used + all.reserved};
    return result;
}

nvml_return answer_nvmlDeviceGetBAR1MemoryInfo(struct call *call, struct nvml_bar1_memory *memory)
{
    struct nvml_bar1_memory all;
    if (!memory)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = read_field(call, FIELD_BAR1_TOTAL, &all.total);
    if (result == NVML_SUCCESS)
        result = read_field(call, FIELD_BAR1_USED, &all.used);
    if (result == NVML_SUCCESS) {
        all.free = all.total - all.used;
        *memory = all;
    }
    return result;
}

nvml_return answer_nvmlDeviceGetConfComputeMemSizeInfo(struct call *call,
                                                       struct nvml_confidential_memory *memory)
{
    struct nvml_confidential_memory all;
    if (!memory)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = read_field(call, FIELD_PROTECTED_MEMORY, &all.protected_kib);
    if (result == NVML_SUCCESS)
        result = read_field(call, FIELD_UNPROTECTED_MEMORY, &all.unprotected_kib);
    if (result == NVML_SUCCESS)
        *memory = all;
    return result;
}

/* -- utilization, clocks, temperature
 * -------------------------------------------------------------- */

nvml_return answer_nvmlDeviceGetUtilizationRates(struct call *call, struct nvml_utilization *rates)
{
    return rates ? answer_pair(call, FIELD_UTILIZATION_GPU, FIELD_UTILIZATION_MEMORY, &rates->gpu,
                               &rates->memory)
                 : NVML_ERROR_INVALID_ARGUMENT;
}

nvml_return answer_nvmlDeviceGetEncoderStats(struct call *call, unsigned *sessions, unsigned *fps,
                                             unsigned *latency)
{
    nvml_return result = answer_pair(call, FIELD_ENCODER_SESSIONS, FIELD_ENCODER_FPS, sessions,
                                     fps);
    return result == NVML_SUCCESS ? answer_number(call, FIELD_ENCODER_LATENCY, latency) : result;
}

/* id: the current clock, the application's target and default, the customer's maximum. */
nvml_return answer_nvmlDeviceGetClock(struct call *call, unsigned type, unsigned id, unsigned *mhz)
{
    static const enum device_field first[] = {
        FIELD_CLOCK_GRAPHICS, FIELD_CLOCK_APPLICATION_GRAPHICS, FIELD_CLOCK_APPLICATION_GRAPHICS,
        FIELD_CLOCK_MAX_GRAPHICS};
    if (id >= sizeof first / sizeof first[0])
        return NVML_ERROR_INVALID_ARGUMENT;
    return answer_choice(call, first[id], 4, type, mhz);
}

nvml_return answer_nvmlDeviceGetViolationStatus(struct call *call, unsigned policy,
                                                struct nvml_violation_time *time)
{
    static const enum device_field rows[] = {
        FIELD_VIOLATION_POWER,       FIELD_VIOLATION_THERMAL,         FIELD_VIOLATION_SYNC_BOOST,
        FIELD_VIOLATION_BOARD_LIMIT, FIELD_VIOLATION_LOW_UTILIZATION, FIELD_VIOLATION_RELIABILITY};
    uint64_t violation_ns;
    if (!time || policy >= sizeof rows / sizeof rows[0])
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = read_field(call, rows[policy], &violation_ns);
    if (result == NVML_SUCCESS)
        *time = (struct nvml_violation_time){call->elapsed_ns, violation_ns};
    return result;
}

nvml_return answer_nvmlDeviceGetTemperatureV(struct call *call,
                                             struct nvml_temperature *temperature)
{
    uint64_t celsius;
    if (!temperature || temperature->sensor != 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (temperature->version != NVML_STRUCT_VERSION(struct nvml_temperature, 1))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvml_return result = read_field(call, FIELD_TEMPERATURE_GPU, &celsius);
    if (result == NVML_SUCCESS)
        temperature->temperature = (int)celsius;
    return result;
}

nvml_return answer_nvmlDeviceGetMarginTemperature(struct call *call,
                                                  struct nvml_margin_temperature *margin)
{
    uint64_t celsius;
    if (!margin)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (margin->version != NVML_STRUCT_VERSION(struct nvml_margin_temperature, 1))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvml_return result = read_field(call, FIELD_TEMPERATURE_MARGIN, &celsius);
    if (result == NVML_SUCCESS)
        margin->margin = (int)celsius;
    return result;
}

nvml_return answer_nvmlDeviceGetFanSpeedRPM(struct call *call, struct nvml_fan_speed_rpm *speed)
{
    if (!speed)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (speed->version != NVML_STRUCT_VERSION(struct nvml_fan_speed_rpm, 1))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    return answer_number(call, FIELD_FAN_RPM, &speed->speed);
}

/* -- memory errors
 * --------------------------------------------------------------------------------- */

nvml_return answer_nvmlDeviceGetTotalEccErrors(struct call *call, unsigned type, unsigned counter,
                                               uint64_t *count)
{
    uint64_t enabled;
    if (!count || type > 1 || counter > 1)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = read_field(call, FIELD_ECC_CURRENT, &enabled);
    if (result == NVML_SUCCESS && !enabled)
        result = NVML_ERROR_NOT_SUPPORTED;
    if (result != NVML_SUCCESS)
        return result;
    unsigned row = FIELD_ECC_CORRECTED_VOLATILE + 2 * type + counter;
    return read_field(call, (enum device_field)row, count);
}

/* All errors are in device memory (location 2). */
nvml_return answer_nvmlDeviceGetDetailedEccErrors(struct call *call, unsigned type,
                                                  unsigned counter, struct nvml_ecc_counts *counts)
{
    uint64_t total;
    if (!counts)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = answer_nvmlDeviceGetTotalEccErrors(call, type, counter, &total);
    if (result == NVML_SUCCESS)
        *counts = (struct nvml_ecc_counts){.device_memory = total};
    return result;
}

nvml_return answer_nvmlDeviceGetMemoryErrorCounter(struct call *call, unsigned type,
                                                   unsigned counter, unsigned location,
                                                   uint64_t *count)
{
    nvml_return result = answer_nvmlDeviceGetTotalEccErrors(call, type, counter, count);
    if (result == NVML_SUCCESS && location != 2)
        *count = 0;
    return location > 7 ? NVML_ERROR_INVALID_ARGUMENT : result;
}

nvml_return answer_nvmlDeviceGetRetiredPages_v2(struct call *call, unsigned cause, unsigned *count,
                                                uint64_t *addresses, uint64_t *times)
{
    uint64_t retired;
    if (!count || cause > 1)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = read_field(call, cause == 0 ? FIELD_RETIRED_SINGLE : FIELD_RETIRED_DOUBLE,
                                    &retired);
    if (result != NVML_SUCCESS)
        return result;
    unsigned room = *count;
    *count = (unsigned)retired;
    if (room < retired)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < retired; i++) {
        addresses[i] = 0x10000000u + 0x1000u * i;
        if (times)
            times[i] = 1700000000u + i;
    }
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetRetiredPages(struct call *call, unsigned cause, unsigned *count,
                                             uint64_t *addresses)
{
    return answer_nvmlDeviceGetRetiredPages_v2(call, cause, count, addresses, NULL);
}

nvml_return answer_nvmlDeviceGetRemappedRows(struct call *call, unsigned *correctable,
                                             unsigned *uncorrectable, unsigned *pending,
                                             unsigned *failed)
{
    nvml_return result = answer_pair(call, FIELD_REMAPPED_CORRECTABLE, FIELD_REMAPPED_UNCORRECTABLE,
                                     correctable, uncorrectable);
    if (result != NVML_SUCCESS)
        return result;
    return answer_pair(call, FIELD_REMAPPED_PENDING, FIELD_REMAPPED_FAILED, pending, failed);
}

nvml_return answer_nvmlDeviceGetRowRemapperHistogram(struct call *call,
                                                     struct nvml_row_remapper_histogram *banks)
{
    struct nvml_row_remapper_histogram all;
    if (!banks)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = answer_pair(call, FIELD_REMAPPER_MAX, FIELD_REMAPPER_HIGH, &all.max,
                                     &all.high);
    if (result == NVML_SUCCESS)
        result = answer_pair(call, FIELD_REMAPPER_PARTIAL, FIELD_REMAPPER_LOW, &all.partial,
                             &all.low);
    if (result == NVML_SUCCESS)
        result = answer_number(call, FIELD_REMAPPER_NONE, &all.none);
    if (result == NVML_SUCCESS)
        *banks = all;
    return result;
}

/* -- samples, field values, NVLink
 * ------------------------------------------------------------------ */

static uint64_t wall_clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* The last ten samples, one each 100 ms of the wall clock. Without a buffer: how many there can be.
 */
nvml_return answer_nvmlDeviceGetSamples(struct call *call, unsigned kind, uint64_t last_seen_us,
                                        unsigned *type, unsigned *count,
                                        struct nvml_sample *samples)
{
    enum { KEPT = 10, PERIOD_US = 100000 };
    static const enum device_field rows[] = {FIELD_POWER_USAGE,         FIELD_UTILIZATION_GPU,
                                             FIELD_UTILIZATION_MEMORY,  FIELD_UTILIZATION_ENCODER,
                                             FIELD_UTILIZATION_DECODER, FIELD_CLOCK_SM,
                                             FIELD_CLOCK_MEMORY,        FIELD_POWER_INSTANT,
                                             FIELD_UTILIZATION_JPEG,    FIELD_UTILIZATION_OFA};
    uint64_t value = 0, newest_us = wall_clock_us() / PERIOD_US * PERIOD_US;
    if (!type || !count || kind >= sizeof rows / sizeof rows[0])
        return NVML_ERROR_INVALID_ARGUMENT;
    *type = NVML_TYPE_U32;
    if (!samples) {
        nvml_return known = value_peek(&call->device->fields[rows[kind]], call->elapsed_ns, &value);
        *count = KEPT;
        return known;
    }
    unsigned written = 0;
    for (unsigned age = KEPT; age-- > 0;) {
        uint64_t at_us = newest_us - (uint64_t)age * PERIOD_US;
        if (at_us <= last_seen_us || written == *count)
            continue;
        nvml_return result = read_field(call, rows[kind], &value);
        if (result != NVML_SUCCESS)
            return result;
        samples[written++] = (struct nvml_sample){.timestamp_us = at_us,
                                                  .value.u32 = (unsigned)value};
    }
    *count = written;
    return written ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

/* What nvmlDeviceGetFieldValues knows by number. A scenario adds others as field_<number>. */
static const struct field_number {
    unsigned number, type;
    enum device_field field;
    bool of_link; /* a counter of link `scope`; of all links together for UINT_MAX */
} field_numbers[] = {
    {1, NVML_TYPE_U32, FIELD_ECC_CURRENT, false},
    {2, NVML_TYPE_U32, FIELD_ECC_PENDING, false},
    {3, NVML_TYPE_U64, FIELD_ECC_CORRECTED_VOLATILE, false},
    {4, NVML_TYPE_U64, FIELD_ECC_UNCORRECTED_VOLATILE, false},
    {5, NVML_TYPE_U64, FIELD_ECC_CORRECTED_AGGREGATE, false},
    {6, NVML_TYPE_U64, FIELD_ECC_UNCORRECTED_AGGREGATE, false},
    {29, NVML_TYPE_U64, FIELD_RETIRED_SINGLE, false},
    {30, NVML_TYPE_U64, FIELD_RETIRED_DOUBLE, false},
    {31, NVML_TYPE_U64, FIELD_RETIRED_PENDING, false},
    {38, NVML_TYPE_U64, FIELD_NVLINK_ERRORS, false},
    {45, NVML_TYPE_U64, FIELD_NVLINK_ERRORS, false},
    {52, NVML_TYPE_U64, FIELD_NVLINK_ERRORS, false},
    {59, NVML_TYPE_U64, FIELD_NVLINK_ERRORS, false},
    {74, NVML_TYPE_U64, FIELD_VIOLATION_POWER, false},
    {75, NVML_TYPE_U64, FIELD_VIOLATION_THERMAL, false},
    {76, NVML_TYPE_U64, FIELD_VIOLATION_SYNC_BOOST, false},
    {77, NVML_TYPE_U64, FIELD_VIOLATION_BOARD_LIMIT, false},
    {78, NVML_TYPE_U64, FIELD_VIOLATION_LOW_UTILIZATION, false},
    {79, NVML_TYPE_U64, FIELD_VIOLATION_RELIABILITY, false},
    {82, NVML_TYPE_U32, FIELD_TEMPERATURE_MEMORY, false},
    {83, NVML_TYPE_U64, FIELD_ENERGY, false},
    {90, NVML_TYPE_U32, FIELD_NVLINK_SPEED, false},
    {91, NVML_TYPE_U32, FIELD_NVLINKS, false},
    {94, NVML_TYPE_U32, FIELD_PCIE_REPLAYS, false},
    {138, NVML_TYPE_U64, FIELD_NVLINK_TX, true},
    {139, NVML_TYPE_U64, FIELD_NVLINK_RX, true},
    {140, NVML_TYPE_U64, FIELD_NVLINK_TX, true},
    {141, NVML_TYPE_U64, FIELD_NVLINK_RX, true},
    {142, NVML_TYPE_U32, FIELD_REMAPPED_CORRECTABLE, false},
    {143, NVML_TYPE_U32, FIELD_REMAPPED_UNCORRECTABLE, false},
    {144, NVML_TYPE_U32, FIELD_REMAPPED_PENDING, false},
    {145, NVML_TYPE_U32, FIELD_REMAPPED_FAILED, false},
    {164, NVML_TYPE_U32, FIELD_NVLINK_SPEED, true},
    {185, NVML_TYPE_U32, FIELD_POWER_USAGE, false},
    {186, NVML_TYPE_U32, FIELD_POWER_INSTANT, false},
    {187, NVML_TYPE_U32, FIELD_POWER_LIMIT_MIN, false},
    {188, NVML_TYPE_U32, FIELD_POWER_LIMIT_MAX, false},
    {189, NVML_TYPE_U32, FIELD_POWER_LIMIT_DEFAULT, false},
    {190, NVML_TYPE_U32, FIELD_POWER_LIMIT_ENFORCED, false},
    {191, NVML_TYPE_U64, FIELD_ENERGY, false},
    {192, NVML_TYPE_U32, FIELD_POWER_LIMIT, false},
    {193, NVML_TYPE_I32, FIELD_THRESHOLD_SHUTDOWN, false},
    {194, NVML_TYPE_I32, FIELD_THRESHOLD_SLOWDOWN, false},
    {195, NVML_TYPE_I32, FIELD_THRESHOLD_MEMORY_MAX, false},
    {196, NVML_TYPE_I32, FIELD_THRESHOLD_GPU_MAX, false},
    {197, NVML_TYPE_U64, FIELD_PCIE_TX_BYTES, false},
    {198, NVML_TYPE_U64, FIELD_PCIE_RX_BYTES, false},
    {230, NVML_TYPE_U32, FIELD_RECOVERY_ACTION, false},
};

static nvml_return read_field_number(struct call *call, const struct field_number *row,
                                     unsigned scope, uint64_t *out)
{
    uint64_t links = 1;
    if (row->of_link) {
        nvml_return result = read_field(call, FIELD_NVLINKS, &links);
        if (result != NVML_SUCCESS)
            return result;
        if (scope != UINT32_MAX && scope >= links)
            return NVML_ERROR_INVALID_ARGUMENT;
    }
    nvml_return result = read_field(call, row->field, out);
    if (result == NVML_SUCCESS && row->of_link && scope == UINT32_MAX)
        *out *= links;
    return result;
}

static void fill_field_value(struct call *call, struct nvml_field_value *value)
{
    uint64_t number = 0;
    struct device *device = call->device;
    value->timestamp_us = (int64_t)wall_clock_us();
    value->latency_us = 1;
    value->type = NVML_TYPE_U64;
    value->result = NVML_ERROR_NOT_SUPPORTED;
    value->value.u64 = 0;
    for (unsigned i = 0; i < device->extra_count; i++) {
        if (device->extra[i].number == value->field) {
            value->result = value_read(&device->extra[i].value, call->elapsed_ns, &number);
            value->value.u64 = number;
            return;
        }
    }
    for (size_t i = 0; i < sizeof field_numbers / sizeof field_numbers[0]; i++) {
        if (field_numbers[i].number != value->field)
            continue;
        value->type = field_numbers[i].type;
        value->result = read_field_number(call, &field_numbers[i], value->scope, &number);
        value->value.u64 = value->type == NVML_TYPE_U64 ? number : (uint32_t)number;
    }
}

nvml_return answer_nvmlDeviceGetFieldValues(struct call *call, int count,
                                            struct nvml_field_value *values)
{
    if (!values || count <= 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < count; i++)
        fill_field_value(call, &values[i]);
    /* Drivers have been seen to look one entry too far (nvitop guards against it): a caller that
     * leaves no room is found out by valgrind. */
    if (call->scenario->field_values_overrun && values[count].result == NVML_SUCCESS)
        values[count].timestamp_us = 0;
    return NVML_SUCCESS;
}

static nvml_return check_link(struct call *call, unsigned link, const void *out)
{
    uint64_t links;
    nvml_return result = out ? read_field(call, FIELD_NVLINKS, &links)
                             : NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS && links == 0)
        result = NVML_ERROR_NOT_SUPPORTED;
    return result == NVML_SUCCESS && link >= links ? NVML_ERROR_INVALID_ARGUMENT : result;
}

nvml_return answer_nvmlDeviceGetNvLinkState(struct call *call, unsigned link, unsigned *active)
{
    uint64_t inactive = 0;
    nvml_return result = check_link(call, link, active);
    if (result != NVML_SUCCESS)
        return result;
    result = read_field(call, FIELD_NVLINKS_INACTIVE, &inactive);
    if (result == NVML_SUCCESS)
        *active = !(link < 64 && inactive >> link & 1);
    return result;
}

nvml_return answer_nvmlDeviceGetNvLinkVersion(struct call *call, unsigned link, unsigned *version)
{
    nvml_return result = check_link(call, link, version);
    return result == NVML_SUCCESS ? answer_number(call, FIELD_NVLINK_VERSION, version) : result;
}

nvml_return answer_nvmlDeviceGetNvLinkErrorCounter(struct call *call, unsigned link,
                                                   unsigned counter, uint64_t *count)
{
    nvml_return result = check_link(call, link, count);
    if (result == NVML_SUCCESS && counter > 4)
        result = NVML_ERROR_INVALID_ARGUMENT;
    return result == NVML_SUCCESS ? read_field(call, FIELD_NVLINK_ERRORS, count) : result;
}

nvml_return answer_nvmlDeviceGetNvLinkRemoteDeviceType(struct call *call, unsigned link,
                                                       unsigned *kind)
{
    nvml_return result = check_link(call, link, kind);
    return result == NVML_SUCCESS ? answer_number(call, FIELD_NVLINK_REMOTE_KIND, kind) : result;
}

/* Of a switch's link there is no address but its bus id. */
nvml_return answer_nvmlDeviceGetNvLinkRemotePciInfo_v2(struct call *call, unsigned link,
                                                       struct nvml_pci_info *info)
{
    struct nvml_pci_info all = {.bus_id = ""};
    nvml_return result = check_link(call, link, info);
    if (result == NVML_SUCCESS)
        result = answer_text(call, &call->device->fields[FIELD_NVLINK_REMOTE_BUS_ID], all.bus_id,
                             sizeof all.bus_id);
    if (result == NVML_SUCCESS)
        *info = all;
    return result;
}
