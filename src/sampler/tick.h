/* tick.h: one reading of everything that a request wants.
 *
 *     ask the sources ─ read /proc ─ ask for slow files ─ wait till the deadline ─ collect ─ build
 *
 * Has no thread of its own: sampler.c calls it, from any thread.
 * Thread rule: one thread at a time. */
#pragma once

#include "gpu/table.h"
#include "host/host.h"
#include "model/request.h"
#include "process/table.h"
#include "sampler/source.h"

/* ---- plan.c: which of the wanted metrics are due in this tick ---- */

/* A metric with a cadence is due when that much time has gone by since it was last due; a tick that
 * comes a little early counts as on time, so that a cadence of 5 s at ticks of 1 s stays at 5. */
struct plan {
    const vitals_request *request;
    vitals_metric wanted[METRICS_MAX]; /* in the order of numbers */
    size_t count;
    uint64_t last_ns[ENTITY_MAX + 1][METRIC_NUMBERS]; /* 0: never */
    bool rests; /* no process of the run has run: the host may be read less often */
};

void plan_init(struct plan *plan, const vitals_request *request);

/* Fills `due` and takes note that those are read now. `last`: nothing comes after it, so that what
 * is cheap to read and was not read for a second is due too. */
void plan_due(struct plan *plan, uint64_t now_ns, bool last, struct metric_set *due);

/* Metrics that are read together: those of one cadence. */
struct plan_turn {
    struct metric_set wanted;
    uint64_t every_ns;
};

/* The turns of those wanted metrics that are among the given ones, the most frequent first, and how
 * many there are. If there are more cadences than `capacity`, some are read more often than they
 * must be. */
size_t plan_turns(const struct plan *plan, const struct metric_set *among, struct plan_turn *turns,
                  size_t capacity);

/* ---- tick.c ---- */

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
