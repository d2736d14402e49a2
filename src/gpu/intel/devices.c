/* devices.c: the list of devices and tiles, and their identity. A slot is assigned once to an
 * address with a card number and a driver: a device that is bound again gets another slot, and
 * keeps its identifier. No read here wakes a device. Thread rule: the scanning thread. */
#include "gpu/intel/state.h"

#include "util/memory.h"
#include "util/number.h"

#include <stdio.h>
#include <string.h>

enum { INTEL_TILES = 8 };

static const char *const DRIVERS[] = {"i915", "xe"};

/* A card that was found. */
struct intel_card {
    char name[24]; /* "card0" */
    char bus_id[PCI_BUS_ID];
    char physical[PCI_BUS_ID]; /* for a virtual function: its physical device; else "" */
    const char *driver;
    uint32_t tiles;
    uint32_t slot; /* UINT32_MAX: none */
};

struct intel_finding {
    struct intel *intel;
    struct gpu_scan *out;
    size_t count;
    bool cut;
    struct intel_card cards[GPU_DEVICES_MAX];
};

/* ---- cards ---- */

/* Reads the card's identity; returns false if it is not an Intel device. */
static bool read_card(const struct os *os, const char *name, struct intel_card *card)
{
    char folder[OS_SYS_PATH], driver[32], link[OS_SYS_PATH];
    uint64_t number;
    if (!(strncmp(name, "card", 4) == 0 && number_is_u64(name + 4, &number)) ||
        strlen(name) >= sizeof card->name)
        return false;
    *card = (struct intel_card){.slot = UINT32_MAX};
    snprintf(card->name, sizeof card->name, "%s", name);
    snprintf(folder, sizeof folder, "class/drm/%s/device", name);
    if (!pci_read_driver(os, folder, driver, sizeof driver))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(DRIVERS); i++)
        card->driver = strcmp(driver, DRIVERS[i]) == 0 ? DRIVERS[i] : card->driver;
    if (card->driver == NULL || !pci_read_bus_id(os, folder, card->bus_id))
        return false;
    snprintf(folder, sizeof folder, "class/drm/%s/device/physfn", name);
    if (os_sys_link(os, folder, link, sizeof link) == 0) {
        const char *last = strrchr(link, '/');
        last = last != NULL ? last + 1 : link;
        (void)pci_parse_bus_id((struct span){last, strlen(last)}, card->physical);
    }
    return true;
}

static void find_cards(struct intel_finding *finding, int *error)
{
    struct os_sys_names names, tiles;
    const struct os *os = &finding->intel->context->os;
    os_sys_names(&names, os, "class/drm");
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        struct intel_card *card = &finding->cards[finding->count];
        if (finding->count == GPU_DEVICES_MAX) {
            finding->cut = true;
            break;
        }
        if (!read_card(os, name, card))
            continue;
        uint64_t number;
        os_sys_names(&tiles, os, "bus/pci/devices/%s", card->bus_id);
        while ((name = os_sys_next(&tiles)) != NULL) {
            if (strncmp(name, "tile", 4) == 0 && number_is_u64(name + 4, &number) &&
                number < INTEL_TILES)
                card->tiles |= UINT32_C(1) << number;
        }
        finding->count++;
    }
    *error = names.result;
}

bool intel_has_card(const struct os *os, int *error)
{
    struct os_sys_names names;
    struct intel_card card;
    const char *name;
    os_sys_names(&names, os, "class/drm");
    while ((name = os_sys_next(&names)) != NULL && !read_card(os, name, &card))
        continue;
    *error = names.result;
    return name != NULL;
}

/* ---- slots ---- */

static uint32_t slot_for(struct intel *intel, const struct intel_card *card, int32_t tile,
                         int32_t parent)
{
    const struct os *os = &intel->context->os;
    for (uint32_t i = 0; i < intel->count; i++) {
        const struct intel_slot *known = intel->slots[i];
        if (known->tile == tile && known->who.parent_slot == parent &&
            known->driver == card->driver && strcmp(known->card, card->name) == 0 &&
            strcmp(known->who.pci_bus_id, card->bus_id) == 0)
            return i;
    }
    struct intel_slot *slot = NULL;
    char folder[OS_SYS_PATH], path[OS_SYS_PATH];
    pci_folder(folder, card->bus_id);
    if (intel->count < GPU_DEVICES_MAX && strlen(folder) < sizeof slot->folder)
        slot = memory_alloc(sizeof *slot);
    if (slot == NULL)
        return UINT32_MAX;
    struct gpu_identity *who = &slot->who;
    pci_identify(os, "intel", card->driver, card->bus_id, who);
    who->slot = intel->count;
    who->parent_slot = parent;
    slot->driver = card->driver;
    slot->tile = tile;
    /* Intel's graphics in the processor have this address, and their virtual functions the
     * following ones. */
    slot->integrated = strncmp(card->bus_id, "0000:00:02.", 11) == 0;
    slot->is_virtual = card->physical[0] != '\0';
    memcpy(slot->folder, folder, strlen(folder) + 1);
    memcpy(slot->card, card->name, sizeof slot->card);
    slot->utilization = value_missing(VITALS_NOT_YET);

    snprintf(path, sizeof path, "class/drm/%s/dev", slot->card);
    pci_add_node(os, path, who->nodes, &who->node_count);
    struct os_sys_names names;
    const char *name;
    os_sys_names(&names, os, "%s/drm", slot->folder);
    while ((name = os_sys_next(&names)) != NULL && strncmp(name, "renderD", 7) != 0)
        continue;
    if (name != NULL) {
        uint32_t before = who->node_count;
        snprintf(path, sizeof path, "%s/drm/%s/dev", slot->folder, name);
        pci_add_node(os, path, who->nodes, &who->node_count);
        if (who->node_count > before)
            slot->render_node = who->nodes[before];
        snprintf(slot->render, sizeof slot->render, "%.20s", name);
    }

    struct pci_numbers numbers;
    snprintf(who->uuid, sizeof who->uuid, "intel-%s", card->bus_id);
    if (tile >= 0) {
        snprintf(who->uuid, sizeof who->uuid, "intel-%s-tile%d", card->bus_id, tile);
        snprintf(who->name, sizeof who->name, "tile %d", tile);
    } else if (pci_read_numbers(os, slot->folder, &numbers)) {
        names_device(os, numbers.vendor, numbers.device, "Intel GPU", who->name);
    } else {
        snprintf(who->name, sizeof who->name, "Intel GPU");
    }
    atomic_store(&slot->swept, intel_guess_swept(os, slot));
    intel->slots[intel->count] = slot;
    return intel->count++;
}

