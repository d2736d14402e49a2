/* What the tests of src/gpu/amd share: a machine out of tests/fixtures/gpu/amd/, and a clock that
 * is moved by hand. Everything is static. */
#ifndef TESTS_UNIT_AMD_WORLD_H
#define TESTS_UNIT_AMD_WORLD_H

#include "check.h"
#include "gpu_sample.h"
#include "gpu_tree.h"

#include "gpu/backend.h"
#include "gpu/sweep.h"
#include "os/world.h"
#include "util/memory.h"

struct amd_world {
    struct gpu_tree tree;
    uint64_t now_ns;
    vitals_context context;
    void *state; /* NULL: not open */
    struct gpu_sweeper *sweeper;
    struct gpu_scan scan;
    struct gpu_sample sample;
    struct gpu_processes processes;
};

static uint64_t amd_world_now(void *data)
{
    return ((struct amd_world *)data)->now_ns;
}

/* Opens the back end over the fixture, "": an empty machine. What open says is the result. */
static inline int amd_world_open(struct amd_world *world, const char *fixture)
{
    char name[64];
    memset(world, 0, sizeof *world);
    snprintf(name, sizeof name, "amd/%s", fixture);
    world->tree = fixture[0] != '\0' ? gpu_tree_new(name) : gpu_tree_empty();
    gpu_tree_open(&world->tree, &world->context.os);
    world->context.origin.pid_namespace = OS_FIRST_PID_NAMESPACE; /* what its /proc says */
    world->now_ns = 1000 * NS_PER_SECOND;
    world->context.os.clock = (vitals_clock){.data = world,
                                             .monotonic_ns = amd_world_now,
                                             .boottime_ns = amd_world_now,
                                             .realtime_ns = amd_world_now};
    world->sweeper = gpu_sweeper_new(&world->context);
    return gpu_backend_amd.open(&world->context, &world->state, &world->scan);
}

static inline void amd_world_scan(struct amd_world *world)
{
    gpu_backend_amd.scan(world->state, &world->scan);
}

static inline void amd_world_begin(struct amd_world *world, const char *fixture)
{
    CHECK_INT(amd_world_open(world, fixture), 0);
    amd_world_scan(world);
}

static inline void amd_world_end(struct amd_world *world)
{
    if (world->state != NULL)
        gpu_backend_amd.close(world->state);
    gpu_sweeper_free(world->sweeper);
    batch_done(&world->sample.batch);
    gpu_tree_close(&world->context.os);
    gpu_tree_free(&world->tree);
}

/* Everything of the gpu tables but what is slow. */
static inline struct metric_set amd_world_all(void)
{
    struct metric_set set = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        vitals_table of = vitals_metric_table(m);
        if ((of == VITALS_TABLE_GPU || vitals_table_parent(of) == VITALS_TABLE_GPU) &&
            vitals_metric_price(m) != VITALS_PRICE_SLOW)
            metric_set_add(&set, m);
    }
    return set;
}

static inline void amd_world_ask(struct amd_world *world, uint32_t device,
                                 const struct metric_set *wanted)
{
    world->sample.state = VITALS_UNSET;
    batch_reset(&world->sample.batch, wanted);
    gpu_backend_amd.sample(world->state, world->scan.devices[device].slot, &world->sample);
    CHECK_FALSE(world->sample.batch.failed);
}

static inline void amd_world_sample(struct amd_world *world, uint32_t device)
{
    struct metric_set all = amd_world_all();
    amd_world_ask(world, device, &all);
}

/* One metric alone. */
static inline void amd_world_only(struct amd_world *world, uint32_t device, vitals_metric metric)
{
    struct metric_set set = {0};
    metric_set_add(&set, metric);
    amd_world_ask(world, device, &set);
}

/* A sweep, and the processes of a device out of it. */
static inline void amd_world_processes(struct amd_world *world, uint32_t device, bool swept)
{
    struct metric_set all = amd_world_all();
    struct gpu_sweep *sweep = swept ? gpu_sweeper_take(world->sweeper, NULL) : NULL;
    memset(&world->processes, 0, offsetof(struct gpu_processes, items));
    gpu_backend_amd.processes(world->state, world->scan.devices[device].slot, sweep, &all,
                              &world->processes);
    gpu_sweep_unref(sweep);
}

static inline const struct gpu_process *amd_world_process(const struct amd_world *world,
                                                          int64_t pid)
{
    for (uint32_t i = 0; i < world->processes.count; i++)
        if (world->processes.items[i].pid == pid)
            return &world->processes.items[i];
    CHECK_FAIL("no process %lld among %u", (long long)pid, world->processes.count);
}

static inline struct value amd_world_of(const struct amd_world *world, int64_t pid,
                                        vitals_metric metric)
{
    return amd_world_process(world, pid)->at[metric_number(metric)];
}

/* ---- what a sample says ---- */

static inline const struct batch_row *amd_world_row(const struct amd_world *world,
                                                    vitals_table entity, const char *label)
{
    return gpu_sample_row(&world->sample, entity, label);
}

static inline size_t amd_world_rows(const struct amd_world *world, vitals_table entity)
{
    return gpu_sample_rows(&world->sample, entity);
}

static inline const struct batch_cell *amd_world_fact(const struct amd_world *world,
                                                      vitals_metric metric, const char *label)
{
    return gpu_sample_fact(&world->sample, metric, label);
}

/* What was not set is unsupported; UNSET where the whole row is not there. */
static inline vitals_availability amd_world_state(const struct amd_world *world,
                                                  vitals_metric metric, const char *label)
{
    if (amd_world_row(world, vitals_metric_table(metric), label) == NULL)
        return VITALS_UNSET;
    const struct batch_cell *cell = amd_world_fact(world, metric, label);
    return cell != NULL ? (vitals_availability)cell->state : VITALS_UNSUPPORTED;
}

static inline double amd_world_number(const struct amd_world *world, vitals_metric metric,
                                      const char *label)
{
    return gpu_sample_number(&world->sample, metric, label);
}

static inline const char *amd_world_text(const struct amd_world *world, vitals_metric metric,
                                         const char *label)
{
    return gpu_sample_text(&world->sample, metric, label);
}

/* Of the first row about the subject; "" where there is none. */
static inline const char *amd_world_diagnosis(struct amd_world *world, const char *subject,
                                              vitals_metric metric)
{
    static char text[512];
    struct metric_set set = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;)
        if (vitals_metric_table(m) == VITALS_TABLE_DIAGNOSIS)
            metric_set_add(&set, m);
    struct row_batch *batch = &world->sample.batch;
    batch_reset(batch, &set);
    gpu_backend_amd.diagnose(&world->context, world->state, batch);
    text[0] = '\0';
    for (size_t i = batch->row_count; i-- > 0;) {
        const struct batch_cell *about = batch_find(batch, &batch->rows[i],
                                                    VITALS_DIAGNOSIS_SUBJECT);
        const struct batch_cell *cell = batch_find(batch, &batch->rows[i], metric);
        if (about != NULL && cell != NULL && span_equal(batch_span(batch, about), subject)) {
            struct span span = batch_span(batch, cell);
            snprintf(text, sizeof text, "%.*s", (int)span.size, span.bytes);
        }
    }
    return text;
}

#endif
