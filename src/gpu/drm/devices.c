/* devices.c: the devices that no other back end reads, and their identity.
 *
 * A device is the owner of nodes in /sys/class/drm and /sys/class/accel. A device without a render
 * or accel node (only a display) can neither compute nor draw, and is left out. A slot is assigned
 * once to a place in /sys and a driver. Nothing here wakes a device. Thread rule: the scanning
 * thread. */
#include "gpu/drm/state.h"

#include "util/hash.h"
#include "util/memory.h"
#include "util/number.h"

#include <stdio.h>
#include <string.h>

/* ---- drivers ---- */

static const struct drm_driver DRIVERS[] = {
    {"adreno", "qualcomm", false},  {"amdxdna", "amd", true},
    {"asahi", "apple", false},      {"etnaviv", "vivante", false},
    {"habanalabs", "intel", false}, {"intel_vpu", "intel", true},
    {"lima", "arm", false},         {"msm", "qualcomm", false},
    {"nouveau", "nvidia", false},   {"panfrost", "arm", false},
    {"panthor", "arm", false},      {"powervr", "imagination", false},
    {"qaic", "qualcomm", false},    {"radeon", "amd", false},
    {"rocket", "rockchip", false},  {"tegra", "nvidia", false},
    {"tyr", "arm", false},          {"v3d", "broadcom", false},
    {"vc4", "broadcom", false},     {"virtio", "virtio", false},
    {"vmwgfx", "vmware", false},
};

/* Drivers of other back ends, of software devices and of pure displays: by the beginning of module
 * names, and by whole names. */
static const char *const FAMILIES[] = {"nvidia", "amdgpu", "simple", "bochs"};
static const char *const WHOLE[] = {"i915", "xe", "vgem", "vkms", "evdi", "ast", "mgag200", "udl"};

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Returns NULL for an unknown driver. */
static const struct drm_driver *find_driver(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(DRIVERS); i++) {
        if (starts(name, DRIVERS[i].name))
            return &DRIVERS[i];
    }
    return NULL;
}

/* ---- the device of a node ---- */

struct drm_found {
    char folder[DRM_FOLDER];
    char driver[DRM_NAME];
};

static const struct drm_class {
    const char *name, *prefix, *nodes;
} CLASSES[] = {{"drm", "renderD", "/dev/dri/"}, {"accel", "accel", "/dev/accel/"}};

static bool is_numbered(const char *name, const char *prefix)
{
    uint64_t number;
    return starts(name, prefix) && number_is_u64(name + strlen(prefix), &number);
}

/* Finds the folder of the node's device, and its driver. */
static bool look_behind(const struct os *os, const struct drm_class *class, const char *name,
                        struct drm_found *out)
{
    char path[OS_SYS_PATH], real[OS_SYS_PATH];
    if (!is_numbered(name, class->prefix))
        return false;
    int size = snprintf(path, sizeof path, "class/%s/%s/device", class->name, name);
    if (size < 0 || (size_t)size >= sizeof path || os_sys_real(os, path, real, sizeof real) < 0 ||
        strlen(real) >= sizeof out->folder)
        return false;
    memcpy(out->folder, real, strlen(real) + 1);
    if (!pci_read_driver(os, real, out->driver, sizeof out->driver))
        return false;
    bool is_ours = true;
    for (size_t i = 0; i < ARRAY_COUNT(FAMILIES); i++)
        is_ours &= !starts(out->driver, FAMILIES[i]);
    for (size_t i = 0; i < ARRAY_COUNT(WHOLE); i++)
        is_ours &= strcmp(out->driver, WHOLE[i]) != 0;
    return is_ours;
}

/* ---- slots ---- */

/* Finds the folder of the only clock in a devfreq folder whose name has the suffix; "" if there are
 * several. Returns false if there is none. */
