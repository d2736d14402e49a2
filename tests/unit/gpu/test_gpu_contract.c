/* What every back end promises, whatever the vendor: one test, run on all that can be had here.
 * A new back end is a few rows of the table below. */
#include "gpu_world.h"

#include "gpu/table.h"
#include "util/memory.h"

struct contract {
    const char *backend, *variant, *scenario;
    bool loses; /* one of its devices is lost, sooner or later */
};

static const struct contract contracts[] = {
    {"demo", NULL, "default", false},
    {"demo", NULL, "self", false},
    {"demo", NULL, "many", false},
    {"demo", NULL, "idle", false},
    {"demo", NULL, "broken", true},
    {"demo", NULL, "hang", false},
    {"demo", NULL, "empty", false},
    {"nvidia", "r580", NULL, false},
    {"nvidia", "r580", "two-healthy", false},
    {"nvidia", "r580", "eight", false},
    {"nvidia", "r580", "mig", false},
    {"nvidia", "r580", "not-available", false},
    {"nvidia", "r580", "lost-half-way", true},
    {"nvidia", "r580", "garbage-samples", false},
    {"nvidia", "r580", "no-permission", false},
    {"nvidia", "r580", "unified-memory", false},
    {"nvidia", "r580", "memory-unknown", false},
    {"nvidia", "r580", "hostile-names", false},
    {"nvidia", "r580", "wrong-layout", false},
    {"nvidia", "r580", "ailing", false},
    {"nvidia", "r580", "container", false},
    {"nvidia", "r580", "empty", false},
    {"nvidia", "r550", "eight", false},
    {"nvidia", "r535", "eight", false},
    {"nvidia", "r535_54", "eight", false},
    {"nvidia", "r470", "mig", false},
    {"nvidia", "r470", "eight", false},
    {"nvidia", "r390", "eight", false},
    {"amd", "tree", "amd/navi21-5.14", false},
    {"amd", "tree", "amd/vega10-5.19", false},
    {"amd", "tree", "amd/navi48-6.14", false},
    {"amd", "tree", "amd/phoenix-6.8", false},
    {"amd", "tree", "amd/strix-6.14", false},
    {"amd", "tree", "amd/mi300x-6.12", false},
    {"amd", "tree", "amd/mi300x-cpx-6.14", false},
    {"amd", "tree", "amd/suspended", false},
    {"amd", "tree", "amd/hostile", false},
    {"intel", "tree", "intel/i915-igpu", false},
    {"intel", "tree", "intel/i915-old", false},
    {"intel", "tree", "intel/i915-a380", false},
    {"intel", "tree", "intel/xe-a380", false},
    {"intel", "tree", "intel/xe-b580", false},
    {"intel", "tree", "intel/xe-tiles", false},
    {"intel", "tree", "intel/xe-asleep", false},
    {"intel", "tree", "intel/xe-functions", false},
    {"intel", "tree", "intel/hostile", false},
    {"drm", "tree", "drm/msm", false},
    {"drm", "tree", "drm/panthor", false},
    {"drm", "tree", "drm/v3d", false},
    {"drm", "tree", "drm/ivpu", false},
    {"drm", "tree", "drm/hostile", false},
};

static const char *name_of(const struct contract *contract)
{
    static char name[96];
    snprintf(name, sizeof name, "%s %s %s", contract->backend,
             contract->variant ? contract->variant : "-",
             contract->scenario ? contract->scenario : "-");
    return name;
}

static void open_world(struct gpu_world *world, const struct contract *contract)
{
    CHECK_CASE(name_of(contract));
    if (gpu_world_open(world, contract->backend, contract->variant, contract->scenario) < 0)
        CHECK_FAIL("%s", world->scan.message);
    gpu_world_scan(world);
}

/* Runs the check on each of them. */
static void for_each(void (*check)(struct gpu_world *world, const struct contract *contract))
{
    static struct gpu_world world;
    for (size_t i = 0; i < CHECK_COUNT(contracts); i++) {
        int64_t live = memory_live();
        open_world(&world, &contracts[i]);
        check(&world, &contracts[i]);
        gpu_world_close(&world);
        CHECK_INT(memory_live(), live);
    }
}

