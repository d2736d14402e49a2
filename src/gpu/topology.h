/* topology.h: how far devices are from each other and from network adapters: rows of gpu_peer.
 *
 * How far is read off the places of /sys/devices; direct links are what the back ends told in
 * gpu_link. It changes only as devices come and go, so it is written when they do.
 * Thread rule: a worker's; reads some small files of /sys for each device and adapter. */
#ifndef VITALS_GPU_TOPOLOGY_H
#define VITALS_GPU_TOPOLOGY_H

#include "os/os.h"

enum {
    TOPOLOGY_DEVICES = 128,
    TOPOLOGY_LINKS = 1024,
    TOPOLOGY_ADAPTERS = 64,
    TOPOLOGY_ADDRESS = 32
};

/* A device, no partition. */
struct topology_device {
    uint64_t key;        /* of its row in the table gpu */
    const char *label;   /* "0" */
    const char *address; /* "00000000:17:00.0"; "": it is not on PCI */
};

/* A direct link of a device that is up: of a row of gpu_link. */
struct topology_link {
    size_t device;      /* whose: a place among the devices */
    const char *kind;   /* "nvlink" */
    bool to_switch;     /* remote_kind is "switch": it leads to every device on a switch */
    const char *remote; /* remote_pci_bus_id; "": not known */
};

struct topology {
    const struct topology_device *devices;
    const struct topology_link *links;
    size_t device_count, link_count; /* beyond TOPOLOGY_DEVICES and _LINKS they are passed over */
};

/* Adds a row for each device and each other device or adapter: the key is a number that no other
 * peer of the device has, whatever their names (0: the label identifies it); the device's key as
 * parent, and as label the peer's: "1", "mlx5_0", "eth0". Values that are not wanted are not read.
 * The state of the table is LOWER_BOUND if there were too many. */
void gpu_topology_write(const struct os *os, const struct topology *topology,
                        struct row_batch *out);

/* How far two places are, in nvidia-smi's words: "pix" (one bridge on either side at most), "pxb"
 * (more), "phb" (through the host bridge), "node" (between host bridges of one NUMA node), "sys"
 * (between NUMA nodes); "" for what is not on PCI. Places are paths below /sys, as
 * "devices/pci0000:16/0000:16:01.0/0000:17:00.0"; a node below 0 is not known. Where neither is,
 * the machine has one. Pure. */
const char *topology_path(const char *a, int64_t node_a, const char *b, int64_t node_b);

/* How many direct links join two devices, and of which kind ("" where there is none). Through
 * switches it is as many as the one of them has that has fewer. Pure. */
uint64_t topology_links(const struct topology *topology, size_t a, size_t b, const char **kind);

#endif
