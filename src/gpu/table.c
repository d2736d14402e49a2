/* table.c: see table.h. Keeps the state of devices, and takes readings in; rows.c writes it.
 *
 * Devices stay in the table for ever, in the order of their keys; a device that no longer exists
 * only loses its rows. Every function allocates what it needs before it changes anything. */
#include "gpu/table_data.h"

#include "gpu/find.h"
#include "util/memory.h"
#include "util/search.h"

#include <stdio.h>
#include <string.h>
#include <vitals/error.h>

const struct gpu_text gpu_texts[GPU_TEXTS] = {
    {VITALS_GPU_VENDOR, offsetof(struct gpu_identity, vendor), GPU_TEXT_ALWAYS},
    {VITALS_GPU_NAME, offsetof(struct gpu_identity, name),
     offsetof(struct gpu_identity, name_state)},
    {VITALS_GPU_UUID, offsetof(struct gpu_identity, uuid), GPU_TEXT_ALWAYS},
    {VITALS_GPU_PCI_BUS_ID, offsetof(struct gpu_identity, pci_bus_id),
     offsetof(struct gpu_identity, pci_state)},
    {VITALS_GPU_DRIVER_VERSION, offsetof(struct gpu_identity, driver_version),
     offsetof(struct gpu_identity, driver_state)},
    {VITALS_GPU_CUDA_VERSION, offsetof(struct gpu_identity, cuda_version),
     offsetof(struct gpu_identity, cuda_state)},
};

struct gpu_table *gpu_table_new(void)
{
    return memory_alloc(sizeof(struct gpu_table));
}

void gpu_table_free(struct gpu_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++) {
        struct gpu_device *device = table->devices[i];
        for (size_t j = 0; j < GPU_TEXTS; j++)
            shared_text_unref(device->texts[j]);
        cache_done(&device->readings);
        cache_done(&device->claims);
        memory_free(device->parts);
        memory_free(device->users);
        memory_free(device->spare);
        memory_free(device);
    }
    batch_done(&table->peers);
    memory_free(table->devices);
    memory_free(table);
}

void gpu_table_choose(struct gpu_table *table, const struct vitals_request *request)
{
    table->request = request->device_count > 0 ? request : NULL;
}

static struct gpu_device *find_slot(const struct gpu_table *table, unsigned backend, uint32_t slot)
{
    for (size_t i = 0; i < table->count; i++) {
        struct gpu_device *device = table->devices[i];
        if (device->present && device->backend == backend && device->identity.slot == slot)
            return device;
    }
    return NULL;
}

/* ---- scans ---- */

/* Returns the table's device for a device of the scan, unless another device of the scan has
 * claimed it. */
static struct gpu_device *find_unclaimed(const struct gpu_table *table, unsigned backend,
                                         const struct gpu_identity *identity, bool same_slot)
{
    for (size_t i = 0; i < table->count; i++) {
        struct gpu_device *device = table->devices[i];
        if (!device->claimed && device->backend == backend &&
            strcmp(device->identity.uuid, identity->uuid) == 0 &&
            (!same_slot || device->identity.slot == identity->slot))
            return device;
    }
    return NULL;
}

static struct gpu_device *add_device(struct gpu_table *table, unsigned backend,
                                     const struct gpu_identity *identity)
{
    if (MEMORY_GROW(table->devices, table->capacity, table->count) < 0)
        return NULL;
    struct gpu_device *device = memory_alloc(sizeof *device);
    if (!device)
        return NULL;
    device->key = table->count + 1;
    device->backend = backend;
    device->identity.slot = identity->slot;
    memcpy(device->identity.uuid, identity->uuid, sizeof device->identity.uuid);
    table->devices[table->count++] = device;
    return device;
}

/* Devices are numbered across all back ends; a partition appends its number to its device's
 * label. */
static void name_rows(struct gpu_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct gpu_device *device = table->devices[i];
        unsigned before = 0;
        for (size_t j = 0; j < table->count; j++) {
            struct gpu_device *other = table->devices[j];
            before += other->present && other->identity.parent_slot < 0 &&
                      (other->backend != device->backend ? other->backend < device->backend
                                                         : other->place < device->place);
        }
        device->parent = 0;
        snprintf(device->label, sizeof device->label, "%u", before);
    }
    for (size_t i = 0; i < table->count; i++) {
        struct gpu_device *device = table->devices[i];
        if (!device->present || device->identity.parent_slot < 0)
            continue;
        const struct gpu_device *parent = find_slot(table, device->backend,
                                                    (uint32_t)device->identity.parent_slot);
        if (!parent)
            continue;
        device->parent = parent->key;
        snprintf(device->label, sizeof device->label, "%.11s:%u", parent->label,
                 device->identity.index);
    }
}

