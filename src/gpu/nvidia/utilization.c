/* utilization.c: how busy a device and its engines are, as the driver's own percentages. */
#include "gpu/nvidia/errors.h"
#include "gpu/nvidia/reader.h"

#include <string.h>

/* The driver's percentage of its last period stands for the time since the reading before. After
 * a failure the time between is not counted. */
static void integrate(struct nvidia_reader *reader, struct value ratio)
{
    struct nvidia_device *device = reader->device;
    uint64_t now_ns = reader->fill->sample->stamp_ns;
    if (ratio.state <= 0) {
        device->utilization_ns = 0;
        gpu_fill(reader->fill, VITALS_GPU_BUSY_SECONDS, value_missing(ratio.state));
        return;
    }
    if (device->utilization_ns != 0 && now_ns > device->utilization_ns)
        device->busy_seconds += ratio.as.f64 * (double)(now_ns - device->utilization_ns) / 1e9;
    device->utilization_ns = now_ns;
    struct value busy = value_f64(device->busy_seconds);
    busy.state = VITALS_SAMPLED;
    gpu_fill(reader->fill, VITALS_GPU_BUSY_SECONDS, busy);
}

void nvidia_read_utilization(struct nvidia_reader *reader)
{
    struct nvml_utilization now = {0};
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetUtilizationRates, &now);
    struct value ratio = gpu_fill_percent(now.gpu, 100);
    integrate(reader, code == NVML_SUCCESS ? ratio : value_missing(nvml_availability(code)));
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
