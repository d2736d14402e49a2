/* sample.c: one reading of a device or of a tile.
 *
 * The utilization comes from the best available source: the device's own counters (exact); the time
 * that its GTs were awake (an upper bound); the sum over the visible processes (a lower bound). The
 * value's availability says which. */
#include "gpu/intel/state.h"
#include "util/number.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- utilization ---- */

static struct value utilization_of(const struct intel_slot *slot)
{
    struct value counted = intel_busiest(slot);
    if (slot->pmu.state == VITALS_HAVE && counted.state > 0)
        return counted;
    struct value awake = intel_awake(slot);
    if (awake.state > 0 || awake.state == VITALS_NOT_YET)
        return awake;

    struct value most = value_missing(VITALS_UNSUPPORTED);
    for (uint32_t i = 0; i < slot->clients.engine_count; i++) {
        struct value ratio = slot->clients.engines[i].utilization_ratio;
        if (ratio.state > 0 && (most.state <= 0 || ratio.as.f64 > most.as.f64))
            most = ratio;
        else if (most.state <= 0 && ratio.state == VITALS_NOT_YET)
            most = ratio;
    }
    return most.state != VITALS_UNSUPPORTED ? most : awake;
}

static bool wants_load(const struct gpu_sample *sample)
{
    return gpu_fill_wants(sample, VITALS_GPU_UTILIZATION_RATIO) ||
           gpu_fill_wants(sample, VITALS_GPU_BUSY_SECONDS) ||
           gpu_fill_wants_table(sample, VITALS_TABLE_GPU_ENGINE);
}

static void fill_load(struct intel *intel, struct intel_slot *slot, struct gpu_sample *sample)
{
    uint64_t now_ns = sample->stamp_ns;
    bool load = wants_load(sample);
    if (load || gpu_fill_wants(sample, VITALS_GPU_IDLE_RESIDENCY_SECONDS))
        intel_read_idle(&intel->context->os, slot, now_ns);
    intel_fill_idle(slot, sample);
    if (!load)
        return;
    intel_read_pmu(intel, slot, now_ns);

    uint64_t window_ns = now_ns - slot->utilization_ns;
    if (slot->utilization_ns == 0 || window_ns >= INTEL_WINDOW_NS) {
        slot->utilization = utilization_of(slot);
        if (slot->utilization.state > 0 && slot->utilization_ns != 0) {
            slot->busy_seconds += slot->utilization.as.f64 * (double)window_ns /
                                  (double)NS_PER_SECOND;
            if (slot->busy_state == VITALS_UNSET)
                slot->busy_state = slot->utilization.state;
            else if (slot->busy_state != slot->utilization.state)
                slot->busy_state = VITALS_ESTIMATE; /* sum of shares of different quality */
        }
        slot->utilization_ns = now_ns;
    }

    gpu_fill(sample, VITALS_GPU_UTILIZATION_RATIO, slot->utilization);
    struct value busy = value_f64(slot->busy_seconds);
    busy.state = slot->busy_state != VITALS_UNSET ? slot->busy_state : VITALS_NOT_YET;
    if (slot->utilization.state <= 0 && slot->busy_state == VITALS_UNSET)
        busy = slot->utilization;
    gpu_fill(sample, VITALS_GPU_BUSY_SECONDS, busy);
    if (!gpu_fill_wants_table(sample, VITALS_TABLE_GPU_ENGINE))
        return;
    intel_fill_engines(slot, sample);
    clients_fill_engines(&slot->clients, sample);
}

/* ---- the card ---- */

static void fill_displays(const struct os *os, const char *card, struct gpu_sample *sample)
{
    struct os_sys_names names;
    size_t size = strlen(card);
    bool any = false, attached = false;
    if (!gpu_fill_wants(sample, VITALS_GPU_DISPLAY_ATTACHED))
        return;
    os_sys_names(&names, os, "class/drm");
    for (const char *name; !attached && (name = os_sys_next(&names)) != NULL;) {
        char path[OS_SYS_PATH], status[32];
        if (strncmp(name, card, size) != 0 || name[size] != '-')
            continue; /* card0-DP-1 is a connector of card0 */
        snprintf(path, sizeof path, "class/drm/%s/status", name);
        if (os_sys_text(os, path, status, sizeof status) == 0) {
            any = true;
            attached = strcmp(status, "connected") == 0;
        }
    }
    if (any)
        gpu_fill(sample, VITALS_GPU_DISPLAY_ATTACHED, value_u64(attached));
}

/* Fills in constant properties, without a query of the device itself. Returns false if the device
 * is asleep. */
