/* devices.c: the list of cards and partitions, and their identity.
 *
 * A card is a PCI device that the driver amdgpu has, known by the number in its silicon, else by
 * its address. If KFD shows it as several nodes it is divided, and each node is a partition. The
 * identity in a slot never changes: a device whose nodes change gets a new slot under its old name.
 * Nothing here wakes a card: the kernel answers these reads from memory. Thread rule: the scan's.
 */
#include "gpu/amd/state.h"

#include "util/memory.h"
#include "util/number.h"

#include <stdio.h>
#include <string.h>

/* ---- slots ---- */

static bool is_same(const struct amd_device *a, const struct amd_device *b)
{
    if (strcmp(a->who.uuid, b->who.uuid) != 0 || strcmp(a->folder, b->folder) != 0 ||
        a->partition != b->partition || a->partitioned != b->partitioned ||
        a->who.parent_slot != b->who.parent_slot || a->who.node_count != b->who.node_count ||
        a->node_count != b->node_count || strcmp(a->who.name, b->who.name) != 0)
        return false;
    for (uint32_t i = 0; i < a->who.node_count; i++)
        if (a->who.nodes[i].major != b->who.nodes[i].major ||
            a->who.nodes[i].minor != b->who.nodes[i].minor)
            return false;
    for (uint32_t i = 0; i < a->node_count; i++)
        if (a->nodes[i].number != b->nodes[i].number || a->nodes[i].gpu_id != b->nodes[i].gpu_id)
            return false;
    return true;
}

static bool is_listed(const struct gpu_scan *out, const char *uuid)
{
    for (uint32_t i = 0; i < out->count; i++)
        if (strcmp(out->devices[i].uuid, uuid) == 0)
            return true;
    return false;
}

/* Lists the device. Returns its slot, or NULL if there is no room. */
static struct amd_device *list(struct amd *amd, struct amd_device *found, struct gpu_scan *out)
{
    struct amd_device *device = NULL;
    if (out->count == GPU_DEVICES_MAX || is_listed(out, found->who.uuid))
        return NULL;
    for (uint32_t i = 0; i < amd->count && device == NULL; i++)
        if (amd->devices[i]->scanned != amd->scans && is_same(amd->devices[i], found))
            device = amd->devices[i];
    if (device == NULL && amd->count < AMD_SLOTS_MAX) {
        device = memory_alloc(sizeof *device);
        if (device == NULL)
            return NULL;
        *device = *found;
        device->who.slot = amd->count;
        amd->devices[amd->count++] = device;
    }
    if (device == NULL)
        return NULL;
    device->scanned = amd->scans;
    out->devices[out->count] = device->who;
    out->devices[out->count++].index = found->who.index;
    return device;
}

/* ---- identity ---- */

/* Returns the newest slot of the card at that place, with that UUID unless it is NULL; or NULL. */
static const struct amd_device *find_card(const struct amd *amd, const char *folder,
                                          const char *uuid)
{
    for (uint32_t i = amd->count; i-- > 0;) {
        const struct amd_device *device = amd->devices[i];
        if (device->partition < 0 && strcmp(device->folder, folder) == 0 &&
            (uuid == NULL || strcmp(device->who.uuid, uuid) == 0))
            return device;
    }
    return NULL;
}

/* The serial number cannot be read while a card is reset: keep the last identity. */
static void name_uuid(const struct amd *amd, struct amd_device *found)
{
    const struct amd_device *known = find_card(amd, found->folder, NULL);
    char text[32];
    struct gpu_identity *who = &found->who;
    if (pci_text(&amd->context->os, found->folder, "unique_id", text, sizeof text) < 0)
        text[0] = '\0';
    size_t size = strspn(text, "0123456789abcdefABCDEF");
    if (size > 0 && size <= 16 && text[size] == '\0' && strspn(text, "0") != size)
        snprintf(who->uuid, sizeof who->uuid, "AMD-%s", text);
    else if (known != NULL)
        snprintf(who->uuid, sizeof who->uuid, "%s", known->who.uuid);
    else if (found->node_count > 0 && found->nodes[0].properties.unique_id != 0)
        snprintf(who->uuid, sizeof who->uuid, "AMD-%016llx",
                 (unsigned long long)found->nodes[0].properties.unique_id);
    else
        snprintf(who->uuid, sizeof who->uuid, "AMD-%s", who->pci_bus_id);
}

/* The name that the manufacturer wrote on the board, else that of libdrm's list, else that of
 * pci.ids. */
static void name_card(const struct os *os, struct amd_device *found)
{
    char name[NAMES_TEXT];
    struct gpu_identity *who = &found->who;
    struct pci_numbers numbers = {0};
    if (pci_text(os, found->folder, "product_name", name, sizeof name) == 0 && name[0] != '\0') {
        snprintf(who->name, sizeof who->name, "%.*s", GPU_NAME - 1, name);
        return;
    }
    pci_read_numbers(os, found->folder, &numbers);
    if (names_find_amdgpu(os, numbers.device, numbers.revision, name))
        snprintf(who->name, sizeof who->name, "%.*s", GPU_NAME - 1, name);
    else
        names_device(os, numbers.vendor, numbers.device, "AMD GPU", who->name);
}

