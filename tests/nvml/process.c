/*
 * process.c - answers about processes: the lists in their three layouts, utilization samples old
 * and new, accounting. The driver's habits that programs trip over are here, each with its source.
 */
#include "call.h"
#include "variant.h"

#include <string.h>
#include <time.h>

/* The number, or `missing` where the scenario has none. */
static uint64_t read_or(struct call *call, struct value *value, uint64_t missing)
{
    uint64_t number;
    return value_read(value, call->elapsed_ns, &number) == NVML_SUCCESS ? number : missing;
}

/* A GPU's handle lists the processes of all its instances, an instance's its own. */
static bool is_on(struct call *call, struct process *process)
{
    uint64_t gpu_instance, compute_instance;
    if (process->gpu != call->gpu)
        return false;
    if (call->mig < 0)
        return true;
    struct value *fields = call->device->fields;
    return value_peek(&fields[FIELD_GPU_INSTANCE], 0, &gpu_instance) == NVML_SUCCESS &&
           value_peek(&fields[FIELD_COMPUTE_INSTANCE], 0, &compute_instance) == NVML_SUCCESS &&
           read_or(call, &process->gpu_instance, UINT64_MAX) == gpu_instance &&
           read_or(call, &process->compute_instance, UINT64_MAX) == compute_instance;
}

/* -- lists ----------------------------------------------------------------------------------------
 */

static bool is_listed(struct call *call, struct process *process, unsigned kinds)
{
    return process->running && process->listed && (process->kinds & kinds) && is_on(call, process);
}

static unsigned count_listed(struct call *call, unsigned kinds)
{
    unsigned count = 0;
    for (size_t i = 0; i < call->scenario->process_count; i++)
        count += is_listed(call, &call->scenario->processes[i], kinds);
    return count;
}

static struct nvml_process_confidential describe(struct call *call, struct process *process)
{
    return (struct nvml_process_confidential){
        .pid = process->pid,
        .memory = read_or(call, &process->memory, NVML_NOT_AVAILABLE_64),
        .gpu_instance = (unsigned)read_or(call, &process->gpu_instance, NVML_NOT_AVAILABLE_32),
        .compute_instance = (unsigned)read_or(call, &process->compute_instance,
                                              NVML_NOT_AVAILABLE_32),
        .protected_memory = read_or(call, &process->protected_memory, NVML_NOT_AVAILABLE_64),
    };
}

/* Each layout is a prefix of the next. The newest function of a variant writes what the scenario's
 * process_layout says, and 535.54 wrote 32 bytes where 535.104 writes 24 (nvitop issues 75, 94). */
static size_t entry_size(const struct scenario *scenario, enum process_layout layout)
{
    static const size_t sizes[] = {
        [LAYOUT_V1] = sizeof(struct nvml_process_v1),
        [LAYOUT_V2] = sizeof(struct nvml_process_v2),
        [LAYOUT_V3] = sizeof(struct nvml_process_v2),
        [LAYOUT_V3_CONFIDENTIAL] = sizeof(struct nvml_process_confidential),
    };
    int variant = simulated_variant.number;
    enum process_layout newest = variant >= DRIVER_R535_54 ? LAYOUT_V3
                                 : variant >= DRIVER_R470  ? LAYOUT_V2
                                                           : LAYOUT_V1;
    if (layout == newest && scenario->process_layout != LAYOUT_DRIVER)
        return sizes[scenario->process_layout];
    if (layout == LAYOUT_V3 && variant == DRIVER_R535_54)
        return sizes[LAYOUT_V3_CONFIDENTIAL];
    return sizes[layout];
}

