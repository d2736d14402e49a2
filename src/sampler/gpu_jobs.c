/* gpu_jobs.c: see gpu_jobs.h. */
#include "sampler/gpu_jobs.h"

#include "gpu/pid_namespace.h"
#include "util/memory.h"

#include <string.h>

static void gpu_world_done(struct worker_world *base)
{
    struct gpu_world *world = (struct gpu_world *)base;
    if (world->open)
        world->backend->close(world->state);
}

struct gpu_world *gpu_world_new(vitals_context *context, const struct gpu_backend *backend)
{
    struct gpu_world *world = worker_world_new(context, sizeof *world, gpu_world_done);
    if (world != NULL)
        world->backend = backend;
    return world;
}

/* ---- jobs ---- */

void *gpu_job_new(enum gpu_job_kind kind)
{
    size_t size = kind == GPU_JOB_SCAN        ? sizeof(struct gpu_scan_job)
                  : kind == GPU_JOB_DIAGNOSIS ? sizeof(struct gpu_diagnosis_job)
                                              : sizeof(struct gpu_device_job);
    struct gpu_job *job = memory_alloc(size);
    if (job != NULL)
        job->kind = kind;
    return job;
}

void gpu_job_free(void *data)
{
    const struct gpu_job *job = data;
    if (job == NULL)
        return;
    if (job->kind == GPU_JOB_DIAGNOSIS) {
        batch_done(&((struct gpu_diagnosis_job *)data)->batch);
    } else if (job->kind != GPU_JOB_SCAN) {
        struct gpu_device_job *device = data;
        gpu_sweep_unref(device->swept);
        batch_done(&device->sample.batch);
    }
    memory_free(data);
}

/* Comes behind a scan on its worker, so what could be opened is. */
static void diagnose(struct gpu_world *world, struct gpu_diagnosis_job *job)
{
    batch_reset(&job->batch, &job->wanted);
    if (world->backend->diagnose != NULL)
        world->backend->diagnose(world->base.context, world->open ? world->state : NULL,
                                 &job->batch);
}

static void scan(struct gpu_world *world, struct gpu_scan_job *job)
{
    memset(&job->scan, 0, offsetof(struct gpu_scan, devices));
    if (!world->open) {
        if (world->backend->open(world->base.context, &world->state, &job->scan) < 0)
            return;
        world->open = true;
    }
    world->backend->scan(world->state, &job->scan);
}

static void read_sample(struct gpu_world *world, struct gpu_device_job *job,
                        const struct metric_set *wanted)
{
    batch_reset(&job->sample.batch, wanted);
    world->backend->sample(world->state, job->slot, &job->sample);
}

/* A disk may hang here, so a device's readings are another job's. */
static void read_job_claim(struct gpu_world *world, struct gpu_device_job *job)
{
    const vitals_clock *clock = &world->base.context->os.clock;
    batch_reset(&job->sample.batch, &job->wanted);
    if (world->backend->only_on_demand) // no scheduler knows of devices that are made up
        batch_state(&job->sample.batch, VITALS_GPU_JOB, VITALS_UNSUPPORTED);
    else
        job_claim_read(&world->base.context->os, &job->called, &job->sample.batch);
    job->sample.state = VITALS_HAVE;
    job->sample.stamp_ns = clock->monotonic_ns(clock->data);
}

/* What the sweep tells of the device itself. */
static void read_of_sweep(struct gpu_world *world, struct gpu_device_job *job)
{
    struct metric_set wanted = job->wanted;
    bool any = false;
    metric_set_remove(&wanted, VITALS_GPU_PROCESSES);
    memset(wanted.bits[VITALS_GPU_PROCESS], 0, sizeof wanted.bits[VITALS_GPU_PROCESS]);
    for (vitals_entity e = 0; (e = vitals_entity_next(e)) != 0 && !any;)
        any = metric_set_has_entity(&wanted, e);
    if (any)
        read_sample(world, job, &wanted);
}

static bool wants_processes(const struct metric_set *wanted)
{
    return metric_set_has_entity(wanted, VITALS_GPU_PROCESS) ||
           metric_set_has(wanted, VITALS_GPU_PROCESSES);
}

static void read_processes(struct gpu_world *world, struct gpu_device_job *job)
{
    world->backend->processes(world->state, job->slot, job->swept, &job->wanted, &job->processes);
    gpu_prove(world->base.context, job->nodes, job->node_count, &job->processes);
}

static void read_device(struct gpu_world *world, struct gpu_device_job *job)
{
    job->sample.stamp_ns = 0;
    job->sample.state = VITALS_UNSET;
    memset(&job->processes, 0, offsetof(struct gpu_processes, items));
    if (job->job.kind == GPU_JOB_CLAIM)
        read_job_claim(world, job);
    else if (job->job.kind != GPU_JOB_USERS)
        read_sample(world, job, &job->wanted);
    if (job->job.kind == GPU_JOB_USERS ||
        (job->job.kind == GPU_JOB_READ && !world->backend->sweeps && wants_processes(&job->wanted)))
        read_processes(world, job);
    if (job->job.kind == GPU_JOB_USERS)
        read_of_sweep(world, job);
}

static void gpu_work(struct worker_world *base, void *data, const struct os_gate *gate)
{
    (void)gate;
    struct gpu_world *world = (struct gpu_world *)base;
    struct gpu_job *job = data;
    const vitals_clock *clock = &world->base.context->os.clock;
    uint64_t begin = clock->monotonic_ns(clock->data);
    if (job->kind == GPU_JOB_SCAN)
        scan(world, data);
    else if (job->kind == GPU_JOB_DIAGNOSIS)
        diagnose(world, data);
    else
        read_device(world, data);
    job->spent_ns = clock->monotonic_ns(clock->data) - begin;
}

const struct worker_service GPU_SERVICE = {"vitals-gpu", gpu_work, gpu_job_free};