/* ---- scans ---- */

static void check_scan(struct gpu_world *world, const struct contract *contract)
{
    const struct gpu_scan *scan = &world->scan;
    CHECK_INT(scan->state, VITALS_HAVE);
    CHECK(scan->message[0] != '\0' && !strchr(scan->message, '\n'));
    CHECK_INT(scan->count == 0, contract->scenario && strcmp(contract->scenario, "empty") == 0);
    for (uint32_t i = 0; i < scan->count; i++) {
        const struct gpu_identity *who = &scan->devices[i];
        CHECK(who->uuid[0] != '\0');
        CHECK(who->vendor[0] != '\0');
        CHECK(who->name_state != VITALS_UNSET && who->pci_state != VITALS_UNSET);
        CHECK(who->driver_state != VITALS_UNSET && who->cuda_state != VITALS_UNSET);
        CHECK(who->gpu_instance_id.state != VITALS_UNSET);
        CHECK(who->compute_instance_id.state != VITALS_UNSET);
        bool parent_before = who->parent_slot < 0;
        for (uint32_t j = 0; j < i; j++) {
            CHECK(scan->devices[j].slot != who->slot);
            CHECK(strcmp(scan->devices[j].uuid, who->uuid) != 0);
            parent_before |= (int32_t)scan->devices[j].slot == who->parent_slot;
        }
        CHECK(parent_before);
    }
}

static void check_rescan(struct gpu_world *world, const struct contract *contract)
{
    static struct gpu_scan before;
    (void)contract;
    before = world->scan;
    struct metric_set all = gpu_world_wanted(0);
    for (int times = 0; times < 5; times++) {
        for (uint32_t i = 0; i < before.count; i++)
            gpu_world_sample(world, before.devices[i].slot, &all);
        gpu_world_scan(world);
        CHECK_UINT(world->scan.count, before.count);
        for (uint32_t i = 0; i < before.count; i++) {
            CHECK_STR(world->scan.devices[i].uuid, before.devices[i].uuid);
            CHECK_STR(world->scan.devices[i].name, before.devices[i].name);
            CHECK_UINT(world->scan.devices[i].slot, before.devices[i].slot);
        }
    }
}

/* ---- readings ---- */

static void check_ratio(vitals_metric metric, struct value value)
{
    if (value.state <= 0)
        return;
    if (!(value.as.f64 >= 0 && value.as.f64 <= 1))
        CHECK_FAIL("%s is %f", vitals_metric_name(metric), value.as.f64);
}

static bool is_ratio(vitals_metric metric)
{
    return strcmp(vitals_metric_unit(metric), "ratio") == 0 && metric != VITALS_GPU_FAN_RATIO &&
           metric != VITALS_GPU_SENSOR_FAN_RATIO;
}

/* Of a row: nothing that was not asked for, nothing twice, nothing that cannot be. */
static void check_facts(const struct gpu_sample *sample, const struct batch_row *row)
{
    for (size_t i = row->first; i < row->first + row->count; i++) {
        const struct batch_cell *cell = &sample->batch.items[i];
        CHECK_CASE(vitals_metric_name(cell->metric));
        CHECK(batch_wants(&sample->batch, cell->metric));
        CHECK_INT(vitals_metric_table(cell->metric), row->entity);
        CHECK(cell->state != VITALS_UNSET);
        for (size_t j = row->first; j < i; j++)
            CHECK(sample->batch.items[j].metric != cell->metric);
        if (is_ratio(cell->metric))
            check_ratio(cell->metric, (struct value){.as.f64 = cell->as.f64, .state = cell->state});
    }
}