static bool find_clock(const struct os *os, const char *folder, const char *suffix,
                       char out[static OS_SYS_PATH])
{
    struct os_sys_names names;
    size_t count = 0, tail = strlen(suffix);
    os_sys_names(&names, os, "%s", folder);
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        size_t size = strlen(name);
        if (size > tail && strcmp(name + size - tail, suffix) == 0)
            count += pci_path(out, folder, name);
    }
    if (count != 1)
        out[0] = '\0';
    return count > 0;
}

/* Finds the device's own devfreq folder; else the only clock on the machine that is named after a
 * GPU: msm's nodes belong to the display controller, its clock to another device. */
static void find_frequency(const struct os *os, struct drm_slot *slot)
{
    char path[OS_SYS_PATH];
    if (pci_path(path, slot->folder, "devfreq") && !find_clock(os, path, "", slot->frequency) &&
        slot->who.pci_state <= 0 && starts(slot->driver, "msm"))
        (void)find_clock(os, "class/devfreq", ".gpu", slot->frequency);
}

/* Reads "OF_COMPATIBLE_0=arm,mali-valhall-csf" from its uevent, which names the part. */
static bool read_compatible(const struct os *os, const char *folder, char *out, size_t capacity)
{
    enum { UEVENT = 1024 };
    char text[UEVENT];
    out[0] = '\0';
    (void)pci_text(os, folder, "uevent", text, sizeof text);
    struct cursor cursor = cursor_over(text, strlen(text));
    for (struct span line; cursor_line(&cursor, &line);) {
        struct cursor rest = cursor_over(line.bytes, line.size);
        if (!cursor_literal(&rest, "OF_COMPATIBLE_0="))
            continue;
        snprintf(out, capacity, "%.*s", (int)(rest.end - rest.at), rest.at);
        return out[0] != '\0';
    }
    return false;
}

static void identify(const struct os *os, struct drm_slot *slot)
{
    struct gpu_identity *who = &slot->who;
    const struct drm_driver *driver = find_driver(slot->driver);
    const char *place = strrchr(slot->folder, '/');
    char path[OS_SYS_PATH], bus_id[PCI_BUS_ID];
    bool is_pci = pci_read_bus_id(os, slot->folder, bus_id);
    pci_identify(os, driver != NULL ? driver->vendor : slot->driver, slot->driver, bus_id, who);
    who->swept = GPU_SWEPT_ALL;
    slot->is_unified = !is_pci || (driver != NULL && driver->is_unified);

    /* Two devices may have the same last part, such as "gpu": the whole place is then the
     * identifier. */
    place = place != NULL ? place + 1 : slot->folder;
    snprintf(who->uuid, sizeof who->uuid, "drm-%.40s-%08x", place,
             (unsigned)(hash_bytes(slot->folder, strlen(slot->folder)) & 0xffffffff));
    if (is_pci)
        snprintf(who->uuid, sizeof who->uuid, "drm-%s", bus_id);

    for (size_t i = 0; i < ARRAY_COUNT(CLASSES); i++) {
        struct os_sys_names names;
        os_sys_names(&names, os, "%s/%s", slot->folder, CLASSES[i].name);
        for (const char *name; (name = os_sys_next(&names)) != NULL;) {
            int size = snprintf(path, sizeof path, "%s/%s/%s/dev", slot->folder, CLASSES[i].name,
                                name);
            if ((is_numbered(name, "renderD") || is_numbered(name, "card") ||
                 is_numbered(name, "accel")) &&
                size > 0 && (size_t)size < sizeof path)
                pci_add_node(os, path, who->nodes, &who->node_count);
        }
    }

    /* Otherwise the name is that of the part with the clock, if another device has the nodes. */
    struct pci_numbers numbers;
    find_frequency(os, slot);
    if (pci_read_numbers(os, slot->folder, &numbers))
        names_device(os, numbers.vendor, numbers.device, slot->driver, who->name);
    else if (!(slot->frequency[0] != '\0' && pci_path(path, slot->frequency, "device") &&
               read_compatible(os, path, who->name, sizeof who->name)) &&
             !read_compatible(os, slot->folder, who->name, sizeof who->name))
        snprintf(who->name, sizeof who->name, "%s", slot->driver);
}

