/* sensors.c: temperatures and fans. */
#include "gpu/nvidia/reader.h"

#include <stdio.h>

/* No chip that still answers is colder or hotter. */
enum { COLDEST = -100, HOTTEST = 300 };

static struct value celsius(double number)
{
    return number >= COLDEST && number <= HOTTEST ? value_f64(number)
                                                  : value_missing(VITALS_FAILED);
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
    if (sensors && !reader->lost) { /* that of the memory is only there as a field */
        nvml_return code;
        struct nvml_field_value fields[2] = {{.field = NVML_FIELD_MEMORY_TEMPERATURE}};
        reader_call_fields(reader, fields, 1);
        uint64_t number = nvml_field_number(&fields[0], &code);
        reader_set_child(reader, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory", code,
                         celsius((double)number));
    }
    if (rows)
        read_thresholds(reader);
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