static void check_rows_of(const struct gpu_sample *sample)
{
    for (size_t i = 0; i < sample->batch.row_count; i++) {
        const struct batch_row *row = &sample->batch.rows[i];
        struct span label = batch_label(&sample->batch, row);
        CHECK(row->entity == VITALS_TABLE_GPU ||
              vitals_table_parent(row->entity) == VITALS_TABLE_GPU);
        CHECK_INT(label.size == 0, row->entity == VITALS_TABLE_GPU);
        for (size_t j = 0; j < i; j++) {
            const struct batch_row *other = &sample->batch.rows[j];
            struct span own = batch_label(&sample->batch, other);
            CHECK(other->entity != row->entity || own.size != label.size ||
                  memcmp(own.bytes, label.bytes, own.size) != 0);
        }
        check_facts(sample, row);
    }
}

static void check_memory(const struct gpu_world *world)
{
    struct value total = gpu_world_value(world, VITALS_GPU_MEMORY_TOTAL_BYTES);
    struct value used = gpu_world_value(world, VITALS_GPU_MEMORY_USED_BYTES);
    struct value available = gpu_world_value(world, VITALS_GPU_MEMORY_FREE_BYTES);
    CHECK(used.state <= 0 || total.state <= 0 || used.as.u64 <= total.as.u64);
    CHECK(available.state <= 0 || total.state <= 0 || available.as.u64 <= total.as.u64);
    for (size_t i = 0; i < world->sample.batch.row_count; i++) {
        const struct row_batch *batch = &world->sample.batch;
        const struct batch_cell *size = batch_find(batch, &batch->rows[i],
                                                   VITALS_GPU_POOL_TOTAL_BYTES);
        const struct batch_cell *use = batch_find(batch, &batch->rows[i],
                                                  VITALS_GPU_POOL_USED_BYTES);
        CHECK(!size || !use || size->state <= 0 || use->state <= 0 || use->as.u64 <= size->as.u64);
    }
}

static void check_sample(const struct gpu_world *world)
{
    const struct gpu_sample *sample = &world->sample;
    CHECK_UINT(sample->stamp_ns, world->now_ns);
    if (sample->state < 0)
        return;
    CHECK_INT(sample->state, VITALS_HAVE);
    if (sample->batch.failed)
        return; /* no memory: the batch is dropped */
    check_rows_of(sample);
    check_memory(world);
}

static void check_processes(const struct gpu_world *world)
{
    const struct gpu_processes *list = &world->processes;
    CHECK(list->state != VITALS_UNSET);
    CHECK(list->count <= GPU_PROCESSES_MAX);
    CHECK_INT(world->sample.state < 0 && list->count > 0, 0);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct gpu_process *item = &list->items[i];
        CHECK(item->pid > 0);
        CHECK(i == 0 || list->items[i - 1].pid < item->pid);
        CHECK_UINT(item->uses & ~(unsigned)(GPU_COMPUTE | GPU_GRAPHICS | GPU_MPS), 0);
        CHECK(gpu_world_of(item, VITALS_GPU_PROCESS_MEMORY_USED_BYTES).state != VITALS_UNSET);
        for (unsigned n = 1; n < GPU_PROCESS_NUMBERS; n++) {
            vitals_metric metric = metric_of(VITALS_TABLE_GPU_PROCESS, n);
            if (vitals_metric_name(metric) && is_ratio(metric))
                check_ratio(metric, item->at[n]);
        }
    }
}

static void check_readings(struct gpu_world *world, const struct contract *contract)
{
    struct metric_set all = gpu_world_wanted(0);
    bool lost = false;
    for (int times = 0; times < 5; times++) {
        for (uint32_t i = 0; i < world->scan.count; i++) {
            gpu_world_sample(world, world->scan.devices[i].slot, &all);
            if (contract->scenario && strcmp(contract->scenario, "hang") == 0)
                world->sample.stamp_ns = world->now_ns; /* it moved the clock */
            check_sample(world);
            lost |= world->sample.state == VITALS_GONE;
            gpu_world_processes(world, world->scan.devices[i].slot, &all);
            check_processes(world);
        }
        world->now_ns += NS_PER_SECOND;
    }
    CHECK_INT(lost, contract->loses);
}

