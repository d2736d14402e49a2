/* parts.c: keys of the rows of a device's child tables: its engines, sensors, links, its peers.
 *
 * A row is identified by its label; a peer by the number that topology.c gives it, because an
 * adapter may be called "1" like a device. A row that is gone keeps its key for a while, in case it
 * comes back; once more rows are gone than present, those are forgotten. */
#include "gpu/table_data.h"

#include "util/memory.h"
#include "util/search.h"

#include <string.h>

enum { GONE_MIN = 64 }; /* so many may always stay */

/* What tells a row from the others of the device. */
struct part_name {
    vitals_table entity;
    uint64_t number; /* 0: the label tells */
    struct span label;
};

static struct part_name part_name_of(const struct row_batch *batch, const struct batch_row *row)
{
    struct part_name name = {row->entity, row->key, {"", 0}};
    if (row->key == 0) {
        name.label = batch_label(batch, row);
        name.label.size = size_min(name.label.size, GPU_PART_LABEL);
    }
    return name;
}

static int compare(const struct gpu_part *part, const struct part_name *name)
{
    if (part->entity != name->entity)
        return part->entity < name->entity ? -1 : 1;
    if (part->number != name->number)
        return part->number < name->number ? -1 : 1;
    if (part->label_size != name->label.size)
        return part->label_size < name->label.size ? -1 : 1;
    return memcmp(part->label, name->label.bytes, name->label.size);
}

static bool is_before(const void *part, const void *name)
{
    return compare(part, name) < 0;
}

/* Where it stands in the list, or would. */
static size_t place_of(const struct gpu_device *device, const struct part_name *name)
{
    return search_place(device->parts, device->part_count, sizeof *device->parts, name, is_before);
}

static struct gpu_part *find(const struct gpu_device *device, const struct part_name *name)
{
    size_t at = place_of(device, name);
    bool found = at < device->part_count && compare(&device->parts[at], name) == 0;
    return found ? &device->parts[at] : NULL;
}

const struct gpu_part *gpu_part_find(const struct gpu_device *device, const struct row_batch *batch,
                                     const struct batch_row *row)
{
    struct part_name name = part_name_of(batch, row);
    return find(device, &name);
}

int gpu_part_add(struct gpu_table *table, struct gpu_device *device, const struct row_batch *batch,
                 const struct batch_row *row)
{
    struct part_name name = part_name_of(batch, row);
    size_t at = place_of(device, &name);
    if (at < device->part_count && compare(&device->parts[at], &name) == 0)
        return 0;
    void *parts = device->parts;
    if (memory_grow(&parts, &device->part_capacity, device->part_count, sizeof device->parts[0]) <
        0)
        return VITALS_EMEMORY;
    device->parts = parts;
    struct gpu_part *part = &device->parts[at];
    memmove(part + 1, part, (device->part_count++ - at) * sizeof *part);
    *part = (struct gpu_part){.key = ++table->child_keys,
                              .entity = name.entity,
                              .number = name.number,
                              .label_size = name.label.size};
    memcpy(part->label, name.label.bytes, name.label.size);
    return 0;
}

/* Marks those that have a row of the device now: how many they are. */
static size_t mark(struct gpu_device *device, const struct row_batch *batch, bool is_peers)
{
    size_t marked = 0;
    for (size_t i = 0; i < batch->row_count; i++) {
        const struct batch_row *row = &batch->rows[i];
        struct part_name name = part_name_of(batch, row);
        struct gpu_part *part = !is_peers || row->parent == device->key ? find(device, &name)
                                                                        : NULL;
        if (part && !part->is_there) {
            part->is_there = true;
            marked++;
        }
    }
    return marked;
}

void gpu_parts_forget(const struct gpu_table *table, struct gpu_device *device)
{
    if (device->part_count <= device->part_limit || device->part_count <= GONE_MIN)
        return;
    for (size_t i = 0; i < device->part_count; i++)
        device->parts[i].is_there = false;
    size_t there = mark(device, &device->readings.kept, false);
    there += mark(device, &device->claims.kept, false);
    there += mark(device, &table->peers, true);
    device->part_limit = 2 * there + GONE_MIN;
    if (device->part_count <= device->part_limit)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < device->part_count; i++) {
        if (device->parts[i].is_there)
            device->parts[kept++] = device->parts[i];
    }
    device->part_count = kept;
}
