/* amd.c: the back end of AMD's devices. */
#include "gpu/amd/state.h"
#include "util/memory.h"

#include <errno.h>
#include <stdio.h>

static int amd_open(const vitals_context *context, void **state, struct gpu_scan *why)
{
    *why = (struct gpu_scan){.state = VITALS_UNSUPPORTED};
    int error;
    if (amd_count_cards(&context->os, &error) == 0) {
        bool failed = error < 0 && error != -ENOENT;
        vitals_availability reason = failed ? os_availability(error) : VITALS_UNSUPPORTED;
        return gpu_backend_refuse(why, reason,
                                  reason == VITALS_DENIED ? "permission denied: /sys/bus/pci"
                                                          : "the driver amdgpu has no device here",
                                  -1);
    }
    struct amd *amd = memory_alloc(sizeof *amd);
    if (amd == NULL)
        return gpu_backend_refuse(why, VITALS_FAILED, "no memory", -1);
    amd->context = context;
    *state = amd;
    return 0;
}

static void amd_close(void *state)
{
    struct amd *amd = state;
    for (uint32_t i = 0; i < amd->count; i++) {
        clients_done(&amd->devices[i]->clients);
        memory_free(amd->devices[i]->kept);
        memory_free(amd->devices[i]);
    }
    memory_free(amd);
}

const struct gpu_backend gpu_backend_amd = {
    .name = "amd",
    .sweeps = true,
    .open = amd_open,
    .scan = amd_scan,
    .sample = amd_sample,
    .processes = amd_processes,
    .diagnose = amd_diagnose,
    .close = amd_close,
};
