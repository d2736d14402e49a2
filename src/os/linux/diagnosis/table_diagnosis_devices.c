/* table_diagnosis_devices.c: the GPUs on the PCI bus and their drivers, the access rights of their
 * nodes, and GPUs lent by Windows: rows of the table diagnosis. Back ends report what they read.
 *
 * Reads the folder of a device's configuration and its runtime status, which wake nothing. Thread
 * rule: workers only. */
#include "os/linux/diagnosis/ourselves.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { GROUPS_MAX = 16, DRIVER_NAME = 32, ADDRESS = 24, NODES_MAX = 256 };

/* Devices of one vendor with one driver. */
struct device_node_group {
    const struct device_vendor *vendor;
    char driver[DRIVER_NAME]; /* "": none */
    char first[ADDRESS];
    unsigned count, asleep;
};

struct bus {
    struct device_node_group groups[GROUPS_MAX];
    size_t count;
    unsigned unread; /* devices whose class is not known */
};

/* Vendors of compute devices, their drivers, and how to install those. Other devices (graphics of a
 * server's board, of a virtual machine) need no driver for vitals. */
static const struct device_vendor {
    uint64_t id;
    const char *name;
    const char *drivers[4]; /* the first one is usual */
    const char *load;
    const char *install[FAMILIES];
} VENDORS[] = {
    {.id = 0x10de,
     .name = "NVIDIA",
     .drivers = {"nvidia"},
     .load = "sudo modprobe nvidia",
     .install[FAMILY_DEBIAN] =
         "# of the sections contrib and non-free:\nsudo apt install nvidia-driver",
     .install[FAMILY_UBUNTU] = "sudo ubuntu-drivers install",
     .install[FAMILY_FEDORA] = "# of RPM Fusion:\nsudo dnf install akmod-nvidia",
     .install[FAMILY_ARCH] = "sudo pacman -S nvidia-open",
     .install[FAMILY_SUSE] = "sudo zypper install nvidia-open-driver-G06-signed-kmp-default",
     .install[FAMILY_OTHER] = "# NVIDIA's driver: https://www.nvidia.com/drivers"},
    {.id = 0x1002,
     .name = "AMD",
     .drivers = {"amdgpu", "radeon"},
     .load = "sudo modprobe amdgpu",
     .install[FAMILY_DEBIAN] = "sudo apt install firmware-amd-graphics",
     .install[FAMILY_UBUNTU] = "sudo apt install linux-firmware",
     .install[FAMILY_FEDORA] = "sudo dnf install amd-gpu-firmware",
     .install[FAMILY_ARCH] = "sudo pacman -S linux-firmware-amdgpu",
     .install[FAMILY_SUSE] = "sudo zypper install kernel-firmware-amdgpu",
     .install[FAMILY_OTHER] = "# the firmware for amdgpu"},
    {.id = 0x8086,
     .name = "Intel",
     .drivers = {"i915", "xe", "intel_vpu"},
     .load = "sudo modprobe xe || sudo modprobe i915",
     .install[FAMILY_DEBIAN] = "sudo apt install firmware-intel-graphics",
     .install[FAMILY_UBUNTU] = "sudo apt install linux-firmware",
     .install[FAMILY_FEDORA] = "sudo dnf install intel-gpu-firmware",
     .install[FAMILY_ARCH] = "sudo pacman -S linux-firmware-intel",
     .install[FAMILY_SUSE] = "sudo zypper install kernel-firmware-i915",
     .install[FAMILY_OTHER] = "# the firmware for i915 and xe"},
    {.name = "others"},
};

/* Reads the driver that a folder's link of that name leads to; "" if there is none. */
static void read_driver(const struct os *os, const char *path, char out[static DRIVER_NAME])
{
    char target[OS_SYS_PATH];
    out[0] = '\0';
    if (os_sys_link(os, path, target, sizeof target) < 0)
        return;
    const char *slash = strrchr(target, '/');
    snprintf(out, DRIVER_NAME, "%.*s", DRIVER_NAME - 1, slash != NULL ? slash + 1 : target);
}

