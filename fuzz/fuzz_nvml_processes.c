/* What a driver may leave in a process list and in utilization samples, whatever it promised.
 *
 * Input: a byte that says the promised layout, and which list it is; how many entries the driver
 * claims; eight bytes of cursor; the rest is the list, and twice more, as it stands, the samples of
 * either function. */
#include "gpu/nvidia/state.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 10, ENTRIES = 64 };

static struct gpu_processes processes;

static void check_list(const uint8_t *data, const uint8_t *bytes, size_t room)
{
    static const size_t layouts[] = {NVML_PROCESS_V1, NVML_PROCESS_V2, NVML_PROCESS_CONFIDENTIAL};
    struct nvidia_list list = {.bytes = bytes,
                               .room = room,
                               .count = data[1],
                               .promised = layouts[(data[0] >> 1) % 3],
                               .use = data[0] & 1 ? GPU_GRAPHICS : GPU_COMPUTE};
    processes.count = 0;
    processes.cut = false;
    if (!nvidia_decode_list(&list, &processes) && processes.count != 0)
        abort();
    if (processes.count > list.count)
        abort();
    for (uint32_t i = 0; i < processes.count; i++) {
        const struct gpu_process *item = &processes.items[i];
        if (item->pid <= 0 || (i > 0 && item->pid <= item[-1].pid))
            abort();
        if (item->uses != (unsigned)list.use)
            abort();
        for (unsigned n = 0; n < GPU_PROCESS_NUMBERS; n++) {
            if (item->at[n].state > 0 && item->at[n].as.u64 > EXACT_MAX)
                abort();
        }
    }
}

static void check_user(const struct nvidia_user *user, uint64_t cursor_us)
{
    for (size_t i = 0; i < ARRAY_COUNT(user->ratios); i++) {
        if (!(user->ratios[i] >= 0 && user->ratios[i] <= 1 + 1e-6))
            abort();
    }
    if (!(user->busy_seconds >= 0 && user->busy_seconds <= (double)EXACT_MAX / 1e6) ||
        user->until_us > cursor_us)
        abort();
}

/* As the newer function writes them, or the older. */
static void check_samples(const uint8_t *data, const uint8_t *bytes, size_t size, bool old)
{
    struct nvml_process_sample samples[ENTRIES];
    size_t each = old ? sizeof(struct nvml_process_sample_old) : sizeof samples[0];
    unsigned count = (unsigned)size_min(size / each, ENTRIES);
    struct nvidia_user users[] = {{.pid = 1}, {.pid = 100}, {.pid = 4000}};
    struct nvidia_device device = {
        .samples = samples, .users = users, .user_count = ARRAY_COUNT(users)};
    memcpy(samples, bytes, count * each);
    if (old)
        nvidia_widen_samples(samples, count);
    memcpy(&device.cursor_us, data + 2, sizeof device.cursor_us);
    uint64_t before_us = device.cursor_us;
    unsigned kept = nvidia_count_samples(&device, count, before_us);
    if (kept > count || device.cursor_us < before_us ||
        (kept == 0) != (device.cursor_us == before_us))
        abort();
    for (unsigned i = 0; i < kept; i++) {
        if (samples[i].timestamp_us <= before_us ||
            (i > 0 && samples[i].timestamp_us < samples[i - 1].timestamp_us))
            abort();
    }
    for (size_t i = 0; i < ARRAY_COUNT(users); i++)
        check_user(&users[i], device.cursor_us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    size_t rest = size_min(size - HEAD, ENTRIES * NVML_PROCESS_CONFIDENTIAL);
    check_list(data, data + HEAD, rest); /* as small as it is: one byte too many is seen */
    check_samples(data, data + HEAD, rest, false);
    check_samples(data, data + HEAD, rest, true);

    uint8_t room[ENTRIES * NVML_PROCESS_CONFIDENTIAL];
    memset(room, NVIDIA_UNWRITTEN, sizeof room);
    memcpy(room, data + HEAD, rest);
    check_list(data, room, sizeof room);
    return 0;
}
