/* diagnose.c: why NVIDIA devices are there or not, in rows for a person. Everything is read again:
 * the kernel module and its nodes from their files, the library by opening it if the back end could
 * not. Thread rule: a worker's or a caller's own; may block. */
#include "gpu/nvidia/state.h"
#include "model/diagnosis.h"

#include <stdio.h>
#include <string.h>

/* ---- the machine ---- */

/* Facts that were found without the library. */
struct nvidia_machine {
    char module[32];    /* version of the loaded kernel module, or "" */
    int control, first; /* os_dev_access of nvidiactl and of nvidia0 */
    bool wsl;           /* Linux under Windows, which has the driver */
    bool device;        /* there is an NVIDIA PCI device */
};

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun …", and of the open module
 * "… Open Kernel Module for x86_64  580.65.06  Release Build …": the first word that begins with a
 * digit and has a dot. */
void nvidia_module_version(const char *text, char *out, size_t capacity)
{
    struct cursor cursor = cursor_over(text, strlen(text));
    struct span word;
    out[0] = '\0';
    while (cursor_word(&cursor, &word)) {
        bool version = word.size > 0 && word.bytes[0] >= '0' && word.bytes[0] <= '9' &&
                       memchr(word.bytes, '.', word.size) != NULL;
        if (version && word.size < capacity) {
            snprintf(out, capacity, "%.*s", (int)word.size, word.bytes);
            return;
        }
    }
}

/* ---- rows ---- */

/* Remedies for several findings. A line is a command or a remark; users paste them. */
#define REBOOT "sudo reboot"
#define RELOAD                                                 \
    "# or, once nothing uses the GPUs:\n"                      \
    "sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia\n" \
    "sudo modprobe nvidia"
#define START_CONTAINER "# in a container, start it with its GPUs:\ndocker run --gpus all IMAGE"
#define JOIN_GROUP                                                  \
    "sudo usermod -aG \"$(stat -c %G /dev/nvidiactl)\" \"$USER\"\n" \
    "# then log in again; where that group is root:\n"              \
    "sudo chmod 0666 /dev/nvidia*"
#define READ_LOG "sudo dmesg | grep -i -e nvrm -e xid"

/* Nodes matter only if there is a module for them. */
static void diagnose_nodes(const struct nvidia_machine *machine, struct row_batch *out)
{
    static const char subject[] = "nvidia device nodes";
    char finding[160];
    const char *which = machine->control != 0 ? "/dev/nvidiactl" : "/dev/nvidia0";
    int worst = machine->control != 0 ? machine->control : machine->first;
    if (!machine->module[0])
        return;
    if (worst == 0) {
        diagnosis_add(out, DIAGNOSIS_GOOD, subject, "/dev/nvidiactl and /dev/nvidia0 can be opened",
                      "");
    } else if (os_availability(worst) == VITALS_DENIED) {
        snprintf(finding, sizeof finding, "%s: permission denied", which);
        diagnosis_add(out, DIAGNOSIS_PROBLEM, subject, finding, JOIN_GROUP);
    } else {
        snprintf(finding, sizeof finding, "%s is not there, though the kernel module is loaded",
                 which);
        diagnosis_add(out, DIAGNOSIS_PROBLEM, subject, finding,
                      "sudo nvidia-modprobe -c 0 -u\n" START_CONTAINER);
    }
}

static void diagnose_mismatch(const struct nvidia_machine *machine, const char *library,
                              struct row_batch *out)
{
    char finding[200];
    snprintf(finding, sizeof finding, "its library is version %s, the loaded kernel module %s",
             *library ? library : "unknown", machine->module[0] ? machine->module : "another");
    diagnosis_add(out, DIAGNOSIS_PROBLEM, "nvidia driver", finding, REBOOT "\n" RELOAD);
}

