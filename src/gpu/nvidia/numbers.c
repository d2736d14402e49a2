/* numbers.c: values that take one call for each device: a table of numbers; energy and power
 * limits; the configuration of the device; bus traffic; utilization of the device and its
 * engines. */
#include "gpu/nvidia/reader.h"

#include <string.h>

struct nvidia_number {
    vitals_metric metric;
    size_t function;  /* in struct nvml: an nvml_u32_call */
    double divisor;   /* converts to the base unit */
    unsigned most;    /* larger numbers are implausible, except all bits set and `unknown`, */
    unsigned unknown; /* the driver's code for not known; 0: none */
};

/* No board draws a megawatt; no link has a thousand lanes. */
enum { MILLIWATTS_MAX = 1000000000, LANES_MAX = 64, GENERATIONS_MAX = 15 };
enum { KIB = 1024, KIB_PER_SECOND_MAX = 1 << 30 };

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
    {VITALS_GPU_PCIE_WIDTH, CALL(nvmlDeviceGetCurrPcieLinkWidth), 1, LANES_MAX, 0},
    {VITALS_GPU_PCIE_WIDTH_MAX, CALL(nvmlDeviceGetMaxPcieLinkWidth), 1, LANES_MAX, 0},
    {VITALS_GPU_PCIE_REPLAYS, CALL(nvmlDeviceGetPcieReplayCounter), 1, UINT32_MAX, 0},
};
#undef CALL

void nvidia_read_numbers(struct nvidia_reader *reader)
{
    for (size_t i = 0; i < ARRAY_COUNT(numbers) && !reader->lost; i++) {
        const struct nvidia_number *number = &numbers[i];
        unsigned raw;
        if (!reader_wants(reader, number->metric))
            continue;
        nvml_return code = reader_call_u32(reader, number->function, &raw);
        bool whole = vitals_metric_type(number->metric) == VITALS_U64;
        struct value value = whole ? value_u64(raw) : value_f64(raw / number->divisor);
        if (raw == NVML_NOT_AVAILABLE_32 || (number->unknown != 0 && raw == number->unknown))
            value = value_missing(VITALS_UNSUPPORTED);
        else if (raw > number->most)
            value = value_missing(VITALS_FAILED);
        reader_set(reader, number->metric, code, value);
    }
}

void nvidia_read_energy(struct nvidia_reader *reader)
{
    uint64_t millijoules = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetTotalEnergyConsumption, &millijoules);
    reader_set(reader, VITALS_GPU_ENERGY_JOULES, code, nvml_amount(millijoules, 1e-3, EXACT_MAX));
}

void nvidia_read_power_limits(struct nvidia_reader *reader)
{
    unsigned least = 0, most = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetPowerManagementLimitConstraints, &least,
                                  &most);
    reader_set(reader, VITALS_GPU_POWER_LIMIT_MIN_WATTS, code,
               nvml_amount(least, 1e-3, MILLIWATTS_MAX));
    reader_set(reader, VITALS_GPU_POWER_LIMIT_MAX_WATTS, code,
               nvml_amount(most, 1e-3, MILLIWATTS_MAX));
}

/* A number without a name is implausible. */
static void set_word(struct nvidia_reader *reader, vitals_metric metric, nvml_return code,
                     const char *const *words, size_t count, unsigned number)
{
    if (code == NVML_SUCCESS && number >= count)
        code = NVML_UNKNOWN;
    reader_set_text(reader, metric, code, code == NVML_SUCCESS ? words[number] : "");
}

void nvidia_read_compute_mode(struct nvidia_reader *reader)
{
    static const char *const words[] = {"default", "exclusive_thread", "prohibited",
                                        "exclusive_process"};
    unsigned mode = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetComputeMode, &mode);
    set_word(reader, VITALS_GPU_COMPUTE_MODE, code, words, ARRAY_COUNT(words), mode);
}

void nvidia_read_driver_model(struct nvidia_reader *reader)
{
    static const char *const words[] = {"wddm", "wdm", "mcdm"};
    unsigned model = 0, pending = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetDriverModel_v2, &model, &pending);
    if (nvml_lacks(code))
        code = READER_ASK(reader, 0, nvmlDeviceGetDriverModel, &model, &pending);
    set_word(reader, VITALS_GPU_DRIVER_MODEL, code, words, ARRAY_COUNT(words), model);
}

void nvidia_read_mig_mode(struct nvidia_reader *reader)
{
    unsigned mode = 0, pending = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetMigMode, &mode, &pending);
    reader_set(reader, VITALS_GPU_MIG_MODE, code, nvml_count(mode, 1));
    reader_set(reader, VITALS_GPU_MIG_MODE_PENDING, code, nvml_count(pending, 1));
}

