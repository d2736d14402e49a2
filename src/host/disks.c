/* disks.c: see disks.h. */
#include "host/disks.h"

#include <string.h>

enum { SECTOR_BYTES = 512 };

/* Scale 0: milliseconds, which become seconds. */
static const struct {
    vitals_metric metric;
    unsigned char number;
    unsigned short scale;
} COLUMNS[] = {
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
};

static const struct {
    vitals_metric metric;
    unsigned char number;
    unsigned short scale;
} SUMS[] = {
    {VITALS_HOST_DISK_READ_BYTES, OS_DISK_SECTORS_READ, SECTOR_BYTES},
    {VITALS_HOST_DISK_WRITTEN_BYTES, OS_DISK_SECTORS_WRITTEN, SECTOR_BYTES},
    {VITALS_HOST_DISK_READS, OS_DISK_READS, 1},
    {VITALS_HOST_DISK_WRITES, OS_DISK_WRITES, 1},
    {VITALS_HOST_DISK_BUSY_SECONDS, OS_DISK_BUSY_MS, 1},
};

static struct value scaled(uint64_t number, unsigned scale)
{
    return scale == 0 ? value_f64((double)number / 1e3) : value_u64(saturating_mul(number, scale));
}

/* The whole disk that the list put last before this one. */
static void classify(const struct os *os, struct device *device, const struct device *before,
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
static const struct devices_kind KIND = {
    .classify = classify,
    .bits = {[OS_DISK_READS] = DEVICE_LONG_BITS,
             [OS_DISK_READS_MERGED] = DEVICE_LONG_BITS,
             [OS_DISK_SECTORS_READ] = DEVICE_LONG_BITS,
             [OS_DISK_READ_MS] = DEVICE_INT_BITS,
             [OS_DISK_WRITES] = DEVICE_LONG_BITS,
             [OS_DISK_WRITES_MERGED] = DEVICE_LONG_BITS,
             [OS_DISK_SECTORS_WRITTEN] = DEVICE_LONG_BITS,
             [OS_DISK_WRITE_MS] = DEVICE_INT_BITS,
             [OS_DISK_IN_FLIGHT] = DEVICE_GAUGE,
             [OS_DISK_BUSY_MS] = DEVICE_INT_BITS,
             [OS_DISK_QUEUE_MS] = DEVICE_INT_BITS,
             [OS_DISK_DISCARDS] = DEVICE_LONG_BITS,
             [OS_DISK_DISCARDS_MERGED] = DEVICE_LONG_BITS,
             [OS_DISK_SECTORS_DISCARDED] = DEVICE_LONG_BITS,
             [OS_DISK_DISCARD_MS] = DEVICE_INT_BITS,
             [OS_DISK_FLUSHES] = DEVICE_LONG_BITS,
             [OS_DISK_FLUSH_MS] = DEVICE_INT_BITS},
};

int disks_take(struct devices *disks, const struct os *os, const struct os_devices *reading,
               struct values *machine)
{
    if (reading->state == VITALS_UNSET)
        return 0;
    int code = devices_take(disks, os, reading, &KIND);
    for (size_t i = 0; i < ARRAY_COUNT(SUMS); i++) {
        struct value value = devices_sum(disks, SUMS[i].number, SUMS[i].scale);
        // Of devices that none counts the traffic is not known; of no interface it is none.
        if (value.state > 0 && !disks->any_counted)
            value = value_missing(VITALS_UNSUPPORTED);
        if (value.state > 0 && vitals_metric_type(SUMS[i].metric) == VITALS_F64)
            value.as.f64 = (double)value.as.u64 / 1e3;
        values_set(machine, SUMS[i].metric, value);
    }
    return code;
}

static void write_numbers(const struct device *disk, vitals_builder *builder)
{
    uint64_t number;
    for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++)
        if (device_number(disk, COLUMNS[i].number, &number))
            builder_value(builder, COLUMNS[i].metric, scaled(number, COLUMNS[i].scale));
    if (device_number(disk, OS_DISK_IN_FLIGHT, &number))
        vitals_builder_u64(builder, VITALS_DISK_IN_FLIGHT, number, VITALS_HAVE);
}

void disks_write(const struct devices *disks, const struct answer_cache *cache,
                 vitals_builder *builder, uint64_t stamp_ns)
{
    vitals_builder_state(builder, VITALS_DISK, (vitals_availability)disks->state);
    size_t hint = 0;
    for (size_t i = 0; disks->state > 0 && i < disks->count; i++) {
        const struct device *disk = &disks->items[i];
        vitals_text name = {disk->name, strlen(disk->name)};
        vitals_builder_row(builder, VITALS_DISK, disk->key, disk->parent, name, stamp_ns);
        vitals_builder_text(builder, VITALS_DISK_NAME, name, VITALS_HAVE);
        vitals_builder_text(builder, VITALS_DISK_TYPE,
                            (vitals_text){disk->kind.type, strlen(disk->kind.type)}, VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_DISK_COUNTED, disk->counted, VITALS_HAVE);
        write_numbers(disk, builder);
        cache_write_named(cache, VITALS_DISK, name, &hint, builder, stamp_ns);
        builder_rest(builder, VITALS_DISK, VITALS_UNSUPPORTED);
    }
}
