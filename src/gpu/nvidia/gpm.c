/* gpm.c: the performance monitor of Hopper and later: occupancy of the multiprocessors, of
 * partitions too. A figure is computed from two samples of the driver, so the first reading gives
 * none.
 *
 * The monitor shares counters with profilers, above all with DCGM: it is read only if a metric is
 * named, and not while DCGM's nv-hostengine runs. The utilization of a MIG instance has no other
 * source: it is read whenever it is requested. It is the share of time in which the GPU instance
 * had work, from all of its compute instances: an estimate for each. */
#include "gpu/nvidia/reader.h"

#include <string.h>

static const struct {
    vitals_metric metric;
    unsigned number;
} rows[] = {
    {VITALS_GPU_SM_ACTIVE_RATIO, NVML_GPM_SM_ACTIVE},
    {VITALS_GPU_SM_OCCUPANCY_RATIO, NVML_GPM_SM_OCCUPANCY},
    {VITALS_GPU_TENSOR_ACTIVE_RATIO, NVML_GPM_TENSOR_ACTIVE},
    {VITALS_GPU_MEMORY_BANDWIDTH_RATIO, NVML_GPM_MEMORY_BANDWIDTH},
};

static bool wants_busy(const struct nvidia_reader *reader)
{
    return reader->device->partition && (reader_wants(reader, VITALS_GPU_UTILIZATION_RATIO) ||
                                         reader_wants(reader, VITALS_GPU_BUSY_SECONDS));
}

#define LOOK_AGAIN_NS (60 * NS_PER_SECOND)
/* the shortest time between two samples, from the driver's documentation */
#define SHORTEST_NS (100 * NS_PER_MS)

/* ---- other users ---- */

bool nvidia_finds_hostengine(const vitals_context *context)
{
    static const char name[] = "nv-hostengine";
    struct os_pids pids = {0};
    struct buffer text = {0};
    bool found = false, cut;
    size_t count = os_list_processes(&context->os, &pids) == 0 ? pids.count : 0;
    for (size_t i = 0; i < count && !found; i++) {
        buffer_reset(&text);
        found = os_process_file(&context->os, pids.items[i], "comm", 64, &text, &cut) == 0 &&
                text.size >= sizeof name - 1 && memcmp(text.bytes, name, sizeof name - 1) == 0;
    }
    os_pids_done(&pids);
    buffer_done(&text);
    return found;
}

/* One device checks once a minute, for all of them; devices that are read before the first check
 * wait for their next reading. */
static vitals_availability may_read(struct nvidia *nvidia)
{
    uint64_t now_ns = os_now_ns(&nvidia->context->os);
    unsigned long long looked_ns = atomic_load(&nvidia->hostengine_ns);
    if ((looked_ns == 0 || now_ns - looked_ns >= LOOK_AGAIN_NS) &&
        atomic_compare_exchange_strong(&nvidia->hostengine_ns, &looked_ns, now_ns)) {
        bool runs = nvidia_finds_hostengine(nvidia->context);
        atomic_store(&nvidia->hostengine, runs ? VITALS_DENIED : VITALS_HAVE);
        if (runs)
            os_trace(&nvidia->context->os,
                     "nvidia: nv-hostengine runs: its counters are left alone");
    }
    int state = atomic_load(&nvidia->hostengine);
    return state == VITALS_UNSET ? VITALS_NOT_YET : (vitals_availability)state;
}

/* ---- samples ---- */

void nvidia_end_gpm(const struct nvml *nvml, struct nvidia_device *device)
{
    for (size_t i = 0; i < ARRAY_COUNT(device->gpm.samples); i++) {
        if (device->gpm.samples[i])
            (void)NVML_CALL(nvml, nvmlGpmSampleFree, device->gpm.samples[i]);
    }
    device->gpm = (struct nvidia_gpm){0};
}

/* Queries once if the device supports it. A partition is queried through its device. */
static nvml_return begin(const struct nvml *nvml, struct nvidia_device *device, nvml_device whole)
{
    struct nvml_gpm_support support = {.version = NVML_GPM_VERSION};
    nvml_return code = NVML_CALL(nvml, nvmlGpmQueryDeviceSupport, whole, &support);
    if (code == NVML_SUCCESS && !support.supported)
        code = NVML_NOT_SUPPORTED;
    for (size_t i = 0; i < ARRAY_COUNT(device->gpm.samples) && code == NVML_SUCCESS; i++) {
        code = NVML_CALL(nvml, nvmlGpmSampleAlloc, &device->gpm.samples[i]);
        if (code == NVML_SUCCESS && !device->gpm.samples[i])
            code = NVML_UNKNOWN;
    }
    if (code != NVML_SUCCESS)
        nvidia_end_gpm(nvml, device);
    device->gpm.begun = code == NVML_SUCCESS || nvml_availability(code) == VITALS_UNSUPPORTED;
    device->gpm.code = code;
    return code;
}

