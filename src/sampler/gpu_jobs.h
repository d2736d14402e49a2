/* gpu_jobs.h: what the workers of one back end do. gpu_source.c is their owner.
 *
 * Five kinds of job: one opens the back end and lists its devices, one lets it say what is wrong
 * with it; of each device one reads it (and
 * its processes, where the driver lists them), one reads what is slow by its nature, and one makes
 * its processes of a sweep of /proc, where the back end learns of them so, and what of the device
 * itself is made of them. */
#ifndef VITALS_SAMPLER_GPU_JOBS_H
#define VITALS_SAMPLER_GPU_JOBS_H

#include "gpu/backend.h"
#include "sampler/worker.h"
#include "workload/gpu_job_claim.h"

/* What the workers of one back end share; the last one to go closes the back end. */
struct gpu_world {
    struct worker_world base;
    const struct gpu_backend *backend;
    void *state;      /* set by the worker with the scan job, then constant */
    atomic_bool open; /* set by the same; a diagnosis may be on another worker than the scans */
};

/* NULL: no memory. */
struct gpu_world *gpu_world_new(vitals_context *context, const struct gpu_backend *backend);

enum gpu_job_kind {
    GPU_JOB_SCAN,
    GPU_JOB_DIAGNOSIS,
    GPU_JOB_READ,
    GPU_JOB_SLOW,
    GPU_JOB_USERS,
    GPU_JOB_CLAIM /* files of a scheduler's, of which no driver knows */
};

/* Begins every job's data. */
struct gpu_job {
    enum gpu_job_kind kind;
};

struct gpu_scan_job {
    struct gpu_job job;
    struct gpu_scan scan; /* answer */
};

struct gpu_diagnosis_job {
    struct gpu_job job;
    struct metric_set wanted; /* question */
    struct row_batch batch;   /* answer */
};

struct gpu_device_job {
    struct gpu_job job;
    uint32_t slot; /* question; likewise: */
    uint32_t node_count;
    struct gpu_node nodes[GPU_NODES_MAX];
    struct job_claim_device called; /* as a scheduler's file may call it */
    struct metric_set wanted;
    struct gpu_sweep *swept;        /* GPU_JOB_USERS; counted, may be NULL; kept until the next */
    struct gpu_sample sample;       /* answer; state UNSET: not asked for */
    struct gpu_processes processes; /* answer, likewise; its items are touched only as far as they
                                     * are used */
};

/* A job's data, or NULL. */
void *gpu_job_new(enum gpu_job_kind kind);
void gpu_job_free(void *data);

extern const struct worker_service GPU_SERVICE;

#endif
