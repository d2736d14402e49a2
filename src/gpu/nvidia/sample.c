/* sample.c: readings of one device. A reading is a driver call and the metrics that it gives; it is
 * made where one of them is wanted, and no call is made twice. */
#include "gpu/fill.h"
#include "gpu/nvidia/errors.h"
#include "gpu/nvidia/state.h"

#include <stdio.h>
#include <string.h>

struct reader {
    const struct nvml *nvml;
    struct nvidia_device *device;
    nvml_device handle;
    const struct metric_set *wanted;
    struct gpu_sample *out;
    bool lost;
};

static void set(struct reader *r, vitals_metric metric, struct value value)
{
    values_set(&r->out->values, metric, value);
}

static bool wants(const struct reader *r, vitals_metric metric)
{
    return metric_set_has(r->wanted, metric);
}

/* Notices a lost device, and passes the code on. */
static nvml_return check(struct reader *r, nvml_return code)
{
    r->lost = r->lost || code == NVML_GPU_IS_LOST;
    return code;
}

static void set_child(struct reader *r, vitals_metric metric, const char *label, nvml_return code,
                      struct value value)
{
    struct gpu_child *child = gpu_fill_child(r->out, vitals_metric_entity(metric), label);
    if (child)
        child->at[metric_number(metric)] = check(r, code) == NVML_SUCCESS
                                               ? value
                                               : value_missing(nvml_availability(code));
}

/* ---- readings that are one number of a device ---- */

struct number {
    vitals_metric metric;
    size_t function; /* in struct nvml: an nvml_u32_call */
    double divisor;  /* to the base unit */
    unsigned most;   /* above it, the driver says that it does not know */
};

static const struct number numbers[] = {
    {VITALS_GPU_POWER_WATTS, offsetof(struct nvml, nvmlDeviceGetPowerUsage), 1e3, UINT32_MAX - 1},
    {VITALS_GPU_POWER_LIMIT_WATTS, offsetof(struct nvml, nvmlDeviceGetEnforcedPowerLimit), 1e3,
     UINT32_MAX - 1},
    {VITALS_GPU_FAN_RATIO, offsetof(struct nvml, nvmlDeviceGetFanSpeed), 1e2, 1000},
    {VITALS_GPU_PERFORMANCE_STATE, offsetof(struct nvml, nvmlDeviceGetPerformanceState), 1, 15},
    {VITALS_GPU_PERSISTENCE_MODE, offsetof(struct nvml, nvmlDeviceGetPersistenceMode), 1, 1},
    {VITALS_GPU_DISPLAY_ACTIVE, offsetof(struct nvml, nvmlDeviceGetDisplayActive), 1, 1},
};

static void read_number(struct reader *r, const struct number *number)
{
    nvml_u32_call *call;
    memcpy(&call, (const char *)r->nvml + number->function, sizeof call);
    unsigned raw = 0;
    nvml_return code = check(r,
                             call ? call(r->handle, &raw) : (nvml_return)NVML_FUNCTION_NOT_FOUND);
    if (code == NVML_SUCCESS && raw > number->most)
        code = NVML_NOT_SUPPORTED;
    if (code != NVML_SUCCESS)
        set(r, number->metric, value_missing(nvml_availability(code)));
    else if (vitals_metric_type(number->metric) == VITALS_U64)
        set(r, number->metric, value_u64(raw));
    else
        set(r, number->metric, value_f64(raw / number->divisor));
}

/* ---- readings that are more ---- */

/* What the driver says of memory, checked: a total of 0 or 2^64-1 is memory that is not its own
 * (unified, or managed by the kernel), more in use than there is is nonsense. */
static nvml_return set_memory(struct reader *r, uint64_t total, uint64_t used, uint64_t available,
                              struct value reserved)
{
    if (total == 0 || total == NVML_NOT_AVAILABLE_64)
        return NVML_NOT_SUPPORTED;
    struct value nonsense = value_missing(VITALS_FAILED);
    set(r, VITALS_GPU_MEMORY_TOTAL_BYTES, value_u64(total));
    set(r, VITALS_GPU_MEMORY_USED_BYTES, used <= total ? value_u64(used) : nonsense);
    set(r, VITALS_GPU_MEMORY_FREE_BYTES, available <= total ? value_u64(available) : nonsense);
    set(r, VITALS_GPU_MEMORY_RESERVED_BYTES, reserved);
    return NVML_SUCCESS;
}