/* The back end is not open: opens the library again, to report the error and the remedy. */
static void diagnose_closed(const vitals_context *context, const struct nvidia_machine *machine,
                            struct row_batch *out)
{
    static const struct {
        nvml_return code;
        const char *remedy;
    } remedies[] = {
        {NVML_DRIVER_NOT_LOADED, "sudo modprobe nvidia\n" START_CONTAINER},
        {NVML_NO_PERMISSION, JOIN_GROUP},
        {NVML_OPERATING_SYSTEM, "# of a systemd unit:\n"
                                "sudo systemctl set-property UNIT "
                                "DeviceAllow='char-nvidia-frontend rw'\n" START_CONTAINER},
        {NVML_LIBRARY_NOT_FOUND, "# install the driver again; Debian:\n"
                                 "sudo apt install --reinstall nvidia-driver"},
        {NVML_GPU_IS_LOST, "sudo nvidia-smi --gpu-reset\n# or:\n" REBOOT},
    };
    struct nvml nvml;
    struct nvml_failure failure;
    if (nvml_open(&nvml, context, &failure) == 0) {
        nvml_close(&nvml);
        diagnosis_add(out, DIAGNOSIS_NOTICE, "nvidia driver",
                      "it could not be opened before, but can be now", "");
        return;
    }
    if (failure.code == NVML_SUCCESS) {
        const char *remedy = "# NVIDIA's driver; Debian:\nsudo apt install nvidia-driver\n"
                             "# Ubuntu:\nsudo ubuntu-drivers install";
        bool needed = machine->device || machine->module[0] || machine->wsl;
        if (machine->wsl)
            remedy = "export LD_LIBRARY_PATH=/usr/lib/wsl/lib\n"
                     "# where libnvidia-ml.so.1 is not there, install NVIDIA's driver in Windows";
        else if (machine->module[0])
            remedy = "# the library of the loaded driver; Debian:\nsudo apt install libnvidia-ml1\n"
                     "# in a container, start it with its GPUs:\n"
                     "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE";
        diagnosis_add(out, needed ? DIAGNOSIS_PROBLEM : DIAGNOSIS_GOOD, "nvidia library",
                      failure.message, needed ? remedy : "");
        return;
    }
    diagnosis_add(out, DIAGNOSIS_GOOD, "nvidia library", "it is there", "");
    if (failure.code == NVML_LIB_RM_VERSION_MISMATCH) {
        diagnose_mismatch(machine, failure.version, out);
        return;
    }
    const char *remedy = READ_LOG;
    for (size_t i = 0; i < ARRAY_COUNT(remedies); i++) {
        if (remedies[i].code == failure.code)
            remedy = remedies[i].remedy;
    }
    diagnosis_add(out, DIAGNOSIS_PROBLEM, "nvidia driver", failure.message, remedy);
}

/* ---- an open driver ---- */

static void diagnose_open(const struct nvidia *nvidia, const struct nvidia_machine *machine,
                          struct row_batch *out)
{
    char finding[GPU_MESSAGE];
    const struct nvml *nvml = &nvidia->nvml;
    snprintf(finding, sizeof finding, "%s: loaded, %u of %u functions", nvml->path, nvml->found,
             (unsigned)NVML_FUNCTIONS);
    diagnosis_add(out, DIAGNOSIS_GOOD, "nvidia library", finding, "");
    const char *version = nvidia->driver_state > 0 ? nvidia->driver_version : "unknown";
    if (machine->module[0] && nvidia->driver_state > 0 && strcmp(machine->module, version) != 0) {
        diagnose_mismatch(machine, version, out);
        return;
    }
    snprintf(finding, sizeof finding, "version %s, %u device%s", version, nvidia->last_count,
             nvidia->last_count == 1 ? "" : "s");
    diagnosis_add(out, DIAGNOSIS_GOOD, "nvidia driver", finding, "");
}

/* The scan may be reopening the driver. */
static void diagnose_state(struct nvidia *nvidia, const struct nvidia_machine *machine,
                           struct row_batch *out)
{
    if (nvidia_enter(nvidia)) {
        diagnose_open(nvidia, machine, out);
        nvidia_leave(nvidia);
    } else {
        diagnosis_add(out, DIAGNOSIS_PROBLEM, "nvidia driver", nvidia->shut_message, READ_LOG);
    }

