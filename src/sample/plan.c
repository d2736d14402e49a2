/* plan.c: see plan.h. */
#include "sample/plan.h"

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

/* A tick may come early by a quarter of an interval. */
static bool is_due(const struct plan *plan, uint64_t last_ns, uint64_t every_ns, uint64_t now_ns)
{
    if (every_ns == 0 || last_ns == 0)
        return true;
    return saturating_add(now_ns, plan->request->interval_ns / 4) - last_ns >= every_ns;
}

void plan_due(struct plan *plan, uint64_t now_ns, struct metric_set *due)
{
    memset(due, 0, sizeof(*due));
    const vitals_request *request = plan->request;
    for (size_t i = 0; i < plan->count; i++) {
        vitals_metric metric = plan->wanted[i];
        unsigned entity = (unsigned)metric >> 8, number = metric_number(metric);
        uint64_t *last = &plan->last_ns[entity][number];
        if (!is_due(plan, *last, request->every_ns[entity][number], now_ns))
            continue;
        *last = now_ns;
        metric_set_add(due, metric);
    }
}

uint64_t plan_lane_every_ns(const struct plan *plan, vitals_entity entity)
{
    uint64_t least = UINT64_MAX;
    const vitals_request *request = plan->request;
    for (unsigned number = 1; number < METRIC_NUMBERS; number++) {
        vitals_metric metric = metric_of(entity, number);
        if (!metric_set_has(&request->wanted, metric) ||
            vitals_metric_price(metric) != VITALS_PRICE_LANE)
            continue;
        uint64_t every = request->every_ns[entity][number];
        least = every < least ? every : least;
    }
    return least;
}
