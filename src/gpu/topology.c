/* topology.c: see topology.h. */
#include "gpu/topology.h"

#include "gpu/find.h"
#include "util/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PLACE = 512, PARTS = 24, NAME = OS_SYS_NAME };

/* ---- places ---- */

static bool is_address(struct span part)
{
    uint64_t address;
    return gpu_parse_address(part, &address);
}

/* A place in its parts from the host bridge on, up to the last that is a PCI device. 0: it is not
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
        if (is_address(part))
            last = count;
    }
    return last;
}

static bool same_part(struct span a, struct span b)
{
    return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

const char *topology_path(const char *a, int64_t node_a, const char *b, int64_t node_b)
{
    struct span parts_a[PARTS], parts_b[PARTS];
    size_t count_a = split(a, parts_a), count_b = split(b, parts_b), common = 0;
    if (count_a == 0 || count_b == 0)
        return "";
    while (common < count_a && common < count_b && same_part(parts_a[common], parts_b[common]))
        common++;
    if (common == 0)
        return node_a == node_b ? "node" : "sys";
    if (common == 1 && count_a > 1 && count_b > 1)
        return "phb";
    /* beyond what is common: bridges, and the device itself */
    bool near = count_a - common <= 2 && count_b - common <= 2;
    return near ? "pix" : "pxb";
}

/* ---- links ---- */

static bool same_address(const char *a, const char *b)
{
    uint64_t x, y;
    return gpu_parse_address((struct span){a, strlen(a)}, &x) &&
           gpu_parse_address((struct span){b, strlen(b)}, &y) && x == y;
}

