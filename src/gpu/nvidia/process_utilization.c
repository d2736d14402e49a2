/* process_utilization.c: how much of a device each process used.
 *
 * The driver samples several times a second, keeps about ten seconds of samples, and returns those
 * newer than a given time, for processes that were active. They are summed over the time since the
 * last reading: the ratio is the mean over that window, weighted by time, and busy_seconds its
 * integral. So nothing between two ticks is lost; of a tick longer than ten seconds only the end is
 * seen, and is used for all of it.
 *
 * If an administrator has turned accounting on (nvidia-smi -am 1), the driver also keeps figures of
 * a process since it began to use the device. One call for each process: read only if a metric is
 * named. */
#include "gpu/nvidia/reader.h"
#include "util/memory.h"
#include "util/search.h"

#include <string.h>

enum { SAMPLES_FIRST = 128, SAMPLES_MAX = 4096 };
#define HOLD_NS NS_PER_SECOND /* every driver samples at least once a second */

/* Processes that are still listed keep their integrals. */
static bool follow_users(struct nvidia_device *device, const struct gpu_processes *list)
{
    if (list->count > device->spare_capacity) {
        struct nvidia_user *grown = memory_resize(device->spare, list->count, sizeof *grown);
        if (!grown)
            return false;
        device->spare = grown;
        device->spare_capacity = list->count;
    }
    struct nvidia_user *users = device->spare;
    size_t old = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        int64_t pid = list->items[i].pid;
        while (old < device->user_count && device->users[old].pid < pid)
            old++;
        users[i] = old < device->user_count && device->users[old].pid == pid
                       ? device->users[old]
                       : (struct nvidia_user){.pid = pid};
    }
    device->spare = device->users;
    device->users = users;
    size_t capacity = device->spare_capacity;
    device->spare_capacity = device->user_capacity;
    device->user_capacity = capacity;
    device->user_count = list->count;
    return true;
}

static struct nvidia_user *find_user(struct nvidia_device *device, unsigned pid)
{
    struct search_number number = {offsetof(struct nvidia_user, pid), pid};
    return search_find(device->users, device->user_count, sizeof *device->users, number);
}

/* The last second, if nothing was read yet or no process was active for long. */
static uint64_t recent_us(const struct nvidia *nvidia)
{
    const vitals_clock *clock = &nvidia->context->os.clock;
    uint64_t now_ns = clock->realtime_ns(clock->data);
    return now_ns > HOLD_NS ? (now_ns - HOLD_NS) / 1000 : 0;
}

/* Entries of the older function are smaller: they are widened in place, from the end. */
void nvidia_widen_samples(struct nvml_process_sample *samples, unsigned count)
{
    for (unsigned i = count; i-- > 0;) {
        struct nvml_process_sample_old old;
        memcpy(&old, (const char *)samples + i * sizeof old, sizeof old);
        samples[i] = (struct nvml_process_sample){.timestamp_us = old.timestamp_us,
                                                  .pid = old.pid,
                                                  .sm = old.sm,
                                                  .memory = old.memory,
                                                  .encoder = old.encoder,
                                                  .decoder = old.decoder};
    }
}

static nvml_return call_samples(const struct nvml *nvml, struct nvidia_device *device,
                                nvml_device handle, uint64_t since_us, unsigned *count)
{
    nvml_return code = NVML_INSUFFICIENT_SIZE;
    unsigned room = SAMPLES_FIRST;
    *count = 0;
    for (int tries = 0; tries < 3 && code == NVML_INSUFFICIENT_SIZE; tries++) {
        if (room > device->sample_room) {
            void *grown = room > SAMPLES_MAX
                              ? NULL
                              : memory_resize(device->samples, room, sizeof device->samples[0]);
            if (!grown)
                return code;
            device->samples = grown;
            device->sample_room = room;
        }
        memset(device->samples, 0, device->sample_room * sizeof device->samples[0]);
        *count = device->sample_room;
        if (device->old_samples) {
            code = NVML_CALL(nvml, nvmlDeviceGetProcessUtilization, handle, device->samples, count,
                             since_us);
        } else { /* since R550: all engines */
            struct nvml_process_samples request = {
                .version = NVML_STRUCT_VERSION(struct nvml_process_samples, 1),
                .count = *count,
                .last_seen_us = since_us,
                .entries = device->samples};
            code = NVML_CALL(nvml, nvmlDeviceGetProcessesUtilizationInfo, handle, &request);
            *count = request.count;
        }
        room = *count;
    }
    *count = *count < device->sample_room ? *count : device->sample_room;
    if (device->old_samples && code == NVML_SUCCESS)
        nvidia_widen_samples(device->samples, *count);
    return code;
}