    /* A device that a scan could not reach, with the reason. */
    for (uint32_t i = 0; i < nvidia->count; i++) {
        const struct nvidia_device *device = nvidia->devices[i];
        if (device->partition || device->scanned != nvidia->scans || atomic_load(&device->handle))
            continue;
        char subject[64], finding[160];
        int reason = atomic_load(&device->missing);
        snprintf(subject, sizeof subject, "nvidia device %u", device->who.index);
        snprintf(finding, sizeof finding, "%s: %s", device->who.uuid,
                 vitals_availability_help((vitals_availability)reason));
        diagnosis_add(out, DIAGNOSIS_PROBLEM, subject, finding,
                      reason == VITALS_DENIED ? JOIN_GROUP
                                              : READ_LOG "\nsudo nvidia-smi --gpu-reset\n"
                                                         "# or:\n" REBOOT);
    }

    /* Other users of the performance monitor's counters. */
    if (nvidia_finds_hostengine(nvidia->context))
        diagnosis_add(out, DIAGNOSIS_NOTICE, "nvidia counters",
                      "nv-hostengine (DCGM) runs: sm_active_ratio and its like are left to it",
                      "# where nothing else needs it:\nsudo systemctl stop nvidia-dcgm");
}

void nvidia_diagnose(const vitals_context *context, void *state, struct row_batch *out)
{
    const struct os *os = &context->os;
    struct nvidia_machine machine = {.control = os_dev_access(os, "nvidiactl"),
                                     .first = os_dev_access(os, "nvidia0")};
    char text[256], kernel[128], finding[160];
    if (os_proc_text(os, "driver/nvidia/version", text, sizeof text) == 0)
        nvidia_module_version(text, machine.module, sizeof machine.module);
    os_read_kernel(os, kernel, sizeof kernel);
    machine.wsl = strstr(kernel, "icrosoft") != NULL;
    struct os_sys_names names;
    os_sys_names(&names, os, "bus/pci/devices");
    for (const char *name; !machine.device && (name = os_sys_next(&names)) != NULL;) {
        char folder[OS_SYS_PATH];
        uint64_t vendor, class;
        pci_folder(folder, name);
        machine.device = pci_number(os, folder, "vendor", &vendor) == 0 && vendor == 0x10de &&
                         pci_number(os, folder, "class", &class) == 0 && class >> 16 == 3;
    }

    static const char subject[] = "nvidia kernel module";
    if (machine.module[0]) {
        snprintf(finding, sizeof finding, "version %s is loaded", machine.module);
        diagnosis_add(out, DIAGNOSIS_GOOD, subject, finding, "");
    } else if (machine.wsl) {
        diagnosis_add(out, DIAGNOSIS_GOOD, subject, "none here: under WSL, Windows has the driver",
                      "");
    } else if (machine.device) {
        diagnosis_add(out, DIAGNOSIS_PROBLEM, subject,
                      "not loaded, although an NVIDIA device is present", "sudo modprobe nvidia");
    } else if (os_sys_hides(os, names.result)) {
        diagnosis_add(out, DIAGNOSIS_NOTICE, subject,
                      "not loaded; /sys/bus/pci cannot be read, so it is not known whether there "
                      "is an NVIDIA device",
                      "");
    } else {
        diagnosis_add(out, DIAGNOSIS_GOOD, subject,
                      "not loaded, and no NVIDIA device is on the PCI bus", "");
    }

    diagnose_nodes(&machine, out);
    if (state)
        diagnose_state(state, &machine, out);
    else
        diagnose_closed(context, &machine, out);
    if (machine.wsl)
        diagnosis_add(
            out, DIAGNOSIS_NOTICE, "nvidia wsl",
            "under WSL the driver does not report which processes use a GPU, nor their memory", "");
}
