/* processes.c: who is on a device, and how much of it each process used.
 *
 * Lists. Compute and graphics processes come in two lists and are one row each. Entries have had
 * 16, 24 and 32 bytes, and not always those that the function's name promises (nvitop issues 75,
 * 88, 94), so that the layout is found out from what the driver wrote and proven by what it says.
 *
 * Shares. The driver samples some times a second, keeps about ten seconds of it, and tells what is
 * newer than a moment that we give, of processes that did something. We sum that up over the time
 * since our last reading: the ratio is its mean over that window, weighted by time, busy_seconds
 * its integral. So nothing between two ticks is lost; of a tick longer than those ten seconds only
 * its end is seen, and stands for the whole. */
#include "core/memory.h"
#include "gpu/fill.h"
#include "gpu/nvidia/errors.h"
#include "gpu/nvidia/state.h"

#include <string.h>

enum {
    PID_MAX = 1 << 22,  /* the kernel's, on 64 bits */
    INSTANCE_MAX = 256, /* far above any GPU or compute instance's number */
    ENTRIES_FIRST = 32, /* room for processes and samples; grows where it must */
    SAMPLES_FIRST = 128,
    ROOM_MAX = 4096
};
#define HOLD_NS NS_PER_SECOND /* no driver is slower than one sample a second */

/* ---- lists: layout ---- */

/* Bytes of an entry, as far as the driver wrote: 0 where that is none of the layouts. */
static size_t written_layout(const unsigned char *bytes, size_t room, size_t count)
{
    while (room > 0 && bytes[room - 1] == NVIDIA_UNWRITTEN)
        room--;
    static const size_t layouts[] = {NVML_PROCESS_V1, NVML_PROCESS_V2, NVML_PROCESS_CONFIDENTIAL};
    for (size_t i = 0; i < ARRAY_COUNT(layouts); i++) {
        if (room == layouts[i] * count)
            return layouts[i];
    }
    return 0;
}

static struct nvml_process entry_at(const unsigned char *bytes, size_t layout, size_t index)
{
    struct nvml_process entry = {.gpu_instance = NVML_NOT_AVAILABLE_32,
                                 .compute_instance = NVML_NOT_AVAILABLE_32};
    memcpy(&entry, bytes + index * layout, layout);
    return entry;
}

static bool is_instance(unsigned number)
{
    return number < INSTANCE_MAX || number == NVML_NOT_AVAILABLE_32;
}

/* Read with the wrong layout, memory and padding become pids. */
static bool is_plausible(const unsigned char *bytes, size_t layout, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct nvml_process entry = entry_at(bytes, layout, i);
        if (entry.pid == 0 || entry.pid >= PID_MAX || !is_instance(entry.gpu_instance) ||
            !is_instance(entry.compute_instance))
            return false;
    }
    return true;
}

/* What was written goes first, then what the function is said to write. */
static size_t choose_layout(const struct nvidia_list *list)
{
    const size_t candidates[] = {written_layout(list->bytes, list->room, list->count),
                                 list->promised, NVML_PROCESS_V2, NVML_PROCESS_CONFIDENTIAL,
                                 NVML_PROCESS_V1};
    for (size_t i = 0; i < ARRAY_COUNT(candidates); i++) {
        size_t layout = candidates[i];
        if (layout != 0 && list->count <= list->room / layout &&
            is_plausible(list->bytes, layout, list->count))
            return layout;
    }
    return 0;
}

/* Into the order of pids. Listed twice is the same memory seen twice: never a sum. */
static void add_process(struct gpu_processes *out, const struct nvml_process *entry, bool graphics)
{
    uint32_t at = out->count;
    while (at > 0 && out->items[at - 1].pid > (int64_t)entry->pid)
        at--;
    struct value memory = entry->memory_bytes == NVML_NOT_AVAILABLE_64
                              ? value_missing(VITALS_UNSUPPORTED)
                              : value_u64(entry->memory_bytes);
    if (at == 0 || out->items[at - 1].pid != (int64_t)entry->pid) {
        if (out->count == GPU_PROCESSES_MAX) {
            out->cut = true;
            return;
        }
        memmove(&out->items[at + 1], &out->items[at], (out->count - at) * sizeof out->items[0]);
        out->items[at] = (struct gpu_process){.pid = entry->pid, .memory_used_bytes = memory};
        out->count++;
        at++;
    }
    struct gpu_process *item = &out->items[at - 1];
    item->compute = item->compute || !graphics;
    item->graphics = item->graphics || graphics;
    struct value *known = &item->memory_used_bytes;
    if (memory.state > 0 && (known->state <= 0 || memory.as.u64 > known->as.u64))
        *known = memory;
}

