/* demo.c: the demo back end: the shortest whole implementation of gpu/backend.h.
 *
 * Whoever writes one for a vendor may begin with a copy. One thing is different there: a driver's
 * answers cost something, so that nvidia/sample.c asks only for what is in `wanted`; here all of
 * it is free, and more than is wanted does no harm. */
#include "gpu/demo/demo.h"
#include "gpu/demo/curve.h"

#include "core/memory.h"
#include "gpu/fill.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <vitals/error.h>

enum { SLOTS = 24, PIDS = 64 };
#define STEP_NS \
    (100 * NS_PER_MS) /* values move in steps of this, so that screens can be compared */

/* A device or a partition. */
struct demo_device {
    const struct demo_model *model;
    uint32_t index;
    int32_t parent_slot;
    unsigned first_process, process_count; /* in the scenario's counting */
    struct demo_curve load;
};

struct demo {
    const vitals_context *context;
    const struct demo_scenario *scenario;
    int64_t pids[PIDS]; /* who the demo's processes are; 0: nobody who lives */
    uint32_t count;
    struct demo_device devices[SLOTS];
};

/* ---- time ---- */

static double now_seconds(const struct demo *demo)
{
    const vitals_clock *clock = &demo->context->os.clock;
    return (double)(clock->boottime_ns(clock->data) / STEP_NS) / (double)(NS_PER_SECOND / STEP_NS);
}

static uint64_t stamp_ns(const struct demo *demo)
{
    const vitals_clock *clock = &demo->context->os.clock;
    return clock->monotonic_ns(clock->data);
}

/* ---- open and scan ---- */

static uint32_t add_device(struct demo *demo, const struct demo_model *model, uint32_t index,
                           int32_t parent_slot)
{
    uint32_t slot = demo->count++;
    struct demo_device *device = &demo->devices[slot];
    *device = (struct demo_device){.model = model, .index = index, .parent_slot = parent_slot};
    if (!demo->scenario->idle)
        demo_curve_init(&device->load, demo->context->seed ^ slot, model->calm, model->strain);
    return slot;
}

static void add_processes(struct demo *demo, uint32_t slot, unsigned *next)
{
    struct demo_device *device = &demo->devices[slot];
    if (demo->scenario->idle || demo->scenario->bare)
        return;
    device->first_process = *next;
    device->process_count = device->model->processes;
    *next += device->process_count;
}

static void add_devices(struct demo *demo)
{
    unsigned next = 0;
    for (uint32_t i = 0; demo->scenario->models[i]; i++) {
        const struct demo_model *model = demo->scenario->models[i];
        uint32_t index = 0; /* each vendor counts its own */
        for (uint32_t j = 0; j < i; j++)
            index += strcmp(demo->scenario->models[j]->vendor, model->vendor) == 0;
        uint32_t slot = add_device(demo, model, index, -1);
        if (model->partitions == 0)
            add_processes(demo, slot, &next);
        for (uint32_t p = 0; p < model->partitions; p++)
            add_processes(demo, add_device(demo, model, p, (int32_t)slot), &next);
    }
}

/* When a program began, in clock ticks; 0 for a kernel thread and for one that cannot be read. */
static uint64_t start_of(const struct demo *demo, int64_t pid)
{
    char text[OS_STAT_TEXT];
    struct os_process process;
    struct os_stat stat = {0};
    if (os_process_open(&demo->context->os, pid, false, &process) < 0)
        return 0;
    int result = os_process_stat(&process, text, &stat);
    os_process_close(&process);
    return result == 0 && stat.virtual_bytes > 0 ? stat.start_ticks : 0;
}

/* Keeps the newest, the newest first. */
static void consider(struct demo *demo, uint64_t starts[static PIDS], int64_t pid)
{
    uint64_t start = start_of(demo, pid);
    size_t place = PIDS;
    while (place > 0 && start >= starts[place - 1] && start > 0)
        place--;
    if (place == PIDS)
        return;
    memmove(starts + place + 1, starts + place, (PIDS - 1 - place) * sizeof *starts);
    memmove(demo->pids + place + 1, demo->pids + place, (PIDS - 1 - place) * sizeof *demo->pids);
    starts[place] = start;
    demo->pids[place] = pid;
}

