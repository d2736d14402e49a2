/* memory.c: use of a device's memory and of its BAR1 window. A device without memory of its own
 * (Grace, Tegra) reports that it has none, or that this is not supported: it uses the machine's
 * memory, and the figures are estimates from the kernel's. */
#include "util/memory.h"
#include "gpu/nvidia/reader.h"

static const vitals_metric metrics[] = {
    VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_FREE_BYTES,
    VITALS_GPU_MEMORY_RESERVED_BYTES, VITALS_GPU_UNIFIED_MEMORY};

static void set_none(struct nvidia_reader *reader, nvml_return code)
{
    for (size_t i = 0; i < ARRAY_COUNT(metrics); i++)
        reader_set(reader, metrics[i], code, value_u64(0));
}

static struct value estimate(uint64_t bytes)
{
    return (struct value){.as.u64 = bytes, .state = VITALS_ESTIMATE};
}

/* Sets figures from the machine's memory, if the kernel reports it. A partition has a part of the
 * memory, or reports none. */
static void set_unified(struct nvidia_reader *reader)
{
    static const vitals_metric wanted[] = {VITALS_HOST_MEMORY_TOTAL_BYTES,
                                           VITALS_HOST_MEMORY_AVAILABLE_BYTES};
    struct metric_set set = {0};
    struct value found[ARRAY_COUNT(wanted)];
    struct os_host host;
    set_none(reader, NVML_NOT_SUPPORTED);
    struct os_machine *machine = reader->device->partition ? NULL : memory_alloc(sizeof *machine);
    if (!machine)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(wanted); i++)
        metric_set_add(&set, wanted[i]);
    os_host_init(&host);
    os_host_read(&host, &reader->nvidia->context->os, &set, machine);
    for (size_t i = 0; i < ARRAY_COUNT(wanted); i++)
        found[i] = machine->values.at[metric_number(wanted[i])];
    os_host_done(&host);
    os_machine_done(machine);
    memory_free(machine);
    uint64_t total = found[0].as.u64, available = found[1].as.u64;
    if (found[0].state <= 0 || found[1].state <= 0 || available > total)
        return;
    gpu_fill(reader->sample, VITALS_GPU_MEMORY_TOTAL_BYTES, estimate(total));
    gpu_fill(reader->sample, VITALS_GPU_MEMORY_USED_BYTES, estimate(total - available));
    gpu_fill(reader->sample, VITALS_GPU_MEMORY_FREE_BYTES, estimate(available));
    gpu_fill(reader->sample, VITALS_GPU_UNIFIED_MEMORY, value_u64(1));
}

/* More than the total is implausible. */
static struct value bytes(uint64_t part, uint64_t total)
{
    if (part == NVML_NOT_AVAILABLE_64)
        return value_missing(VITALS_UNSUPPORTED);
    return part <= total && part <= EXACT_MAX ? value_u64(part) : value_missing(VITALS_FAILED);
}

/* The first version of the call counts reserved memory as used (nvitop issue 13), and does not
 * report it separately. It is called where the driver or the device lacks the second. */
void nvidia_read_memory(struct nvidia_reader *reader)
{
    struct nvml_memory_v2 now = {.version = NVML_STRUCT_VERSION(struct nvml_memory_v2, 2)};
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetMemoryInfo_v2, &now);
    bool newer = nvml_availability(code) != VITALS_UNSUPPORTED, wanted = false;
    for (size_t i = 0; i < ARRAY_COUNT(metrics); i++)
        wanted = wanted || (metrics[i] != VITALS_GPU_MEMORY_RESERVED_BYTES &&
                            reader_wants(reader, metrics[i]));
    if (!newer && wanted) {
        struct nvml_memory old = {0};
        code = READER_ASK(reader, 0, nvmlDeviceGetMemoryInfo, &old);
        now = (struct nvml_memory_v2){.total = old.total, .used = old.used, .free = old.free};
    }
    bool is_none = now.total == 0 || now.total == NVML_NOT_AVAILABLE_64;
    if (code == NVML_NOT_SUPPORTED || (code == NVML_SUCCESS && is_none)) {
        set_unified(reader);
    } else if (code != NVML_SUCCESS) {
        set_none(reader, code);
    } else {
        struct value none = value_missing(VITALS_UNSUPPORTED);
        gpu_fill(reader->sample, VITALS_GPU_MEMORY_TOTAL_BYTES, nvml_count(now.total, EXACT_MAX));
        gpu_fill(reader->sample, VITALS_GPU_MEMORY_USED_BYTES, bytes(now.used, now.total));
        gpu_fill(reader->sample, VITALS_GPU_MEMORY_FREE_BYTES, bytes(now.free, now.total));
        gpu_fill(reader->sample, VITALS_GPU_MEMORY_RESERVED_BYTES,
                 newer ? bytes(now.reserved, now.total) : none);
        gpu_fill(reader->sample, VITALS_GPU_UNIFIED_MEMORY, value_u64(0));
    }
}

/* One call for the whole table. */
void nvidia_read_bar1(struct nvidia_reader *reader)
{
    struct nvml_bar1_memory now = {0};
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetBAR1MemoryInfo, &now);
    reader_set_child(reader, VITALS_GPU_POOL_TOTAL_BYTES, "bar1", code,
                     nvml_count(now.total, EXACT_MAX));
    reader_set_child(reader, VITALS_GPU_POOL_USED_BYTES, "bar1", code, bytes(now.used, now.total));
}
