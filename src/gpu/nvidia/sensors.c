/* sensors.c: temperatures, fans and clocks. */
#include "gpu/nvidia/reader.h"

#include <stdio.h>
#include <string.h>

/* Outside of this range no chip still answers. */
enum { COLDEST = -100, HOTTEST = 300 };

static struct value celsius(double number)
{
    return number >= COLDEST && number <= HOTTEST ? value_f64(number)
                                                  : value_missing(VITALS_FAILED);
}

void nvidia_read_temperature(struct nvidia_reader *reader)
{
    /* Thresholds at which clocks are reduced, and at which the device shuts down. */
    static const struct {
        vitals_metric metric;
        const char *label;
        unsigned threshold;
    } limits[] = {
        {VITALS_GPU_SENSOR_HIGH_CELSIUS, "gpu", NVML_THRESHOLD_SLOWDOWN},
        {VITALS_GPU_SENSOR_HIGH_CELSIUS, "memory", NVML_THRESHOLD_MEMORY_MAX},
        {VITALS_GPU_SENSOR_CRITICAL_CELSIUS, "gpu", NVML_THRESHOLD_SHUTDOWN},
    };
    bool rows = gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_SENSOR);
    bool sensors = reader_wants(reader, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS);
    if (rows) {
        reader_list(reader, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu");
        reader_list(reader, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory");
    }
    if (sensors || reader_wants(reader, VITALS_GPU_TEMPERATURE_CELSIUS)) {
        struct nvml_temperature now = {.version = NVML_STRUCT_VERSION(struct nvml_temperature, 1),
                                       .sensor = NVML_TEMPERATURE_GPU};
        unsigned old = 0;
        nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetTemperatureV, &now);
        struct value core = celsius(now.celsius);
        if (nvml_lacks(code)) {
            code = READER_ASK(reader, 0, nvmlDeviceGetTemperature, NVML_TEMPERATURE_GPU, &old);
            core = celsius((int)old);
        }
        reader_set(reader, VITALS_GPU_TEMPERATURE_CELSIUS, code, core);
        if (rows)
            reader_set_child(reader, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu", code, core);
    }
    if (sensors && !reader->lost) { /* the memory temperature is available only as a field */
        nvml_return code;
        struct nvml_field_value fields[2] = {{.field = NVML_FIELD_MEMORY_TEMPERATURE}};
        reader_call_fields(reader, fields, 1);
        uint64_t number = nvml_field_number(&fields[0], &code);
        reader_set_child(reader, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory", code,
                         celsius((double)number));
    }
    for (size_t i = 0; rows && i < ARRAY_COUNT(limits) && !reader->lost; i++) {
        if (!reader_wants(reader, limits[i].metric))
            continue;
        unsigned number = 0;
        nvml_return code = READER_ASK(reader, limits[i].threshold,
                                      nvmlDeviceGetTemperatureThreshold, limits[i].threshold,
                                      &number);
        reader_set_child(reader, limits[i].metric, limits[i].label, code, celsius(number));
    }
}

void nvidia_read_fans(struct nvidia_reader *reader)
{
    for (unsigned i = 0; i < reader->device->fans && !reader->lost; i++) {
        char label[GPU_LABEL];
        snprintf(label, sizeof label, "fan%u", i);
        reader_list(reader, VITALS_GPU_SENSOR_FAN_RATIO, label);

        if (reader_wants(reader, VITALS_GPU_SENSOR_FAN_RATIO)) {
            unsigned percent = 0;
            nvml_return code = READER_ASK(reader, i, nvmlDeviceGetFanSpeed_v2, i, &percent);
            reader_set_child(reader, VITALS_GPU_SENSOR_FAN_RATIO, label, code,
                             gpu_fill_percent(percent, 1000));
        }
        if (reader_wants(reader, VITALS_GPU_SENSOR_FAN_RPM) && !reader->lost) {
            struct nvml_fan_rpm now = {.version = NVML_STRUCT_VERSION(struct nvml_fan_rpm, 1),
                                       .fan = i};
            nvml_return code = READER_ASK(reader, i, nvmlDeviceGetFanSpeedRPM, &now);
            reader_set_child(reader, VITALS_GPU_SENSOR_FAN_RPM, label, code,
                             nvml_amount(now.rpm, 1, 100000));
        }
    }
}

/* ---- clock domains and throttle reasons ---- */

enum { MEGAHERTZ_MAX = 100000 };

void nvidia_read_clocks(struct nvidia_reader *reader)
{
    static const char *const labels[] = {[NVML_CLOCK_GRAPHICS] = "graphics",
                                         [NVML_CLOCK_SM] = "sm",
                                         [NVML_CLOCK_MEMORY] = "memory",
                                         [NVML_CLOCK_VIDEO] = "video"};
    static const struct {
        vitals_metric metric;
        size_t function; /* in struct nvml: an nvml_choice_call */
    } columns[] = {
        {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, offsetof(struct nvml, nvmlDeviceGetClockInfo)},
        {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, offsetof(struct nvml, nvmlDeviceGetMaxClockInfo)},
        {VITALS_GPU_CLOCK_FREQUENCY_REQUESTED_HERTZ,
         offsetof(struct nvml, nvmlDeviceGetApplicationsClock)},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(labels) && !reader->lost; i++) {
        reader_list(reader, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, labels[i]);
        for (size_t c = 0; c < ARRAY_COUNT(columns) && !reader->lost; c++) {
            if (!reader_wants(reader, columns[c].metric))
                continue;
            unsigned mhz;
            nvml_return code = reader_call_choice(reader, columns[c].function, i, &mhz);
            reader_set_child(reader, columns[c].metric, labels[i], code,
                             nvml_amount(mhz, 1e6, MEGAHERTZ_MAX));
        }
    }
}

enum clock_cause { BY_POWER, BY_TEMPERATURE, OTHERWISE, CAUSES };

static const struct {
    uint64_t bit;
    enum clock_cause cause;
    const char *word;
} reasons[] = {
    {NVML_REASON_POWER_CAP, BY_POWER, "sw_power_cap"},
    {NVML_REASON_POWER_BRAKE, BY_POWER, "hw_power_brake_slowdown"},
    {NVML_REASON_SOFTWARE_THERMAL, BY_TEMPERATURE, "sw_thermal_slowdown"},
    {NVML_REASON_HARDWARE_THERMAL, BY_TEMPERATURE, "hw_thermal_slowdown"},
    {NVML_REASON_HARDWARE, OTHERWISE, "hw_slowdown"},
    {NVML_REASON_SYNC_BOOST, OTHERWISE, "sync_boost"},
    {NVML_REASON_DISPLAY, OTHERWISE, "display_clock_setting"},
    {NVML_REASON_BOARD_LIMIT, OTHERWISE, "board_limit"},
    {NVML_REASON_RELIABILITY, OTHERWISE, "reliability"},
};

static void add_word(char *out, size_t capacity, const char *word)
{
    size_t used = strlen(out);
    snprintf(out + used, capacity - used, "%s%s", used > 0 ? "," : "", word);
}

void nvidia_read_reasons(struct nvidia_reader *reader)
{
    static const vitals_metric metrics[CAUSES] = {
        [BY_POWER] = VITALS_GPU_THROTTLED_BY_POWER,
        [BY_TEMPERATURE] = VITALS_GPU_THROTTLED_BY_TEMPERATURE,
        [OTHERWISE] = VITALS_GPU_THROTTLED_OTHERWISE};
    uint64_t bits = 0;
    bool causes[CAUSES] = {false};
    char words[256] = "";
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetCurrentClocksEventReasons, &bits);
    if (nvml_lacks(code))
        code = READER_ASK(reader, 0, nvmlDeviceGetCurrentClocksThrottleReasons, &bits);
    if (code == NVML_SUCCESS && bits == NVML_NOT_AVAILABLE_64)
        code = NVML_NOT_SUPPORTED;

    /* The hardware slowdown is reported together with its own causes: then it is not a separate
     * reason. */
    bool told = bits & (NVML_REASON_HARDWARE_THERMAL | NVML_REASON_POWER_BRAKE);
    uint64_t left = (told ? bits & ~(uint64_t)NVML_REASON_HARDWARE : bits) &
                    ~(uint64_t)(NVML_REASON_IDLE | NVML_REASON_SET);
    for (size_t i = 0; i < ARRAY_COUNT(reasons); i++) {
        if (!(left & reasons[i].bit))
            continue;
        left &= ~reasons[i].bit;
        causes[reasons[i].cause] = true;
        add_word(words, sizeof words, reasons[i].word);
    }
    if (left != 0) { /* reasons of a newer driver */
        char other[24];
        snprintf(other, sizeof other, "0x%llx", (unsigned long long)left);
        causes[OTHERWISE] = true;
        add_word(words, sizeof words, other);
    }

    for (size_t i = 0; i < CAUSES; i++)
        reader_set(reader, metrics[i], code, value_u64(causes[i]));
    reader_set_text(reader, VITALS_GPU_THROTTLE_REASONS, code, words);
}

void nvidia_read_violations(struct nvidia_reader *reader)
{
    static const struct {
        vitals_metric metric;
        unsigned policy;
    } rows[] = {{VITALS_GPU_THROTTLED_POWER_SECONDS, NVML_POLICY_POWER},
                {VITALS_GPU_THROTTLED_THERMAL_SECONDS, NVML_POLICY_THERMAL}};
    for (size_t i = 0; i < ARRAY_COUNT(rows) && !reader->lost; i++) {
        if (!reader_wants(reader, rows[i].metric))
            continue;
        struct nvml_violation now = {0};
        nvml_return code = READER_ASK(reader, rows[i].policy, nvmlDeviceGetViolationStatus,
                                      rows[i].policy, &now);
        reader_set(reader, rows[i].metric, code, nvml_amount(now.violation_ns, 1e-9, EXACT_MAX));
    }
}
