/* tick.h: one reading of everything that a request wants.
 *
 *     ask the sources ─ read /proc ─ ask for slow files ─ wait till the deadline ─ collect ─ build
 *
 * Has no thread of its own: sampler.c calls it, from any thread.
 * Thread rule: one thread at a time. */
#ifndef VITALS_SAMPLER_TICK_H
#define VITALS_SAMPLER_TICK_H

#include "gpu/table.h"
#include "host/host.h"
#include "process/table.h"
#include "sampler/plan.h"
#include "sampler/source.h"

struct tick {
    vitals_context *context;
    vitals_request *request; /* owned; also wants what other tables are made of */
    struct metric_set shown; /* what was asked for */
    struct metric_set due;   /* in the tick under way */
    struct plan plan;
    struct worker_event *event;
    struct sources sources; /* in the order of their rows */
    struct source_tick now;

    struct host host;
    struct process_table *processes;
    struct gpu_table *devices;
    vitals_builder *builder;

    uint64_t stream; /* whose keys its snapshots have */
    uint64_t sequence;
    uint64_t missed; /* told by the sampler's thread */
    bool last;       /* no tick comes after this one */
    uint64_t spent_ns;
};

/* Returns 0 or a code; on failure nothing is left behind. */
int tick_init(struct tick *tick, vitals_context *context, const vitals_request *request,
              vitals_error *error);

/* Ends workers, leaving behind what hangs after `patience_ns`. */
void tick_done(struct tick *tick, uint64_t patience_ns);

/* Frees what can be freed after a fork, where the workers' threads are not. */
void tick_forget(struct tick *tick);

/* Reads, and waits for workers `patience_ns` at most. *out is the caller's. */
int tick_run(struct tick *tick, uint64_t patience_ns, vitals_snapshot **out, vitals_error *error);

#endif