/* ---- figures ---- */

/* Sets the utilization of a partition; the driver reports that of a device itself. */
static void set_busy(struct nvidia_reader *reader, struct value ratio)
{
    struct nvidia_device *device = reader->device;
    if (!device->partition)
        return;
    struct value seconds = value_missing((vitals_availability)ratio.state);
    if (ratio.state > 0) {
        ratio.state = VITALS_ESTIMATE;
        seconds = value_f64(device->busy_seconds);
        seconds.state = VITALS_ESTIMATE;
    }
    device->gpm.busy = ratio;
    gpu_fill(reader->sample, VITALS_GPU_UTILIZATION_RATIO, ratio);
    gpu_fill(reader->sample, VITALS_GPU_BUSY_SECONDS, seconds);
}

static void set_all(struct nvidia_reader *reader, vitals_availability reason)
{
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        gpu_fill(reader->sample, rows[i].metric, value_missing(reason));
    set_busy(reader, value_missing(reason));
}

/* Percent, with at most a rounding error of the driver. */
static struct value ratio(const struct nvml_gpm_metric *metric)
{
    if (metric->result != NVML_SUCCESS)
        return value_missing(nvml_availability(metric->result));
    if (!(metric->value >= 0 && metric->value <= 100.5))
        return value_missing(VITALS_FAILED);
    return value_f64(metric->value < 100 ? metric->value / 100 : 1);
}

static void read_figures(struct nvidia_reader *reader, uint64_t window_ns)
{
    const struct nvidia_gpm *gpm = &reader->device->gpm;
    struct nvml_gpm_request request = {.version = NVML_GPM_VERSION,
                                       .older = gpm->samples[gpm->newer ^ 1],
                                       .newer = gpm->samples[gpm->newer]};
    vitals_metric metrics[ARRAY_COUNT(rows)];
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (!reader_wants(reader, rows[i].metric))
            continue;
        metrics[request.count] = rows[i].metric;
        request.metrics[request.count++].metric = rows[i].number;
    }
    unsigned count = request.count;
    if (wants_busy(reader))
        request.metrics[request.count++].metric = NVML_GPM_GRAPHICS;
    nvml_return code = NVML_CALL(reader->nvml, nvmlGpmMetricsGet, &request);
    for (unsigned i = 0; i < count; i++)
        reader_set(reader, metrics[i], code, ratio(&request.metrics[i]));
    if (wants_busy(reader)) {
        /* The utilization of a partition, and its integral over the time between the samples. */
        struct value busy = code == NVML_SUCCESS ? ratio(&request.metrics[count])
                                                 : value_missing(nvml_availability(code));
        if (busy.state > 0)
            reader->device->busy_seconds += busy.as.f64 * (double)window_ns / 1e9;
        set_busy(reader, busy);
    }
}

void nvidia_read_gpm(struct nvidia_reader *reader)
{
    struct nvidia_device *device = reader->device;
    bool is_wanted = wants_busy(reader);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        is_wanted |= reader_wants(reader, rows[i].metric);
    if (!is_wanted)
        return;
    uint64_t now_ns = reader->sample->stamp_ns, before_ns = device->gpm.taken_ns;
    nvml_device whole = nvidia_whole(reader->nvidia, device);
    vitals_availability allowed = may_read(reader->nvidia);
    nvml_return code = NVML_UNINITIALIZED;
    if (allowed > 0)
        code = device->gpm.begun ? device->gpm.code : begin(reader->nvml, device, whole);
    if (allowed < 0 || reader_check(reader, code) != NVML_SUCCESS) {
        device->gpm.taken_ns = 0;
        set_all(reader, allowed < 0 ? allowed : nvml_availability(code));
        return;
    }
    if (before_ns != 0 && now_ns - before_ns < SHORTEST_NS) {
        struct value busy = device->gpm.busy;
        set_all(reader, VITALS_NOT_YET);
        set_busy(reader, busy.state != VITALS_UNSET ? busy : value_missing(VITALS_NOT_YET));
        return;
    }

    nvml_gpm_sample sample = device->gpm.samples[device->gpm.newer ^ 1];
    code = NVML_NOT_SUPPORTED;
    if (!device->partition)
        code = NVML_CALL(reader->nvml, nvmlGpmSampleGet, whole, sample);
    else if (device->who.gpu_instance_id.state > 0)
        code = NVML_CALL(reader->nvml, nvmlGpmMigSampleGet, whole,
                         (unsigned)device->who.gpu_instance_id.as.u64, sample);
    if (reader_check(reader, code) == NVML_SUCCESS)
        device->gpm.newer ^= 1;
    device->gpm.taken_ns = code == NVML_SUCCESS ? now_ns : 0;
    if (code != NVML_SUCCESS)
        set_all(reader, nvml_availability(code));
    else if (before_ns == 0)
        set_all(reader, VITALS_NOT_YET);
    else
        read_figures(reader, now_ns - before_ns);
}