/* How many links of that kind (NULL: of the first that there is) lead from a device to switches. */
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
    uint64_t direct = 0;
    const char *switch_kind = NULL;
    *kind = "";
    for (size_t i = 0; i < count; i++) {
        const struct topology_link *link = &topology->links[i];
        if (link->device == a && !link->to_switch &&
            same_address(link->remote, topology->devices[b].address)) {
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

/* ---- what there is ---- */

struct spot {
    char place[PLACE];
    char address[TOPOLOGY_ADDRESS]; /* as the kernel writes it */
    int64_t node;
};

struct adapters {
    const struct os *os;
    const char *folder; /* "class/net" */
    struct spot spots[TOPOLOGY_ADAPTERS];
    char names[TOPOLOGY_ADAPTERS][NAME];
    size_t count;
    bool cut;
};

/* The address at the end of a place. */
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

/* Drivers write the domain with eight digits, the kernel with four. */
static void find_device(const struct os *os, const char *address, struct spot *out)
{
    uint64_t number;
    char path[PLACE];
    *out = (struct spot){.node = -1};
    if (!gpu_parse_address((struct span){address, strlen(address)}, &number))
        return;
    snprintf(path, sizeof path, "bus/pci/devices/%04x:%02x:%02x.%x", (unsigned)(number >> 16),
             (unsigned)(number >> 8 & 0xff), (unsigned)(number >> 3 & 31), (unsigned)(number & 7));
    if (os_sys_real(os, path, out->place, sizeof out->place) < 0)
        out->place[0] = '\0';
    read_spot(os, out);
}

/* An adapter of InfiniBand is a network interface too: the first name of an address holds. Virtual
 * functions are as far as the adapter that they are of. */
static bool add_adapter(const char *name, void *data)
{
    struct adapters *adapters = data;
    char path[PLACE];
    if (adapters->count == TOPOLOGY_ADAPTERS) {
        adapters->cut = true;
        return false;
    }
    struct spot *spot = &adapters->spots[adapters->count];
    snprintf(path, sizeof path, "%s/%s/device", adapters->folder, name);
    if (os_sys_real(adapters->os, path, spot->place, sizeof spot->place) < 0)
        return true; // bridges, tunnels, loopback
    snprintf(path, sizeof path, "%s/%s/device/physfn", adapters->folder, name);
    if (os_sys_exists(adapters->os, path))
        return true;
    read_spot(adapters->os, spot);
    for (size_t i = 0; i < adapters->count; i++) {
        if (strcmp(adapters->spots[i].address, spot->address) == 0)
            return true;
    }
    if (spot->address[0] != '\0')
        snprintf(adapters->names[adapters->count++], NAME, "%s", name);
    return true;
}

static void find_adapters(const struct os *os, struct adapters *out)
{
    static const char *const FOLDERS[] = {"class/infiniband", "class/net"};
    out->os = os;
    out->count = 0;
    out->cut = false;
    for (size_t i = 0; i < ARRAY_COUNT(FOLDERS); i++) {
        out->folder = FOLDERS[i];
        int result = os_sys_list(os, FOLDERS[i], add_adapter, out);
        out->cut |= result == -EFBIG;
    }
}

/* ---- rows ---- */

struct peer {
    const char *label, *kind, *address;
    uint64_t key; /* 0: no GPU */
};

/* Identifies a peer: a device by its key; an adapter by its address, as its name may be that of a
 * device or of another adapter. */
static uint64_t number_of(const struct peer *peer)
{
    static const uint64_t ADAPTERS = UINT64_C(1) << 62;
    uint64_t address;
    if (peer->key != 0)
        return peer->key;
    bool parsed = gpu_parse_address((struct span){peer->address, strlen(peer->address)}, &address);
    return parsed ? ADAPTERS | address : 0;
}

static bool add_row(struct row_batch *out, uint64_t parent, const struct peer *peer)
{
    struct batch_row *row = batch_add_row(out, VITALS_GPU_PEER, number_of(peer),
                                          (struct span){peer->label, strlen(peer->label)});
    if (!row)
        return false;
    row->parent = parent;
    if (peer->key != 0)
        batch_set_u64(out, VITALS_GPU_PEER_PEER, peer->key);
    else
        batch_set_missing(out, VITALS_GPU_PEER_PEER, VITALS_UNSUPPORTED);
    batch_set_string(out, VITALS_GPU_PEER_KIND, peer->kind);
    if (peer->address[0] != '\0')
        batch_set_string(out, VITALS_GPU_PEER_PEER_PCI_BUS_ID, peer->address);
    else
        batch_set_missing(out, VITALS_GPU_PEER_PEER_PCI_BUS_ID, VITALS_UNSUPPORTED);
    return true;
}

static void add_path(struct row_batch *out, const struct spot *a, const struct spot *b)
{
    const char *path = topology_path(a->place, a->node, b->place, b->node);
    if (path[0] != '\0')
        batch_set_string(out, VITALS_GPU_PEER_PATH, path);
    else
        batch_set_missing(out, VITALS_GPU_PEER_PATH, VITALS_UNSUPPORTED);
}

static void add_device(struct row_batch *out, const struct topology *topology,
                       const struct spot *spots, size_t a, size_t b)
{
    const struct topology_device *device = &topology->devices[b];
    const struct peer peer = {device->label, "gpu",
                              spots[b].address[0] != '\0' ? spots[b].address : device->address,
                              device->key};
    const char *kind;
    if (!add_row(out, topology->devices[a].key, &peer))
        return;
    add_path(out, &spots[a], &spots[b]);
    batch_set_u64(out, VITALS_GPU_PEER_LINKS, topology_links(topology, a, b, &kind));
    batch_set_string(out, VITALS_GPU_PEER_LINK_KIND, kind);
}

static void add_network(struct row_batch *out, uint64_t parent, const struct spot *spot,
                        const struct adapters *adapters, size_t at)
{
    const struct peer peer = {adapters->names[at], "network", adapters->spots[at].address, 0};
    if (!add_row(out, parent, &peer))
        return;
    add_path(out, spot, &adapters->spots[at]);
    batch_set_u64(out, VITALS_GPU_PEER_LINKS, 0);
    batch_set_string(out, VITALS_GPU_PEER_LINK_KIND, "");
}

static bool is_wanted(const struct row_batch *batch)
{
    return batch_wants(batch, VITALS_GPU_PEER_PEER) || batch_wants(batch, VITALS_GPU_PEER_KIND) ||
           batch_wants(batch, VITALS_GPU_PEER_PEER_PCI_BUS_ID) ||
           batch_wants(batch, VITALS_GPU_PEER_PATH) || batch_wants(batch, VITALS_GPU_PEER_LINKS) ||
           batch_wants(batch, VITALS_GPU_PEER_LINK_KIND);
}

void gpu_topology_write(const struct os *os, const struct topology *topology, struct row_batch *out)
{
    size_t count = size_min(topology->device_count, TOPOLOGY_DEVICES);
    if (count == 0 || !is_wanted(out))
        return;
    struct spot *spots = memory_array(count, sizeof *spots);
    struct adapters *adapters = memory_alloc(sizeof *adapters);
    if (spots && adapters) {
        for (size_t i = 0; i < count; i++)
            find_device(os, topology->devices[i].address, &spots[i]);
        find_adapters(os, adapters);
    } else {
        out->failed = true;
    }
    for (size_t a = 0; a < count && !out->failed; a++) {
        for (size_t b = 0; b < count; b++) {
            if (a != b)
                add_device(out, topology, spots, a, b);
        }
        for (size_t i = 0; i < adapters->count; i++)
            add_network(out, topology->devices[a].key, &spots[a], adapters, i);
    }
    if (topology->device_count > count || (adapters && adapters->cut))
        batch_state(out, VITALS_GPU_PEER, VITALS_LOWER_BOUND);
    memory_free(spots);
    memory_free(adapters);
}