static void check_counters(struct gpu_world *world, const struct contract *contract)
{
    struct metric_set all = gpu_world_wanted(0);
    (void)contract;
    for (uint32_t i = 0; i < world->scan.count; i++) {
        uint32_t slot = world->scan.devices[i].slot;
        double busy = 0, joules = 0, then = 0;
        for (int times = 0; times < 4; times++) {
            gpu_world_sample(world, slot, &all);
            double now = (double)world->now_ns / 1e9; /* a hanging device moves the clock */
            struct value value = gpu_world_value(world, VITALS_GPU_BUSY_SECONDS);
            double step = value.as.f64 - busy;
            CHECK(value.state <= 0 || (step >= 0 && step <= now - then + 1e-6));
            busy = value.state > 0 ? value.as.f64 : busy;
            then = now;
            value = gpu_world_value(world, VITALS_GPU_ENERGY_JOULES);
            CHECK(value.state <= 0 || value.as.f64 >= joules);
            joules = value.state > 0 ? value.as.f64 : joules;
            world->now_ns = (world->now_ns / NS_PER_SECOND + 1) * NS_PER_SECOND;
        }
    }
}

/* One metric at a time: nothing depends on another being asked for. */
static void check_single_metrics(struct gpu_world *world, const struct contract *contract)
{
    if (contract->loses || world->scan.count == 0)
        return;
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        if (vitals_metric_table(m) != VITALS_TABLE_GPU || vitals_metric_kind(m) == VITALS_IDENTITY)
            continue;
        struct metric_set only = gpu_world_only(m);
        gpu_world_sample(world, world->scan.devices[0].slot, &only);
        check_sample(world);
    }
}

/* ---- through the table, to a snapshot ---- */

static vitals_snapshot *take_snapshot(struct gpu_world *world, struct gpu_table *table,
                                      vitals_builder *builder, const struct metric_set *wanted)
{
    vitals_snapshot *snapshot;
    vitals_error error;
    CHECK_INT(gpu_table_scan(table, 0, &world->scan), 0);
    for (uint32_t i = 0; i < world->scan.count; i++) {
        uint32_t slot = world->scan.devices[i].slot;
        gpu_world_sample(world, slot, wanted);
        CHECK_INT(gpu_table_sample(table, 0, slot, &world->sample), 0);
        gpu_world_processes(world, slot, wanted);
        CHECK_INT(gpu_table_processes(table, 0, slot, wanted, &world->processes), 0);
    }
    vitals_builder_begin(builder);
    gpu_table_write(table, builder, wanted, NULL, NULL, 1);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    return snapshot;
}

static void check_rows(const vitals_snapshot *snapshot, const struct metric_set *wanted)
{
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        vitals_table entity = vitals_metric_table(m);
        if (!metric_set_has(wanted, m))
            continue;
        CHECK(vitals_snapshot_has_metric(snapshot, m));
        for (const vitals_row *row = NULL; (row = vitals_snapshot_next(snapshot, entity, row));) {
            if (vitals_row_availability(row, m) == VITALS_UNSET)
                CHECK_FAIL("%s.%s of row %s is unset", vitals_table_name(entity),
                           vitals_metric_name(m), vitals_row_label(row));
            if (entity != VITALS_TABLE_GPU)
                CHECK_NOT_NULL(
                    vitals_snapshot_find(snapshot, VITALS_TABLE_GPU, vitals_row_parent(row)));
        }
    }
}

/* Of a lost device only its identity remains. */
static size_t check_lost_rows(const vitals_snapshot *snapshot)
{
    size_t lost = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, row));) {
        if (vitals_row_availability(row, VITALS_GPU_POWER_WATTS) != VITALS_GONE)
            continue;
        lost++;
        for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
            bool reading = vitals_metric_table(m) == VITALS_TABLE_GPU &&
                           vitals_metric_kind(m) != VITALS_IDENTITY;
            if (reading && vitals_snapshot_has_metric(snapshot, m))
                CHECK_INT(vitals_row_availability(row, m), VITALS_GONE);
        }
        CHECK_NULL(vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU_PROCESS,
                                              vitals_row_key(row), NULL));
    }
    return lost;
}