bool nvidia_decode_list(const struct nvidia_list *list, struct gpu_processes *out)
{
    size_t layout = choose_layout(list);
    for (size_t i = 0; layout != 0 && i < list->count; i++) {
        struct nvml_process entry = entry_at(list->bytes, layout, i);
        add_process(out, &entry, list->graphics);
    }
    return layout != 0;
}

/* ---- lists: reading ---- */

/* The functions for one kind of process, newest first, and what each is said to write. */
struct list_call {
    nvml_processes_call *read;
    size_t promised;
};

/* 535.54 wrote the layout for confidential computing under the name of the one before; later
 * drivers have a list of its own for that. */
static size_t newest_layout(const struct nvml *nvml)
{
    return nvml->nvmlDeviceGetConfComputeMemSizeInfo && !nvml->nvmlDeviceGetRunningProcessDetailList
               ? NVML_PROCESS_CONFIDENTIAL
               : NVML_PROCESS_V2;
}

static bool make_room(struct nvidia_device *device, unsigned entries)
{
    if (entries > ROOM_MAX)
        return false;
    if (entries <= device->list_room)
        return true;
    void *grown = memory_resize(device->list, entries, NVML_PROCESS_CONFIDENTIAL);
    if (!grown)
        return false;
    device->list = grown;
    device->list_room = entries;
    return true;
}

/* Calls the driver, with more room where it wants more; processes may come while we ask. */
static nvml_return call_list(struct nvidia_device *device, nvml_device handle,
                             nvml_processes_call *read, unsigned *count)
{
    nvml_return code = NVML_INSUFFICIENT_SIZE;
    unsigned room = ENTRIES_FIRST;
    for (int tries = 0; tries < 4 && code == NVML_INSUFFICIENT_SIZE; tries++) {
        if (!make_room(device, room))
            return NVML_INSUFFICIENT_SIZE;
        memset(device->list, NVIDIA_UNWRITTEN,
               (size_t)device->list_room * NVML_PROCESS_CONFIDENTIAL);
        *count = device->list_room;
        code = read(handle, count, device->list);
        room = *count < ROOM_MAX / 2 ? 2 * *count + 5 : ROOM_MAX;
    }
    return code == NVML_SUCCESS && *count > device->list_room ? NVML_INSUFFICIENT_SIZE : code;
}

static vitals_availability read_list(struct nvidia_device *device, nvml_device handle,
                                     const struct list_call calls[3], bool graphics,
                                     struct gpu_processes *out)
{
    nvml_return code = NVML_FUNCTION_NOT_FOUND;
    unsigned count = 0;
    size_t promised = 0;
    for (size_t i = 0; i < 3 && code == NVML_FUNCTION_NOT_FOUND; i++) {
        promised = calls[i].promised;
        if (calls[i].read)
            code = call_list(device, handle, calls[i].read, &count);
    }
    if (code != NVML_SUCCESS)
        return nvml_availability(code);
    const struct nvidia_list list = {.bytes = device->list,
                                     .room = (size_t)device->list_room * NVML_PROCESS_CONFIDENTIAL,
                                     .count = count,
                                     .promised = promised,
                                     .graphics = graphics};
    return nvidia_decode_list(&list, out) ? VITALS_HAVE : VITALS_FAILED;
}