/* A partition of a named device is named too. */
static void leave_out(struct gpu_table *table)
{
    const struct vitals_request *request = table->request;
    for (size_t i = 0; i < table->count && request; i++) {
        struct gpu_device *device = table->devices[i];
        const struct gpu_identity *who = &device->identity;
        const struct gpu_device *parent = who->parent_slot >= 0
                                              ? find_slot(table, device->backend,
                                                          (uint32_t)who->parent_slot)
                                              : NULL;
        bool named = false;
        for (size_t j = 0; j < request->device_count && !named; j++) {
            const char *name = request->devices[j];
            named = gpu_has_name(name, device->label, parent ? "" : who->pci_bus_id, who->uuid) ||
                    (parent && gpu_has_name(name, parent->label, parent->identity.pci_bus_id,
                                            parent->identity.uuid)) ||
                    (parent &&
                     gpu_has_instance_name(name, parent->identity.uuid, who->gpu_instance_id,
                                           who->compute_instance_id));
        }
        device->is_left_out = !named;
    }
}

int gpu_table_scan(struct gpu_table *table, unsigned backend, const struct gpu_scan *scan)
{
    struct gpu_device *found[GPU_DEVICES_MAX];

    /* Find or add the device of the table for each device of the scan. Two devices with one UUID
     * stay two, known by their slots. */
    for (size_t i = 0; i < table->count; i++)
        table->devices[i]->claimed = false;
    for (uint32_t i = 0; i < scan->count; i++) {
        found[i] = find_unclaimed(table, backend, &scan->devices[i], true);
        if (found[i])
            found[i]->claimed = true;
    }
    for (uint32_t i = 0; i < scan->count; i++) {
        if (!found[i])
            found[i] = find_unclaimed(table, backend, &scan->devices[i], false);
        if (!found[i])
            found[i] = add_device(table, backend, &scan->devices[i]);
        if (!found[i])
            return VITALS_EMEMORY;
        found[i]->claimed = true;
    }

    for (uint32_t i = 0; i < scan->count; i++) {
        for (size_t j = 0; j < GPU_TEXTS; j++) {
            struct shared_text **text = &found[i]->texts[j];
            const char *bytes = (const char *)&scan->devices[i] + gpu_texts[j].bytes;
            if (*text && shared_text_equal(*text, bytes, strlen(bytes)))
                continue;
            struct shared_text *fresh = shared_text_new(bytes, strlen(bytes));
            if (!fresh)
                return VITALS_EMEMORY;
            shared_text_unref(*text);
            *text = fresh;
        }
    }

    /* No step below can fail. */

    for (size_t i = 0; i < table->count; i++) {
        struct gpu_device *device = table->devices[i];
        if (device->backend == backend)
            device->present &= device->claimed;
    }
    for (uint32_t i = 0; i < scan->count; i++) {
        struct gpu_device *device = found[i];
        if (!device->present) { /* a device that comes back starts anew, under its old keys */
            cache_done(&device->readings);
            cache_done(&device->claims);
            device->lost = VITALS_HAVE;
            device->process_count = value_missing(VITALS_UNSET);
            device->stamp_ns = device->claims_stamp_ns = device->users_stamp_ns = 0;
            device->users_cache = false;
            device->users_asked = (struct metric_set){0};
            device->user_count = 0;
        }
        device->identity = scan->devices[i];
        device->present = true;
        device->place = i;
    }
    name_rows(table);
    leave_out(table);
    return 0;
}

bool gpu_table_is_chosen(const struct gpu_table *table, unsigned backend, uint32_t slot)
{
    const struct gpu_device *device = find_slot(table, backend, slot);
    return !device || !device->is_left_out;
}

void gpu_table_scans(struct gpu_table *table, unsigned backend, bool scans)
{
    uint64_t bit = UINT64_C(1) << backend;
    table->scanning = scans ? table->scanning | bit : table->scanning & ~bit;
}

/* ---- readings ---- */

