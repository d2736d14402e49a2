/* A context and one back end for the tests of src/gpu: its monotonic clock is moved by hand, its
 * realtime is the machine's, because the simulated driver dates its samples by that. */
#ifndef TESTS_UNIT_GPU_WORLD_H
#define TESTS_UNIT_GPU_WORLD_H

#include "check.h"
#include "gpu_sample.h"
#include "gpu_tree.h"

#include "gpu/backend.h"
#include "os/world.h"

#include <dlfcn.h>
#include <time.h>

struct gpu_world {
    uint64_t now_ns;
    vitals_context context;
    char nvml_path[512];
    char demo[32];
    const struct gpu_backend *backend;
    void *state; /* NULL: not open */
    struct gpu_scan scan;
    struct gpu_sample sample;
    struct gpu_sweep *swept; /* of back ends that sweep; the test's, or of the tree */
    struct gpu_tree tree;    /* a machine of files; "": none */
    struct gpu_sweeper *sweeper;
    struct gpu_processes processes;
};

static uint64_t gpu_world_now(void *data)
{
    return ((struct gpu_world *)data)->now_ns;
}

static uint64_t gpu_world_realtime(void *data)
{
    struct timespec now;
    (void)data;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static int gpu_world_wait(void *data, int descriptor, uint64_t deadline_ns)
{
    (void)descriptor;
    ((struct gpu_world *)data)->now_ns = deadline_ns;
    return 0;
}

static inline const struct gpu_backend *gpu_world_backend(const char *name)
{
    for (size_t i = 0; gpu_backends[i]; i++) {
        if (strcmp(gpu_backends[i]->name, name) == 0)
            return gpu_backends[i];
    }
    CHECK_FAIL("no back end %s", name);
}

static inline const char *gpu_world_path(const char *variable)
{
    const char *path = getenv(variable);
    if (!path)
        CHECK_SKIP("run by meson, which says where things are");
    return path;
}

static inline void gpu_world_close(struct gpu_world *world)
{
    if (world->state)
        world->backend->close(world->state);
    world->state = NULL;
    batch_done(&world->sample.batch);
    if (world->tree.path[0] == '\0')
        return;
    gpu_sweep_unref(world->swept);
    gpu_sweeper_free(world->sweeper);
    world->swept = NULL;
    world->sweeper = NULL;
    gpu_tree_close(&world->context.os);
    gpu_tree_free(&world->tree);
    world->tree.path[0] = '\0';
}

/* Roots out of tests/fixtures/gpu/NAME.tree, and the sweep over its /proc; "": an empty machine. */
static inline void gpu_world_plant(struct gpu_world *world, const char *name)
{
    world->tree = name[0] != '\0' ? gpu_tree_new(name) : gpu_tree_empty();
    gpu_tree_open(&world->tree, &world->context.os);
}

/* Opens a back end; what open says is the result. variant: of the simulated driver, or "tree";
 * scenario: its name there, or the path of a file, or the demo's name for it, or a fixture's. */
static inline int gpu_world_open(struct gpu_world *world, const char *backend, const char *variant,
                                 const char *scenario)
{
    gpu_world_close(world); /* left open by a test that failed */
    memset(world, 0, sizeof *world);
    world->now_ns = 1000 * NS_PER_SECOND;
    world->context.os.proc = world->context.os.sys = world->context.os.dev = -1;
    world->context.os.clock = (vitals_clock){.data = world,
                                             .monotonic_ns = gpu_world_now,
                                             .boottime_ns = gpu_world_now,
                                             .realtime_ns = gpu_world_realtime,
                                             .wait_until = gpu_world_wait};
    snprintf(world->demo, sizeof world->demo, "%s", scenario ? scenario : "default");
    world->context.demo = world->demo;
    if (variant && strcmp(variant, "tree") == 0) {
        gpu_world_plant(world, scenario);
    } else if (variant) {
        char path[512];
        snprintf(world->nvml_path, sizeof world->nvml_path, "%s/tests/nvml/%s/libnvidia-ml.so.1",
                 gpu_world_path("VITALS_BUILD"), variant);
        world->context.nvml_path = world->nvml_path;
        if (scenario && scenario[0] == '/')
            snprintf(path, sizeof path, "%s", scenario);
        else
            snprintf(path, sizeof path, "%s/tests/nvml/scenarios/%s.conf",
                     gpu_world_path("VITALS_SOURCE"), scenario ? scenario : "");
        setenv("VITALS_NVML_SCENARIO", scenario ? path : "", 1);
    }
    world->backend = gpu_world_backend(backend);
    return world->backend->open(&world->context, &world->state, &world->scan);
}

static inline void gpu_world_scan(struct gpu_world *world)
{
    world->backend->scan(world->state, &world->scan);
}

/* `out` keeps its memory from call to call: batch_done ends it. */
static inline void gpu_world_sample_into(struct gpu_world *world, uint32_t slot,
                                         const struct metric_set *wanted, struct gpu_sample *out)
{
    out->stamp_ns = 0;
    out->state = VITALS_UNSET;
    batch_reset(&out->batch, wanted);
    world->backend->sample(world->state, slot, out);
}

static inline void gpu_world_sample(struct gpu_world *world, uint32_t slot,
                                    const struct metric_set *wanted)
{
    gpu_world_sample_into(world, slot, wanted, &world->sample);
}

static inline void gpu_world_processes(struct gpu_world *world, uint32_t slot,
                                       const struct metric_set *wanted)
{
    if (world->tree.path[0] != '\0' && !world->sweeper)
        world->sweeper = gpu_sweeper_new(&world->context);
    if (world->sweeper && (!world->swept || world->swept->stamp_ns != world->now_ns)) {
        gpu_sweep_unref(world->swept);
        world->swept = gpu_sweeper_take(world->sweeper, NULL);
    }
    memset(&world->processes, 0, offsetof(struct gpu_processes, items));
    world->backend->processes(world->state, slot, world->swept, wanted, &world->processes);
}

/* Everything of the gpu tables but what is slow; with entity != 0 that table alone. */
static inline struct metric_set gpu_world_wanted(vitals_table entity)
{
    struct metric_set set = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        vitals_table of = vitals_metric_table(m);
        bool of_gpus = of == VITALS_TABLE_GPU || vitals_table_parent(of) == VITALS_TABLE_GPU;
        if ((entity ? of == entity : of_gpus) && vitals_metric_price(m) != VITALS_PRICE_SLOW)
            metric_set_add(&set, m);
    }
    return set;
}

