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

struct drm_finding {
    struct drm *drm;
    const struct os *os;
    struct gpu_scan *out;
    const struct drm_class *class;
    bool any, cut;
};

static bool is_numbered(const char *name, const char *prefix)
{
    uint64_t number;
    return starts(name, prefix) && number_is_u64(name + strlen(prefix), &number);
}

/* Finds the folder of the node's device, and its driver. */
static bool look_behind(const struct drm_finding *finding, const char *name, struct drm_found *out)
{
    char path[OS_SYS_PATH], real[OS_SYS_PATH];
    if (!is_numbered(name, finding->class->prefix))
        return false;
    int size = snprintf(path, sizeof path, "class/%s/%s/device", finding->class->name, name);
    if (size < 0 || (size_t)size >= sizeof path ||
        os_sys_real(finding->os, path, real, sizeof real) < 0 || strlen(real) >= sizeof out->folder)
        return false;
    memcpy(out->folder, real, strlen(real) + 1);
    if (!pci_read_driver(finding->os, real, out->driver, sizeof out->driver))
        return false;
    bool is_ours = true;
    for (size_t i = 0; i < ARRAY_COUNT(FAMILIES); i++)
        is_ours &= !starts(out->driver, FAMILIES[i]);
    for (size_t i = 0; i < ARRAY_COUNT(WHOLE); i++)
        is_ours &= strcmp(out->driver, WHOLE[i]) != 0;
    return is_ours;
}

static bool visit_any(const char *name, void *data)
{
    struct drm_finding *finding = data;
    struct drm_found found;
    finding->any = look_behind(finding, name, &found);
    return !finding->any;
}

/* Returns the first error except a missing class. */
static int visit_classes(struct drm_finding *finding, os_sys_visit *visit)
{
    int error = 0;
    for (size_t i = 0; i < ARRAY_COUNT(CLASSES) && !(finding->any && finding->drm == NULL); i++) {
        char path[64];
        finding->class = &CLASSES[i];
        snprintf(path, sizeof path, "class/%s", CLASSES[i].name);
        int result = os_sys_list(finding->os, path, visit, finding);
        if (result < 0 && os_availability(result) != VITALS_GONE && error == 0)
            error = result;
    }
    return error;
}

bool drm_has_device(const struct os *os, int *error)
{
    struct drm_finding finding = {.os = os};
    *error = visit_classes(&finding, visit_any);
    return finding.any;
}

/* ---- slots ---- */

struct visiting {
    const struct os *os;
    struct drm_slot *slot;
    const char *folder; /* below the device's folder */
    size_t count;       /* number of matching entries */
    char path[OS_SYS_PATH];
};

static bool visit_node(const char *name, void *data)
{
    struct visiting *visiting = data;
    char path[OS_SYS_PATH];
    if (!is_numbered(name, "renderD") && !is_numbered(name, "card") && !is_numbered(name, "accel"))
        return true;
    int size = snprintf(path, sizeof path, "%s/%s/%s/dev", visiting->slot->folder, visiting->folder,
                        name);
    if (size > 0 && (size_t)size < sizeof path)
        pci_add_node(visiting->os, path, visiting->slot->nodes, &visiting->slot->node_count);
    return true;
}

static bool visit_frequency(const char *name, void *data)
{
    struct visiting *visiting = data;
    char path[OS_SYS_PATH];
    int size = snprintf(path, sizeof path, "%s/%s", visiting->folder, name);
    bool is_meant = visiting->slot != NULL ||
                    (strlen(name) > 4 && strcmp(name + strlen(name) - 4, ".gpu") == 0);
    if (!is_meant || size < 0 || size >= DRM_FOLDER - 32)
        return true;
    if (visiting->count++ == 0)
        memcpy(visiting->path, path, (size_t)size + 1);
    return true;
}

/* Finds the device's own devfreq folder; else the only clock on the machine that is named after a
 * GPU: msm's nodes belong to the display controller, its clock to another device. */
static void find_frequency(const struct os *os, struct drm_slot *slot)
{
    char path[OS_SYS_PATH];
    struct visiting own = {.os = os, .slot = slot, .folder = path};
    if (!pci_path(path, slot->folder, "devfreq"))
        return;
    (void)os_sys_list(os, path, visit_frequency, &own);
    struct visiting other = {.os = os, .folder = "class/devfreq"};
    if (own.count == 0 && slot->bus_id[0] == '\0' && starts(slot->driver, "msm"))
        (void)os_sys_list(os, other.folder, visit_frequency, &other);
    const struct visiting *found = own.count == 1 ? &own : &other;
    if (found->count == 1)
        memcpy(slot->frequency, found->path, strlen(found->path) + 1);
}