/* The devices are made up, their users are not: the newest programs of the machine, chosen once, so
 * that a person sees rows like those of a real device. In a /proc without any nobody lives. */
static void choose_processes(struct demo *demo)
{
    uint64_t starts[PIDS] = {0};
    struct os_pids pids = {0};
    size_t count = os_list_processes(&demo->context->os, &pids) == 0 ? pids.count : 0;
    for (size_t i = 0; i < count; i++)
        consider(demo, starts, pids.items[i]);
    os_pids_done(&pids);
}

static int64_t pid_of(const struct demo *demo, unsigned n)
{
    if (demo->scenario->self && n == 0)
        return getpid();
    bool lives = n < PIDS && demo->pids[n] != 0 && !demo->scenario->strangers;
    return lives ? demo->pids[n] : DEMO_FIRST_PID + (int64_t)n;
}

static int demo_open(const vitals_context *context, void **state, struct gpu_scan *why)
{
    const struct demo_scenario *scenario = demo_scenario_find(context->demo);
    if (!scenario) {
        int used = snprintf(why->message, sizeof why->message, "no such demo; there are");
        for (scenario = demo_scenarios; scenario->name; scenario++)
            used += snprintf(why->message + used, sizeof why->message - (size_t)used, " %s",
                             scenario->name);
        why->state = VITALS_FAILED;
        return VITALS_EARGUMENT;
    }
    struct demo *demo = memory_alloc(sizeof *demo);
    if (!demo) {
        why->state = VITALS_FAILED;
        snprintf(why->message, sizeof why->message, "out of memory");
        return VITALS_EMEMORY;
    }
    demo->context = context;
    demo->scenario = scenario;
    add_devices(demo);
    choose_processes(demo);
    *state = demo;
    return 0;
}

static void identify(const struct demo *demo, uint32_t slot, struct gpu_identity *out)
{
    const struct demo_device *device = &demo->devices[slot];
    const struct demo_model *model = device->model;
    bool parted = device->parent_slot >= 0;
    *out = (struct gpu_identity){
        .slot = slot,
        .index = device->index,
        .parent_slot = device->parent_slot,
        .name_state = VITALS_HAVE,
        .pci_state = VITALS_HAVE,
        .driver_state = VITALS_HAVE,
        .cuda_state = model->cuda ? VITALS_HAVE : VITALS_UNSUPPORTED,
        .gpu_instance_id = parted ? value_u64(device->index + 1)
                                  : value_missing(VITALS_UNSUPPORTED),
        .compute_instance_id = parted ? value_u64(0) : value_missing(VITALS_UNSUPPORTED),
    };
    uint32_t board = parted ? (uint32_t)device->parent_slot : slot;
    snprintf(out->uuid, sizeof out->uuid, "%s-demo-%04u", parted ? "MIG" : "GPU", slot);
    snprintf(out->name, sizeof out->name, "%s", parted ? model->profile : model->name);
    snprintf(out->vendor, sizeof out->vendor, "%s", model->vendor);
    snprintf(out->pci_bus_id, sizeof out->pci_bus_id, "00000000:%02X:00.0", 0x17 + 9 * board);
    snprintf(out->driver_version, sizeof out->driver_version, "%s", model->driver);
    snprintf(out->cuda_version, sizeof out->cuda_version, "%s", model->cuda ? model->cuda : "");
}

static void demo_scan(void *state, struct gpu_scan *out)
{
    const struct demo *demo = state;
    out->state = VITALS_HAVE;
    out->count = demo->count;
    snprintf(out->message, sizeof out->message, "demo: %s", demo->scenario->help);
    for (uint32_t slot = 0; slot < demo->count; slot++)
        identify(demo, slot, &out->devices[slot]);
}

