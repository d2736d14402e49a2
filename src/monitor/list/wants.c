/* wants.c: the metrics that a layout needs; see arrange.h. */
#include <string.h>

#include "monitor/list/arrange.h"

void wants_add(struct wants *wants, vitals_metric metric)
{
    bool found = metric == 0 || wants->count == WANTS_MOST;
    for (size_t i = 0; i < wants->count && !found; i++)
        found = wants->metrics[i] == metric;
    if (!found)
        wants->metrics[wants->count++] = metric;
}

bool wants_equal(const struct wants *a, const struct wants *b)
{
    return a->count == b->count &&
           memcmp(a->metrics, b->metrics, a->count * sizeof a->metrics[0]) == 0;
}

/* The place of a process seldom changes. */
static int add_to(vitals_request *request, vitals_metric metric, vitals_error *error)
{
    static const uint64_t SELDOM_NS = 10000000000u;
    int code = vitals_request_add(request, metric, error);
    if (code == 0 && vitals_metric_type(metric) == VITALS_TEXT &&
        vitals_metric_price(metric) != VITALS_PRICE_TICK)
        code = vitals_request_every(request, metric, SELDOM_NS, error);
    return code;
}

int wants_request(const struct wants *wants, vitals_request *request, vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < wants->count && code == 0; i++)
        code = add_to(request, wants->metrics[i], error);
    return code;
}