/* Known where one list is, and the other is at most something that the device does not have. */
static vitals_availability read_lists(const struct nvidia *nvidia, struct nvidia_device *device,
                                      nvml_device handle, struct gpu_processes *out)
{
    const struct nvml *nvml = &nvidia->nvml;
    size_t newest = newest_layout(nvml);
    const struct list_call compute[3] = {
        {nvml->nvmlDeviceGetComputeRunningProcesses_v3, newest},
        {nvml->nvmlDeviceGetComputeRunningProcesses_v2, NVML_PROCESS_V2},
        {nvml->nvmlDeviceGetComputeRunningProcesses, NVML_PROCESS_V1}};
    const struct list_call graphics[3] = {
        {nvml->nvmlDeviceGetGraphicsRunningProcesses_v3, newest},
        {nvml->nvmlDeviceGetGraphicsRunningProcesses_v2, NVML_PROCESS_V2},
        {nvml->nvmlDeviceGetGraphicsRunningProcesses, NVML_PROCESS_V1}};
    vitals_availability state = read_list(device, handle, compute, false, out);
    if (state < 0 && state != VITALS_UNSUPPORTED)
        return state;
    vitals_availability second = read_list(device, handle, graphics, true, out);
    return second == VITALS_UNSUPPORTED ? state : second;
}

/* ---- shares ---- */

/* Those who are still listed keep their integrals. */
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
    size_t low = 0, high = device->user_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (device->users[middle].pid < (int64_t)pid)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < device->user_count && device->users[low].pid == (int64_t)pid;
    return found ? &device->users[low] : NULL;
}

/* Where nothing was read yet, or nobody did anything for long: the last second. */
static uint64_t recent_us(const struct nvidia *nvidia)
{
    const vitals_clock *clock = &nvidia->context->os.clock;
    uint64_t now_ns = clock->realtime_ns(clock->data);
    return now_ns > HOLD_NS ? (now_ns - HOLD_NS) / 1000 : 0;
}

static nvml_return call_samples(const struct nvidia *nvidia, struct nvidia_device *device,
                                nvml_device handle, uint64_t since_us, unsigned *count)
{
    nvml_return code = NVML_INSUFFICIENT_SIZE;
    unsigned room = SAMPLES_FIRST;
    for (int tries = 0; tries < 3 && code == NVML_INSUFFICIENT_SIZE && room <= ROOM_MAX; tries++) {
        if (room > device->sample_room) {
            void *grown = memory_resize(device->samples, room, sizeof device->samples[0]);
            if (!grown)
                return code;
            device->samples = grown;
            device->sample_room = room;
        }
        memset(device->samples, 0, device->sample_room * sizeof device->samples[0]);
        *count = device->sample_room;
        code = NVML_CALL(&nvidia->nvml, nvmlDeviceGetProcessUtilization, handle, device->samples,
                         count, since_us);
        room = *count;
    }
    *count = *count < device->sample_room ? *count : device->sample_room;
    return code;
}

/* A driver hands out slots that it never wrote to (nvtop issue 110), and, to a container, samples
 * of processes outside, whose pid may be that of another inside. */
static bool is_sample(struct nvidia_device *device, const struct nvml_process_sample *sample,
                      uint64_t since_us)
{
    return sample->timestamp_us > since_us && sample->timestamp_us < EXACT_MAX &&
           sample->sm <= 100 && sample->memory <= 100 && sample->encoder <= 100 &&
           sample->decoder <= 100 && find_user(device, sample->pid) != NULL;
}

/* Keeps the good ones, in the order of time; returns how many. They come nearly sorted. */
static unsigned sort_samples(struct nvidia_device *device, unsigned count, uint64_t since_us)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        struct nvml_process_sample sample = device->samples[i];
        if (!is_sample(device, &sample, since_us))
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

/* Each sample stands for the time since the one before of the same process, or since the cursor.
 * The first reading has no window: its newest samples are the ratios, and nothing is counted. */