/* The first version counts what is reserved as used (nvitop issue 13). */
static nvml_return read_memory(struct reader *r)
{
    struct nvml_memory_v2 now = {.version = NVML_STRUCT_VERSION(struct nvml_memory_v2, 2)};
    nvml_return code = NVML_CALL(r->nvml, nvmlDeviceGetMemoryInfo_v2, r->handle, &now);
    if (code == NVML_SUCCESS)
        return set_memory(r, now.total, now.used, now.free, value_u64(now.reserved));
    if (nvml_availability(code) != VITALS_UNSUPPORTED || code == NVML_NOT_SUPPORTED)
        return code;
    struct nvml_memory old = {0};
    code = NVML_CALL(r->nvml, nvmlDeviceGetMemoryInfo, r->handle, &old);
    if (code != NVML_SUCCESS)
        return code;
    return set_memory(r, old.total, old.used, old.free, value_missing(VITALS_UNSUPPORTED));
}

/* The driver's percentage of its last period stands for the time since the reading before. After
 * a failure the time between is not counted. */
static void integrate(struct reader *r, struct value ratio)
{
    struct nvidia_device *device = r->device;
    uint64_t now_ns = r->out->stamp_ns;
    if (ratio.state <= 0) {
        device->utilization_ns = 0;
        set(r, VITALS_GPU_BUSY_SECONDS, value_missing(ratio.state));
        return;
    }
    if (device->utilization_ns != 0 && now_ns > device->utilization_ns)
        device->busy_seconds += ratio.as.f64 * (double)(now_ns - device->utilization_ns) / 1e9;
    device->utilization_ns = now_ns;
    struct value busy = value_f64(device->busy_seconds);
    busy.state = VITALS_SAMPLED;
    set(r, VITALS_GPU_BUSY_SECONDS, busy);
}

static nvml_return read_utilization(struct reader *r)
{
    struct nvml_utilization now = {0};
    nvml_return code = NVML_CALL(r->nvml, nvmlDeviceGetUtilizationRates, r->handle, &now);
    struct value ratio = code == NVML_SUCCESS ? gpu_fill_percent(now.gpu, 100)
                                              : value_missing(nvml_availability(code));
    integrate(r, ratio);
    if (code != NVML_SUCCESS)
        return code;
    set(r, VITALS_GPU_UTILIZATION_RATIO, ratio);
    set(r, VITALS_GPU_MEMORY_BUSY_RATIO, gpu_fill_percent(now.memory, 100));
    return code;
}

static nvml_return read_energy(struct reader *r)
{
    uint64_t millijoules = 0;
    nvml_return code = NVML_CALL(r->nvml, nvmlDeviceGetTotalEnergyConsumption, r->handle,
                                 &millijoules);
    if (code == NVML_SUCCESS)
        set(r, VITALS_GPU_ENERGY_JOULES, value_f64((double)millijoules / 1e3));
    return code;
}

static nvml_return read_core_temperature(const struct reader *r, double *celsius)
{
    struct nvml_temperature now = {.version = NVML_STRUCT_VERSION(struct nvml_temperature, 1),
                                   .sensor = NVML_TEMPERATURE_GPU};
    nvml_return code = NVML_CALL(r->nvml, nvmlDeviceGetTemperatureV, r->handle, &now);
    *celsius = now.celsius;
    if (nvml_availability(code) != VITALS_UNSUPPORTED || code == NVML_NOT_SUPPORTED)
        return code;
    unsigned old = 0;
    code = NVML_CALL(r->nvml, nvmlDeviceGetTemperature, r->handle, NVML_TEMPERATURE_GPU, &old);
    *celsius = old;
    return code;
}

/* Only as a field. Some drivers look at the entry behind the last one: there is one. */
static void read_memory_temperature(struct reader *r)
{
    struct nvml_field_value fields[2] = {{.field = NVML_FIELD_MEMORY_TEMPERATURE}};
    nvml_return code = NVML_CALL(r->nvml, nvmlDeviceGetFieldValues, r->handle, 1, fields);
    if (code == NVML_SUCCESS)
        code = fields[0].result;
    if (code == NVML_SUCCESS && fields[0].type != NVML_VALUE_UNSIGNED)
        code = NVML_ARGUMENT_VERSION_MISMATCH;
    set_child(r, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory", code,
              value_f64(fields[0].value.u32));
}