/* Keeps valid samples, sorted by time; returns how many. They arrive nearly sorted. */
static unsigned sort_samples(struct nvidia_device *device, unsigned count, uint64_t since_us)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        struct nvml_process_sample sample = device->samples[i];
        /* A driver returns entries that it never wrote (nvtop issue 110), and, in a container,
         * samples of processes outside, whose pid may belong to another process inside. */
        if (!(sample.timestamp_us > since_us && sample.timestamp_us < EXACT_MAX &&
              sample.sm <= 100 && sample.memory <= 100 && sample.encoder <= 100 &&
              sample.decoder <= 100 && sample.jpeg <= 100 && sample.optical_flow <= 100 &&
              find_user(device, sample.pid) != NULL))
            continue;
        unsigned at = kept++;
        for (; at > 0 && device->samples[at - 1].timestamp_us > sample.timestamp_us; at--)
            device->samples[at] = device->samples[at - 1];
        device->samples[at] = sample;
    }
    return kept;
}

static void forget_ratios(struct nvidia_device *device, uint64_t until_us)
{
    for (size_t i = 0; i < device->user_count; i++) {
        memset(device->users[i].ratios, 0, sizeof device->users[i].ratios);
        device->users[i].until_us = until_us;
    }
}

unsigned nvidia_count_samples(struct nvidia_device *device, unsigned count, uint64_t since_us)
{
    unsigned kept = sort_samples(device, count, since_us);
    if (kept == 0)
        return 0;

    /* Each sample covers the time since the previous one of the same process, or since the cursor.
     * The first reading has no window: its newest samples are the ratios, and nothing is
     * counted. */
    uint64_t from_us = device->cursor_us, to_us = device->samples[kept - 1].timestamp_us;
    forget_ratios(device, from_us);
    for (unsigned i = 0; i < kept; i++) {
        const struct nvml_process_sample *sample = &device->samples[i];
        const unsigned percents[NVIDIA_UTILIZATIONS] = {sample->sm,      sample->memory,
                                                        sample->encoder, sample->decoder,
                                                        sample->jpeg,    sample->optical_flow};
        struct nvidia_user *user = find_user(device, sample->pid);
        double seconds = (double)(sample->timestamp_us - user->until_us) / 1e6;
        double weight = seconds / ((double)(to_us - from_us) / 1e6);
        for (size_t e = 0; e < ARRAY_COUNT(percents); e++) {
            double ratio = percents[e] / 100.0;
            user->ratios[e] = from_us == 0 ? ratio : user->ratios[e] + ratio * weight;
        }
        if (from_us != 0)
            user->busy_seconds += sample->sm / 100.0 * seconds;
        user->until_us = sample->timestamp_us;
    }
    device->cursor_us = to_us;
    return kept;
}

static nvml_return read_samples(const struct nvidia *nvidia, struct nvidia_device *device,
                                nvml_device handle)
{
    uint64_t since_us = device->cursor_us != 0 ? device->cursor_us : recent_us(nvidia);
    uint64_t now_ns = os_now_ns(&nvidia->context->os);
    unsigned count = 0;
    nvml_return code = call_samples(&nvidia->nvml, device, handle, since_us, &count);
    if (!device->old_samples && nvml_availability(code) == VITALS_UNSUPPORTED) {
        device->old_samples = true; /* the newer function is missing */
        code = call_samples(&nvidia->nvml, device, handle, since_us, &count);
    }
    if (code != NVML_SUCCESS && code != NVML_NOT_FOUND)
        return code;
    unsigned kept = code == NVML_SUCCESS ? nvidia_count_samples(device, count, since_us) : 0;
    if (kept > 0) {
        device->samples_ns = now_ns;
    } else if (now_ns - device->samples_ns >= HOLD_NS) { /* no sample for so long: idle */
        device->cursor_us = recent_us(nvidia);
        forget_ratios(device, device->cursor_us);
    }
    return NVML_SUCCESS;
}

/* In the order of the driver's samples. */
static const vitals_metric metrics[NVIDIA_UTILIZATIONS] = {
    VITALS_GPU_PROCESS_UTILIZATION_RATIO, VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO,
    VITALS_GPU_PROCESS_ENCODER_RATIO,     VITALS_GPU_PROCESS_DECODER_RATIO,
    VITALS_GPU_PROCESS_JPEG_RATIO,        VITALS_GPU_PROCESS_OPTICAL_FLOW_RATIO};
