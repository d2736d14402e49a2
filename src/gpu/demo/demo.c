/* demo.c: the demo back end: the shortest complete implementation of gpu/backend.h. Copy it to
 * begin a back end for a vendor. One difference: a driver's calls cost time, so nvidia/sample.c
 * reads only metrics in `wanted`; here they are free, and extra values do no harm. */
#include "gpu/demo/demo.h"

#include "gpu/fill.h"
#include "model/diagnosis.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static int demo_open(const vitals_context *context, void **state, struct gpu_scan *why)
{
    const struct demo_scenario *scenario = demo_scenario_find(context->demo);
    if (!scenario)
        return gpu_backend_refuse(why, VITALS_FAILED, "no such scenario");
    struct demo *demo = memory_alloc(sizeof *demo);
    if (!demo)
        return gpu_backend_refuse(why, VITALS_FAILED, "out of memory");
    demo->context = context;
    demo->scenario = scenario;

    unsigned next = 0;
    for (uint32_t i = 0; demo->scenario->models[i]; i++) {
        const struct demo_model *model = demo->scenario->models[i];
        uint32_t index = 0; /* each vendor has its own numbers */
        for (uint32_t j = 0; j < i; j++)
            index += strcmp(demo->scenario->models[j]->vendor, model->vendor) == 0;
        uint32_t slot = add_device(demo, model, index, -1);
        if (model->partitions == 0)
            add_processes(demo, slot, &next);
        for (uint32_t p = 0; p < model->partitions; p++)
            add_processes(demo, add_device(demo, model, p, (int32_t)slot), &next);
    }

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
    out->count = 0;
    snprintf(out->message, sizeof out->message, "demo: %s", demo->scenario->help);
    for (uint32_t slot = 0; slot < demo->count; slot++) {
        if (slot != 1 || !demo_is_away(demo))
            identify(demo, slot, &out->devices[out->count++]);
    }
}

/* ---- one device ---- */

static void demo_sample(void *state, uint32_t slot, struct gpu_sample *out)
{
    const struct demo *demo = state;
    gpu_fill_begin(out, os_now_ns(&demo->context->os));
    if (slot == 1 && demo->scenario->second_hangs) {
        const vitals_clock *clock = &demo->context->os.clock;
        clock->wait_until(clock->data, -1, out->stamp_ns + 5 * NS_PER_SECOND);
    }
    signed char reason = demo_is_silent(demo, slot);
    if (reason < 0) {
        gpu_fill_lose(out, (vitals_availability)reason);
        return;
    }
    demo_read(demo, slot, out);
    gpu_fill_end(out);
}

static void set(struct gpu_process *process, vitals_metric metric, struct value value)
{
    process->at[metric_number(metric)] = value;
}

static void use(const struct demo *demo, uint32_t slot, unsigned n, struct gpu_process *out)
{
    const struct demo_device *device = &demo->devices[slot];
    const vitals_context *context = demo->context;
    const struct demo_program *program = &demo_programs[n % DEMO_PROGRAMS];
    double t = demo_seconds(demo),
           load = demo->scenario->story ? demo_load(demo, slot) : demo_curve_at(&device->load, t);
    *out = (struct gpu_process){.pid = DEMO_FIRST_PID + (int64_t)n, .is_ours = VITALS_HAVE};
    if (n < context->player_count && context->players[n].pid != 0)
        out->pid = context->players[n].pid;
    if (demo->scenario->self && n == 0)
        out->pid = getpid();
    if (n < context->player_count && context->players[n].pid == out->pid)
        out->start_ticks = context->players[n].start_ticks;
    out->uses = (program->compute ? (unsigned)GPU_COMPUTE : 0u) |
                (program->graphics ? (unsigned)GPU_GRAPHICS : 0u);
    set(out, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, value_u64(demo_process_bytes(device, n)));
    if (device->parent_slot >= 0)
        return; /* the driver does not report the utilization of a partition */
    set(out, VITALS_GPU_PROCESS_UTILIZATION_RATIO, value_f64(load * program->share));
    set(out, VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO, value_f64(load * program->share * 0.45));
    set(out, VITALS_GPU_PROCESS_ENCODER_RATIO, value_f64(0));
    set(out, VITALS_GPU_PROCESS_DECODER_RATIO, value_f64(0));
    set(out, VITALS_GPU_PROCESS_BUSY_SECONDS,
        value_f64(demo_curve_integral(&device->load, t) * program->share));
}

static void demo_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                           const struct metric_set *wanted, struct gpu_processes *out)
{
    const struct demo *demo = state;
    const struct demo_device *device = &demo->devices[slot];
    (void)swept;
    (void)wanted;
    out->stamp_ns = os_now_ns(&demo->context->os);
    signed char reason = demo_is_silent(demo, slot);
    out->state = reason < 0 ? reason : VITALS_HAVE;
    for (unsigned i = 0; i < demo_process_count_now(demo, slot) && out->state > 0; i++)
        use(demo, slot, device->first_process + i, &out->items[out->count++]);
}

static void demo_diagnose(const vitals_context *context, void *state, struct row_batch *out)
{
    const struct demo *demo = state;
    char text[GPU_MESSAGE];
    (void)snprintf(text, sizeof text, "scenario %s, seed %llu: %u devices that are not there",
                   context->demo, (unsigned long long)context->seed, demo ? demo->count : 0);
    diagnosis_add(out, DIAGNOSIS_NOTICE, "demo", text, "");
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
