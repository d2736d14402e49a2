/* numbers.c: what the driver gives as one number of the device by one call: a table. */
#include "gpu/nvidia/reader.h"

struct nvidia_number {
    vitals_metric metric;
    size_t function;  /* in struct nvml: an nvml_u32_call */
    double divisor;   /* to the base unit */
    unsigned most;    /* above it is nonsense, but for all bits set and `unknown`, */
    unsigned unknown; /* by which the driver says that it does not know; 0: none */
};

/* A watt-hour meter knows no board that takes a megawatt; a link has no thousand workers. */
enum { MILLIWATTS_MAX = 1000000000, WORKERS_MAX = 64, GENERATIONS_MAX = 15 };

#define CALL(name) offsetof(struct nvml, name)
static const struct nvidia_number numbers[] = {
    {VITALS_GPU_POWER_WATTS, CALL(nvmlDeviceGetPowerUsage), 1e3, MILLIWATTS_MAX, 0},
    {VITALS_GPU_POWER_LIMIT_WATTS, CALL(nvmlDeviceGetEnforcedPowerLimit), 1e3, MILLIWATTS_MAX, 0},
    {VITALS_GPU_POWER_LIMIT_SET_WATTS, CALL(nvmlDeviceGetPowerManagementLimit), 1e3, MILLIWATTS_MAX,
     0},
    {VITALS_GPU_POWER_LIMIT_DEFAULT_WATTS, CALL(nvmlDeviceGetPowerManagementDefaultLimit), 1e3,
     MILLIWATTS_MAX, 0},
    {VITALS_GPU_FAN_RATIO, CALL(nvmlDeviceGetFanSpeed), 1e2, 1000, 0},
    {VITALS_GPU_PERFORMANCE_STATE, CALL(nvmlDeviceGetPerformanceState), 1, 15, 32},
    {VITALS_GPU_PERSISTENCE_MODE, CALL(nvmlDeviceGetPersistenceMode), 1, 1, 0},
    {VITALS_GPU_DISPLAY_ACTIVE, CALL(nvmlDeviceGetDisplayActive), 1, 1, 0},
    {VITALS_GPU_DISPLAY_ATTACHED, CALL(nvmlDeviceGetDisplayMode), 1, 1, 0},
    {VITALS_GPU_ACCOUNTING_MODE, CALL(nvmlDeviceGetAccountingMode), 1, 1, 0},
    {VITALS_GPU_MEMORY_BUS_BITS, CALL(nvmlDeviceGetMemoryBusWidth), 1, 1 << 20, 0},
    {VITALS_GPU_RETIRED_PAGES_PENDING, CALL(nvmlDeviceGetRetiredPagesPendingStatus), 1, 1, 0},
    {VITALS_GPU_PCIE_GENERATION, CALL(nvmlDeviceGetCurrPcieLinkGeneration), 1, GENERATIONS_MAX, 0},
    {VITALS_GPU_PCIE_GENERATION_MAX, CALL(nvmlDeviceGetMaxPcieLinkGeneration), 1, GENERATIONS_MAX,
     0},
    {VITALS_GPU_PCIE_WIDTH, CALL(nvmlDeviceGetCurrPcieLinkWidth), 1, WORKERS_MAX, 0},
    {VITALS_GPU_PCIE_WIDTH_MAX, CALL(nvmlDeviceGetMaxPcieLinkWidth), 1, WORKERS_MAX, 0},
    {VITALS_GPU_PCIE_REPLAYS, CALL(nvmlDeviceGetPcieReplayCounter), 1, UINT32_MAX, 0},
};
#undef CALL

static struct value convert(const struct nvidia_number *number, unsigned raw)
{
    if (raw == NVML_NOT_AVAILABLE_32 || (number->unknown != 0 && raw == number->unknown))
        return value_missing(VITALS_UNSUPPORTED);
    if (raw > number->most)
        return value_missing(VITALS_FAILED);
    bool whole = vitals_metric_type(number->metric) == VITALS_U64;
    return whole ? value_u64(raw) : value_f64(raw / number->divisor);
}

void nvidia_read_numbers(struct nvidia_reader *reader)
{
    for (size_t i = 0; i < ARRAY_COUNT(numbers) && !reader->lost; i++) {
        unsigned raw;
        if (!reader_wants(reader, numbers[i].metric))
            continue;
        nvml_return code = reader_call_u32(reader, numbers[i].function, &raw);
        reader_set(reader, numbers[i].metric, code, convert(&numbers[i], raw));
    }
}
