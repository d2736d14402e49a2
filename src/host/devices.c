/* devices.c: see devices.h. */
#include "host/devices.h"

#include "util/memory.h"

#include <string.h>

enum { SECTOR_BYTES = 512 };

static const uint64_t WRAP = UINT64_C(1) << 32;

uint64_t counter_take(struct counter *counter, uint64_t reading, bool wraps)
{
    if (reading < counter->last)
        counter->before = saturating_add(counter->before, wraps ? WRAP : counter->last);
    counter->last = reading;
    return saturating_add(counter->before, reading);
}

static uint64_t counted_so_far(const struct counter *counter)
{
    return saturating_add(counter->before, counter->last);
}

bool device_number(const struct device *device, unsigned number, uint64_t *out)
{
    if ((device->has >> number & 1) == 0)
        return false;
    *out = counted_so_far(&device->counters[number]);
    return true;
}

struct value devices_sum(const struct devices *devices, unsigned number, uint64_t scale)
{
    if (devices->state <= 0)
        return value_missing((vitals_availability)devices->state);
    struct value value = value_u64(saturating_mul(devices->sums[number], scale));
    value.state = devices->state;
    return value;
}

/* Adds what a device that is counted did since the last reading. */
static void take_numbers(struct devices *devices, struct device *device,
                         const struct os_device *reading, const struct devices_kind *kind)
{
    /* It began again if a count fell that cannot have passed the end of its bits: from the upper
     * half, and on by less than a half. */
    bool whole = !devices->begun, wraps = true;
    for (unsigned i = 0; i < OS_DEVICE_NUMBERS; i++) {
        uint64_t last = device->counters[i].last, now = reading->numbers[i];
        bool narrow = kind->bits == 32 || (kind->ints >> i & 1) != 0;
        if (((reading->has & ~kind->gauges) >> i & 1) != 0 && now < last)
            wraps &= narrow && last < WRAP && now + (WRAP - last) < WRAP / 2;
    }
    device->has = reading->has;
    for (unsigned i = 0; i < OS_DEVICE_NUMBERS; i++) {
        if ((reading->has >> i & 1) == 0)
            continue;
        if ((kind->gauges >> i & 1) != 0) {
            device->counters[i].last = reading->numbers[i];
            continue;
        }
        uint64_t before = whole ? 0 : counted_so_far(&device->counters[i]);
        uint64_t now = counter_take(&device->counters[i], reading->numbers[i], wraps);
        if (device->counted && now > before)
            devices->sums[i] = saturating_add(devices->sums[i], now - before);
    }
}

/* Devices and readings one beside the other; *changed says whether there are others than before. */
static int match(struct devices *devices, const struct os *os, const struct os_devices *reading,
                 devices_classify *classify, bool *changed)
{
    size_t known = devices->count;
    *changed = known != reading->count;
    for (size_t i = 0; i < reading->count; i++) {
        const struct os_device *from = &reading->items[i];
        size_t at = i;
        while (at < known && strcmp(devices->items[at].name, from->name) != 0)
            at++;
        bool is_new = at >= known;
        if (is_new) {
            /* The device at its place moves to the end. */
            if (MEMORY_GROW(devices->items, devices->capacity, known) != 0) {
                devices->count = i;
                return VITALS_EMEMORY;
            }
            at = known++;
        }
        struct device *device = &devices->items[i], other = *device;
        *device = devices->items[at];
        devices->items[at] = other;
        if (!is_new && !device->young)
            continue;

        *changed = true;
        if (is_new) {
            *device = (struct device){.key = ++devices->keys, .young = devices->begun};
            memcpy(device->name, from->name, sizeof device->name);
            for (unsigned j = 0; devices->begun && j < OS_DEVICE_NUMBERS; j++)
                device->counters[j].last = from->numbers[j];
        } else {
            device->young = false;
        }
        classify(os, device, devices->items, i);
    }
    devices->count = reading->count;
    return 0;
}