static int take_facts(struct gpu_table *table, struct gpu_device *device,
                      struct answer_cache *cache, struct gpu_sample *sample)
{
    for (size_t i = 0; i < sample->batch.row_count; i++) {
        const struct batch_row *row = &sample->batch.rows[i];
        if (row->entity != VITALS_TABLE_GPU && gpu_part_add(table, device, &sample->batch, row) < 0)
            return VITALS_EMEMORY;
    }
    if (cache_take(cache, &sample->batch, sample->stamp_ns) < 0)
        return VITALS_EMEMORY;
    gpu_parts_forget(table, device);
    return 0;
}

/* Of a device that cannot be read, constant values that the batch does not have were not asked for:
 * so those of an earlier reading stay. */
static void keep_constant(struct row_batch *batch)
{
    const struct batch_row *row = NULL;
    for (size_t i = 0; i < batch->row_count && !row; i++)
        row = batch->rows[i].entity == VITALS_TABLE_GPU ? &batch->rows[i] : NULL;
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        if (vitals_metric_table(metric) == VITALS_TABLE_GPU &&
            vitals_metric_kind(metric) == VITALS_IDENTITY &&
            (!row || !batch_find(batch, row, metric)))
            metric_set_remove(&batch->wanted, metric);
    }
}

int gpu_table_sample(struct gpu_table *table, unsigned backend, uint32_t slot,
                     struct gpu_sample *sample)
{
    struct gpu_device *device = find_slot(table, backend, slot);
    if (!device)
        return 0;
    if (sample->state < 0) { /* lost, or asleep: of earlier readings only the constant ones hold */
        cache_lose(&device->readings, (vitals_availability)sample->state);
        keep_constant(&sample->batch);
    }
    bool says_something = sample->state > 0 || sample->batch.row_count > 0;
    if (says_something && take_facts(table, device, &device->readings, sample) < 0)
        return VITALS_EMEMORY;
    batch_reserve_like(&sample->batch, &device->readings.kept); /* the next batch may be as large */
    device->lost = sample->state;
    device->stamp_ns = sample->stamp_ns;
    return 0;
}

int gpu_table_claims(struct gpu_table *table, unsigned backend, uint32_t slot,
                     struct gpu_sample *sample)
{
    struct gpu_device *device = find_slot(table, backend, slot);
    if (!device)
        return 0;
    if (take_facts(table, device, &device->claims, sample) < 0)
        return VITALS_EMEMORY;
    device->claims_stamp_ns = sample->stamp_ns;
    return 0;
}

/* Takes over earlier users with smaller pids than `pid` that were in a list which could not be read
 * this time: one failed list does not remove a process. */
static void keep_unread(struct gpu_device *device, int64_t pid, unsigned unread, size_t *old,
                        size_t *count)
{
    for (; *old < device->user_count && device->users[*old].now.pid < pid; ++*old) {
        struct gpu_user *user = &device->users[*old];
        if ((user->now.uses & unread) == 0)
            continue;
        user->now.uses &= unread;
        user->is_old = true;
        device->spare[(*count)++] = *user;
    }
}

int gpu_table_processes(struct gpu_table *table, unsigned backend, uint32_t slot,
                        const struct metric_set *wanted, const struct gpu_processes *processes)
{
    struct gpu_device *device = find_slot(table, backend, slot);
    if (!device)
        return 0;
    bool passing = processes->state == VITALS_TIMED_OUT || processes->state == VITALS_FAILED;
    if (passing && device->user_count > 0) {
        device->users_cache = true; /* one failed answer does not remove a process */
        return 0;
    }
    size_t most = processes->count + (processes->unread != 0 ? device->user_count : 0);
    if (most > device->spare_capacity) {
        struct gpu_user *grown = memory_resize(device->spare, most, sizeof *grown);
        if (!grown)
            return VITALS_EMEMORY;
        device->spare = grown;
        device->spare_capacity = most;
    }

    /* Both are in the order of pids: a process that stays keeps its row, a new one gets a new
     * row. */
    size_t old = 0, count = 0;
    for (uint32_t i = 0; i < processes->count; i++) {
        const struct gpu_process *item = &processes->items[i];
        keep_unread(device, item->pid, processes->unread, &old, &count);
        struct gpu_user *user = &device->spare[count++];
        if (old < device->user_count && device->users[old].now.pid == item->pid) {
            *user = device->users[old++];

            user->is_old = false;
            user->now.uses = item->uses | (user->now.uses & processes->unread);
            user->now.is_ours = item->is_ours;
            user->now.start_ticks = item->start_ticks;
            for (size_t j = 0; j < GPU_PROCESS_NUMBERS; j++) {
                if (item->at[j].state != VITALS_UNSET)
                    user->now.at[j] = item->at[j];
            }
        } else {
            *user = (struct gpu_user){.key = ++table->user_keys, .now = *item};
        }
    }

    keep_unread(device, INT64_MAX, processes->unread, &old, &count);

    struct gpu_user *users = device->users;
    size_t capacity = device->user_capacity;
    device->users = device->spare;
    device->user_capacity = device->spare_capacity;
    device->user_count = count;
    device->spare = users;
    device->spare_capacity = capacity;

    device->process_count = processes->state > 0 ? value_u64(processes->count)
                                                 : value_missing(processes->state);
    if (processes->cut)
        device->process_count.state = VITALS_LOWER_BOUND;
    device->users_stamp_ns = processes->stamp_ns;
    device->users_cache = false;
    for (size_t i = 0; i < METRIC_NUMBERS / 64; i++)
        device->users_asked.bits[VITALS_TABLE_GPU_PROCESS][i] |=
            wanted->bits[VITALS_TABLE_GPU_PROCESS][i];
    return 0;
}

