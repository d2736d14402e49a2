/* processes.c: the processes on a device.
 *
 * Compute processes, graphics processes and clients of the MPS server are in three lists, and are
 * one row each. Entries have had 16, 24 and 32 bytes, and not always the size that belongs to the
 * function's name (nvitop issues 75, 88, 94), so the layout is deduced from the bytes that the
 * driver wrote, and verified. The utilization of each process is in process_utilization.c. */
#include "gpu/clients.h"
#include "gpu/nvidia/state.h"
#include "util/memory.h"

#include <string.h>

enum {
    PID_MAX = 1 << 22,  /* the kernel's, on 64 bits */
    INSTANCE_MAX = 256, /* above every number of a GPU or compute instance */
    ENTRIES_FIRST = 32, /* initial capacity; grows as needed */
    ROOM_MAX = 4096
};

/* ---- layout ---- */

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
static bool is_plausible(const struct nvml_process *entry)
{
    return entry->pid != 0 && entry->pid < PID_MAX && is_instance(entry->gpu_instance) &&
           is_instance(entry->compute_instance);
}

/* Returns the number of entries that cannot be a process. */
static size_t count_implausible(const unsigned char *bytes, size_t layout, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct nvml_process entry = entry_at(bytes, layout, i);
        found += !is_plausible(&entry);
    }
    return found;
}

/* Returns the size of an entry: first that of the written bytes is tried, in which few entries may
 * be impossible, then that of the function's version. 0: no layout matches. */
static size_t choose_layout(const struct nvidia_list *list)
{
    static const size_t layouts[] = {NVML_PROCESS_V1, NVML_PROCESS_V2, NVML_PROCESS_CONFIDENTIAL};
    size_t written = list->room, fits = 0;
    while (written > 0 && list->bytes[written - 1] == NVIDIA_UNWRITTEN)
        written--;
    for (size_t i = ARRAY_COUNT(layouts); i-- > 0;)
        fits = written == layouts[i] * list->count ? layouts[i] : fits;
    const size_t candidates[] = {fits, list->promised, NVML_PROCESS_V2, NVML_PROCESS_CONFIDENTIAL,
                                 NVML_PROCESS_V1};
    for (size_t i = 0; i < ARRAY_COUNT(candidates); i++) {
        size_t layout = candidates[i];
        size_t most = i == 0 && list->count > 1 ? list->count / 2 : 0;
        if (layout != 0 && list->count <= list->room / layout &&
            count_implausible(list->bytes, layout, list->count) <= most)
            return layout;
    }
    return 0;
}

static struct value *reading_of(struct gpu_process *item, vitals_metric metric)
{
    return &item->at[metric_number(metric)];
}

static void set_instance(struct gpu_process *item, vitals_metric metric, unsigned number)
{
    if (number != NVML_NOT_AVAILABLE_32)
        *reading_of(item, metric) = value_u64(number);
}