int devices_take(struct devices *devices, const struct os *os, const struct os_devices *reading,
                 const struct devices_kind *kind)
{
    bool changed;
    devices->state = reading->state;
    if (reading->state <= 0)
        return 0;
    int code = match(devices, os, reading, kind->classify, &changed);
    if (code < 0)
        return code;
    if (changed) {
        unsigned least = UINT8_MAX; // those of the least rank that there is are counted
        for (size_t i = 0; i < devices->count; i++) {
            unsigned rank = devices->items[i].kind.rank;
            if (rank != 0 && rank < least)
                least = rank;
        }
        for (size_t i = 0; i < devices->count; i++) {
            devices->items[i].counted = devices->items[i].kind.rank == least;
            devices->any_counted |= devices->items[i].counted;
        }
    }
    for (size_t i = 0; i < devices->count; i++)
        take_numbers(devices, &devices->items[i], &reading->items[i], kind);
    devices->begun = true;
    return 0;
}

void devices_done(struct devices *devices)
{
    memory_free(devices->items);
    *devices = (struct devices){0};
}

/* ---- their tables ---- */

static struct value scaled(struct value value, unsigned scale)
{
    if (value.state > 0 && scale == 0)
        value.as.f64 = (double)value.as.u64 / 1e3;
    else if (value.state > 0)
        value.as.u64 = saturating_mul(value.as.u64, scale);
    return value;
}

int devices_update(struct devices *devices, const struct os *os, const struct os_devices *reading,
                   const struct devices_kind *kind, struct values *machine, uint64_t now_ns)
{
    if (reading->state == VITALS_UNSET)
        return 0;
    devices->read_ns = now_ns;
    int code = devices_take(devices, os, reading, kind);
    for (size_t i = 0; i < kind->sum_count; i++) {
        struct value value = devices_sum(devices, kind->sums[i].number, 1);
        if (value.state > 0 && kind->none_is_unknown && !devices->any_counted)
            value = value_missing(VITALS_UNSUPPORTED);
        values_set(machine, kind->sums[i].metric, scaled(value, kind->sums[i].scale));
    }
    return code;
}

void devices_write(const struct devices *devices, const struct devices_kind *kind,
                   const struct answer_cache *cache, vitals_builder *builder, uint64_t stamp_ns)
{
    vitals_table entity = vitals_metric_table(kind->name);
    size_t hint = 0;
    vitals_builder_state(builder, entity, (vitals_availability)devices->state);
    for (size_t i = 0; devices->state > 0 && i < devices->count; i++) {
        const struct device *device = &devices->items[i];
        const char *type = device->kind.type;
        vitals_text name = vitals_text_of(device->name);
        uint64_t number;
        vitals_builder_row(builder, entity, device->key, device->parent, name, devices->read_ns);
        vitals_builder_text(builder, kind->name, name, VITALS_HAVE);
        vitals_builder_text(builder, kind->type, vitals_text_of(type), VITALS_HAVE);
        vitals_builder_u64(builder, kind->counted, device->counted, VITALS_HAVE);
        for (size_t j = 0; j < kind->column_count; j++)
            if (device_number(device, kind->columns[j].number, &number))
                builder_value(builder, kind->columns[j].metric,
                              scaled(value_u64(number), kind->columns[j].scale));
        cache_write_named(cache, entity, name, &hint, builder, stamp_ns);
        builder_rest(builder, entity, VITALS_UNSUPPORTED);
    }
}

/* ---- disks ---- */

/* Sums count whole disks: no partitions, RAM disks or loop devices, no dm, md and the like (their
 * bytes are counted in the disks below them), and an NVMe device once, not each of its paths. The
 * bytes of a loop device are counted on the disk of its file; a network disk (nbd, rbd) counts
 * here. Without any such disk there are no sums. */

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
                             const struct device *before UNUSED, size_t count UNUSED)
{
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
