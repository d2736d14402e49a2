/* sample.c: one reading of a device of the generic back end. For a device that sleeps, nothing is
 * read that its hardware would have to answer; the usage of its processes is counted by the kernel
 * and stays available. Thread rule: a worker's. */
#include "gpu/drm/state.h"

#include <errno.h>
#include <string.h>

static const double HERTZ_MAX = 1e10; /* a larger number is not a frequency */

/* A clock and its files; those that need the hardware are marked. */
struct clock_file {
    vitals_metric metric;
    const char *file;
    bool wakes;
};

static const struct clock_file DEVFREQ[] = {
    {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "cur_freq", true},
    {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "max_freq", false},
    {VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ, "min_freq", false},
    {VITALS_GPU_CLOCK_FREQUENCY_REQUESTED_HERTZ, "target_freq", false},
};

static const struct clock_file NPU[] = {
    {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "npu_current_frequency_mhz", true},
    {VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "npu_max_frequency_mhz", false},
};

struct clock {
    const char *folder, *label;
    const struct clock_file *files;
    size_t count;
    double factor;
};

static void fill_clock(const struct os *os, const struct clock *clock, bool is_asleep,
                       struct gpu_sample *sample)
{
    for (size_t i = 0; i < clock->count; i++) {
        const struct clock_file *file = &clock->files[i];
        struct value value = value_missing(VITALS_SUSPENDED);
        if (!gpu_fill_wants(sample, file->metric))
            continue;
        if (!is_asleep || !file->wakes) {
            uint64_t number;
            int result = pci_number(os, clock->folder, file->file, &number);
            if (result < 0)
                value = value_missing(result == -ENOENT || result == -ENAMETOOLONG
                                          ? VITALS_UNSUPPORTED
                                          : os_availability(result));
            else
                value = gpu_fill_scaled(number, clock->factor,
                                        (uint64_t)(HERTZ_MAX / clock->factor));
        }
        gpu_fill_child(sample, file->metric, clock->label, value);
    }
}

/* ivpu counts the time in which it had jobs, in microseconds; returns true if there is such a
 * counter. */
static bool read_npu(const struct os *os, struct drm_slot *slot, uint64_t now_ns)
{
    uint64_t busy_us;
    if (pci_number(os, slot->folder, "npu_busy_time_us", &busy_us) < 0)
        return false;
    if (slot->busy_ns == 0) {
        slot->npu_ratio = value_missing(VITALS_NOT_YET);
    } else if (now_ns > slot->busy_ns) {
        uint64_t step = busy_us > slot->busy_us ? busy_us - slot->busy_us : 0;
        double ratio = (double)step * 1e3 / (double)(now_ns - slot->busy_ns);
        slot->npu_ratio = value_f64(ratio < 1 ? ratio : 1);
        if (ratio > 1.01)
            slot->npu_ratio.state = VITALS_ESTIMATE;
        slot->busy_seconds += slot->npu_ratio.as.f64 * (double)(now_ns - slot->busy_ns) * 1e-9;
    }
    slot->busy_us = busy_us;
    slot->busy_ns = now_ns;
    return true;
}

/* Returns the busiest visible engine, and adds it to the busy time. */
static struct value integrate_engines(struct drm_slot *slot)
{
    struct value most = value_missing(VITALS_UNSUPPORTED);
    for (uint32_t e = 0; e < slot->clients.engine_count; e++) {
        struct value ratio = slot->clients.engines[e].utilization_ratio;
        bool is_more = ratio.state > 0 && (most.state <= 0 || ratio.as.f64 > most.as.f64);
        if (is_more || most.state == VITALS_UNSUPPORTED)
            most = ratio;
    }
    uint64_t until = slot->clients.stamp_ns;
    if (slot->integrated_ns != 0 && until > slot->integrated_ns && most.state > 0)
        slot->busy_seconds += most.as.f64 * (double)(until - slot->integrated_ns) * 1e-9;
    slot->integrated_ns = until;
    return most;
}

void drm_sample(void *state, uint32_t at, struct gpu_sample *out)
{
    struct drm *drm = state;
    struct drm_slot *slot = drm->slots[at];
    const struct os *os = &drm->context->os;
    uint64_t now_ns = os_now_ns(os);
    gpu_fill_begin(out, now_ns);
    if (!os_sys_exists(os, slot->folder)) {
        drm_forget_sensors(slot); /* a chip has another number when the device comes back */
        gpu_fill_lose(out, VITALS_GONE);
        gpu_fill_end(out);
        return;
    }
    char status[PCI_STATUS];
    bool is_asleep = pci_is_asleep(os, slot->folder, status);
    pci_fill(os, slot->folder, status, out);
    gpu_fill_text(out, VITALS_GPU_DEVICE_NODE, slot->node);
    if (!is_asleep) {
        drm_find_sensors(os, slot);
        pci_fill_link(os, slot->folder, out);
    }
    drm_fill_sensors(os, slot, is_asleep, out);

    if (gpu_fill_wants_table(out, VITALS_TABLE_GPU_CLOCK)) {
        if (slot->frequency[0] != '\0') {
            struct clock clock = {slot->frequency, "graphics", DEVFREQ, ARRAY_COUNT(DEVFREQ), 1};
            fill_clock(os, &clock, is_asleep, out);
        }
        if (pci_exists(os, slot->folder, NPU[1].file)) {
            struct clock clock = {slot->folder, "npu", NPU, ARRAY_COUNT(NPU), 1e6};
            fill_clock(os, &clock, is_asleep, out);
        }
    }

    if (gpu_fill_wants(out, VITALS_GPU_UTILIZATION_RATIO) ||
        gpu_fill_wants(out, VITALS_GPU_BUSY_SECONDS)) {
        bool is_npu = read_npu(os, slot, now_ns);
        struct value ratio = is_npu ? slot->npu_ratio : integrate_engines(slot);
        struct value seconds = value_f64(slot->busy_seconds);
        if (!is_npu)
            seconds.state = ratio.state <= 0 ? ratio.state : VITALS_LOWER_BOUND;
        gpu_fill(out, VITALS_GPU_UTILIZATION_RATIO, ratio);
        gpu_fill(out, VITALS_GPU_BUSY_SECONDS, seconds);
    }

    /* ivpu reports all memory that it holds; for others it is the memory of the visible
     * processes. */
    gpu_fill(out, VITALS_GPU_UNIFIED_MEMORY, value_u64(slot->is_unified));
    if (gpu_fill_wants(out, VITALS_GPU_MEMORY_USED_BYTES)) {
        struct value used = slot->is_unified ? slot->clients.system_memory_bytes
                                             : slot->clients.memory_bytes;
        uint64_t bytes;
        if (pci_number(os, slot->folder, "npu_memory_utilization", &bytes) == 0)
            used = value_u64(bytes);
        if (used.state == VITALS_UNSET)
            used = value_missing(slot->clients.stamp_ns == 0 ? VITALS_NOT_YET : VITALS_UNSUPPORTED);
        gpu_fill(out, VITALS_GPU_MEMORY_USED_BYTES, used);
    }
    clients_fill_engines(&slot->clients, out);
    gpu_fill_end(out);
}
