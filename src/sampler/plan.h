/* plan.h: which of the wanted metrics are due in this tick.
 *
 * A metric with a cadence is due when that much time has gone by since it was last due; a tick that
 * comes a little early counts as on time, so that a cadence of 5 s at ticks of 1 s stays at 5.
 * Thread rule: the tick thread. */
#ifndef VITALS_SAMPLER_PLAN_H
#define VITALS_SAMPLER_PLAN_H

#include "model/request.h"

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
 * many there are. Where there are more cadences than `capacity`, some are read more often than they
 * must be. */
size_t plan_turns(const struct plan *plan, const struct metric_set *among, struct plan_turn *turns,
                  size_t capacity);

#endif
