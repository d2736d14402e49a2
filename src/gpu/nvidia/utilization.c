/* utilization.c: how busy a device and its engines are, as the driver's own percentages. */
#include "gpu/nvidia/reader.h"

#include <string.h>

/* The driver's percentage of its last period stands for the time since the reading before. After
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
        if (!call) /* a driver that old does not know the engine */
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
