/* amd.c: the back end of AMD's devices. */
#include "gpu/amd/state.h"
#include "model/diagnosis.h"
#include "util/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int amd_open(const vitals_context *context, void **state, struct gpu_scan *why)
{
    *why = (struct gpu_scan){.state = VITALS_UNSUPPORTED};
    int error;
    if (amd_count_cards(&context->os, &error) == 0) {
        bool failed = error < 0 && error != -ENOENT;
        vitals_availability reason = failed ? os_availability(error) : VITALS_UNSUPPORTED;
        return gpu_backend_refuse(why, reason,
                                  reason == VITALS_DENIED ? "permission denied: /sys/bus/pci"
                                                          : "the driver amdgpu has no device here");
    }
    struct amd *amd = memory_alloc(sizeof *amd);
    if (amd == NULL)
        return gpu_backend_refuse(why, VITALS_FAILED, "no memory");
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

/* ---- diagnosis rows: why devices are there or not; wakes no card ---- */

struct amd_machine {
    uint32_t cards;   /* AMD devices that draw or compute */
    uint32_t unbound; /* of them, those without a driver */
    uint32_t foreign; /* those with another driver */
    char driver[32];  /* name of the last such driver */
    uint32_t asleep;
};

/* Returns 0, or why the bus cannot be listed. */
static int read_bus(const struct os *os, struct amd_machine *out)
{
    struct os_sys_names names;
    os_sys_names(&names, os, "bus/pci/devices");
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        char folder[OS_SYS_PATH], driver[32] = "";
        uint64_t vendor, class;
        pci_folder(folder, name);
        if (pci_number(os, folder, "vendor", &vendor) < 0 || vendor != 0x1002 ||
            pci_number(os, folder, "class", &class) < 0 ||
            (class >> 16 != 0x03 && class >> 16 != 0x12))
            continue;
        out->cards++;
        if (!pci_read_driver(os, folder, driver, sizeof driver)) {
            out->unbound++;
        } else if (strcmp(driver, "amdgpu") != 0) {
            out->foreign++;
            memcpy(out->driver, driver, sizeof driver);
        } else {
            out->asleep += pci_is_asleep(os, folder, NULL);
        }
    }
    return names.result;
}

static void amd_diagnose(const vitals_context *context, void *state, struct row_batch *out)
{
    struct amd_machine machine = {0};
    (void)state;
    int error = read_bus(&context->os, &machine);
    if (machine.cards == 0) {
        /* A machine may have no PCI; a list that cannot be read may hide devices. */
        if (error < 0 && os_availability(error) == VITALS_DENIED)
            diagnosis_add(out, DIAGNOSIS_PROBLEM, "amd", "permission denied: /sys/bus/pci",
                          "# run outside of the sandbox, or let it see /sys");
        else if (os_sys_hides(&context->os, error))
            diagnosis_add(out, DIAGNOSIS_PROBLEM, "amd", "cannot be read: /sys/bus/pci", "");
        else
            diagnosis_add(out, DIAGNOSIS_GOOD, "amd", "no AMD device", "");
    }

    char text[160];
    if (machine.unbound > 0) {
        snprintf(text, sizeof text, "%u of AMD's devices %s no driver", machine.unbound,
                 machine.unbound == 1 ? "has" : "have");
        diagnosis_add(out, DIAGNOSIS_PROBLEM, "amd", text, "sudo modprobe amdgpu");
    }
    if (machine.foreign > 0) {
        snprintf(text, sizeof text, "%u of AMD's devices %s with the driver %s, not with amdgpu",
                 machine.foreign, machine.foreign == 1 ? "is" : "are", machine.driver);
        diagnosis_add(out, DIAGNOSIS_NOTICE, "amd", text, "");
    }

    uint32_t bound = machine.cards - machine.unbound - machine.foreign;
    int size = snprintf(text, sizeof text, "amdgpu has %u %s", bound,
                        bound == 1 ? "device" : "devices");
    if (machine.asleep > 0)
        snprintf(text + size, sizeof text - (size_t)size, ", of which %u %s", machine.asleep,
                 machine.asleep == 1 ? "sleeps and is left asleep" : "sleep and are left asleep");
    if (bound > 0) {
        diagnosis_add(out, DIAGNOSIS_GOOD, "amd", text, "");

        /* Compute programs open this node and a render node; vitals needs neither. */
        static const char subject[] = "amd kfd";
        int access = os_dev_access(&context->os, "kfd");
        if (kfd_generation(&context->os) == 0)
            diagnosis_add(
                out, DIAGNOSIS_NOTICE, subject,
                "the compute driver is not loaded: no ROCm, and compute units are not known", "");
        else if (access == -EACCES)
            diagnosis_add(out, DIAGNOSIS_NOTICE, subject,
                          "/dev/kfd: permission denied: your programs cannot compute",
                          "sudo usermod -aG render,video \"$USER\"\n# then log in again");
        else if (access == -ENOENT)
            diagnosis_add(out, DIAGNOSIS_NOTICE, subject,
                          "/dev/kfd does not exist: no program can use ROCm here",
                          "# where this is a container, add to the command that starts it:\n"
                          "# docker run --device=/dev/kfd --device=/dev/dri ...");
        else
            diagnosis_add(out, DIAGNOSIS_GOOD, subject,
                          "it lists the compute processes of all users", "");
    }
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
