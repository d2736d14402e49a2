/* topology.c: see topology.h. */
#include "gpu/topology.h"

#include "gpu/pci.h"

#include "gpu/find.h"
#include "util/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PLACE = 512, PARTS = 24, NAME = OS_SYS_NAME };

/* ---- places ---- */

/* Splits a place into its parts from the host bridge to the last PCI device. Returns 0 if it is not
 * on PCI, or behind a USB port. */
static size_t split(const char *place, struct span parts[static PARTS])
{
    struct cursor cursor = cursor_over(place, strlen(place));
    size_t count = 0, last = 0;
    if (!cursor_literal(&cursor, "devices/"))
        return 0;
    while (!cursor_done(&cursor) && count < PARTS) {
        struct span part;
        if (!cursor_until(&cursor, '/', &part)) {
            part = (struct span){cursor.at, (size_t)(cursor.end - cursor.at)};
            cursor.at = cursor.end;
        }
        if (span_starts(part, "usb") || (count == 0 && !span_starts(part, "pci")))
            return 0;
        parts[count++] = part;
        uint64_t address;
        if (gpu_parse_address(part, &address))
            last = count;
    }
    return last;
}

const char *topology_path(const char *a, int64_t node_a, const char *b, int64_t node_b)
{
    struct span parts_a[PARTS], parts_b[PARTS];
    size_t count_a = split(a, parts_a), count_b = split(b, parts_b), common = 0;
    if (count_a == 0 || count_b == 0)
        return "";
    while (common < count_a && common < count_b && parts_a[common].size == parts_b[common].size &&
           memcmp(parts_a[common].bytes, parts_b[common].bytes, parts_a[common].size) == 0)
        common++;
    if (common == 0)
        return node_a == node_b ? "node" : "sys";
    if (common == 1 && count_a > 1 && count_b > 1)
        return "phb";
    /* parts that are not common: bridges, and the device itself */
    bool near = count_a - common <= 2 && count_b - common <= 2;
    return near ? "pix" : "pxb";
}

/* ---- links ---- */

/* Counts the links of a kind (NULL: that of the first link) from a device to switches. */
static uint64_t count_switched(const struct topology *topology, size_t device, const char **kind)
{
    size_t count = size_min(topology->link_count, TOPOLOGY_LINKS);
    uint64_t links = 0;
    for (size_t i = 0; i < count; i++) {
        const struct topology_link *link = &topology->links[i];
        if (!link->to_switch || link->device != device)
            continue;
        if (!*kind)
            *kind = link->kind;
        links += strcmp(link->kind, *kind) == 0;
    }
    return links;
}

uint64_t topology_links(const struct topology *topology, size_t a, size_t b, const char **kind)
{
    size_t count = size_min(topology->link_count, TOPOLOGY_LINKS);
    uint64_t direct = 0, to = 0, address;
    const char *switch_kind = NULL, *remote = topology->devices[b].address;
    bool known = gpu_parse_address((struct span){remote, strlen(remote)}, &to);
    *kind = "";
    for (size_t i = 0; i < count; i++) {
        const struct topology_link *link = &topology->links[i];
        if (known && link->device == a && !link->to_switch &&
            gpu_parse_address((struct span){link->remote, strlen(link->remote)}, &address) &&
            address == to) {
            direct++;
            *kind = link->kind;
        }
    }
    uint64_t switched_a = count_switched(topology, a, &switch_kind);
    uint64_t switched_b = switch_kind ? count_switched(topology, b, &switch_kind) : 0;
    uint64_t switched = switched_a < switched_b ? switched_a : switched_b;
    if (direct == 0 && switched > 0)
        *kind = switch_kind;
    return direct + switched;
}

/* ---- places of devices and adapters ---- */

struct spot {
    char place[PLACE];
    char address[TOPOLOGY_ADDRESS]; /* as the kernel writes it */
    int64_t node;
};

struct adapters {
    struct spot spots[TOPOLOGY_ADAPTERS];
    char names[TOPOLOGY_ADAPTERS][NAME];
    size_t count;
    bool cut;
};

/* Reads the address at the end of a place. */
static void read_spot(const struct os *os, struct spot *spot)
{
    struct span parts[PARTS];
    char path[PLACE + 16];
    size_t count = split(spot->place, parts);
    spot->address[0] = '\0';
    spot->node = -1;
    if (count == 0 || parts[count - 1].size >= sizeof spot->address)
        return;
    memcpy(spot->address, parts[count - 1].bytes, parts[count - 1].size);
    spot->address[parts[count - 1].size] = '\0';
    snprintf(path, sizeof path, "bus/pci/devices/%s/numa_node", spot->address);
    (void)os_sys_i64(os, path, &spot->node);
}

/* An InfiniBand adapter is a network interface too: the first name of an address is used. A virtual
 * function is as far away as its adapter. */