static nvml_return read_temperature(struct reader *r)
{
    double celsius = 0;
    nvml_return code = read_core_temperature(r, &celsius);
    if (code == NVML_SUCCESS)
        set(r, VITALS_GPU_TEMPERATURE_CELSIUS, value_f64(celsius));
    if (!wants(r, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS))
        return code;
    set_child(r, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu", code, value_f64(celsius));
    read_memory_temperature(r);
    return code;
}

static nvml_return read_compute_mode(struct reader *r)
{
    static const char *const words[] = {"default", "exclusive_thread", "prohibited",
                                        "exclusive_process"};
    unsigned mode = 0;
    nvml_return code = NVML_CALL(r->nvml, nvmlDeviceGetComputeMode, r->handle, &mode);
    signed char state = (signed char)nvml_availability(code);
    if (code == NVML_SUCCESS && mode >= ARRAY_COUNT(words))
        state = VITALS_FAILED;
    if (state > 0)
        snprintf(r->out->compute_mode, sizeof r->out->compute_mode, "%s", words[mode]);
    r->out->compute_mode_state = state;
    return code;
}

static nvml_return read_mig_mode(struct reader *r)
{
    unsigned mode = 0, pending = 0;
    nvml_return code = NVML_CALL(r->nvml, nvmlDeviceGetMigMode, r->handle, &mode, &pending);
    if (code == NVML_SUCCESS)
        set(r, VITALS_GPU_MIG_MODE, value_u64(mode));
    return code;
}

static nvml_return read_ecc(struct reader *r)
{
    uint64_t errors = 0;
    nvml_return code = NVML_CALL(r->nvml, nvmlDeviceGetTotalEccErrors, r->handle,
                                 NVML_ERROR_TYPE_UNCORRECTED, NVML_ECC_VOLATILE, &errors);
    if (code == NVML_SUCCESS)
        set(r, VITALS_GPU_ECC_ERRORS_UNCORRECTED, value_u64(errors));
    return code;
}

static nvml_return read_engines(struct reader *r)
{
    const struct {
        const char *label;
        nvml_pair_call *read;
    } engines[] = {
        {"encoder", r->nvml->nvmlDeviceGetEncoderUtilization},
        {"decoder", r->nvml->nvmlDeviceGetDecoderUtilization},
        {"jpeg", r->nvml->nvmlDeviceGetJpgUtilization},
        {"optical_flow", r->nvml->nvmlDeviceGetOfaUtilization},
    };
    for (size_t i = 0; i < ARRAY_COUNT(engines) && !r->lost; i++) {
        if (!engines[i].read)
            continue;
        unsigned percent = 0, period_us = 0;
        nvml_return code = engines[i].read(r->handle, &percent, &period_us);
        set_child(r, VITALS_GPU_ENGINE_UTILIZATION_RATIO, engines[i].label, code,
                  gpu_fill_percent(percent, 100));
    }
    return NVML_SUCCESS;
}

static nvml_return read_clock_table(struct reader *r, vitals_metric metric, nvml_choice_call *read)
{
    static const char *const labels[] = {[NVML_CLOCK_GRAPHICS] = "graphics",
                                         [NVML_CLOCK_SM] = "sm",
                                         [NVML_CLOCK_MEMORY] = "memory",
                                         [NVML_CLOCK_VIDEO] = "video"};
    for (unsigned i = 0; i < ARRAY_COUNT(labels) && read && !r->lost; i++) {
        unsigned mhz = 0;
        nvml_return code = read(r->handle, i, &mhz);
        set_child(r, metric, labels[i], code, value_f64(mhz * 1e6));
    }
    return NVML_SUCCESS;
}

static nvml_return read_clocks(struct reader *r)
{
    return read_clock_table(r, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, r->nvml->nvmlDeviceGetClockInfo);
}

static nvml_return read_clock_limits(struct reader *r)
{
    return read_clock_table(r, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ,
                            r->nvml->nvmlDeviceGetMaxClockInfo);
}

static nvml_return read_bar1(struct reader *r)
{
    struct nvml_bar1_memory now = {0};
    nvml_return code = NVML_CALL(r->nvml, nvmlDeviceGetBAR1MemoryInfo, r->handle, &now);
    struct value used = now.used <= now.total ? value_u64(now.used) : value_missing(VITALS_FAILED);
    set_child(r, VITALS_GPU_POOL_TOTAL_BYTES, "bar1", code, value_u64(now.total));
    set_child(r, VITALS_GPU_POOL_USED_BYTES, "bar1", code, used);
    return code;
}

/* ---- the table ---- */

struct reading {
    nvml_return (*read)(struct reader *reader);
    bool of_partitions; /* a MIG instance has it too */
    vitals_metric metrics[4];
};

static const struct reading readings[] = {
    {read_memory,
     true,
     {VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_FREE_BYTES,
      VITALS_GPU_MEMORY_RESERVED_BYTES}},
    {read_utilization,
     false,
     {VITALS_GPU_UTILIZATION_RATIO, VITALS_GPU_MEMORY_BUSY_RATIO, VITALS_GPU_BUSY_SECONDS}},
    {read_energy, false, {VITALS_GPU_ENERGY_JOULES}},
    {read_temperature,
     false,
     {VITALS_GPU_TEMPERATURE_CELSIUS, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS}},
    {read_compute_mode, false, {VITALS_GPU_COMPUTE_MODE}},
    {read_mig_mode, false, {VITALS_GPU_MIG_MODE}},
    {read_ecc, false, {VITALS_GPU_ECC_ERRORS_UNCORRECTED}},
    {read_engines, false, {VITALS_GPU_ENGINE_UTILIZATION_RATIO}},
    {read_clocks, false, {VITALS_GPU_CLOCK_FREQUENCY_HERTZ}},
    {read_clock_limits, false, {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ}},
    {read_bar1, true, {VITALS_GPU_POOL_TOTAL_BYTES, VITALS_GPU_POOL_USED_BYTES}},
};

static bool is_due(const struct reader *r, const struct reading *reading)
{
    if (r->device->partition && !reading->of_partitions)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(reading->metrics) && reading->metrics[i]; i++) {
        if (wants(r, reading->metrics[i]))
            return true;
    }
    return false;
}