/* ---- one device ---- */

static uint64_t memory_of(const struct demo_device *device)
{
    uint64_t whole = device->model->memory_bytes;
    return device->parent_slot < 0 ? whole : whole / device->model->partitions;
}

static uint64_t memory_of_process(const struct demo_device *device, unsigned n)
{
    return (uint64_t)((double)memory_of(device) * demo_programs[n % DEMO_PROGRAMS].memory_share);
}

static uint64_t memory_used(const struct demo *demo, uint32_t slot)
{
    const struct demo_device *device = &demo->devices[slot];
    uint64_t used = UINT64_C(37) << 20;
    for (unsigned i = 0; i < device->process_count; i++)
        used += memory_of_process(device, device->first_process + i);
    for (uint32_t part = slot + 1; part < demo->count; part++) {
        if (demo->devices[part].parent_slot == (int32_t)slot)
            used += memory_used(demo, part);
    }
    return used;
}

static void set_child(struct gpu_sample *out, vitals_metric metric, const char *label,
                      struct value value)
{
    struct gpu_child *child = gpu_fill_child(out, vitals_metric_entity(metric), label);
    if (child)
        child->at[metric_number(metric)] = value;
}

static void sample_memory(const struct demo *demo, uint32_t slot, struct gpu_sample *out)
{
    uint64_t total = memory_of(&demo->devices[slot]), used = memory_used(demo, slot);
    uint64_t reserved = total / 128;
    values_set(&out->values, VITALS_GPU_MEMORY_TOTAL_BYTES, value_u64(total));
    values_set(&out->values, VITALS_GPU_MEMORY_USED_BYTES, value_u64(used));
    values_set(&out->values, VITALS_GPU_MEMORY_RESERVED_BYTES, value_u64(reserved));
    values_set(&out->values, VITALS_GPU_MEMORY_FREE_BYTES, value_u64(total - used - reserved));
    set_child(out, VITALS_GPU_POOL_TOTAL_BYTES, "bar1", value_u64(2 * total));
    set_child(out, VITALS_GPU_POOL_USED_BYTES, "bar1", value_u64(reserved / 32));
}

/* Of a partitioned device the driver does not know how busy it is; it knows what it draws. */
static void sample_load(const struct demo *demo, const struct demo_device *device,
                        struct gpu_sample *out)
{
    const struct demo_model *model = device->model;
    struct values *v = &out->values;
    double t = now_seconds(demo), load = demo_curve_at(&device->load, t);
    double busy = demo_curve_integral(&device->load, t);
    double span = (model->limit_watts - model->idle_watts) * 0.9;
    if (model->partitions == 0) {
        values_set(v, VITALS_GPU_UTILIZATION_RATIO, value_f64(load));
        values_set(v, VITALS_GPU_MEMORY_BUSY_RATIO, value_f64(load * 0.45));
        values_set(v, VITALS_GPU_BUSY_SECONDS, value_f64(busy));
        set_child(out, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "encoder", value_f64(load * 0.08));
        set_child(out, VITALS_GPU_ENGINE_UTILIZATION_RATIO, "decoder", value_f64(load * 0.12));
    }
    values_set(v, VITALS_GPU_POWER_WATTS, value_f64(model->idle_watts + span * load));
    values_set(v, VITALS_GPU_POWER_LIMIT_WATTS, value_f64(model->limit_watts));
    values_set(v, VITALS_GPU_ENERGY_JOULES, value_f64(model->idle_watts * t + span * busy));
    values_set(v, VITALS_GPU_TEMPERATURE_CELSIUS, value_f64((double)(int)(33 + 44 * load)));
    values_set(v, VITALS_GPU_ECC_ERRORS_UNCORRECTED, value_u64(0));
    set_child(out, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, "memory",
              value_f64((double)(int)(40 + 40 * load)));
    set_child(out, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, "sm", value_f64(345e6 + 1635e6 * load));
    set_child(out, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, "sm", value_f64(1980e6));
}