/* ---- its device nodes ---- */

static void add_node(struct gpu_identity *who, uint64_t minor)
{
    if (who->node_count < GPU_NODES_MAX && minor <= UINT32_MAX)
        who->nodes[who->node_count++] = (struct gpu_node){OS_DRM_MAJOR, (uint32_t)minor};
}

static void list_partitions(struct amd *amd, const struct amd_device *parent, struct gpu_scan *out)
{
    char profile[GPU_NAME];
    if (pci_text(&amd->context->os, parent->folder, "current_compute_partition", profile,
                 sizeof profile) < 0)
        profile[0] = '\0';
    for (uint32_t i = 0; i < parent->node_count && parent->partitioned; i++) {
        struct amd_device found = {.who = parent->who, .partition = (int32_t)i, .node_count = 1};
        struct gpu_identity *who = &found.who;
        memcpy(found.folder, parent->folder, sizeof found.folder);
        found.nodes[0] = parent->nodes[i];
        who->parent_slot = (int32_t)parent->who.slot;
        who->shares_address = true;
        who->index = i;
        snprintf(who->uuid, sizeof who->uuid, "%.80s-xcp%u", parent->who.uuid, i);
        snprintf(who->name, sizeof who->name, "%s", profile);
        who->name_state = profile[0] != '\0' ? VITALS_HAVE : VITALS_UNSUPPORTED;
        if (i > 0) { /* the first node has the card's own device nodes */
            who->node_count = 0;
            add_node(who, found.nodes[0].properties.drm_render_minor);
        }
        list(amd, &found, out);
    }
}

/* ---- the scan ---- */

static void scan_card(struct amd *amd, const char *bus_id, uint32_t index, struct gpu_scan *out)
{
    const struct os *os = &amd->context->os;
    struct amd_device found = {.partition = -1}; /* it has no slot yet */
    struct gpu_identity *who = &found.who;
    pci_folder(found.folder, bus_id);
    pci_identify(os, "amd", "amdgpu", bus_id, who);
    who->index = index;

    /* A node's name holds its minor number: card0, renderD128. */
    struct os_sys_names names;
    uint64_t minor;
    os_sys_names(&names, os, "%s/drm", found.folder);
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        if ((strncmp(name, "renderD", 7) == 0 && number_is_u64(name + 7, &minor)) ||
            (strncmp(name, "card", 4) == 0 && number_is_u64(name + 4, &minor)))
            add_node(who, minor);
    }
    for (uint32_t i = 0; i < amd->topology.count && found.node_count < AMD_PARTITIONS; i++)
        if (kfd_is_on(&amd->topology.nodes[i], found.who.pci_bus_id))
            found.nodes[found.node_count++] = amd->topology.nodes[i];
    found.partitioned = found.node_count > 1;
    name_uuid(amd, &found);
    if (is_listed(out, who->uuid)) /* two cards with one number: both must be listed */
        snprintf(who->uuid, sizeof who->uuid, "AMD-%s", who->pci_bus_id);
    const struct amd_device *known = find_card(amd, found.folder, who->uuid);
    if (known != NULL) { /* the name lists are read only once */
        memcpy(who->name, known->who.name, sizeof who->name);
    } else {
        name_card(os, &found);
    }

    const struct amd_device *device = list(amd, &found, out);
    if (device != NULL)
        list_partitions(amd, device, out);
}

/* Scans the cards of the driver, unless `out` is NULL. Returns how many there are. */
static uint32_t each_card(const struct os *os, struct amd *amd, struct gpu_scan *out, int *error)
{
    struct os_sys_names names;
    char bus_id[PCI_BUS_ID];
    uint32_t cards = 0;
    os_sys_names(&names, os, "bus/pci/drivers/amdgpu");
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        if (!pci_parse_bus_id((struct span){name, strlen(name)}, bus_id))
            continue;
        if (out != NULL)
            scan_card(amd, bus_id, cards, out);
        cards++;
    }
    *error = names.result;
    return cards;
}

uint32_t amd_count_cards(const struct os *os, int *error)
{
    return each_card(os, NULL, NULL, error);
}

void amd_scan(void *state, struct gpu_scan *out)
{
    struct amd *amd = state;
    const struct os *os = &amd->context->os;
    *out = (struct gpu_scan){.state = VITALS_HAVE};
    amd->scans++;
    uint64_t generation = kfd_generation(os);
    if (generation != amd->topology.generation || generation == 0)
        kfd_read_topology(os, &amd->topology);
    int result;
    uint32_t cards = each_card(os, amd, out, &result);
    if (result < 0 && cards == 0) {
        out->state = (signed char)os_availability(result);
        snprintf(out->message, sizeof out->message, "the driver amdgpu is not loaded");
        return;
    }
    snprintf(out->message, sizeof out->message, "amdgpu, %u %s", cards,
             cards == 1 ? "device" : "devices");
}
