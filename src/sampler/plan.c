/* plan.c: see tick.h. */
#include "sampler/tick.h"

#include <string.h>

void plan_init(struct plan *plan, const vitals_request *request)
{
    memset(plan, 0, sizeof(*plan));
    plan->request = request;
    for (vitals_metric metric = vitals_metric_next(0); metric != 0;
         metric = vitals_metric_next(metric)) {
        if (metric_set_has(&request->wanted, metric))
            plan->wanted[plan->count++] = metric;
    }
}

static uint64_t every_ns(const struct plan *plan, vitals_metric metric, bool last)
{
    uint64_t every = plan->request->every_ns[metric >> 8][metric_number(metric)];
    if (plan->rests && metric >> 8 == VITALS_TABLE_HOST && every < plan->request->resting_ns)
        every = plan->request->resting_ns;
    if (!last || vitals_metric_price(metric) != VITALS_PRICE_TICK)
        return every;
    /* Growth since then is in no later reading. */
    uint64_t most = vitals_metric_kind(metric) == VITALS_COUNTER ? 0 : NS_PER_SECOND;
    return every < most ? every : most;
}

void plan_due(struct plan *plan, uint64_t now_ns, bool last, struct metric_set *due)
{
    memset(due, 0, sizeof(*due));
    for (size_t i = 0; i < plan->count; i++) {
        vitals_metric metric = plan->wanted[i];
        unsigned entity = (unsigned)metric >> 8, number = metric_number(metric);
        uint64_t *read_ns = &plan->last_ns[entity][number];
        uint64_t every = every_ns(plan, metric, last);
        /* A tick may come early by a quarter of an interval. */
        if (every != 0 && *read_ns != 0 &&
            saturating_add(now_ns, plan->request->interval_ns / 4) - *read_ns < every)
            continue;
        *read_ns = now_ns;
        metric_set_add(due, metric);
    }
}

size_t plan_turns(const struct plan *plan, const struct metric_set *among, struct plan_turn *turns,
                  size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        vitals_metric metric = plan->wanted[i];
        if (!metric_set_has(among, metric))
            continue;

        /* The turn with that cadence, made where there is room, else the next more frequent one. */
        uint64_t every_ns = plan->request->every_ns[metric >> 8][metric_number(metric)];
        size_t at = count;
        while (at > 0 && turns[at - 1].every_ns > every_ns)
            at--;
        if (at > 0 && (turns[at - 1].every_ns == every_ns || count == capacity)) {
            at--;
        } else if (count == capacity) {
            turns[at].every_ns = every_ns;
        } else {
            memmove(turns + at + 1, turns + at, (count - at) * sizeof *turns);
            turns[at] = (struct plan_turn){.every_ns = every_ns};
            count++;
        }
        metric_set_add(&turns[at].wanted, metric);
    }
    return count;
}
