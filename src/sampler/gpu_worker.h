/* gpu_worker.h: what the workers of a vendor's devices do: all that enters its driver. */
#pragma once

#include "gpu/backend.h"
#include "sampler/worker.h"
#include "workload/gpu_job_claim.h"

/* The state that the workers share; the last one to end closes the back end. */
struct gpu_world {
    struct worker_world base;
    const struct gpu_backend *backend;
    void *state;      /* set by the worker with the scan job, then constant */
    atomic_bool open; /* set by the same; a diagnosis may be on another worker than the scans */
};

/* Called by the last worker that ends. */
void gpu_world_done(struct worker_world *base);

enum gpu_job_kind {
    GPU_JOB_SCAN,      /* opens the back end and lists its devices */
    GPU_JOB_DIAGNOSIS, /* what is wrong with the back end */
    GPU_JOB_READ,      /* of a device; and its processes, if the driver lists them */
    GPU_JOB_LATER,     /* of a device whose readings are divided: those that do not come first */
    GPU_JOB_SLOW,      /* of a device: what the driver needs time for */
    GPU_JOB_USERS,     /* of a device: processes, and values of its own, from a sweep of /proc */
    GPU_JOB_CLAIM      /* of a device: files of a scheduler, of which no driver knows */
};

struct gpu_target {
    uint32_t slot, node_count;
    struct gpu_node nodes[GPU_NODES_MAX];
    struct job_claim_device called; /* as a scheduler's file may call it */
};

struct gpu_job {
    enum gpu_job_kind kind;
    struct metric_set wanted; /* question */
    union {
        struct gpu_scan scan; /* answer of GPU_JOB_SCAN */
        struct {
            struct gpu_target target; /* question */
            struct gpu_sweep *swept;  /* GPU_JOB_USERS; counted, may be NULL; kept until the next */
            struct gpu_sample sample; /* answer; state UNSET: not asked for */
            struct gpu_processes processes; /* answer, likewise; its items are touched only as far
                                             * as they are used */
        };
    };
};

extern const struct worker_service GPU_SERVICE;

void gpu_job_free(void *job);

/* Gives a worker a job. Returns its number, or -1 if there is no memory or no room. */
int gpu_job_add(struct worker *worker, enum gpu_job_kind kind);