static void take_device(const struct os *os, const char *name, struct bus *bus)
{
    char path[OS_SYS_PATH], driver[DRIVER_NAME], status[16];
    uint64_t id = 0, class = 0;
    snprintf(path, sizeof path, "bus/pci/devices/%s/class", name);
    /* Displays (03), and processing accelerators (12). */
    if (os_sys_u64(os, path, &class) < 0) {
        bus->unread++;
        return;
    }
    if (class >> 16 != 0x03 && class >> 16 != 0x12)
        return;
    snprintf(path, sizeof path, "bus/pci/devices/%s/vendor", name);
    (void)os_sys_u64(os, path, &id);
    snprintf(path, sizeof path, "bus/pci/devices/%s/driver", name);
    read_driver(os, path, driver);
    snprintf(path, sizeof path, "bus/pci/devices/%s/physfn", name);
    if (driver[0] == '\0' && os_sys_exists(os, path))
        return; /* a virtual function that waits to be assigned to a virtual machine */

    const struct device_vendor *vendor = VENDORS; /* the last entry is for all other vendors */
    while (vendor->id != 0 && vendor->id != id)
        vendor++;
    size_t i = 0;
    while (i < bus->count &&
           (bus->groups[i].vendor != vendor || strcmp(bus->groups[i].driver, driver) != 0))
        i++;
    if (i == GROUPS_MAX)
        return;
    struct device_node_group *group = &bus->groups[i];
    if (i == bus->count) {
        *group = (struct device_node_group){.vendor = vendor};
        memcpy(group->driver, driver, sizeof driver);
        snprintf(group->first, sizeof group->first, "%.*s", ADDRESS - 1, name);
        bus->count++;
    }
    group->count++;
    snprintf(path, sizeof path, "bus/pci/devices/%s/power/runtime_status", name);
    group->asleep += os_sys_text(os, path, status, sizeof status) == 0 &&
                     strcmp(status, "suspended") == 0;
}

static void tell_driver(const struct ourselves *self, const struct device_node_group *group)
{
    const struct device_vendor *vendor = group->vendor;
    char subject[48], finding[160], remedy[512], asleep[48] = "";
    snprintf(subject, sizeof subject, "PCI, %s", vendor->name);
    if (group->driver[0] == '\0') {
        if (vendor->id == 0)
            return; /* they are not visible, and nothing is missing */
        if (group->count == 1)
            snprintf(finding, sizeof finding, "%s has no driver", group->first);
        else
            snprintf(finding, sizeof finding, "%u devices have no driver: %s and others",
                     group->count, group->first);
        snprintf(remedy, sizeof remedy, "%s\n# where that fails, install it first:\n%s",
                 vendor->load, vendor->install[self->family]);
        diagnosis_add(self->out, DIAGNOSIS_PROBLEM, subject, finding, remedy);
        return;
    }

    if (group->asleep > 0 && group->count == 1)
        snprintf(asleep, sizeof asleep, ", asleep and left so");
    else if (group->asleep > 0)
        snprintf(asleep, sizeof asleep, ", %u of them asleep and left so", group->asleep);
    bool given = strcmp(group->driver, "vfio-pci") == 0 || strcmp(group->driver, "pci-stub") == 0;
    bool right = vendor->id == 0;
    for (size_t i = 0; i < ARRAY_COUNT(vendor->drivers) && vendor->drivers[i] != NULL; i++)
        right |= strcmp(group->driver, vendor->drivers[i]) == 0;
    snprintf(finding, sizeof finding, "%u %s with the driver %s%s%s", group->count,
             group->count == 1 ? "device" : "devices", group->driver, asleep,
             given    ? ": kept for a virtual machine"
             : !right ? ": it tells little or nothing"
                      : "");
    diagnosis_add(self->out, given || right ? DIAGNOSIS_GOOD : DIAGNOSIS_NOTICE, subject, finding,
                  given || right ? "" : vendor->install[self->family]);
}

struct nodes {
    unsigned count, denied, missing, open;
    char first[OS_SYS_NAME]; /* the first one that cannot be opened */
};

static void take_node(const struct os *os, const char *name, struct nodes *nodes)
{
    char path[OS_SYS_PATH], driver[DRIVER_NAME];
    if (strncmp(name, "renderD", 7) != 0 || name[7] == '\0' ||
        name[7 + strspn(name + 7, "0123456789")] != '\0')
        return;
    snprintf(path, sizeof path, "class/drm/%s/device/driver", name);
    read_driver(os, path, driver);
    if (strcmp(driver, "nvidia") == 0)
        return; /* CUDA does not open these */
    snprintf(path, sizeof path, "dri/%s", name);
    int access = os_dev_access(os, path);
    bool denied = access < 0 && os_availability(access) == VITALS_DENIED;
    bool missing = access == -ENOENT;
    if ((denied && nodes->denied == 0) || (missing && nodes->denied + nodes->missing == 0))
        memcpy(nodes->first, name, strlen(name) + 1);
    nodes->denied += denied;
    nodes->missing += missing;
    nodes->open += access == 0;
    nodes->count++;
}