static uint32_t slot_for(struct drm *drm, const struct drm_found *found, const char *node)
{
    const struct os *os = &drm->context->os;
    for (uint32_t i = 0; i < drm->count; i++) {
        if (strcmp(drm->slots[i]->folder, found->folder) == 0 &&
            strcmp(drm->slots[i]->driver, found->driver) == 0)
            return i;
    }
    struct drm_slot *slot = drm->count < GPU_DEVICES_MAX ? memory_alloc(sizeof *slot) : NULL;
    if (slot == NULL)
        return UINT32_MAX;
    memcpy(slot->folder, found->folder, sizeof slot->folder);
    memcpy(slot->driver, found->driver, sizeof slot->driver);
    snprintf(slot->node, sizeof slot->node, "%s", node);
    (void)pci_read_bus_id(os, slot->folder, slot->bus_id);
    const struct drm_driver *driver = find_driver(slot->driver);
    slot->is_unified = slot->bus_id[0] == '\0' || (driver != NULL && driver->is_unified);

    static const char *const FOLDERS[] = {"drm", "accel"};
    for (size_t i = 0; i < ARRAY_COUNT(FOLDERS); i++) {
        struct visiting visiting = {.os = os, .slot = slot, .folder = FOLDERS[i]};
        pci_list(os, slot->folder, FOLDERS[i], visit_node, &visiting);
    }

    find_frequency(os, slot);
    drm->slots[drm->count] = slot;
    return drm->count++;
}

/* ---- identity ---- */

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

static void identify(const struct drm *drm, uint32_t at, uint32_t index, struct gpu_identity *out)
{
    const struct os *os = &drm->context->os;
    const struct drm_slot *slot = drm->slots[at];
    const struct drm_driver *driver = find_driver(slot->driver);
    const char *place = strrchr(slot->folder, '/');
    *out = (struct gpu_identity){
        .slot = at,
        .index = index,
        .parent_slot = -1,
        .swept = GPU_SWEPT_ALL,
        .pci_state = slot->bus_id[0] != '\0' ? VITALS_HAVE : VITALS_UNSUPPORTED,
        .cuda_state = VITALS_UNSUPPORTED,
        .gpu_instance_id = value_missing(VITALS_UNSUPPORTED),
        .compute_instance_id = value_missing(VITALS_UNSUPPORTED),
        .node_count = slot->node_count,
    };
    memcpy(out->nodes, slot->nodes, sizeof out->nodes);
    snprintf(out->vendor, sizeof out->vendor, "%.*s", (int)sizeof out->vendor - 1,
             driver != NULL ? driver->vendor : slot->driver);
    snprintf(out->pci_bus_id, sizeof out->pci_bus_id, "%s", slot->bus_id);
    /* Two devices may have the same last part, such as "gpu": the whole place is then the
     * identifier. */
    place = place != NULL ? place + 1 : slot->folder;
    snprintf(out->uuid, sizeof out->uuid, "drm-%.40s-%08x", place,
             (unsigned)(hash_bytes(slot->folder, strlen(slot->folder)) & 0xffffffff));
    if (slot->bus_id[0] != '\0')
        snprintf(out->uuid, sizeof out->uuid, "drm-%s", slot->bus_id);

    /* Otherwise the name is that of the part with the clock, if another device has the nodes. */
    struct pci_numbers numbers;
    char path[OS_SYS_PATH];
    out->name_state = VITALS_HAVE;
    if (pci_read_numbers(os, slot->folder, &numbers))
        names_device(os, numbers.vendor, numbers.device, slot->driver, out->name);
    else if (!(slot->frequency[0] != '\0' && pci_path(path, slot->frequency, "device") &&
               read_compatible(os, path, out->name, sizeof out->name)) &&
             !read_compatible(os, slot->folder, out->name, sizeof out->name))
        snprintf(out->name, sizeof out->name, "%s", slot->driver);

    pci_read_version(os, slot->driver, out->driver_version, sizeof out->driver_version);
    out->driver_state = out->driver_version[0] != '\0' ? VITALS_HAVE : VITALS_UNSUPPORTED;
}

/* A device may have several nodes: it is listed with the first. */
static bool visit_device(const char *name, void *data)
{
    struct drm_finding *finding = data;
    struct gpu_scan *out = finding->out;
    struct drm_found found;
    char node[DRM_NAME];
    if (!look_behind(finding, name, &found))
        return true;
    snprintf(node, sizeof node, "%s%.32s", finding->class->nodes, name);
    uint32_t slot = slot_for(finding->drm, &found, node);
    if (slot == UINT32_MAX || out->count == GPU_DEVICES_MAX) {
        finding->cut = true;
        return true;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        if (out->devices[i].slot == slot)
            return true;
    }
    identify(finding->drm, slot, out->count, &out->devices[out->count]);
    out->count++;
    return true;
}

void drm_scan(void *state, struct gpu_scan *out)
{
    struct drm *drm = state;
    struct drm_finding finding = {.drm = drm, .os = &drm->context->os, .out = out};
    out->count = 0;
    int error = visit_classes(&finding, visit_device);
    out->state = error < 0 && out->count == 0 ? (signed char)os_availability(error) : VITALS_HAVE;
    if (out->state != VITALS_HAVE)
        snprintf(out->message, sizeof out->message, "cannot be read: /sys/class/drm");
    else
        snprintf(out->message, sizeof out->message, "%u device%s of other drivers%s", out->count,
                 out->count == 1 ? "" : "s", finding.cut ? ", and more that are left out" : "");
}
