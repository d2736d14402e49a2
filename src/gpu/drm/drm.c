/* drm.c: the back end for every DRM and accel driver without a back end of its own: msm, panthor,
 * panfrost, lima, v3d, etnaviv, nouveau, radeon, amdxdna, ivpu, and future ones.
 *
 * It uses the kernel's common interfaces: processes and engines from open descriptors (clients.h),
 * a clock from devfreq, sensors from hwmon. The device's engines are sums over the visible
 * processes, a lower bound. */
#include "gpu/drm/state.h"

#include "model/diagnosis.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>

static int drm_open(const vitals_context *context, void **state, struct gpu_scan *why)
{
    int error;
    if (!drm_has_device(&context->os, &error)) {
        vitals_availability reason = error < 0 ? os_availability(error) : VITALS_UNSUPPORTED;
        return gpu_backend_refuse(why, reason,
                                  reason == VITALS_DENIED
                                      ? "permission denied: /sys/class/drm"
                                      : "no device of another DRM or accel driver");
    }
    struct drm *drm = memory_alloc(sizeof *drm);
    if (drm == NULL)
        return gpu_backend_refuse(why, VITALS_FAILED, "out of memory");
    drm->context = context;
    *state = drm;
    return 0;
}

static void drm_close(void *state)
{
    struct drm *drm = state;
    for (uint32_t i = 0; i < drm->count; i++) {
        clients_done(&drm->slots[i]->clients);
        memory_free(drm->slots[i]);
    }
    memory_free(drm);
}

static void drm_processes(void *state, uint32_t at, const struct gpu_sweep *swept,
                          const struct metric_set *wanted, struct gpu_processes *out)
{
    struct drm *drm = state;
    struct drm_slot *slot = drm->slots[at];
    const struct os *os = &drm->context->os;
    (void)wanted; /* the sweep has everything */
    out->stamp_ns = swept != NULL ? swept->stamp_ns : os_now_ns(os);
    if (!os_sys_exists(os, slot->folder)) {
        out->state = VITALS_GONE;
        return;
    }
    clients_update(&slot->clients, &slot->who, slot->is_unified, swept, out);
}

static void drm_diagnose(const vitals_context *context, void *state, struct row_batch *out)
{
    const struct os *os = &context->os;
    const struct drm *drm = state;
    int error;
    if (drm == NULL) {
        bool found = drm_has_device(os, &error);
        bool is_denied = error < 0 && os_availability(error) == VITALS_DENIED;
        if (is_denied)
            diagnosis_add(out, DIAGNOSIS_PROBLEM, "drm", "permission denied: /sys/class/drm",
                          "# run outside of the sandbox, or let it see /sys");
        else if (!found && os_sys_hides(os, error))
            diagnosis_add(out, DIAGNOSIS_PROBLEM, "drm", "cannot be read: /sys/class/drm", "");
        else
            diagnosis_add(out, found ? DIAGNOSIS_PROBLEM : DIAGNOSIS_GOOD, "drm",
                          found ? "a device exists but could not be opened"
                                : "no device of another DRM or accel driver",
                          "");
        return;
    }
    for (uint32_t i = 0; i < drm->count; i++) {
        const struct drm_slot *slot = drm->slots[i];
        char finding[2 * DRM_NAME];
        if (!os_sys_exists(os, slot->folder))
            continue;
        snprintf(finding, sizeof finding, "read by the driver %s", slot->driver);
        diagnosis_add(out, DIAGNOSIS_GOOD, slot->node, finding, "");

        /* Mali's drivers count time only if that is enabled. */
        char path[OS_SYS_PATH], remedy[OS_SYS_PATH + 64];
        uint64_t mask;
        if (!pci_path(path, slot->folder, "profiling") || os_sys_u64(os, path, &mask) < 0 ||
            mask != 0)
            continue;
        remedy[0] = '\0';
        /* True if the path can be pasted into a shell. */
        static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "/.:@_+-";
        if (path[strspn(path, PLAIN)] == '\0')
            snprintf(remedy, sizeof remedy, "echo %d | sudo tee /sys/%s",
                     strncmp(slot->driver, "panthor", 7) == 0 ? 3 : 1, path);
        diagnosis_add(out, DIAGNOSIS_NOTICE, slot->node,
                      "the driver does not count engine time until this is enabled", remedy);
    }
}

const struct gpu_backend gpu_backend_drm = {
    .name = "drm",
    .sweeps = true,
    .open = drm_open,
    .scan = drm_scan,
    .sample = drm_sample,
    .processes = drm_processes,
    .diagnose = drm_diagnose,
    .close = drm_close,
};