static void list_adapters(const struct os *os, struct adapters *adapters)
{
    static const char *const FOLDERS[] = {"class/infiniband", "class/net"};
    for (size_t f = 0; f < ARRAY_COUNT(FOLDERS); f++) {
        struct os_sys_names names;
        os_sys_names(&names, os, "%s", FOLDERS[f]);
        for (const char *name; (name = os_sys_next(&names)) != NULL;) {
            char path[PLACE];
            if (adapters->count == TOPOLOGY_ADAPTERS) {
                adapters->cut = true;
                return;
            }
            struct spot *spot = &adapters->spots[adapters->count];
            snprintf(path, sizeof path, "%s/%s/device", FOLDERS[f], name);
            if (os_sys_real(os, path, spot->place, sizeof spot->place) < 0)
                continue; // bridges, tunnels, loopback
            snprintf(path, sizeof path, "%s/%s/device/physfn", FOLDERS[f], name);
            if (os_sys_exists(os, path))
                continue;
            read_spot(os, spot);
            bool known = spot->address[0] == '\0';
            for (size_t i = 0; i < adapters->count; i++)
                known |= strcmp(adapters->spots[i].address, spot->address) == 0;
            if (!known)
                snprintf(adapters->names[adapters->count++], NAME, "%s", name);
        }
        adapters->cut |= names.result == -EFBIG;
    }
}

/* ---- rows ---- */

struct peer {
    const char *label, *kind, *address;
    uint64_t key; /* 0: no GPU */
    uint64_t links;
    const char *link_kind;
};

static void set_text(struct row_batch *out, vitals_metric metric, const char *text)
{
    if (text[0] != '\0')
        batch_set_string(out, metric, text);
    else
        batch_set_missing(out, metric, VITALS_UNSUPPORTED);
}

/* The row's key identifies the peer: a device by its key; an adapter by its address, because its
 * name may be equal to that of a device or another adapter. */
static void add_row(struct row_batch *out, uint64_t parent, const struct peer *peer,
                    const struct spot *from, const struct spot *to)
{
    static const uint64_t ADAPTERS = UINT64_C(1) << 62;
    struct span address = {peer->address, strlen(peer->address)};
    uint64_t key = peer->key, number;
    if (key == 0 && gpu_parse_address(address, &number))
        key = ADAPTERS | number;
    struct batch_row *row = batch_add_row(out, VITALS_TABLE_GPU_PEER, key,
                                          (struct span){peer->label, strlen(peer->label)});
    if (!row)
        return;
    row->parent = parent;
    if (peer->key != 0)
        batch_set_u64(out, VITALS_GPU_PEER_PEER, peer->key);
    else
        batch_set_missing(out, VITALS_GPU_PEER_PEER, VITALS_UNSUPPORTED);
    batch_set_string(out, VITALS_GPU_PEER_KIND, peer->kind);
    set_text(out, VITALS_GPU_PEER_PEER_PCI_BUS_ID, peer->address);
    set_text(out, VITALS_GPU_PEER_PATH,
             topology_path(from->place, from->node, to->place, to->node));
    batch_set_u64(out, VITALS_GPU_PEER_LINKS, peer->links);
    batch_set_string(out, VITALS_GPU_PEER_LINK_KIND, peer->link_kind);
}

void gpu_topology_write(const struct os *os, const struct topology *topology, struct row_batch *out)
{
    static const vitals_metric METRICS[] = {
        VITALS_GPU_PEER_PEER, VITALS_GPU_PEER_KIND,  VITALS_GPU_PEER_PEER_PCI_BUS_ID,
        VITALS_GPU_PEER_PATH, VITALS_GPU_PEER_LINKS, VITALS_GPU_PEER_LINK_KIND};
    size_t count = size_min(topology->device_count, TOPOLOGY_DEVICES);
    bool is_wanted = false;
    for (size_t i = 0; i < ARRAY_COUNT(METRICS); i++)
        is_wanted |= batch_wants(out, METRICS[i]);
    if (count == 0 || !is_wanted)
        return;

    struct spot *spots = memory_array(count, sizeof *spots);
    struct adapters *adapters = memory_alloc(sizeof *adapters);
    out->failed |= !spots || !adapters;
    for (size_t i = 0; i < count && !out->failed; i++) {
        const char *address = topology->devices[i].address;
        char path[OS_SYS_PATH], bus_id[PCI_BUS_ID];
        spots[i] = (struct spot){.node = -1};
        if (!pci_parse_bus_id((struct span){address, strlen(address)}, bus_id))
            continue;
        pci_folder(path, bus_id);
        if (os_sys_real(os, path, spots[i].place, sizeof spots[i].place) < 0)
            spots[i].place[0] = '\0';
        read_spot(os, &spots[i]);
    }
    if (!out->failed)
        list_adapters(os, adapters);

    for (size_t a = 0; a < count && !out->failed; a++) {
        uint64_t key = topology->devices[a].key;
        for (size_t b = 0; b < count; b++) {
            const struct topology_device *device = &topology->devices[b];
            const char *address = spots[b].address[0] != '\0' ? spots[b].address : device->address;
            struct peer peer = {device->label, "gpu", address, device->key, 0, ""};
            if (a == b)
                continue;
            peer.links = topology_links(topology, a, b, &peer.link_kind);
            add_row(out, key, &peer, &spots[a], &spots[b]);
        }
        for (size_t i = 0; i < adapters->count; i++) {
            const struct spot *spot = &adapters->spots[i];
            struct peer peer = {adapters->names[i], "network", spot->address, 0, 0, ""};
            add_row(out, key, &peer, &spots[a], spot);
        }
    }
    if (topology->device_count > count || (adapters && adapters->cut))
        batch_state(out, VITALS_TABLE_GPU_PEER, VITALS_LOWER_BOUND);
    memory_free(spots);
    memory_free(adapters);
}
