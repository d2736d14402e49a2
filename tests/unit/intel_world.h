/* What the tests of src/gpu/intel share: a machine out of tests/fixtures/gpu/intel/, a clock that
 * is moved by hand, and perf counters that a test winds on. Everything is static. */
#ifndef TESTS_UNIT_INTEL_WORLD_H
#define TESTS_UNIT_INTEL_WORLD_H

#include "check.h"
#include "gpu_sample.h"
#include "gpu_tree.h"

#include "gpu/intel/state.h"
#include "gpu/sweep.h"
#include "os/world.h"
#include "util/memory.h"

/* A perf event that was opened. */
struct intel_counter {
    uint32_t type;
    unsigned cpu;
    uint64_t config, value;
    bool open;
};

/* What the simulated kernel counts. The tests' only one. */
static struct {
    int refusal;          /* of every event; 0: none */
    uint64_t configs[64]; /* of the engines that there are */
    size_t config_count;  /* 0: all of them */
    struct intel_counter counters[256];
    size_t count, adds, reads;
    bool gone;
} intel_kernel;

static inline int intel_kernel_add(const struct os *os, struct os_perf *perf, uint32_t type,
                                   unsigned cpu, const struct os_perf_event *event)
{
    (void)os;
    intel_kernel.adds++;
    if (intel_kernel.refusal < 0)
        return intel_kernel.refusal;
    bool known = intel_kernel.config_count == 0;
    for (size_t i = 0; i < intel_kernel.config_count; i++)
        known |= intel_kernel.configs[i] == event->config[0];
    if (!known)
        return -ENOENT;
    if (perf->count == OS_PERF_EVENTS || intel_kernel.count == CHECK_COUNT(intel_kernel.counters))
        return -E2BIG;
    intel_kernel.counters[intel_kernel.count] = (struct intel_counter){
        .type = type, .cpu = cpu, .config = event->config[0], .open = true};
    perf->descriptors[perf->count++] = (int)intel_kernel.count++;
    return 0;
}

static inline int intel_kernel_read(const struct os_perf *perf, uint64_t *values)
{
    intel_kernel.reads++;
    if (intel_kernel.gone)
        return -ENODEV;
    for (uint32_t i = 0; i < perf->count; i++)
        values[i] = intel_kernel.counters[perf->descriptors[i]].value;
    return 0;
}

static inline void intel_kernel_close(struct os_perf *perf)
{
    while (perf->count > 0)
        intel_kernel.counters[perf->descriptors[--perf->count]].open = false;
}

static inline size_t intel_kernel_open(void)
{
    size_t open = 0;
    for (size_t i = 0; i < intel_kernel.count; i++)
        open += intel_kernel.counters[i].open;
    return open;
}

/* Winds the open counters of that configuration on. */
static inline void intel_kernel_wind(uint64_t config, uint64_t by)
{
    bool found = false;
    for (size_t i = 0; i < intel_kernel.count; i++) {
        if (intel_kernel.counters[i].config == config && intel_kernel.counters[i].open) {
            intel_kernel.counters[i].value += by;
            found = true;
        }
    }
    if (!found)
        CHECK_FAIL("nobody counts %llx", (unsigned long long)config);
}

static const struct intel_counting INTEL_KERNEL = {intel_kernel_add, intel_kernel_read,
                                                   intel_kernel_close};

struct intel_world {
    struct gpu_tree tree;
    uint64_t now_ns;
    vitals_context context;
    void *state;
    struct gpu_scan scan;
    struct gpu_sample sample;
    struct gpu_processes processes;
};

static uint64_t intel_world_now(void *data)
{
    return ((struct intel_world *)data)->now_ns;
}

/* Opens the back end over the fixture; what open says is the result. The kernel refuses to count.
 */
static inline int intel_world_open(struct intel_world *world, const char *fixture)
{
    char name[64];
    memset(world, 0, sizeof *world);
    memset(&intel_kernel, 0, sizeof intel_kernel);
    intel_kernel.refusal = -EACCES;
    snprintf(name, sizeof name, "intel/%s", fixture);
    world->tree = fixture[0] != '\0' ? gpu_tree_new(name) : gpu_tree_empty();
    gpu_tree_open(&world->tree, &world->context.os);
    world->now_ns = 1000 * NS_PER_SECOND;
    world->context.os.clock = (vitals_clock){.data = world,
                                             .monotonic_ns = intel_world_now,
                                             .boottime_ns = intel_world_now,
                                             .realtime_ns = intel_world_now};
    int result = gpu_backend_intel.open(&world->context, &world->state, &world->scan);
    if (result == 0)
        intel_count_with(world->state, &INTEL_KERNEL);
    return result;
}