static bool fill_statics(const struct os *os, const struct intel_slot *slot,
                         struct gpu_sample *sample)
{
    char node[48], status[PCI_STATUS];
    bool awake = !pci_is_asleep(os, slot->folder, status);
    pci_fill(os, slot->folder, status, sample);
    if (slot->tile >= 0 || slot->is_virtual)
        gpu_fill_text(sample, VITALS_GPU_PARTITION_KIND, slot->tile >= 0 ? "tile" : "vf");
    if (slot->tile >= 0)
        return awake;
    if (slot->render[0] != '\0') {
        snprintf(node, sizeof node, "/dev/dri/%s", slot->render);
        gpu_fill_text(sample, VITALS_GPU_DEVICE_NODE, node);
    }
    gpu_fill(sample, VITALS_GPU_UNIFIED_MEMORY, value_u64(slot->integrated));
    if (!slot->integrated)
        intel_fill_window(os, slot, sample);
    return awake;
}

/* Drops readings from before the device slept or was away; they are no longer valid. */
static void forget(struct intel_slot *slot)
{
    slot->found = false;
    for (uint32_t i = 0; i < slot->gt_count; i++)
        slot->gts[i].idle = (struct intel_idle){.awake = value_missing(VITALS_NOT_YET)};
    if (slot->pmu.state != VITALS_HAVE)
        slot->utilization_ns = 0;
    slot->utilization = value_missing(VITALS_NOT_YET);
    slot->memory.used = value_missing(VITALS_UNSET);
}

/* ---- values from the sweep ---- */

/* `counters`: HAVE if they are, or may be, open. `awake`: availability of the time that the GTs
 * were awake. */
static unsigned swept_load(vitals_availability counters, signed char awake)
{
    bool counted = counters > 0 || counters == VITALS_SUSPENDED;
    bool bounded = awake > 0 || awake == VITALS_NOT_YET;
    return counted ? 0 : GPU_SWEPT_ENGINES | (bounded ? 0 : GPU_SWEPT_LOAD);
}

/* Counters need no descriptors of processes; the first reading gives the time awake. */
unsigned intel_guess_swept(const struct os *os, const struct intel_slot *slot)
{
    /* For unprivileged users the kernel denies counters at a level above 0; nothing is opened to
     * find out. */
    char text[16];
    uint64_t paranoid;
    bool permitted = geteuid() == 0 ||
                     os_proc_text(os, "sys/kernel/perf_event_paranoid", text, sizeof text) < 0 ||
                     !number_is_u64(text, &paranoid) || paranoid == 0;
    unsigned memory = intel_memory_is_swept(os, slot) ? GPU_SWEPT_MEMORY : 0;
    unsigned load = swept_load(permitted ? VITALS_HAVE : VITALS_DENIED, VITALS_NOT_YET);
    return slot->tile < 0 ? memory | load : 0;
}

static void read_slot(struct intel *intel, struct intel_slot *slot, struct gpu_sample *sample)
{
    const struct os *os = &intel->context->os;
    if (!os_sys_exists(os, slot->folder)) {
        intel_close_pmu(intel, slot);
        forget(slot);
        gpu_fill_lose(sample, VITALS_GONE);
        return;
    }
    if (!fill_statics(os, slot, sample)) {
        forget(slot);
        sample->state = VITALS_SUSPENDED; /* for all other values */
        return;
    }

    /* Channels are kept if they still exist, so that their counters continue. */
    if (!intel_channels_stand(os, slot)) {
        slot->channel_count = 0;
        slot->found = false;
    }
    if (!slot->found) {
        if (slot->gt_count == 0)
            intel_find_gts(os, slot);
        if (slot->channel_count == 0)
            intel_find_channels(os, slot);
        slot->found = slot->gt_count > 0;
    }

    fill_load(intel, slot, sample);
    intel_fill_clocks(os, slot, sample);
    intel_fill_throttling(os, slot, sample);
    if (slot->tile >= 0)
        return;
    pci_fill_link(os, slot->folder, sample);
    fill_displays(os, slot->card, sample);
    intel_read_memory(intel, slot, sample->stamp_ns, sample);
    intel_fill_memory(slot, sample);
    intel_fill_channels(os, slot, sample);

    /* Updated by this reading; unchanged if the load was not requested. */
    unsigned load = atomic_load(&slot->swept) & (GPU_SWEPT_LOAD | GPU_SWEPT_ENGINES);
    if (wants_load(sample) && slot->pmu.state != VITALS_UNSET)
        load = swept_load((vitals_availability)slot->pmu.state, intel_awake(slot).state);
    atomic_store(&slot->swept, load | (intel_memory_is_swept(os, slot) ? GPU_SWEPT_MEMORY : 0));
}

void intel_sample(void *state, uint32_t slot, struct gpu_sample *out)
{
    struct intel *intel = state;
    gpu_fill_begin(out, os_now_ns(&intel->context->os));

    /* Slow metrics are requested separately, on another thread; this back end has none, and the
     * slot is not touched. */
    struct metric_set rest = out->batch.wanted;
    bool any = false;
    metric_set_remove(&rest, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
    metric_set_remove(&rest, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND);
    for (vitals_table e = 0; (e = vitals_table_next(e)) != 0;)
        any |= metric_set_has_entity(&rest, e);
    if (any)
        read_slot(intel, intel->slots[slot], out);
    gpu_fill_end(out);
}