/* Returns the slot of the device, a new one if needed; NULL if there is no room. */
static struct drm_slot *slot_for(struct drm *drm, const struct drm_found *found, const char *node)
{
    for (uint32_t i = 0; i < drm->count; i++) {
        if (strcmp(drm->slots[i]->folder, found->folder) == 0 &&
            strcmp(drm->slots[i]->driver, found->driver) == 0)
            return drm->slots[i];
    }
    struct drm_slot *slot = drm->count < GPU_DEVICES_MAX ? memory_alloc(sizeof *slot) : NULL;
    if (slot == NULL)
        return NULL;
    memcpy(slot->folder, found->folder, sizeof slot->folder);
    memcpy(slot->driver, found->driver, sizeof slot->driver);
    snprintf(slot->node, sizeof slot->node, "%s", node);
    identify(&drm->context->os, slot);
    slot->who.slot = drm->count;
    drm->slots[drm->count++] = slot;
    return slot;
}

/* ---- the scan ---- */

/* A device may have several nodes: it is listed with the first. Returns false if there is no room.
 */
static bool list(struct drm *drm, const struct drm_found *found, const char *node,
                 struct gpu_scan *out)
{
    const struct drm_slot *slot = slot_for(drm, found, node);
    if (slot == NULL || out->count == GPU_DEVICES_MAX)
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        if (out->devices[i].slot == slot->who.slot)
            return true;
    }
    struct gpu_identity *listed = &out->devices[out->count];
    *listed = slot->who;
    listed->index = out->count++;
    /* A module that is loaded again may be another one. */
    pci_read_version(&drm->context->os, slot->driver, listed->driver_version,
                     sizeof listed->driver_version);
    listed->driver_state = listed->driver_version[0] != '\0' ? VITALS_HAVE : VITALS_UNSUPPORTED;
    return true;
}

/* Lists the devices; if `out` is NULL, only looks if there is any, which it returns. *cut is set if
 * there is no room for all, *error to the first error but that of a missing class. */
static bool each_device(const struct os *os, struct drm *drm, struct gpu_scan *out, bool *cut,
                        int *error)
{
    bool any = false;
    *error = 0;
    for (size_t i = 0; i < ARRAY_COUNT(CLASSES); i++) {
        struct os_sys_names names;
        os_sys_names(&names, os, "class/%s", CLASSES[i].name);
        for (const char *name; (name = os_sys_next(&names)) != NULL;) {
            struct drm_found found;
            char node[DRM_NAME];
            if (!look_behind(os, &CLASSES[i], name, &found))
                continue;
            any = true;
            if (out == NULL)
                return true;
            snprintf(node, sizeof node, "%s%.32s", CLASSES[i].nodes, name);
            *cut |= !list(drm, &found, node, out);
        }
        if (names.result < 0 && os_availability(names.result) != VITALS_GONE && *error == 0)
            *error = names.result;
    }
    return any;
}

bool drm_has_device(const struct os *os, int *error)
{
    return each_device(os, NULL, NULL, NULL, error);
}

void drm_scan(void *state, struct gpu_scan *out)
{
    struct drm *drm = state;
    bool cut = false;
    int error;
    out->count = 0;
    each_device(&drm->context->os, drm, out, &cut, &error);
    out->state = error < 0 && out->count == 0 ? (signed char)os_availability(error) : VITALS_HAVE;
    if (out->state != VITALS_HAVE)
        snprintf(out->message, sizeof out->message, "cannot be read: /sys/class/drm");
    else
        snprintf(out->message, sizeof out->message, "%u device%s of other drivers%s", out->count,
                 out->count == 1 ? "" : "s", cut ? ", and more that are left out" : "");
}