/* ---- identity ---- */

/* Lists the device, the tile or the virtual function. Returns its slot, or UINT32_MAX if there is
 * no room. */
static uint32_t add(struct intel_finding *finding, const struct intel_card *card, int32_t tile,
                    int32_t parent, uint32_t index)
{
    struct gpu_scan *scan = finding->out;
    uint32_t at = UINT32_MAX;
    if (scan->count < GPU_DEVICES_MAX)
        at = slot_for(finding->intel, card, tile, parent);
    if (at == UINT32_MAX) {
        finding->cut = true;
        return at;
    }
    const struct intel_slot *slot = finding->intel->slots[at];
    struct gpu_identity *out = &scan->devices[scan->count++];
    *out = slot->who;
    out->index = index;
    out->swept = slot->tile < 0 ? atomic_load(&slot->swept) : 0;
    return at;
}

/* Adds devices first, each with its tiles, then virtual functions: below their device if that is
 * listed too, else as devices. */
static uint32_t add_cards(struct intel_finding *finding)
{
    uint32_t devices = 0;
    for (size_t i = 0; i < finding->count; i++) {
        struct intel_card *card = &finding->cards[i];
        if (card->physical[0] != '\0')
            continue;
        card->slot = add(finding, card, -1, -1, devices++);

        bool several = (card->tiles & (card->tiles - 1)) != 0;
        for (uint32_t tile = 0; tile < INTEL_TILES && several && card->slot != UINT32_MAX; tile++) {
            if ((card->tiles >> tile & 1) != 0)
                (void)add(finding, card, (int32_t)tile, (int32_t)card->slot, tile);
        }
    }
    for (size_t i = 0; i < finding->count; i++) {
        struct intel_card *card = &finding->cards[i];
        uint32_t physical = UINT32_MAX;
        if (card->physical[0] == '\0')
            continue;
        for (size_t j = 0; j < finding->count && physical == UINT32_MAX; j++) {
            if (strcmp(finding->cards[j].bus_id, card->physical) == 0)
                physical = finding->cards[j].slot;
        }
        if (physical != UINT32_MAX) /* tiles come first */
            card->slot = add(finding, card, -1, (int32_t)physical, INTEL_TILES + (uint32_t)i);
        else
            card->slot = add(finding, card, -1, -1, devices++);
    }
    return devices;
}

void intel_scan(void *state, struct gpu_scan *out)
{
    struct intel *intel = state;
    out->count = 0;
    struct intel_finding *finding = memory_alloc(sizeof *finding);
    if (finding == NULL) {
        out->state = VITALS_FAILED;
        snprintf(out->message, sizeof out->message, "out of memory");
        return;
    }
    finding->intel = intel;
    finding->out = out;
    int error;
    find_cards(finding, &error);
    if (error < 0 && finding->count == 0) {
        out->state = (signed char)intel_reason(error);
        snprintf(out->message, sizeof out->message, "class/drm below /sys cannot be read");
    } else {
        /* In the order of addresses, as the tools of both drivers count. */
        for (size_t i = 1; i < finding->count; i++) {
            struct intel_card moving = finding->cards[i];
            size_t place = i;
            for (; place > 0 && strcmp(finding->cards[place - 1].bus_id, moving.bus_id) > 0;
                 place--)
                finding->cards[place] = finding->cards[place - 1];
            finding->cards[place] = moving;
        }

        uint32_t devices = add_cards(finding);
        out->state = VITALS_HAVE;
        snprintf(out->message, sizeof out->message, "%u device%s of i915 or xe%s", devices,
                 devices == 1 ? "" : "s", finding->cut ? ", and more that are left out" : "");
    }
    memory_free(finding);
}
