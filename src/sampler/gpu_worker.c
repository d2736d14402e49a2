/* gpu_worker.c: what the workers of a vendor's devices do. */
#include "sampler/gpu_worker.h"

#include "gpu/pid_namespace.h"
#include "gpu/table.h"
#include "util/memory.h"

#include <string.h>

void gpu_world_done(struct worker_world *base)
{
    struct gpu_world *world = (struct gpu_world *)base;
    if (world->open)
        world->backend->close(world->state);
}

void gpu_job_free(void *data)
{
    struct gpu_job *job = data;
    if (job != NULL && job->kind != GPU_JOB_SCAN) {
        gpu_sweep_unref(job->swept);
        batch_done(&job->sample.batch);
    }
    memory_free(job);
}

static void read_sample(struct gpu_world *world, struct gpu_job *job,
                        const struct metric_set *wanted)
{
    batch_reset(&job->sample.batch, wanted);
    world->backend->sample(world->state, job->target.slot, &job->sample);
}

static void read_device(struct gpu_world *world, struct gpu_job *job)
{
    enum gpu_job_kind kind = job->kind;
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
            batch_state(&sample->batch, VITALS_TABLE_GPU_JOB, VITALS_UNSUPPORTED);
        else
            job_claim_read(os, &job->target.called, &sample->batch);
        sample->state = VITALS_HAVE;
        sample->stamp_ns = os_now_ns(os);
        return;
    }
    if (kind != GPU_JOB_USERS)
        read_sample(world, job, &job->wanted);
    bool processes = metric_set_has_entity(&job->wanted, VITALS_TABLE_GPU_PROCESS) ||
                     metric_set_has(&job->wanted, VITALS_GPU_PROCESSES);
    if (kind == GPU_JOB_USERS || (kind == GPU_JOB_READ && !backend->sweeps && processes)) {
        backend->processes(world->state, job->target.slot, job->swept, &job->wanted,
                           &job->processes);
        gpu_prove(world->base.context, job->target.nodes, job->target.node_count, &job->processes);
    }
    if (kind != GPU_JOB_USERS)
        return;

    /* Values of the device itself that come from the sweep. */
    struct metric_set wanted = job->wanted;
    metric_set_remove(&wanted, VITALS_GPU_PROCESSES);
    memset(wanted.bits[VITALS_TABLE_GPU_PROCESS], 0, sizeof wanted.bits[VITALS_TABLE_GPU_PROCESS]);
    if (!metric_set_is_empty(&wanted))
        read_sample(world, job, &wanted);
}

static void gpu_work(struct worker_world *base, void *data, const struct os_gate *gate UNUSED)
{
    struct gpu_world *world = (struct gpu_world *)base;
    const struct gpu_backend *backend = world->backend;
    struct gpu_job *job = data;
    if (job->kind == GPU_JOB_SCAN) {
        struct gpu_scan *scan = &job->scan;
        memset(scan, 0, offsetof(struct gpu_scan, devices));
        if (!world->open)
            world->open = backend->open(base->context, &world->state, scan) >= 0;
        if (world->open)
            backend->scan(world->state, scan);
    } else if (job->kind == GPU_JOB_DIAGNOSIS) {
        /* Comes behind a scan on its worker, so what could be opened is. */
        struct row_batch *batch = &job->sample.batch;
        batch_reset(batch, &job->wanted);
        if (backend->diagnose != NULL)
            backend->diagnose(base->context, world->open ? world->state : NULL, batch);
    } else {
        read_device(world, data);
    }
}

/* One worker may have all devices of a back end, its scan and its diagnosis. */
_Static_assert(WORKER_JOBS_MAX >= 3 * GPU_DEVICES_MAX + 2, "READ, LATER and USERS of each device");

const struct worker_service GPU_SERVICE = {"vitals-gpu", gpu_work, gpu_job_free};

int gpu_job_add(struct worker *worker, enum gpu_job_kind kind)
{
    struct gpu_job *data = memory_alloc(sizeof *data);
    if (data == NULL)
        return -1;
    data->kind = kind;
    int job = worker_add(worker, data);
    if (job < 0)
        memory_free(data);
    return job;
}
