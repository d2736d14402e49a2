/* topology.h: distances between devices, and to network adapters: rows of gpu_peer.
 *
 * The distance comes from places in /sys/devices; direct links are those that back ends reported in
 * gpu_link. It changes only when devices come or go, so it is computed then. Thread rule: a
 * worker's; reads some small files of /sys for each device and adapter. */
#pragma once

#include "os/os.h"

enum {
    TOPOLOGY_DEVICES = 128,
    TOPOLOGY_LINKS = 1024,
    TOPOLOGY_ADAPTERS = 64,
    TOPOLOGY_ADDRESS = 32
};

/* A device; no partitions. */
struct topology_device {
    uint64_t key;        /* key of its row in the table gpu */
    const char *label;   /* "0" */
    const char *address; /* "00000000:17:00.0"; "": not on PCI */
};

/* An active direct link of a device, from a row of gpu_link. */
struct topology_link {
    size_t device;                 /* index of the device */
    char kind[TOPOLOGY_ADDRESS];   /* "nvlink" */
    bool to_switch;                /* remote_kind is "switch": it leads to every device on one */
    char remote[TOPOLOGY_ADDRESS]; /* remote_pci_bus_id; "": not known */
};

struct topology {
    const struct topology_device *devices;
    const struct topology_link *links;
    size_t device_count, link_count; /* items beyond TOPOLOGY_DEVICES and _LINKS are skipped */
};

/* Adds a row for each pair of a device and another device or adapter. The key is a number that no
 * other peer of the device has, whatever their names (0: the label identifies it); the parent is
 * the device's key, the label the peer's: "1", "mlx5_0", "eth0". Values that are not wanted are not
 * read. The state of the table is LOWER_BOUND if there were too many. */
void gpu_topology_write(const struct os *os, const struct topology *topology,
                        struct row_batch *out);

/* Returns the distance of two places, in nvidia-smi's words: "pix" (at most one bridge on either
 * side), "pxb" (more), "phb" (through the host bridge), "node" (between host bridges of one NUMA
 * node), "sys" (between NUMA nodes); "" for a place that is not on PCI. Places are paths below
 * /sys, such as "devices/pci0000:16/0000:16:01.0/0000:17:00.0"; a negative node is not known. If
 * both are unknown, the machine has one node. Pure. */
const char *topology_path(const char *a, int64_t node_a, const char *b, int64_t node_b);

/* Returns how many direct links join two devices, and of which kind ("" if there are none). Through
 * switches it is the smaller number of the two. Pure. */
uint64_t topology_links(const struct topology *topology, size_t a, size_t b, const char **kind);