static inline void intel_world_scan(struct intel_world *world)
{
    gpu_backend_intel.scan(world->state, &world->scan);
}

/* Opened and scanned. */
static inline void intel_world_begin(struct intel_world *world, const char *fixture)
{
    CHECK_INT(intel_world_open(world, fixture), 0);
    intel_world_scan(world);
}

static inline void intel_world_end(struct intel_world *world)
{
    if (world->state != NULL)
        gpu_backend_intel.close(world->state);
    batch_done(&world->sample.batch);
    gpu_tree_close(&world->context.os);
    gpu_tree_free(&world->tree);
}

static inline struct metric_set intel_world_all(void)
{
    struct metric_set set = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        vitals_table of = vitals_metric_table(m);
        if (of == VITALS_TABLE_GPU || of == VITALS_TABLE_GPU_ENGINE ||
            of == VITALS_TABLE_GPU_SENSOR || of == VITALS_TABLE_GPU_CLOCK ||
            of == VITALS_TABLE_GPU_POOL)
            metric_set_add(&set, m);
    }
    return set;
}

static inline void intel_world_read(struct intel_world *world, uint32_t device,
                                    const struct metric_set *wanted)
{
    world->sample.state = VITALS_UNSET;
    batch_reset(&world->sample.batch, wanted);
    gpu_backend_intel.sample(world->state, world->scan.devices[device].slot, &world->sample);
    CHECK(world->sample.state != VITALS_UNSET);
    CHECK_FALSE(world->sample.batch.failed);
}

/* Everything, `seconds` after the last reading. */
static inline void intel_world_sample(struct intel_world *world, uint32_t device, double seconds)
{
    struct metric_set all = intel_world_all();
    world->now_ns += (uint64_t)(seconds * 1e9);
    intel_world_read(world, device, &all);
}

static inline const struct batch_row *intel_world_row(const struct intel_world *world,
                                                      vitals_table entity, const char *label)
{
    return gpu_sample_row(&world->sample, entity, label);
}

static inline size_t intel_world_rows(const struct intel_world *world, vitals_table entity)
{
    return gpu_sample_rows(&world->sample, entity);
}

static inline const struct batch_cell *intel_world_fact(const struct intel_world *world,
                                                        vitals_metric metric, const char *label)
{
    return gpu_sample_fact(&world->sample, metric, label);
}

/* UNSUPPORTED where nothing was said: what a snapshot makes of it. */
static inline vitals_availability intel_world_state(const struct intel_world *world,
                                                    vitals_metric metric, const char *label)
{
    const struct batch_cell *cell = intel_world_fact(world, metric, label);
    return cell != NULL ? (vitals_availability)cell->state : VITALS_UNSUPPORTED;
}

static inline double intel_world_number(const struct intel_world *world, vitals_metric metric,
                                        const char *label)
{
    return gpu_sample_number(&world->sample, metric, label);
}

#define CHECK_VALUE(world, metric, label, state, number)                                   \
    do {                                                                                   \
        CHECK_STR(vitals_availability_name(intel_world_state((world), (metric), (label))), \
                  vitals_availability_name(state));                                        \
        CHECK_NEAR(intel_world_number((world), (metric), (label)), (number),               \
                   1e-6 + 1e-9 * (number));                                                \
    } while (0)

#define CHECK_MISSING(world, metric, label, state)                                     \
    CHECK_STR(vitals_availability_name(intel_world_state((world), (metric), (label))), \
              vitals_availability_name(state))

#define CHECK_WORDS(world, metric, expected)                                      \
    do {                                                                          \
        const struct batch_cell *fact_ = intel_world_fact((world), (metric), ""); \
        CHECK_NOT_NULL(fact_);                                                    \
        CHECK_STR(vitals_availability_name(fact_->state), "have");                \
        struct span text_ = batch_span(&(world)->sample.batch, fact_);            \
        CHECK_BYTES(text_.bytes, text_.size, (expected), strlen(expected));       \
    } while (0)

#endif
