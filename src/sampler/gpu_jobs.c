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

static void read_sample(struct gpu_world *world, struct gpu_device_job *job,
                        const struct metric_set *wanted)
{
    batch_reset(&job->sample.batch, wanted);
    world->backend->sample(world->state, job->slot, &job->sample);
}

static void read_device(struct gpu_world *world, struct gpu_device_job *job)
{
    enum gpu_job_kind kind = job->job.kind;
    const struct gpu_backend *backend = world->backend;
    const struct os *os = &world->base.context->os;
    struct gpu_sample *sample = &job->sample;
    sample->stamp_ns = 0;
    sample->state = VITALS_UNSET;
    memset(&job->processes, 0, offsetof(struct gpu_processes, items));
    if (kind == GPU_JOB_CLAIM) {
        /* A disk may hang here, so a device's readings are another job's. */
        batch_reset(&sample->batch, &job->wanted);
        if (backend->only_on_demand) // no scheduler knows of devices that are made up
            batch_state(&sample->batch, VITALS_GPU_JOB, VITALS_UNSUPPORTED);
        else
            job_claim_read(os, &job->called, &sample->batch);
        sample->state = VITALS_HAVE;
        sample->stamp_ns = os->clock.monotonic_ns(os->clock.data);
        return;
    }
    if (kind != GPU_JOB_USERS)
        read_sample(world, job, &job->wanted);
    bool processes = metric_set_has_entity(&job->wanted, VITALS_GPU_PROCESS) ||
                     metric_set_has(&job->wanted, VITALS_GPU_PROCESSES);
    if (kind == GPU_JOB_USERS || (kind == GPU_JOB_READ && !backend->sweeps && processes)) {
        backend->processes(world->state, job->slot, job->swept, &job->wanted, &job->processes);
        gpu_prove(world->base.context, job->nodes, job->node_count, &job->processes);
    }
    if (kind != GPU_JOB_USERS)
        return;

    /* What the sweep tells of the device itself. */
    struct metric_set wanted = job->wanted;
    bool any = false;
    metric_set_remove(&wanted, VITALS_GPU_PROCESSES);
    memset(wanted.bits[VITALS_GPU_PROCESS], 0, sizeof wanted.bits[VITALS_GPU_PROCESS]);
    for (vitals_entity e = 0; (e = vitals_entity_next(e)) != 0 && !any;)
        any = metric_set_has_entity(&wanted, e);
    if (any)
        read_sample(world, job, &wanted);
}

static void gpu_work(struct worker_world *base, void *data, const struct os_gate *gate)
{
    (void)gate;
    struct gpu_world *world = (struct gpu_world *)base;
    const struct gpu_backend *backend = world->backend;
    struct gpu_job *job = data;
    if (job->kind == GPU_JOB_SCAN) {
        struct gpu_scan *scan = &((struct gpu_scan_job *)data)->scan;
        memset(scan, 0, offsetof(struct gpu_scan, devices));
        if (!world->open)
            world->open = backend->open(base->context, &world->state, scan) >= 0;
        if (world->open)
            backend->scan(world->state, scan);
    } else if (job->kind == GPU_JOB_DIAGNOSIS) {
        /* Comes behind a scan on its worker, so what could be opened is. */
        struct gpu_diagnosis_job *diagnosis = data;
        batch_reset(&diagnosis->batch, &diagnosis->wanted);
        if (backend->diagnose != NULL)
            backend->diagnose(base->context, world->open ? world->state : NULL, &diagnosis->batch);
    } else {
        read_device(world, data);
    }
}

const struct worker_service GPU_SERVICE = {"vitals-gpu", gpu_work, gpu_job_free};
