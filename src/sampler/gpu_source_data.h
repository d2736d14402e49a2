/* gpu_source_data.h: what gpu_source.c, gpu_results.c and gpu_hangs.c share. */
#ifndef VITALS_SAMPLER_GPU_SOURCE_DATA_H
#define VITALS_SAMPLER_GPU_SOURCE_DATA_H

#include "host/identities.h"
#include "model/answer_cache.h"
#include "sampler/gpu_jobs.h"
#include "sampler/gpu_source.h"

enum { GPU_NOTES_MS = 500 }; /* a tick's patience with a scheduler's files */

enum { DEVICE_QUERIES = 4 };
extern const enum gpu_job_kind gpu_query_kinds[DEVICE_QUERIES];

struct device_query {
    struct worker *worker; /* NULL: never asked for */
    int job;
    bool asked;    /* and not answered yet */
    bool hangs;    /* no tick waits for its answer */
    bool known;    /* has answered before */
    bool lost;     /* the last answer was that nothing can be read: it sleeps, or is lost */
    bool held;     /* would have been asked in this tick, if it had not hung so often */
    bool waits;    /* to be asked as soon as there is a sweep */
    bool is_old;   /* the sweep that it was asked with is not of its tick */
    unsigned hung; /* answers in a row that took so long */
    uint64_t asked_ns;
    uint64_t paid_until_ns;     /* what it has cost so far is within its share by then */
    uint64_t debt_ns;           /* of the first reading, as time to wait */
    struct metric_set pending;  /* due since it was last asked */
    struct metric_set question; /* what it was asked last */
};

struct queried_device {
    uint32_t slot, node_count;
    unsigned swept; /* of GPU_SWEPT */
    bool gone; /* no longer listed: it stays while a thread hangs in it, and is asked nothing */
    struct gpu_node nodes[GPU_NODES_MAX];
    struct job_claim_device called;
    struct device_query queries[DEVICE_QUERIES]; /* in the order of KINDS */
};

struct gpu_source {
    struct source base; /* in service: the newest worker that reads devices */
    unsigned number;    /* of the back end */
    struct gpu_world *world;
    /* Which metrics are asked for by which device query, of a device of which nothing is swept. */
    struct metric_set parts[DEVICE_QUERIES];

    struct worker *newest_slow; /* that of slow readings in service */
    struct worker *notes;       /* of job claims: one for all, since one disk has them all */
    int scan_job;               /* on the worker that scan_worker names */
    struct worker *scan_worker;
    bool scan_asked, scan_hangs;
    uint64_t next_scan_ns;

    int diagnosis_job; /* on the worker that diagnosis_worker names; -1: never asked for */
    struct worker *diagnosis_worker; /* that of the scans, unless one of the two hangs */
    bool diagnosis_asked, diagnosis_hangs;
    struct answer_cache diagnosis;
    struct identities subjects;

    struct queried_device *devices;
    size_t device_count, device_capacity;

    signed char state;
    char message[GPU_MESSAGE];
};

/* All device queries of all devices have a number below this, in the order of devices and kinds. */
static inline size_t gpu_query_count(const struct gpu_source *source)
{
    return source->device_count * DEVICE_QUERIES;
}

static inline struct device_query *gpu_query_at(const struct gpu_source *source, size_t number)
{
    return &source->devices[number / DEVICE_QUERIES].queries[number % DEVICE_QUERIES];
}

/* A new worker of the source; NULL: no thread or no memory. */
struct worker *gpu_source_worker(struct gpu_source *source);

/* Takes what was answered into the table. Returns 0 or VITALS_EMEMORY. */
int gpu_source_take(struct gpu_source *source, struct gpu_table *table);

/* The phases `settled`, `patience` and `late` (source.h). */
bool gpu_source_settled(const struct source *source, const struct source_tick *tick);
uint64_t gpu_source_patience(const struct source *source, const struct source_tick *tick,
                             uint64_t deadline_ns);
bool gpu_source_late(struct source *source, const struct source_tick *tick);

/* Takes the devices of a scan in; none goes. 0, or VITALS_EMEMORY. */
int gpu_source_list(struct gpu_source *source, struct gpu_table *table,
                    const struct gpu_scan *scan);

/* Whether a tick waits for its answer: for slow readings only once, and for job claims, whose files
 * may be on a remote disk, only once and briefly. */
bool gpu_query_is_waited_for(const struct device_query *query, enum gpu_job_kind kind,
                             uint64_t now_ns);

#endif