void gpu_table_late(struct gpu_table *table, unsigned backend, uint32_t slot,
                    const struct metric_set *asked)
{
    struct gpu_device *device = find_slot(table, backend, slot);
    if (!device)
        return;
    /* jobs are always requested separately */
    if (metric_set_has_entity(asked, VITALS_TABLE_GPU_JOB)) {
        cache_overdue(&device->claims, asked);
        return;
    }
    cache_overdue(&device->readings, asked);
    device->users_cache |= metric_set_has_entity(asked, VITALS_TABLE_GPU_PROCESS) ||
                           metric_set_has(asked, VITALS_GPU_PROCESSES);
}

void gpu_table_age(struct gpu_table *table, const struct vitals_request *request, uint64_t now_ns)
{
    uint64_t every_ns = request->every_ns[VITALS_TABLE_GPU][metric_number(VITALS_GPU_PROCESSES)];
    if (!metric_set_has(&request->wanted, VITALS_GPU_PROCESSES))
        every_ns = UINT64_MAX;
    for (unsigned number = 1; number < METRIC_NUMBERS; number++) {
        if (metric_set_has(&request->wanted, metric_of(VITALS_TABLE_GPU_PROCESS, number)))
            every_ns = uint64_min(every_ns, request->every_ns[VITALS_TABLE_GPU_PROCESS][number]);
    }
    uint64_t limit_ns = saturating_add(uint64_max(every_ns, request->interval_ns),
                                       request->interval_ns / 4);
    for (size_t i = 0; i < table->count; i++) {
        struct gpu_device *device = table->devices[i];
        cache_age(&device->readings, request, now_ns);
        device->users_cache |= device->users_stamp_ns != 0 &&
                               now_ns > saturating_add(device->users_stamp_ns, limit_ns);
    }
}

void gpu_table_each_pid(const struct gpu_table *table, void (*visit)(void *data, int64_t pid),
                        void *data)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct gpu_device *device = table->devices[i];
        for (size_t j = 0; device->present && !device->is_left_out && j < device->user_count; j++) {
            if (device->users[j].now.is_ours > 0)
                visit(data, device->users[j].now.pid);
        }
    }
}

/* ---- keys of the rows of a device's child tables: its engines, sensors, links, peers ----
 *
 * A row is identified by its label; a peer by the number from topology.c, because an adapter may be
 * called "1" like a device. A row that has disappeared keeps its key for a while, in case it comes
 * back; once more rows are gone than present, those are removed. */

enum { GONE_MIN = 64 }; /* this many may always stay */

/* Identifies a row among those of the device. */
struct part_name {
    vitals_table entity;
    uint64_t number; /* 0: the label identifies the row */
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

/* Returns the index of the row in the list, or where it would be inserted. */
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
    if (MEMORY_GROW(device->parts, device->part_capacity, device->part_count) < 0)
        return VITALS_EMEMORY;
    struct gpu_part *part = &device->parts[at];
    memmove(part + 1, part, (device->part_count++ - at) * sizeof *part);
    *part = (struct gpu_part){.key = ++table->child_keys,
                              .entity = name.entity,
                              .number = name.number,
                              .label_size = name.label.size};
    memcpy(part->label, name.label.bytes, name.label.size);
    return 0;
}

/* Marks the entries that have a row of the device now; returns how many. */
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
