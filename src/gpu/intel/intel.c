/* intel.c: the back end for Intel's devices: the kernel drivers i915 and xe.
 *
 * Everything comes from /sys, from perf counters of the device if those are permitted, and from the
 * open descriptors of programs; no Intel library is used. The size of a card's memory, and its use,
 * come from an ioctl on the device, which is opened briefly while it is awake; if that is not
 * permitted, both are estimates and marked as such. */
#include "gpu/intel/state.h"

#include "model/diagnosis.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>

static const struct intel_counting COUNTING = {os_perf_add, os_perf_read, os_perf_close};

static const struct intel_asking ASKING = {os_drm_open, os_drm_ask, os_drm_close};

void intel_count_with(void *state, const struct intel_counting *counting)
{
    ((struct intel *)state)->counting = counting;
}

void intel_ask_with(void *state, const struct intel_asking *asking)
{
    ((struct intel *)state)->asking = asking;
}

static int intel_open(const vitals_context *context, void **state, struct gpu_scan *why)
{
    int error;
    if (!intel_has_card(&context->os, &error)) {
        vitals_availability reason = error < 0 ? intel_reason(error) : VITALS_UNSUPPORTED;
        return gpu_backend_refuse(why, reason,
                                  reason == VITALS_DENIED
                                      ? "class/drm below /sys: permission denied"
                                      : "no device of the drivers i915 and xe");
    }
    struct intel *intel = memory_alloc(sizeof *intel);
    if (intel == NULL)
        return gpu_backend_refuse(why, VITALS_FAILED, "out of memory");
    intel->context = context;
    intel->counting = &COUNTING;
    intel->asking = &ASKING;
    *state = intel;
    return 0;
}

static void intel_close(void *state)
{
    struct intel *intel = state;
    for (uint32_t i = 0; i < intel->count; i++) {
        intel_close_pmu(intel, intel->slots[i]);
        clients_done(&intel->slots[i]->clients);
        memory_free(intel->slots[i]);
    }
    memory_free(intel);
}

static void intel_processes(void *state, uint32_t at, const struct gpu_sweep *swept,
                            const struct metric_set *wanted, struct gpu_processes *out)
{
    struct intel *intel = state;
    struct intel_slot *slot = intel->slots[at];
    (void)wanted; /* the sweep has everything */
    out->stamp_ns = swept != NULL ? swept->stamp_ns : os_now_ns(&intel->context->os);
    if (slot->tile >= 0) { /* a descriptor belongs to the whole device */
        out->state = VITALS_UNSUPPORTED;
        return;
    }
    clients_update(&slot->clients, &slot->who, slot->integrated, swept, out);
}

static void diagnose_counters(struct intel *intel, const struct intel_slot *slot,
                              struct row_batch *out)
{
    static const struct {
        vitals_availability state;
        enum diagnosis severity;
        const char *finding, *remedy;
    } findings[] = {
        {VITALS_HAVE, DIAGNOSIS_GOOD, "perf events may be read: utilization is exact", ""},
        {VITALS_DENIED, DIAGNOSIS_NOTICE,
         "perf events are denied: utilization is an upper bound, from how long it is awake",
         "cd \"$(dirname \"$(command -v vitals)\")\"\n"
         "sudo setcap cap_perfmon+ep vitals cap_perfmon+ep ../libexec/vitals/vitals-full\n"
         "# or, for everybody:\n"
         "sudo sysctl kernel.perf_event_paranoid=0"},
        {VITALS_UNSUPPORTED, DIAGNOSIS_NOTICE,
         "this kernel has none for it: utilization is an upper bound, from how long it is awake",
         ""},
        {VITALS_FAILED, DIAGNOSIS_NOTICE, "perf events could not be opened", ""},
    };
    char subject[64];
    snprintf(subject, sizeof subject, "%s engine counters", slot->who.pci_bus_id);
    vitals_availability state = intel_probe_pmu(intel, slot);
    size_t i = 0;
    while (i < ARRAY_COUNT(findings) - 1 && findings[i].state != state)
        i++;
    diagnosis_add(out, findings[i].severity, subject, findings[i].finding, findings[i].remedy);
}

static void intel_diagnose(const vitals_context *context, void *state, struct row_batch *out)
{
    struct intel *intel = state;
    if (intel == NULL) {
        int error;
        bool found = intel_has_card(&context->os, &error);
        if (error < 0 && intel_reason(error) == VITALS_DENIED)
            diagnosis_add(out, DIAGNOSIS_PROBLEM, "intel",
                          "class/drm below /sys: permission denied",
                          "# run where /sys can be read: outside of the sandbox");
        else if (!found && os_sys_hides(&context->os, error))
            diagnosis_add(out, DIAGNOSIS_PROBLEM, "intel", "cannot be read: /sys/class/drm", "");
        else if (found)
            diagnosis_add(out, DIAGNOSIS_PROBLEM, "intel",
                          "a device exists but could not be opened", "");
        else
            diagnosis_add(out, DIAGNOSIS_GOOD, "intel", "no device of the drivers i915 and xe", "");
        return;
    }
    for (uint32_t i = 0; i < intel->count; i++) {
        const struct intel_slot *slot = intel->slots[i];
        char subject[64], finding[64];
        if (slot->tile >= 0 || !os_sys_exists(&context->os, slot->folder))
            continue;
        snprintf(subject, sizeof subject, "%s intel", slot->who.pci_bus_id);
        snprintf(finding, sizeof finding, "%s, by %s", slot->card, slot->driver);
        diagnosis_add(out, DIAGNOSIS_GOOD, subject, finding, "");
        if (!pci_is_asleep(&context->os, slot->folder, NULL))
            diagnose_counters(intel, slot, out);
    }
}

const struct gpu_backend gpu_backend_intel = {
    .name = "intel",
    .sweeps = true,
    .open = intel_open,
    .scan = intel_scan,
    .sample = intel_sample,
    .processes = intel_processes,
    .diagnose = intel_diagnose,
    .close = intel_close,
};
