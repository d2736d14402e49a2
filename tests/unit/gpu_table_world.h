/* gpu_table_world.h: a table of devices, what is put into it, and the rows that come of it. */
#ifndef TESTS_UNIT_GPU_TABLE_WORLD_H
#define TESTS_UNIT_GPU_TABLE_WORLD_H

#include "check.h"

#include "gpu/table.h"
#include "util/memory.h"
#include <vitals/error.h>

/* ---- a table of processes that says what the test wants ---- */

static struct {
    int64_t pid;
    uint64_t key;
} living[8];

static inline uint64_t find_living(const void *data, int64_t pid, uint64_t start_ticks)
{
    (void)data, (void)start_ticks;
    for (size_t i = 0; i < CHECK_COUNT(living); i++) {
        if (living[i].pid == pid)
            return living[i].key;
    }
    return 0;
}

/* ---- what the tests write, and what they read back ---- */

static struct gpu_table *table;
static vitals_builder *builder;
static vitals_snapshot *snapshot;
static struct gpu_sample sample;

static inline struct metric_set all_metrics(void)
{
    struct metric_set set = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;)
        metric_set_add(&set, m);
    return set;
}

static inline void begin(void)
{
    vitals_error error;
    memset(living, 0, sizeof living);
    table = gpu_table_new();
    CHECK_NOT_NULL(table);
    CHECK_OK(vitals_builder_new(&builder, &error), error);
}

static inline void end(void)
{
    vitals_snapshot_unref(snapshot);
    snapshot = NULL;
    vitals_builder_free(builder);
    gpu_table_free(table);
    batch_done(&sample.batch);
}

static inline void write_rows(gpu_find_process *find)
{
    struct metric_set wanted = all_metrics();
    vitals_error error;
    vitals_snapshot_unref(snapshot);
    snapshot = NULL;
    vitals_builder_begin(builder);
    gpu_table_write(table, builder, &wanted, find, NULL, 1);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
}

static inline const vitals_row *row(vitals_table entity, const char *label)
{
    for (const vitals_row *r = NULL; (r = vitals_snapshot_next(snapshot, entity, r));) {
        if (strcmp(vitals_row_label(r), label) == 0)
            return r;
    }
    CHECK_FAIL("no row %s", label);
}

static inline size_t rows(vitals_table entity)
{
    return vitals_snapshot_count(snapshot, entity);
}

/* ---- scans and readings ---- */

static inline struct gpu_identity *add(struct gpu_scan *scan, uint32_t slot, const char *uuid)
{
    struct gpu_identity *who = &scan->devices[scan->count];
    *who = (struct gpu_identity){.slot = slot,
                                 .index = scan->count,
                                 .parent_slot = -1,
                                 .name_state = VITALS_HAVE,
                                 .pci_state = VITALS_HAVE,
                                 .driver_state = VITALS_HAVE,
                                 .cuda_state = VITALS_UNSUPPORTED};
    snprintf(who->uuid, sizeof who->uuid, "%s", uuid);
    snprintf(who->name, sizeof who->name, "Board %s", uuid);
    snprintf(who->vendor, sizeof who->vendor, "acme");
    scan->state = VITALS_HAVE;
    scan->count++;
    return who;
}

static inline void add_part(struct gpu_scan *scan, uint32_t slot, uint32_t parent, uint32_t index,
                            const char *uuid)
{
    struct gpu_identity *who = add(scan, slot, uuid);
    who->parent_slot = (int32_t)parent;
    who->index = index;
}

static inline void take_scan(unsigned backend, const struct gpu_scan *scan)
{
    CHECK_INT(gpu_table_scan(table, backend, scan), 0);
}

static inline void one_device(void)
{
    struct gpu_scan scan = {0};
    add(&scan, 0, "A");
    take_scan(0, &scan);
}

/* ---- a sample ---- */

static inline struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static inline void begin_sample(uint64_t stamp_ns, const vitals_metric *metrics)
{
    struct metric_set wanted = {0};
    for (; *metrics != 0; metrics++)
        metric_set_add(&wanted, *metrics);
    batch_reset(&sample.batch, &wanted);
    sample.stamp_ns = stamp_ns;
    sample.state = VITALS_HAVE;
}
#define ASKED(...)          \
    (const vitals_metric[]) \
    {                       \
        __VA_ARGS__, 0      \
    }

static inline void in_row(vitals_table entity, const char *label)
{
    batch_add_row(&sample.batch, entity, 0, span_of(label));
}

static inline int take_sample(void)
{
    return gpu_table_sample(table, 0, 0, &sample);
}

static inline void take_power(uint64_t stamp_ns, double watts)
{
    begin_sample(stamp_ns, ASKED(VITALS_GPU_POWER_WATTS));
    in_row(VITALS_TABLE_GPU, "");
    batch_set_f64(&sample.batch, VITALS_GPU_POWER_WATTS, watts);
    CHECK_INT(take_sample(), 0);
}

static inline void set_of(struct gpu_process *process, vitals_metric metric, struct value value)
{
    process->at[metric_number(metric)] = value;
}

static inline const struct metric_set *asked_of_users(void)
{
    static struct metric_set asked;
    metric_set_add(&asked, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    metric_set_add(&asked, VITALS_GPU_PROCESS_BUSY_SECONDS);
    metric_set_add(&asked, VITALS_GPU_PROCESSES);
    return &asked;
}

static inline void take_late(void)
{
    static struct metric_set asked;
    asked = *asked_of_users();
    metric_set_add(&asked, VITALS_GPU_POWER_WATTS);
    gpu_table_late(table, 0, 0, &asked);
}

static inline void take_users(uint32_t slot, const int64_t *pids, uint32_t count)
{
    static struct gpu_processes list;
    list = (struct gpu_processes){.stamp_ns = 7, .state = VITALS_HAVE, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        list.items[i] = (struct gpu_process){.pid = pids[i], .uses = GPU_COMPUTE, .is_ours = 1};
        set_of(&list.items[i], VITALS_GPU_PROCESS_MEMORY_USED_BYTES, value_u64(1000));
        set_of(&list.items[i], VITALS_GPU_PROCESS_BUSY_SECONDS, value_f64(5));
    }
    CHECK_INT(gpu_table_processes(table, 0, slot, asked_of_users(), &list), 0);
}

static inline void take_state(signed char state)
{
    static struct gpu_processes list;
    list = (struct gpu_processes){.stamp_ns = 8, .state = state};
    CHECK_INT(gpu_table_processes(table, 0, 0, asked_of_users(), &list), 0);
}

static inline double number(const vitals_row *r, vitals_metric metric)
{
    double out = -1;
    if (vitals_row_number(r, metric, &out) <= 0)
        CHECK_FAIL("%s is %s", vitals_metric_name(metric),
                   vitals_availability_name(vitals_row_availability(r, metric)));
    return out;
}

#endif