static void check_snapshots(struct gpu_world *world, const struct contract *contract)
{
    struct metric_set all = gpu_world_wanted(0);
    struct gpu_table *table = gpu_table_new();
    vitals_builder *builder;
    vitals_error error;
    size_t lost = 0;
    CHECK_NOT_NULL(table);
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    for (int times = 0; times < 3; times++) {
        vitals_snapshot *snapshot = take_snapshot(world, table, builder, &all);
        CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU), world->scan.count);
        check_rows(snapshot, &all);
        lost = check_lost_rows(snapshot);
        vitals_snapshot_unref(snapshot);
        world->now_ns += NS_PER_SECOND;
        gpu_world_scan(world);
    }
    CHECK_INT(lost > 0, contract->loses);
    vitals_builder_free(builder);
    gpu_table_free(table);
}

/* ---- no memory ---- */

/* Whichever allocation fails, every promise above still holds. */
static void check_without_memory(struct gpu_world *world, const struct contract *contract)
{
    struct metric_set all = gpu_world_wanted(0);
    gpu_world_close(world);
    for (uint64_t nth = 1; nth < 200; nth++) {
        uint64_t before = memory_asked();
        memory_fail_at(nth);
        int result = gpu_world_open(world, contract->backend, contract->variant,
                                    contract->scenario);
        memory_fail_at(result < 0 ? 0 : nth);
        if (result < 0) {
            CHECK(world->scan.state < 0);
            continue;
        }
        gpu_world_scan(world);
        for (uint32_t i = 0; i < world->scan.count; i++) {
            gpu_world_sample(world, world->scan.devices[i].slot, &all);
            check_sample(world);
            gpu_world_processes(world, world->scan.devices[i].slot, &all);
            check_processes(world);
        }
        memory_fail_at(0);
        gpu_world_close(world);
        if (memory_asked() - before < nth)
            break; /* none has failed, and none would */
    }
}

/* ---- the tests ---- */

static void a_scan_says_who_is_there(void)
{
    for_each(check_scan);
}

static void identity_is_stable_over_scans(void)
{
    for_each(check_rescan);
}

static void readings_are_possible_numbers(void)
{
    for_each(check_readings);
}

static void counters_only_grow(void)
{
    for_each(check_counters);
}

static void each_metric_can_be_asked_for_alone(void)
{
    for_each(check_single_metrics);
}

static void nothing_wanted_is_unset_in_a_snapshot(void)
{
    for_each(check_snapshots);
}

static void a_failed_allocation_breaks_no_promise(void)
{
    static struct gpu_world world;
    static const struct contract few[] = {{"demo", NULL, "default", false},
                                          {"nvidia", "r580", "mig", false},
                                          {"nvidia", "r580", "eight", false},
                                          {"drm", "tree", "drm/msm", false},
                                          {"intel", "tree", "intel/xe-tiles", false}};
    for (size_t i = 0; i < CHECK_COUNT(few); i++) {
        int64_t live = memory_live();
        open_world(&world, &few[i]);
        check_without_memory(&world, &few[i]);
        CHECK_INT(memory_live(), live);
    }
}

static const check_test tests[] = {
    {"a scan says who is there", a_scan_says_who_is_there},
    {"identity is stable over scans", identity_is_stable_over_scans},
    {"readings are possible numbers", readings_are_possible_numbers},
    {"counters only grow", counters_only_grow},
    {"each metric can be asked for alone", each_metric_can_be_asked_for_alone},
    {"nothing wanted is unset in a snapshot", nothing_wanted_is_unset_in_a_snapshot},
    {"a failed allocation breaks no promise", a_failed_allocation_breaks_no_promise},
};
CHECK_TESTS(tests)
