/* device_kinds.c: what disks and network interfaces are, which of them are counted, and their
 * columns. See devices.h. */
#include "host/devices.h"

enum { SECTOR_BYTES = 512 };

/* ---- disks ---- */

/* Counted is a whole disk that stands on no other: no partition, nothing in memory or in a file, no
 * dm, md or their like, whose bytes are counted below them, and of an NVMe device with several
 * paths the device and not its paths. What a loop device holds is counted where its file lies; a
 * disk that a server holds (nbd, rbd) is counted here. Where none is counted there are no sums. */

static const struct counter_column DISK_COLUMNS[] = {
    {VITALS_DISK_READ_BYTES, OS_DISK_SECTORS_READ, SECTOR_BYTES},
    {VITALS_DISK_WRITTEN_BYTES, OS_DISK_SECTORS_WRITTEN, SECTOR_BYTES},
    {VITALS_DISK_READS, OS_DISK_READS, 1},
    {VITALS_DISK_WRITES, OS_DISK_WRITES, 1},
    {VITALS_DISK_READS_MERGED, OS_DISK_READS_MERGED, 1},
    {VITALS_DISK_WRITES_MERGED, OS_DISK_WRITES_MERGED, 1},
    {VITALS_DISK_READ_SECONDS, OS_DISK_READ_MS, 0},
    {VITALS_DISK_WRITE_SECONDS, OS_DISK_WRITE_MS, 0},
    {VITALS_DISK_BUSY_SECONDS, OS_DISK_BUSY_MS, 0},
    {VITALS_DISK_QUEUE_SECONDS, OS_DISK_QUEUE_MS, 0},
    {VITALS_DISK_DISCARDS, OS_DISK_DISCARDS, 1},
    {VITALS_DISK_DISCARDED_BYTES, OS_DISK_SECTORS_DISCARDED, SECTOR_BYTES},
    {VITALS_DISK_FLUSHES, OS_DISK_FLUSHES, 1},
    {VITALS_DISK_IN_FLIGHT, OS_DISK_IN_FLIGHT, 1},
};

static const struct counter_column DISK_SUMS[] = {
    {VITALS_HOST_DISK_READ_BYTES, OS_DISK_SECTORS_READ, SECTOR_BYTES},
    {VITALS_HOST_DISK_WRITTEN_BYTES, OS_DISK_SECTORS_WRITTEN, SECTOR_BYTES},
    {VITALS_HOST_DISK_READS, OS_DISK_READS, 1},
    {VITALS_HOST_DISK_WRITES, OS_DISK_WRITES, 1},
    {VITALS_HOST_DISK_BUSY_SECONDS, OS_DISK_BUSY_MS, 0},
};

/* The whole disk that the list put last before this one. */
static void classify_disk(const struct os *os, struct device *device, const struct device *before,
                          size_t count)
{
    const struct device *disk = NULL;
    while (disk == NULL && count > 0) {
        count--;
        if (before[count].parent == 0)
            disk = &before[count];
    }
    bool partition;
    os_disk_kind(os, device->name, disk != NULL ? disk->name : NULL, &partition, &device->kind);
    if (partition)
        device->parent = disk->key;
}

/* The kernel prints times as milliseconds in an unsigned int, whatever it counts them in. */
const struct devices_kind DEVICES_DISKS = {
    .classify = classify_disk,
    .bits = DEVICE_LONG_BITS,
    .ints = 1u << OS_DISK_READ_MS | 1u << OS_DISK_WRITE_MS | 1u << OS_DISK_BUSY_MS |
            1u << OS_DISK_QUEUE_MS | 1u << OS_DISK_DISCARD_MS | 1u << OS_DISK_FLUSH_MS,
    .gauges = 1u << OS_DISK_IN_FLIGHT,
    .name = VITALS_DISK_NAME,
    .type = VITALS_DISK_TYPE,
    .counted = VITALS_DISK_COUNTED,
    .columns = DISK_COLUMNS,
    .column_count = ARRAY_COUNT(DISK_COLUMNS),
    .sums = DISK_SUMS,
    .sum_count = ARRAY_COUNT(DISK_SUMS),
    .none_is_unknown = true,
};

/* ---- network interfaces ---- */

/* Counted are the interfaces whose traffic is no other's: never loopback; where there is hardware,
 * that alone, because what a bridge, a bond, a VLAN, a veth or a tunnel carries passes it too or
 * stays within the machine; where there is none, as in a container, the ends of links that lead out
 * of it (veth, macvlan); where not even those are, tunnels, and then whatever is left; last what
 * stands on another interface that is seen here, for its traffic passes that one. */

static const struct counter_column NETWORK_COLUMNS[] = {
    {VITALS_NETWORK_RECEIVED_BYTES, OS_NETWORK_RECEIVED_BYTES, 1},
    {VITALS_NETWORK_TRANSMITTED_BYTES, OS_NETWORK_TRANSMITTED_BYTES, 1},
    {VITALS_NETWORK_RECEIVED_PACKETS, OS_NETWORK_RECEIVED_PACKETS, 1},
    {VITALS_NETWORK_TRANSMITTED_PACKETS, OS_NETWORK_TRANSMITTED_PACKETS, 1},
    {VITALS_NETWORK_RECEIVE_ERRORS, OS_NETWORK_RECEIVE_ERRORS, 1},
    {VITALS_NETWORK_TRANSMIT_ERRORS, OS_NETWORK_TRANSMIT_ERRORS, 1},
    {VITALS_NETWORK_RECEIVE_DROPS, OS_NETWORK_RECEIVE_DROPS, 1},
    {VITALS_NETWORK_TRANSMIT_DROPS, OS_NETWORK_TRANSMIT_DROPS, 1},
};

static const struct counter_column NETWORK_SUMS[] = {
    {VITALS_HOST_NETWORK_RECEIVED_BYTES, OS_NETWORK_RECEIVED_BYTES, 1},
    {VITALS_HOST_NETWORK_TRANSMITTED_BYTES, OS_NETWORK_TRANSMITTED_BYTES, 1},
    {VITALS_HOST_NETWORK_RECEIVED_PACKETS, OS_NETWORK_RECEIVED_PACKETS, 1},
    {VITALS_HOST_NETWORK_TRANSMITTED_PACKETS, OS_NETWORK_TRANSMITTED_PACKETS, 1},
};

static void classify_network(const struct os *os, struct device *device,
                             const struct device *before, size_t count)
{
    (void)before;
    (void)count;
    os_network_kind(os, device->name, &device->kind);
}

const struct devices_kind DEVICES_NETWORKS = {
    .classify = classify_network,
    .bits = DEVICE_LONG_BITS,
    .gauges = 0xF0F0, // numbers that stand in no column: their fall says nothing
    .name = VITALS_NETWORK_NAME,
    .type = VITALS_NETWORK_TYPE,
    .counted = VITALS_NETWORK_COUNTED,
    .columns = NETWORK_COLUMNS,
    .column_count = ARRAY_COUNT(NETWORK_COLUMNS),
    .sums = NETWORK_SUMS,
    .sum_count = ARRAY_COUNT(NETWORK_SUMS),
};
