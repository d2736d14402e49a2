/* rate.c: how a counter grew between two snapshots.
 *
 * Nothing is stored: every reader chooses its own older snapshot and so its own window.
 * Thread rule: any thread. */
#include "model/snapshot.h"
#include "model/values.h"

#include <math.h>
#include <string.h>

/* A rate needs so many steps of its counter, less what a tick may come early: at an interval of
 * just ten steps, as 100 ms for a CPU's time, a microsecond must not decide. */
enum { STEPS_MIN = 10, EARLY_SHARE = 10 };

struct growth {
    double amount;
    uint64_t window_ns;
    bool estimate; /* one of the two values is one: the coarse step holds */
};

static bool text_equal(vitals_text a, vitals_text b)
{
    return a.size == b.size && (a.bytes == b.bytes || memcmp(a.bytes, b.bytes, a.size) == 0);
}

/* The same row in the older snapshot, if that is of the same machine and sampler. Keys are unique
 * within one sampler only, and not every snapshot says which it was: what does not move (a
 * process's pid and start) must be the same where both rows have it. */
static const vitals_row *earlier(const vitals_row *row, const vitals_snapshot *older)
{
    const struct table *table = row->table;
    const vitals_snapshot *newer = table->snapshot;
    if (older == NULL || older->pid_namespace != newer->pid_namespace ||
        older->stream != newer->stream || !text_equal(older->boot_id, newer->boot_id))
        return NULL;
    const vitals_row *found = vitals_snapshot_find(older, table->entity, row_key(row));
    for (size_t i = 0; found != NULL && i < table->column_count; i++) {
        vitals_metric metric = table->columns[i].metric;
        vitals_text text, old_text;
        double number, old_number; /* exact: no integer is above 2^53 */
        if (table->columns[i].kind != VITALS_IDENTITY)
            continue;
        if (table->columns[i].type == VITALS_TEXT) {
            if (vitals_row_text(row, metric, &text) > 0 &&
                vitals_row_text(found, metric, &old_text) > 0 && !text_equal(text, old_text))
                return NULL;
        } else if (vitals_row_number(row, metric, &number) > 0 &&
                   vitals_row_number(found, metric, &old_number) > 0 &&
                   (number < old_number || number > old_number))
            return NULL;
    }
    return found;
}

vitals_availability state_worse(vitals_availability a, vitals_availability b)
{
    static const signed char RANKS[] = {
        [VITALS_HAVE] = 1,        [VITALS_SAMPLED] = 2,  [VITALS_LOWER_BOUND] = 3,
        [VITALS_UPPER_BOUND] = 3, [VITALS_ESTIMATE] = 4, [VITALS_STALE] = 5,
    };
    _Static_assert(ARRAY_COUNT(RANKS) == VITALS_AVAILABILITY_MAX + 1, "one rank for each number");
    if (a <= 0 || b <= 0)
        return a <= 0 ? b : a;
    if (a != b && RANKS[a] == RANKS[b])
        return VITALS_ESTIMATE;
    return RANKS[b] > RANKS[a] ? b : a;
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

    /* A bound of the earlier value bounds the growth from the other side. */
    if (then == VITALS_LOWER_BOUND || then == VITALS_UPPER_BOUND)
        then = then == VITALS_LOWER_BOUND ? VITALS_UPPER_BOUND : VITALS_LOWER_BOUND;
    return state_worse(now, then);
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
    uint64_t needed_ns = saturating_mul(step, STEPS_MIN);
    if (growth.window_ns < needed_ns - needed_ns / EARLY_SHARE)
        return VITALS_NOT_YET;
    double rate = growth.amount / ((double)growth.window_ns / (double)NS_PER_SECOND);
    if (!isfinite(rate))
        return VITALS_FAILED;
    *out = rate;
    return state;
}