nvml_return answer_processes(struct call *call, unsigned kinds, enum process_layout layout,
                             unsigned *count, void *entries)
{
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    unsigned room = *count;
    *count = count_listed(call, kinds);
    if (*count > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    if (*count > 0 && !entries)
        return NVML_ERROR_INVALID_ARGUMENT;
    char *out = entries;
    size_t size = entry_size(call->scenario, layout);
    for (size_t i = 0; i < call->scenario->process_count; i++) {
        struct process *process = &call->scenario->processes[i];
        if (!is_listed(call, process, kinds))
            continue;
        struct nvml_process_confidential entry = describe(call, process);
        memcpy(out, &entry, size);
        out += size;
    }
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetRunningProcessDetailList(struct call *call,
                                                         struct nvml_process_list *list)
{
    static const unsigned kinds[] = {PROCESS_COMPUTE, PROCESS_GRAPHICS, PROCESS_MPS};
    if (!list || list->mode >= sizeof kinds / sizeof kinds[0])
        return NVML_ERROR_INVALID_ARGUMENT;
    if (list->version != NVML_STRUCT_VERSION(struct nvml_process_list, 1))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    unsigned room = list->entries ? list->count : 0, written = 0;
    list->count = count_listed(call, kinds[list->mode]);
    if (list->count > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (size_t i = 0; i < call->scenario->process_count; i++) {
        struct process *process = &call->scenario->processes[i];
        if (is_listed(call, process, kinds[list->mode]))
            list->entries[written++] = describe(call, process);
    }
    return NVML_SUCCESS;
}

/* -- utilization
 * ----------------------------------------------------------------------------------- */

/* What has been found in the buffers of real drivers beside true samples (Syllo/nvtop issue 110).
 */
static const struct nvml_process_sample_v1 garbage[] = {
    {.timestamp_us = 0, .pid = 0, .sm = 0, .memory = 0},
    {.timestamp_us = UINT64_MAX,
     .pid = UINT32_MAX,
     .sm = 3735928559u,
     .memory = 2147483648u,
     .encoder = 4026531840u,
     .decoder = UINT32_MAX,
     .jpeg = 255,
     .ofa = 101},
    {.timestamp_us = 139637976727552u, .pid = 32512, .sm = 1000, .memory = 32767},
};

/* When the driver took its newest sample. */
static uint64_t newest_sample_us(const struct scenario *scenario)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t us = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
    uint64_t period_us = scenario->sample_period_ns / 1000u;
    return period_us ? us / period_us * period_us : us;
}

/* Only processes that did something since the last sample are spoken of. */
static bool is_sampled(struct call *call, struct process *process)
{
    if (!process->running || !is_on(call, process))
        return false;
    for (size_t i = 0; i < ENGINES; i++) {
        uint64_t number;
        if (value_peek(&process->engines[i], call->elapsed_ns, &number) == NVML_SUCCESS && number)
            return true;
    }
    return false;
}

/* How many samples there are, garbage included; at most `room` of them are written. A room of 0
 * moves nothing on. */
static unsigned take_samples(struct call *call, uint64_t last_seen_us, unsigned room,
                             struct nvml_process_sample_v1 *out)
{
    unsigned count = 0;
    uint64_t at_us = newest_sample_us(call->scenario), bogus = 0;
    value_peek(&call->device->fields[FIELD_GARBAGE_SAMPLES], call->elapsed_ns, &bogus);
    for (size_t i = 0; i < call->scenario->process_count && at_us > last_seen_us; i++) {
        struct process *process = &call->scenario->processes[i];
        if (!is_sampled(call, process))
            continue;
        if (count < room) {
            unsigned engines[ENGINES];
            for (size_t e = 0; e < ENGINES; e++)
                engines[e] = (unsigned)read_or(call, &process->engines[e], 0);
            out[count] = (struct nvml_process_sample_v1){
                .timestamp_us = at_us,
                .pid = process->pid,
                .sm = engines[ENGINE_SM],
                .memory = engines[ENGINE_MEMORY],
                .encoder = engines[ENGINE_ENCODER],
                .decoder = engines[ENGINE_DECODER],
                .jpeg = engines[ENGINE_JPEG],
                .ofa = engines[ENGINE_OFA],
            };
        }
        count++;
    }
    for (uint64_t i = 0; i < bogus; i++, count++) {
        if (count < room)
            out[count] = garbage[i % (sizeof garbage / sizeof garbage[0])];
    }
    return count;
}

enum { SAMPLES_MAX = 1024 };

/* Common to both functions: 0 if the caller's room is enough and *count samples are in `out`. */
static nvml_return answer_samples(struct call *call, uint64_t last_seen_us, unsigned room,
                                  unsigned *count, struct nvml_process_sample_v1 *out)
{
    uint64_t mig_mode = 0;
    value_peek(&call->device->fields[FIELD_MIG_MODE], call->elapsed_ns, &mig_mode);
    if (call->mig >= 0 || mig_mode == 1)
        return NVML_ERROR_NOT_SUPPORTED;
    unsigned found = take_samples(call, last_seen_us, 0, NULL);
    unsigned slots = call->scenario->sample_slots;
    *count = found < slots ? slots : found;
    if (found == 0)
        return *count = 0, NVML_ERROR_NOT_FOUND;
    if (room < found)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    *count = take_samples(call, last_seen_us, room < SAMPLES_MAX ? room : SAMPLES_MAX, out);
    if (*count > SAMPLES_MAX)
        *count = SAMPLES_MAX;
    return NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetProcessUtilization(struct call *call,
                                                   struct nvml_process_sample *samples,
                                                   unsigned *count, uint64_t last_seen_us)
{
    struct nvml_process_sample_v1 all[SAMPLES_MAX];
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvml_return result = answer_samples(call, last_seen_us, samples ? *count : 0, count, all);
    for (unsigned i = 0; result == NVML_SUCCESS && i < *count; i++)
        samples[i] = (struct nvml_process_sample){
            .pid = all[i].pid,
            .timestamp_us = all[i].timestamp_us,
            .sm = all[i].sm,
            .memory = all[i].memory,
            .encoder = all[i].encoder,
            .decoder = all[i].decoder,
        };
    return result;
}

nvml_return answer_nvmlDeviceGetProcessesUtilizationInfo(struct call *call,
                                                         struct nvml_process_samples *samples)
{
    struct nvml_process_sample_v1 all[SAMPLES_MAX];
    if (!samples)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (samples->version != NVML_STRUCT_VERSION(struct nvml_process_samples, 1))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvml_return result = answer_samples(
        call, samples->last_seen_us, samples->entries ? samples->count : 0, &samples->count, all);
    if (result == NVML_SUCCESS)
        memcpy(samples->entries, all, samples->count * sizeof all[0]);
    return result;
}

/* -- accounting
 * ------------------------------------------------------------------------------------ */

static nvml_return check_accounting(struct call *call)
{
    uint64_t enabled;
    nvml_return result = read_field(call, FIELD_ACCOUNTING, &enabled);
    return result == NVML_SUCCESS && !enabled ? NVML_ERROR_NOT_SUPPORTED : result;
}

/* Unlike the lists, accounting knows processes that have ended. */
nvml_return answer_nvmlDeviceGetAccountingPids(struct call *call, unsigned *count, unsigned *pids)
{
    nvml_return result = count ? check_accounting(call) : NVML_ERROR_INVALID_ARGUMENT;
    if (result != NVML_SUCCESS)
        return result;
    unsigned room = pids ? *count : 0;
    *count = 0;
    for (size_t i = 0; i < call->scenario->process_count; i++) {
        struct process *process = &call->scenario->processes[i];
        if (!is_on(call, process))
            continue;
        if (*count < room)
            pids[*count] = process->pid;
        ++*count;
    }
    return *count > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

nvml_return answer_nvmlDeviceGetAccountingStats(struct call *call, unsigned pid,
                                                struct nvml_accounting *stats)
{
    nvml_return result = stats ? check_accounting(call) : NVML_ERROR_INVALID_ARGUMENT;
    if (result != NVML_SUCCESS)
        return result;
    for (size_t i = 0; i < call->scenario->process_count; i++) {
        struct process *process = &call->scenario->processes[i];
        if (process->pid != pid || !is_on(call, process))
            continue;
        uint64_t memory = read_or(call, &process->memory, NVML_NOT_AVAILABLE_64);
        *stats = (struct nvml_accounting){
            .gpu_utilization = (unsigned)read_or(call, &process->engines[ENGINE_SM],
                                                 NVML_NOT_AVAILABLE_32),
            .memory_utilization = (unsigned)read_or(call, &process->engines[ENGINE_MEMORY],
                                                    NVML_NOT_AVAILABLE_32),
            .max_memory = read_or(call, &process->max_memory, memory),
            .time_ms = process->running ? 0 : read_or(call, &process->time_ms, 0),
            .start_us = read_or(call, &process->start_us, 0),
            .running = process->running,
        };
        return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
}
