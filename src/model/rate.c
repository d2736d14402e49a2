/* rate.c: how a counter grew between two snapshots.
 *
 * Nothing is stored: every reader chooses its own older snapshot and so its own window.
 * Thread rule: any thread. */
#include "model/snapshot.h"

#include <math.h>
#include <string.h>

/* A rate needs so many steps of its counter. */
enum { STEPS_MIN = 10 };

struct growth {
    double amount;
    uint64_t window_ns;
    bool estimate; /* one of the two values is one: the coarse step holds */
};

static bool text_equal(vitals_text a, vitals_text b)
{
    return a.size == b.size && (a.bytes == b.bytes || memcmp(a.bytes, b.bytes, a.size) == 0);
}

/* Whether both rows have the value and it is not the same. */
static bool differs(const vitals_row *row, const vitals_row *older,
                    const struct snapshot_column *column)
{
    vitals_metric metric = column->metric;
    if (column->type == VITALS_TEXT) {
        vitals_text a, b;
        return vitals_row_text(row, metric, &a) > 0 && vitals_row_text(older, metric, &b) > 0 &&
               !text_equal(a, b);
    }
    double a, b; /* exact: no integer is above 2^53 */
    return vitals_row_number(row, metric, &a) > 0 && vitals_row_number(older, metric, &b) > 0 &&
           (a < b || a > b);
}

/* Keys are unique within one sampler only, and not everyone says which it was: what does not move
 * (a process's pid and start) must be the same where both rows have it. */
static bool same_thing(const vitals_row *row, const vitals_row *older)
{
    const struct table *table = row->table;
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].kind == VITALS_IDENTITY && differs(row, older, &table->columns[i]))
            return false;
    return true;
}

/* The same row in the older snapshot, if that is of the same machine and sampler. */
static const vitals_row *earlier(const vitals_row *row, const vitals_snapshot *older)
{
    const vitals_snapshot *newer = row->table->snapshot;
    if (older == NULL || older->pid_namespace != newer->pid_namespace ||
        older->stream != newer->stream || !text_equal(older->boot_id, newer->boot_id))
        return NULL;
    const vitals_row *found = vitals_snapshot_find(older, row->table->entity, row_key(row));
    return found != NULL && same_thing(row, found) ? found : NULL;
}

/* A bound of the earlier value bounds the growth from the other side. */
static vitals_availability turned(vitals_availability state)
{
    if (state == VITALS_LOWER_BOUND)
        return VITALS_UPPER_BOUND;
    return state == VITALS_UPPER_BOUND ? VITALS_LOWER_BOUND : state;
}

/* Which of two numbers is worse; only what is above zero has a rank. */
static const signed char RANKS[] = {
    [VITALS_HAVE] = 1,        [VITALS_SAMPLED] = 2,  [VITALS_LOWER_BOUND] = 3,
    [VITALS_UPPER_BOUND] = 3, [VITALS_ESTIMATE] = 4, [VITALS_STALE] = 5,
};

_Static_assert(ARRAY_COUNT(RANKS) == VITALS_AVAILABILITY_MAX + 1, "one rank for each number");

/* The worse of the two; bounds from both sides leave an estimate. */
static vitals_availability combined(vitals_availability now, vitals_availability then)
{
    then = turned(then);
    if (now != then && RANKS[now] == RANKS[then])
        return VITALS_ESTIMATE;
    return RANKS[then] > RANKS[now] ? then : now;
}

static vitals_availability grow(const vitals_row *row, const vitals_snapshot *older,
                                vitals_metric metric, struct growth *out)
{
    double to, from;
    if (vitals_metric_kind(metric) != VITALS_COUNTER)
        return VITALS_WRONG_METRIC;
    vitals_availability now = vitals_row_number(row, metric, &to);
    if (now <= 0)
        return now;
    const vitals_row *before = earlier(row, older);
    if (before == NULL)
        return VITALS_NOT_YET;
    vitals_availability then = vitals_row_number(before, metric, &from);
    if (then <= 0 || now == VITALS_STALE || then == VITALS_STALE || to < from)
        return VITALS_NOT_YET;
    uint64_t end_ns = vitals_row_read_ns(row, metric);
    uint64_t begin_ns = vitals_row_read_ns(before, metric);
    if (begin_ns >= end_ns)
        return VITALS_NOT_YET; /* equal: it was not due, and is the same reading */
    if (vitals_metric_type(metric) == VITALS_U64 && from >= (double)EXACT_MAX)
        return VITALS_NOT_YET; /* it had stopped counting */
    if (!isfinite(to - from))
        return VITALS_FAILED;
    out->amount = to - from;
    out->window_ns = end_ns - begin_ns;
    out->estimate = now == VITALS_ESTIMATE || then == VITALS_ESTIMATE;
    return combined(now, then);
}

vitals_availability vitals_row_growth(const vitals_row *row, const vitals_snapshot *older,
                                      vitals_metric metric, double *out, double *window_seconds)
{
    struct growth growth;
    vitals_availability state = grow(row, older, metric, &growth);
    if (state <= 0)
        return state;
    *out = growth.amount;
    if (window_seconds != NULL)
        *window_seconds = (double)growth.window_ns / (double)NS_PER_SECOND;
    return state;
}

vitals_availability vitals_row_rate(const vitals_row *row, const vitals_snapshot *older,
                                    vitals_metric metric, double *out)
{
    struct growth growth;
    vitals_availability state = grow(row, older, metric, &growth);
    if (state <= 0)
        return state;
    uint64_t step = vitals_metric_resolution_ns(metric, growth.estimate);
    if (growth.window_ns < saturating_mul(step, STEPS_MIN))
        return VITALS_NOT_YET;
    double rate = growth.amount / ((double)growth.window_ns / (double)NS_PER_SECOND);
    if (!isfinite(rate))
        return VITALS_FAILED;
    *out = rate;
    return state;
}