/* What only one vendor's devices have. */
static void sample_modes(const struct demo_model *model, struct gpu_sample *out)
{
    values_set(&out->values, VITALS_GPU_PERFORMANCE_STATE, value_u64(0));
    values_set(&out->values, VITALS_GPU_PERSISTENCE_MODE, value_u64(1));
    values_set(&out->values, VITALS_GPU_DISPLAY_ACTIVE, value_u64(0));
    values_set(&out->values, VITALS_GPU_MIG_MODE, value_u64(model->partitions > 0));
    snprintf(out->compute_mode, sizeof out->compute_mode, "default");
    out->compute_mode_state = VITALS_HAVE;
}

static void demo_sample(void *state, uint32_t slot, const struct metric_set *wanted,
                        struct gpu_sample *out)
{
    const struct demo *demo = state;
    const struct demo_device *device = &demo->devices[slot];
    memset(out, 0, sizeof *out);
    out->stamp_ns = stamp_ns(demo);
    if (slot == 1 && demo->scenario->second_hangs) {
        const vitals_clock *clock = &demo->context->os.clock;
        clock->wait_until(clock->data, -1, out->stamp_ns + 5 * NS_PER_SECOND);
    }
    if (slot == 0 && demo->scenario->first_is_lost) {
        out->state = VITALS_GONE;
        return;
    }
    out->state = VITALS_HAVE;
    if (!demo->scenario->bare)
        sample_memory(demo, slot, out);
    if (!demo->scenario->bare && device->parent_slot < 0) {
        sample_load(demo, device, out);
        if (device->model->cuda)
            sample_modes(device->model, out);
    }
    gpu_fill_rest(out, wanted, VITALS_UNSUPPORTED);
}

static void demo_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                           const struct metric_set *wanted, struct gpu_processes *out)
{
    const struct demo *demo = state;
    const struct demo_device *device = &demo->devices[slot];
    (void)swept;
    (void)wanted;
    *out = (struct gpu_processes){.stamp_ns = stamp_ns(demo), .state = VITALS_HAVE};
    if (slot == 0 && demo->scenario->first_is_lost)
        out->state = VITALS_GONE;
    double t = now_seconds(demo), load = demo_curve_at(&device->load, t);
    bool parted = device->parent_slot >= 0;
    for (unsigned i = 0; i < device->process_count && out->state > 0; i++) {
        unsigned n = device->first_process + i;
        const struct demo_program *program = &demo_programs[n % DEMO_PROGRAMS];
        struct value none = value_missing(VITALS_UNSUPPORTED);
        double busy = demo_curve_integral(&device->load, t) * program->share;
        out->items[out->count++] = (struct gpu_process){
            .pid = pid_of(demo, n),
            .compute = program->compute,
            .graphics = program->graphics,
            .memory_used_bytes = value_u64(memory_of_process(device, n)),
            .utilization_ratio = parted ? none : value_f64(load * program->share),
            .memory_busy_ratio = parted ? none : value_f64(load * program->share * 0.45),
            .encoder_ratio = parted ? none : value_f64(0),
            .decoder_ratio = parted ? none : value_f64(0),
            .busy_seconds = parted ? none : value_f64(busy),
        };
    }
}

static void demo_diagnose(void *state, char *out, size_t capacity)
{
    const struct demo *demo = state;
    snprintf(out, capacity, "demo: scenario %s, seed %llu, %u devices and partitions",
             demo->scenario->name, (unsigned long long)demo->context->seed, demo->count);
}

const struct gpu_backend gpu_backend_demo = {
    .name = "demo",
    .only_on_demand = true,
    .open = demo_open,
    .scan = demo_scan,
    .sample = demo_sample,
    .processes = demo_processes,
    .diagnose = demo_diagnose,
    .close = memory_free,
};