static void diagnose_nodes(const struct ourselves *self)
{
    struct nodes nodes = {0};
    struct os_sys_names names;
    char finding[192], remedy[256], path[OS_SYS_NAME + 8];
    os_sys_names(&names, self->os, "class/drm");
    for (const char *name; nodes.count < NODES_MAX && (name = os_sys_next(&names)) != NULL;)
        take_node(self->os, name, &nodes);
    if (nodes.denied > 0) {
        struct stat status;
        snprintf(path, sizeof path, "dri/%s", nodes.first);
        bool of_root = fstatat(self->os->dev, path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                       status.st_gid == 0;
        snprintf(finding, sizeof finding,
                 "/dev/dri/%s: permission denied: our programs cannot use it, vitals reads it "
                 "without",
                 nodes.first);
        if (self->pids == PLACE_INNER && !self->wsl)
            snprintf(remedy, sizeof remedy,
                     "# add to the command that starts this container, with the number on the "
                     "host:\n# docker run --group-add $(stat -c %%g /dev/dri/%s) ...",
                     nodes.first);
        else if (of_root)
            snprintf(remedy, sizeof remedy,
                     "sudo chgrp render /dev/dri/renderD*\nsudo usermod -aG render \"$USER\"\n"
                     "# then log in again");
        else
            snprintf(remedy, sizeof remedy,
                     "sudo usermod -aG \"$(stat -c %%G /dev/dri/%s)\" \"$USER\"\n"
                     "# then log in again",
                     nodes.first);
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, "render nodes", finding, remedy);
    } else if (nodes.missing > 0) {
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, "render nodes",
                      "they are not in /dev: our programs cannot use those GPUs",
                      "# in a container, add to the command that starts it:\n"
                      "# docker run --device=/dev/dri ...");
    } else if (nodes.open > 0) {
        snprintf(finding, sizeof finding, "%u below /dev/dri can be opened", nodes.open);
        diagnose_good(self, "render nodes", finding);
    }
}

void diagnose_devices(const struct ourselves *self)
{
    static const char subject[] = "Windows";
    struct bus bus = {0};
    struct os_sys_names names;
    os_sys_names(&names, self->os, "bus/pci/devices");
    for (const char *name; (name = os_sys_next(&names)) != NULL;)
        take_device(self->os, name, &bus);
    if (names.result < 0 && os_availability(names.result) == VITALS_DENIED)
        diagnosis_add(self->out, DIAGNOSIS_PROBLEM, "PCI", "/sys/bus/pci: permission denied",
                      "# run it outside of this sandbox");
    for (size_t i = 0; i < bus.count; i++)
        tell_driver(self, &bus.groups[i]);
    if (bus.unread > 0)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, "PCI",
                      "what some devices are cannot be read below /sys/bus/pci",
                      "# run it outside of this sandbox");
    if (bus.count + bus.unread == 0 && names.result == 0 && !self->wsl)
        diagnose_good(self, "PCI", "no graphics device and no accelerator");
    diagnose_nodes(self);
    if (!self->wsl)
        return;

    /* The GPUs that Windows provides. */
    int access = os_dev_access(self->os, "dxg");
    if (self->old_wsl)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject, "the first version of WSL has no GPUs",
                      "wsl.exe --set-version \"$WSL_DISTRO_NAME\" 2");
    else if (access == 0)
        diagnose_good(self, subject, "it lends its GPUs as /dev/dxg");
    else if (os_availability(access) == VITALS_DENIED)
        diagnosis_add(self->out, DIAGNOSIS_PROBLEM, subject, "/dev/dxg: permission denied",
                      "sudo chmod 0666 /dev/dxg");
    else
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "/dev/dxg is not there: it lends no GPU",
                      "# install the GPU's driver in Windows, then:\n"
                      "wsl.exe --update\nwsl.exe --shutdown");
}
