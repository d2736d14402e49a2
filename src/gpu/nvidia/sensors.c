/* sensors.c: temperatures and fans. */
#include "gpu/nvidia/errors.h"
#include "gpu/nvidia/reader.h"

#include <stdio.h>

/* No chip that still answers is colder or hotter. */
enum { COLDEST = -100, HOTTEST = 300 };

static struct value celsius(double number)
{
    return number >= COLDEST && number <= HOTTEST ? value_f64(number)
                                                  : value_missing(VITALS_FAILED);
}

static nvml_return read_core(const struct nvidia_reader *reader, double *out)
{
    struct nvml_temperature now = {.version = NVML_STRUCT_VERSION(struct nvml_temperature, 1),
                                   .sensor = NVML_TEMPERATURE_GPU};
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetTemperatureV, &now);
    *out = now.celsius;
    if (!nvml_lacks(code))
        return code;
    unsigned old = 0;
    code = READER_ASK(reader, 0, nvmlDeviceGetTemperature, NVML_TEMPERATURE_GPU, &old);
    *out = (int)old;
    return code;
}

/* Only as a field. */
static void read_memory_chips(struct nvidia_reader *reader)
{
    nvml_return code;
    struct nvml_field_value fields[2] = {{.field = NVML_FIELD_MEMORY_TEMPERATURE}};
    reader_call_fields(reader, fields, 1);
    uint64_t number = nvml_field_number(&fields[0], &code);
    reader_set_child(reader, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory", code,
                     celsius((double)number));
}

/* From where on clocks are lowered, and it switches itself off. */
static void read_thresholds(struct nvidia_reader *reader)
{
    static const struct {
        vitals_metric metric;
        const char *label;
        unsigned threshold;
    } rows[] = {
        {VITALS_GPU_SENSOR_HIGH_CELSIUS, "gpu", NVML_THRESHOLD_SLOWDOWN},
        {VITALS_GPU_SENSOR_HIGH_CELSIUS, "memory", NVML_THRESHOLD_MEMORY_MAX},
        {VITALS_GPU_SENSOR_CRITICAL_CELSIUS, "gpu", NVML_THRESHOLD_SHUTDOWN},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows) && !reader->lost; i++) {
        if (!reader_wants(reader, rows[i].metric))
            continue;
        unsigned number = 0;
        nvml_return code = READER_ASK(reader, rows[i].threshold, nvmlDeviceGetTemperatureThreshold,
                                      rows[i].threshold, &number);
        reader_set_child(reader, rows[i].metric, rows[i].label, code, celsius(number));
    }
}

void nvidia_read_temperature(struct nvidia_reader *reader)
{
    bool rows = gpu_fill_wants_table(reader->fill, VITALS_GPU_SENSOR);
    bool sensors = reader_wants(reader, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS);
    if (rows) {
        reader_list(reader, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu");
        reader_list(reader, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory");
    }
    if (sensors || reader_wants(reader, VITALS_GPU_TEMPERATURE_CELSIUS)) {
        double now = 0;
        nvml_return code = read_core(reader, &now);
        reader_set(reader, VITALS_GPU_TEMPERATURE_CELSIUS, code, celsius(now));
        if (rows)
            reader_set_child(reader, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "gpu", code,
                             celsius(now));
    }
    if (sensors && !reader->lost)
        read_memory_chips(reader);
    if (rows)
        read_thresholds(reader);
}

/* ---- fans ---- */

static void read_fan(struct nvidia_reader *reader, unsigned index, const char *label)
{
    if (reader_wants(reader, VITALS_GPU_SENSOR_FAN_RATIO)) {
        unsigned percent = 0;
        nvml_return code = READER_ASK(reader, index, nvmlDeviceGetFanSpeed_v2, index, &percent);
        reader_set_child(reader, VITALS_GPU_SENSOR_FAN_RATIO, label, code,
                         gpu_fill_percent(percent, 1000));
    }
    if (reader_wants(reader, VITALS_GPU_SENSOR_FAN_RPM) && !reader->lost) {
        struct nvml_fan_rpm now = {.version = NVML_STRUCT_VERSION(struct nvml_fan_rpm, 1),
                                   .fan = index};
        nvml_return code = READER_ASK(reader, index, nvmlDeviceGetFanSpeedRPM, &now);
        reader_set_child(reader, VITALS_GPU_SENSOR_FAN_RPM, label, code,
                         nvml_amount(now.rpm, 1, 100000));
    }
}

void nvidia_read_fans(struct nvidia_reader *reader)
{
    for (unsigned i = 0; i < reader->device->fans && !reader->lost; i++) {
        char label[GPU_LABEL];
        snprintf(label, sizeof label, "fan%u", i);
        reader_list(reader, VITALS_GPU_SENSOR_FAN_RATIO, label);
        read_fan(reader, i, label);
    }
}