enum { OLD_SHARES = 4 }; /* reported by the older function */

void nvidia_read_utilizations(const struct nvidia *nvidia, struct nvidia_device *device,
                              nvml_device handle, const struct metric_set *wanted,
                              struct gpu_processes *out)
{
    bool is_wanted = metric_set_has(wanted, VITALS_GPU_PROCESS_BUSY_SECONDS);
    for (size_t i = 0; i < ARRAY_COUNT(metrics); i++)
        is_wanted |= metric_set_has(wanted, metrics[i]);
    if (!is_wanted)
        return;
    vitals_availability state = VITALS_UNSUPPORTED; /* not available for a partition */
    if (out->count == 0)
        device->cursor_us = 0; /* the next process at this index starts at 0 */
    if (!follow_users(device, out))
        state = VITALS_FAILED;
    else if (!device->partition && out->count > 0)
        state = nvml_availability(read_samples(nvidia, device, handle));
    for (uint32_t i = 0; i < out->count; i++) {
        struct value *at = out->items[i].at;
        struct value busy = value_missing(state);
        for (size_t j = 0; j < ARRAY_COUNT(metrics); j++) {
            struct value share = value_missing(state);
            if (state > 0 && j >= OLD_SHARES && device->old_samples)
                share = value_missing(VITALS_UNSUPPORTED);
            else if (state > 0)
                share = value_f64(device->users[i].ratios[j] < 1 ? device->users[i].ratios[j] : 1);
            at[metric_number(metrics[j])] = share;
        }
        if (state > 0) {
            busy = value_f64(device->users[i].busy_seconds);
            busy.state = VITALS_SAMPLED;
        }
        at[metric_number(VITALS_GPU_PROCESS_BUSY_SECONDS)] = busy;
    }
}

/* ---- accounting ---- */

static const vitals_metric account_metrics[] = {
    VITALS_GPU_PROCESS_MEMORY_PEAK_BYTES, VITALS_GPU_PROCESS_MEAN_UTILIZATION_RATIO,
    VITALS_GPU_PROCESS_MEAN_MEMORY_BUSY_RATIO, VITALS_GPU_PROCESS_ACCOUNTED_SECONDS};

static struct value percent(unsigned number)
{
    return number == NVML_NOT_AVAILABLE_32 ? value_missing(VITALS_UNSUPPORTED)
                                           : gpu_fill_percent(number, 100);
}

/* Stops after the first process if accounting is off for the device. */
void nvidia_read_accounts(const struct nvidia *nvidia, nvml_device handle,
                          const struct metric_set *wanted, struct gpu_processes *out)
{
    const vitals_clock *clock = &nvidia->context->os.clock;
    nvml_return code = NVML_SUCCESS;
    bool is_wanted = false;
    for (size_t i = 0; i < ARRAY_COUNT(account_metrics); i++)
        is_wanted |= metric_set_has(wanted, account_metrics[i]);
    if (!is_wanted)
        return;
    uint64_t now_us = clock->realtime_ns(clock->data) / 1000;
    for (uint32_t i = 0; i < out->count; i++) {
        struct nvml_accounting stats = {0};
        if (code == NVML_SUCCESS || code == NVML_NOT_FOUND)
            code = NVML_CALL(&nvidia->nvml, nvmlDeviceGetAccountingStats, handle,
                             (unsigned)out->items[i].pid, &stats);

        /* For a process that still runs the driver only reports when it began. */
        struct value seconds = nvml_amount(stats.time_ms, 1e-3, EXACT_MAX);
        if (stats.time_ms == 0 && stats.running) {
            seconds = value_f64((double)(now_us - stats.start_us) / 1e6);
            seconds.state = VITALS_ESTIMATE;
            if (stats.start_us == 0 || stats.start_us > now_us)
                seconds = value_missing(VITALS_NOT_YET);
        }
        const struct value values[ARRAY_COUNT(account_metrics)] = {
            nvml_count(stats.max_memory_bytes, EXACT_MAX), percent(stats.utilization),
            percent(stats.memory_utilization), seconds};
        struct value missing = value_missing(code == NVML_NOT_FOUND ? VITALS_UNSUPPORTED
                                                                    : nvml_availability(code));
        for (size_t j = 0; j < ARRAY_COUNT(account_metrics); j++)
            out->items[i].at[metric_number(account_metrics[j])] = code == NVML_SUCCESS ? values[j]
                                                                                       : missing;
    }
}