void nvidia_read_ecc_mode(struct nvidia_reader *reader)
{
    unsigned mode = 0, pending = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetEccMode, &mode, &pending);
    reader_set(reader, VITALS_GPU_ECC_MODE, code, nvml_count(mode, 1));
    reader_set(reader, VITALS_GPU_ECC_MODE_PENDING, code, nvml_count(pending, 1));
}

/* Without a buffer the driver only returns the number. */
void nvidia_read_accounting_pids(struct nvidia_reader *reader)
{
    unsigned count = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetAccountingPids, &count, NULL);
    if (code == NVML_INSUFFICIENT_SIZE)
        code = NVML_SUCCESS;
    reader_set(reader, VITALS_GPU_ACCOUNTING_PIDS, code, nvml_count(count, 1 << 24));
}

/* The driver measures while the call waits, 20 ms for each direction, so these metrics are
 * requested in separate samples: the device's slot is not touched here. */
void nvidia_read_pcie_throughput(struct nvidia_reader *reader)
{
    static const struct {
        vitals_metric metric;
        unsigned direction;
    } rows[] = {{VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, NVML_PCIE_RECEIVED},
                {VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND, NVML_PCIE_TRANSMITTED}};
    for (size_t i = 0; i < ARRAY_COUNT(rows) && !reader->lost; i++) {
        if (!reader_wants(reader, rows[i].metric))
            continue;
        unsigned kib = 0;
        nvml_return code = NVML_CALL(reader->nvml, nvmlDeviceGetPcieThroughput, reader->handle,
                                     rows[i].direction, &kib);
        reader_set(reader, rows[i].metric, code, nvml_amount(kib, KIB, KIB_PER_SECOND_MAX));
    }
}

/* ---- utilization ---- */

/* The driver's percentage of its last period is used for the time since the previous reading. After
 * a failure the time between is not counted. */
void nvidia_read_utilization(struct nvidia_reader *reader)
{
    struct nvidia_device *device = reader->device;
    uint64_t now_ns = reader->sample->stamp_ns, last_ns = device->utilization_ns;
    struct nvml_utilization now = {0};
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetUtilizationRates, &now);
    struct value ratio = gpu_fill_percent(now.gpu, 100);
    bool known = code == NVML_SUCCESS && ratio.state > 0;
    if (known && last_ns != 0 && now_ns > last_ns)
        device->busy_seconds += ratio.as.f64 * (double)(now_ns - last_ns) / 1e9;
    device->utilization_ns = known ? now_ns : 0;
    struct value busy = known ? value_f64(device->busy_seconds) : value_missing(ratio.state);
    if (known)
        busy.state = VITALS_SAMPLED;
    reader_set(reader, VITALS_GPU_BUSY_SECONDS, code, busy);
    reader_set(reader, VITALS_GPU_UTILIZATION_RATIO, code, ratio);
    reader_set(reader, VITALS_GPU_MEMORY_BUSY_RATIO, code, gpu_fill_percent(now.memory, 100));
}

void nvidia_read_engines(struct nvidia_reader *reader)
{
    static const struct {
        const char *label;
        size_t function; /* in struct nvml: an nvml_pair_call */
    } engines[] = {
        {"encoder", offsetof(struct nvml, nvmlDeviceGetEncoderUtilization)},
        {"decoder", offsetof(struct nvml, nvmlDeviceGetDecoderUtilization)},
        {"jpeg", offsetof(struct nvml, nvmlDeviceGetJpgUtilization)},
        {"optical_flow", offsetof(struct nvml, nvmlDeviceGetOfaUtilization)},
    };
    for (size_t i = 0; i < ARRAY_COUNT(engines) && !reader->lost; i++) {
        nvml_pair_call *call;
        memcpy(&call, (const char *)reader->nvml + engines[i].function, sizeof call);
        if (!call) /* an old driver without this engine */
            continue;
        reader_list(reader, VITALS_GPU_ENGINE_UTILIZATION_RATIO, engines[i].label);
        if (!reader_wants(reader, VITALS_GPU_ENGINE_UTILIZATION_RATIO))
            continue;
        unsigned percent = 0, period_us = 0;
        nvml_return code = nvidia_absence(reader->device, engines[i].function, 0);
        if (code == NVML_SUCCESS)
            code = call(reader->handle, &percent, &period_us);
        (void)nvidia_note(reader->device, engines[i].function, 0, code);
        reader_set_child(reader, VITALS_GPU_ENGINE_UTILIZATION_RATIO, engines[i].label, code,
                         gpu_fill_percent(percent, 100));
    }
}