bool nvidia_decode_list(const struct nvidia_list *list, struct gpu_processes *out)
{
    size_t layout = choose_layout(list);
    for (size_t i = 0; layout != 0 && i < list->count; i++) {
        struct nvml_process entry = entry_at(list->bytes, layout, i);
        if (!is_plausible(&entry)) {
            out->cut = true;
            continue;
        }

        /* Listed twice is the same memory reported twice: it is never summed. */
        struct gpu_process *item = gpu_processes_put(out, entry.pid);
        if (item == NULL)
            continue;
        struct value *memory = reading_of(item, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
        if (memory->state == VITALS_UNSET)
            *memory = value_missing(VITALS_UNSUPPORTED);
        item->uses |= list->use;
        set_instance(item, VITALS_GPU_PROCESS_GPU_INSTANCE_ID, entry.gpu_instance);
        set_instance(item, VITALS_GPU_PROCESS_COMPUTE_INSTANCE_ID, entry.compute_instance);
        if (entry.memory_bytes > EXACT_MAX && entry.memory_bytes != NVML_NOT_AVAILABLE_64)
            *memory = value_missing(VITALS_FAILED);
        else if (entry.memory_bytes != NVML_NOT_AVAILABLE_64 &&
                 (memory->state <= 0 || entry.memory_bytes > memory->as.u64))
            *memory = value_u64(entry.memory_bytes);
    }
    return layout != 0;
}

/* ---- reading ---- */

/* The functions for one kind of process, newest first; and the layout of each version. */
enum { GENERATIONS = 3 };
struct list_kind {
    enum gpu_use use;
    size_t functions[GENERATIONS]; /* in struct nvml: nvml_processes_call */
};

#define KIND(use, name)                                                          \
    {                                                                            \
        use,                                                                     \
        {                                                                        \
            offsetof(struct nvml, nvmlDeviceGet##name##RunningProcesses_v3),     \
                offsetof(struct nvml, nvmlDeviceGet##name##RunningProcesses_v2), \
                offsetof(struct nvml, nvmlDeviceGet##name##RunningProcesses)     \
        }                                                                        \
    }
static const struct list_kind kinds[] = {KIND(GPU_COMPUTE, Compute), KIND(GPU_GRAPHICS, Graphics),
                                         KIND(GPU_MPS, MPSCompute)};
#undef KIND

/* Calls the driver, with a larger buffer if it needs one; processes may start in the meantime. */
static nvml_return call_list(struct nvidia_device *device, nvml_device handle,
                             nvml_processes_call *read, unsigned *count)
{
    nvml_return code = NVML_INSUFFICIENT_SIZE;
    unsigned room = ENTRIES_FIRST;
    for (int tries = 0; tries < 4 && code == NVML_INSUFFICIENT_SIZE; tries++) {
        if (room > device->list_room) {
            void *grown = room > ROOM_MAX
                              ? NULL
                              : memory_resize(device->list, room, NVML_PROCESS_CONFIDENTIAL);
            if (!grown)
                return NVML_INSUFFICIENT_SIZE;
            device->list = grown;
            device->list_room = room;
        }
        memset(device->list, NVIDIA_UNWRITTEN,
               (size_t)device->list_room * NVML_PROCESS_CONFIDENTIAL);
        *count = device->list_room;
        code = read(handle, count, device->list);
        room = *count < ROOM_MAX / 2 ? 2 * *count + 5 : ROOM_MAX;
    }
    return code == NVML_SUCCESS && *count > device->list_room ? NVML_INSUFFICIENT_SIZE : code;
}

static vitals_availability read_list(const struct nvidia *nvidia, struct nvidia_device *device,
                                     nvml_device handle, const struct list_kind *kind,
                                     struct gpu_processes *out)
{
    const struct nvml *nvml = &nvidia->nvml;
    /* 535.54 wrote the layout for confidential computing under the previous function's name; later
     * drivers have a separate list for that. */
    const size_t promised[GENERATIONS] = {
        (nvml->nvmlDeviceGetConfComputeMemSizeInfo && !nvml->nvmlDeviceGetRunningProcessDetailList
             ? NVML_PROCESS_CONFIDENTIAL
             : NVML_PROCESS_V2),
        NVML_PROCESS_V2, NVML_PROCESS_V1};
    struct nvidia_list list = {.use = kind->use};
    nvml_return code = NVML_FUNCTION_NOT_FOUND;
    unsigned count = 0;
    for (size_t i = 0; i < GENERATIONS && code == NVML_FUNCTION_NOT_FOUND; i++) {
        nvml_processes_call *read;
        memcpy(&read, (const char *)nvml + kind->functions[i], sizeof read);
        list.promised = promised[i];
        if (!read)
            continue;
        code = nvidia_absence(device, kind->functions[i], 0);
        if (code == NVML_SUCCESS)
            code = nvidia_note(device, kind->functions[i], 0,
                               call_list(device, handle, read, &count));
    }
    if (code != NVML_SUCCESS)
        return nvml_availability(code);
    list.bytes = device->list;
    list.room = (size_t)device->list_room * NVML_PROCESS_CONFIDENTIAL;
    list.count = count;
    return nvidia_decode_list(&list, out) ? VITALS_HAVE : VITALS_FAILED;
}

/* The state is HAVE if one list was read. If the other one failed, the processes are incomplete. */
static vitals_availability read_lists(const struct nvidia *nvidia, struct nvidia_device *device,
                                      nvml_device handle, const struct metric_set *wanted,
                                      struct gpu_processes *out)
{
    vitals_availability state = read_list(nvidia, device, handle, &kinds[0], out);
    /* Clients of the MPS server are compute processes: skip the call if there are none. If the call
     * fails, they lack their mark. */
    if (state > 0 && out->count > 0 && metric_set_has(wanted, VITALS_GPU_PROCESS_TYPE))
        (void)read_list(nvidia, device, handle, &kinds[2], out);
    vitals_availability second = read_list(nvidia, device, handle, &kinds[1], out);
    if (state > 0 || second > 0) {
        out->unread |= state < 0 && state != VITALS_UNSUPPORTED ? GPU_COMPUTE : 0;
        out->unread |= second < 0 && second != VITALS_UNSUPPORTED ? GPU_GRAPHICS : 0;
        out->cut |= out->unread != 0;
        return VITALS_HAVE;
    }
    return state == VITALS_UNSUPPORTED ? second : state;
}

void nvidia_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                      const struct metric_set *wanted, struct gpu_processes *out)
{
    struct nvidia *nvidia = state;
    struct nvidia_device *device = nvidia->devices[slot];
    (void)swept;
    out->stamp_ns = os_now_ns(&nvidia->context->os);
    out->state = VITALS_HAVE;
    bool entered = nvidia_enter(nvidia);
    nvml_device handle = entered ? atomic_load(&device->handle) : NULL;
    if (handle)
        nvidia_refresh_unsupported(nvidia, device);
    if (!handle)
        out->state = (signed char)(entered ? atomic_load(&device->missing) : VITALS_GONE);
    else if (nvidia_is_asleep(nvidia, device, NULL))
        out->state = VITALS_SUSPENDED;
    else if (!atomic_load(&device->partitioned))
        out->state = (signed char)read_lists(nvidia, device, handle, wanted, out);
    if (out->state < 0)
        out->count = 0;
    if (handle && out->state > 0) {
        nvidia_read_utilizations(nvidia, device, handle, wanted, out);
        nvidia_read_accounts(nvidia, handle, wanted, out);
    }
    if (entered)
        nvidia_leave(nvidia);
}