static void count_samples(struct nvidia_device *device, unsigned kept)
{
    uint64_t from_us = device->cursor_us, to_us = device->samples[kept - 1].timestamp_us;
    forget_ratios(device, from_us);
    for (unsigned i = 0; i < kept; i++) {
        const struct nvml_process_sample *sample = &device->samples[i];
        const unsigned percents[4] = {sample->sm, sample->memory, sample->encoder, sample->decoder};
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
}

unsigned nvidia_count_samples(struct nvidia_device *device, unsigned count, uint64_t since_us)
{
    unsigned kept = sort_samples(device, count, since_us);
    if (kept > 0)
        count_samples(device, kept);
    return kept;
}

static nvml_return read_samples(const struct nvidia *nvidia, struct nvidia_device *device,
                                nvml_device handle)
{
    uint64_t since_us = device->cursor_us != 0 ? device->cursor_us : recent_us(nvidia);
    uint64_t now_ns = nvidia_now_ns(nvidia);
    unsigned count = 0;
    nvml_return code = call_samples(nvidia, device, handle, since_us, &count);
    if (code != NVML_SUCCESS && code != NVML_NOT_FOUND)
        return code;
    unsigned kept = code == NVML_SUCCESS ? nvidia_count_samples(device, count, since_us) : 0;
    if (kept > 0) {
        device->samples_ns = now_ns;
    } else if (now_ns - device->samples_ns >= HOLD_NS) { /* idle, and not between two samples */
        device->cursor_us = recent_us(nvidia);
        forget_ratios(device, device->cursor_us);
    }
    return NVML_SUCCESS;
}

static bool wants_shares(const struct metric_set *wanted)
{
    return metric_set_has(wanted, VITALS_GPU_PROCESS_UTILIZATION_RATIO) ||
           metric_set_has(wanted, VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO) ||
           metric_set_has(wanted, VITALS_GPU_PROCESS_ENCODER_RATIO) ||
           metric_set_has(wanted, VITALS_GPU_PROCESS_DECODER_RATIO) ||
           metric_set_has(wanted, VITALS_GPU_PROCESS_BUSY_SECONDS);
}

static void set_shares(const struct nvidia_user *user, struct gpu_process *item)
{
    item->utilization_ratio = value_f64(user->ratios[0] < 1 ? user->ratios[0] : 1);
    item->memory_busy_ratio = value_f64(user->ratios[1] < 1 ? user->ratios[1] : 1);
    item->encoder_ratio = value_f64(user->ratios[2] < 1 ? user->ratios[2] : 1);
    item->decoder_ratio = value_f64(user->ratios[3] < 1 ? user->ratios[3] : 1);
    item->busy_seconds = value_f64(user->busy_seconds);
    item->busy_seconds.state = VITALS_SAMPLED;
}

static void set_no_shares(struct gpu_process *item, vitals_availability reason)
{
    item->utilization_ratio = item->memory_busy_ratio = item->encoder_ratio = item->decoder_ratio =
        item->busy_seconds = value_missing(reason);
}

static void read_shares(const struct nvidia *nvidia, struct nvidia_device *device,
                        nvml_device handle, struct gpu_processes *out)
{
    vitals_availability state = VITALS_UNSUPPORTED; /* of a partition */
    if (out->count == 0)
        device->cursor_us = 0; /* who comes next begins anew */
    if (!follow_users(device, out))
        state = VITALS_FAILED;
    else if (!device->partition && out->count > 0)
        state = nvml_availability(read_samples(nvidia, device, handle));
    for (uint32_t i = 0; i < out->count; i++) {
        if (state > 0)
            set_shares(&device->users[i], &out->items[i]);
        else
            set_no_shares(&out->items[i], state);
    }
}

void nvidia_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                      const struct metric_set *wanted, struct gpu_processes *out)
{
    const struct nvidia *nvidia = state;
    struct nvidia_device *device = nvidia->devices[slot];
    nvml_device handle = atomic_load(&device->handle);
    (void)swept;
    out->stamp_ns = nvidia_now_ns(nvidia);
    out->state = VITALS_HAVE;
    out->cut = false;
    out->count = 0;
    if (!handle)
        out->state = (signed char)atomic_load(&device->missing);
    else if (!atomic_load(&device->partitioned))
        out->state = (signed char)read_lists(nvidia, device, handle, out);
    if (out->state < 0)
        out->count = 0;
    if (handle && out->state > 0 && wants_shares(wanted))
        read_shares(nvidia, device, handle, out);
}