static inline struct metric_set gpu_world_only(vitals_metric metric)
{
    struct metric_set set = {0};
    metric_set_add(&set, metric);
    return set;
}

static inline struct value gpu_world_fact(const struct gpu_sample *sample, vitals_metric metric,
                                          const char *label)
{
    const struct batch_cell *cell = gpu_sample_fact(sample, metric, label);
    return cell ? (struct value){.as.u64 = cell->as.u64, .state = cell->state}
                : value_missing(VITALS_UNSET);
}

/* A reading of the device. UNSET: it was not asked for, or the device does not have it. */
static inline struct value gpu_world_value(const struct gpu_world *world, vitals_metric metric)
{
    return gpu_world_fact(&world->sample, metric, "");
}

/* A text of the device, "" where there is none; valid until the next call. */
static inline const char *gpu_world_text(const struct gpu_world *world, vitals_metric metric)
{
    return gpu_sample_text(&world->sample, metric, "");
}

/* A value of a child row; UNSET where there is no such row. */
static inline struct value gpu_world_child(const struct gpu_world *world, vitals_metric metric,
                                           const char *label)
{
    return gpu_world_fact(&world->sample, metric, label);
}

/* A reading of a process; UNSET where the back end gave none. */
static inline struct value gpu_world_of(const struct gpu_process *process, vitals_metric metric)
{
    return process->at[metric_number(metric)];
}

static inline const struct gpu_process *gpu_world_process(const struct gpu_world *world,
                                                          int64_t pid)
{
    for (uint32_t i = 0; i < world->processes.count; i++) {
        if (world->processes.items[i].pid == pid)
            return &world->processes.items[i];
    }
    return NULL;
}

/* ---- what the simulated library has for tests ---- */

static inline void *gpu_world_symbol(const struct gpu_world *world, const char *name)
{
    void *library = dlopen(world->nvml_path, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol)
        CHECK_FAIL("no %s in %s", name, world->nvml_path);
    dlclose(library);
    return symbol;
}

/* How often the driver was called; NULL: everything. */
static inline uint64_t gpu_world_calls(const struct gpu_world *world, const char *name)
{
    uint64_t (*calls)(const char *);
    void *symbol = gpu_world_symbol(world, "simulated_nvml_calls");
    memcpy(&calls, &symbol, sizeof calls);
    return calls(name);
}

static inline void gpu_world_set(const struct gpu_world *world, const char *section,
                                 const char *key, const char *value)
{
    int (*set)(const char *, const char *, const char *);
    void *symbol = gpu_world_symbol(world, "simulated_nvml_set");
    memcpy(&set, &symbol, sizeof set);
    CHECK_INT(set(section, key, value), 0);
}

#endif
