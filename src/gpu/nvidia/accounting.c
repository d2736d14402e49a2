/* accounting.c: what the driver keeps of a process from its first day on the device, where an
 * administrator has turned that on (nvidia-smi -am 1). One call a process: by name only. */
#include "gpu/nvidia/errors.h"
#include "gpu/nvidia/reader.h"

/* Without room the driver only says how many there are. */
void nvidia_read_accounting_pids(struct nvidia_reader *reader)
{
    unsigned count = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetAccountingPids, &count, NULL);
    if (code == NVML_INSUFFICIENT_SIZE)
        code = NVML_SUCCESS;
    reader_set(reader, VITALS_GPU_ACCOUNTING_PIDS, code, nvml_count(count, 1 << 24));
}

static const vitals_metric metrics[] = {
    VITALS_GPU_PROCESS_MEMORY_PEAK_BYTES, VITALS_GPU_PROCESS_MEAN_UTILIZATION_RATIO,
    VITALS_GPU_PROCESS_MEAN_MEMORY_BUSY_RATIO, VITALS_GPU_PROCESS_ACCOUNTED_SECONDS};

static struct value percent(unsigned number)
{
    return number == NVML_NOT_AVAILABLE_32 ? value_missing(VITALS_UNSUPPORTED)
                                           : gpu_fill_percent(number, 100);
}

/* Of a process that still runs the driver only says when it began. */
static struct value seconds(const struct nvml_accounting *stats, uint64_t now_us)
{
    if (stats->time_ms != 0 || !stats->running)
        return nvml_amount(stats->time_ms, 1e-3, EXACT_MAX);
    if (stats->start_us == 0 || stats->start_us > now_us)
        return value_missing(VITALS_NOT_YET);
    struct value value = value_f64((double)(now_us - stats->start_us) / 1e6);
    value.state = VITALS_ESTIMATE;
    return value;
}

static void set_stats(struct gpu_process *item, const struct nvml_accounting *stats,
                      uint64_t now_us)
{
    const struct value values[ARRAY_COUNT(metrics)] = {
        nvml_count(stats->max_memory_bytes, EXACT_MAX), percent(stats->utilization),
        percent(stats->memory_utilization), seconds(stats, now_us)};
    for (size_t i = 0; i < ARRAY_COUNT(metrics); i++)
        item->at[metric_number(metrics[i])] = values[i];
}

static bool is_wanted(const struct metric_set *wanted)
{
    for (size_t i = 0; i < ARRAY_COUNT(metrics); i++) {
        if (metric_set_has(wanted, metrics[i]))
            return true;
    }
    return false;
}

/* Stops after the first process if accounting is off for the device. */
void nvidia_read_accounts(const struct nvidia *nvidia, nvml_device handle,
                          const struct metric_set *wanted, struct gpu_processes *out)
{
    const vitals_clock *clock = &nvidia->context->os.clock;
    nvml_return code = NVML_SUCCESS;
    if (!is_wanted(wanted))
        return;
    uint64_t now_us = clock->realtime_ns(clock->data) / 1000;
    for (uint32_t i = 0; i < out->count; i++) {
        struct nvml_accounting stats = {0};
        if (code == NVML_SUCCESS || code == NVML_NOT_FOUND)
            code = NVML_CALL(&nvidia->nvml, nvmlDeviceGetAccountingStats, handle,
                             (unsigned)out->items[i].pid, &stats);
        if (code == NVML_SUCCESS) {
            set_stats(&out->items[i], &stats, now_us);
            continue;
        }
        for (size_t m = 0; m < ARRAY_COUNT(metrics); m++)
            out->items[i].at[metric_number(metrics[m])] = value_missing(
                code == NVML_NOT_FOUND ? VITALS_UNSUPPORTED : nvml_availability(code));
    }
}