/* What a reading that failed was to give, and has not. Children say it themselves. */
static void set_missing(struct reader *r, const struct reading *reading, nvml_return code)
{
    for (size_t i = 0; i < ARRAY_COUNT(reading->metrics) && reading->metrics[i]; i++) {
        vitals_metric metric = reading->metrics[i];
        if (vitals_metric_entity(metric) == VITALS_GPU && wants(r, metric) &&
            r->out->values.at[metric_number(metric)].state == VITALS_UNSET)
            set(r, metric, value_missing(nvml_availability(code)));
    }
}

static void read_all(struct reader *r)
{
    for (size_t i = 0; i < ARRAY_COUNT(readings) && !r->lost; i++) {
        if (!is_due(r, &readings[i]))
            continue;
        nvml_return code = check(r, readings[i].read(r));
        if (code != NVML_SUCCESS)
            set_missing(r, &readings[i], code);
    }
    for (size_t i = 0; i < ARRAY_COUNT(numbers) && !r->lost && !r->device->partition; i++) {
        if (wants(r, numbers[i].metric))
            read_number(r, &numbers[i]);
    }
}

void nvidia_sample(void *state, uint32_t slot, const struct metric_set *wanted,
                   struct gpu_sample *out)
{
    struct nvidia *nvidia = state;
    struct nvidia_device *device = nvidia->devices[slot];
    memset(out, 0, sizeof *out);
    out->stamp_ns = nvidia_now_ns(nvidia);
    out->state = VITALS_HAVE;
    struct reader reader = {.nvml = &nvidia->nvml,
                            .device = device,
                            .handle = atomic_load(&device->handle),
                            .wanted = wanted,
                            .out = out};
    if (reader.handle)
        read_all(&reader);
    if (reader.lost)
        nvidia_lose(device, VITALS_GONE);
    if (reader.lost || !reader.handle) {
        device->utilization_ns = 0;
        out->state = (signed char)atomic_load(&device->missing);
        out->child_count = 0;
        return;
    }
    gpu_fill_rest(out, wanted, VITALS_UNSUPPORTED);
}
