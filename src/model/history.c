/* history.c: the older snapshots that rates are made against.
 *
 * They stand from the oldest to the newest. The longer ago, the fewer are needed: between two
 * neighbours lies at most a third of the younger one's age, so that for any window one of them is
 * near. Thread rule: one thread at a time per history. */
#include "model/snapshot.h"

#include "util/error.h"
#include "util/memory.h"

#include <math.h>
#include <string.h>
#include <vitals/history.h>

enum { HISTORY_MOST = 64, STEPS = 10, SPARSE = 3 };

static const uint64_t WINDOW_MOST_NS = 86400 * NS_PER_SECOND;

struct vitals_history {
    uint64_t window_ns;
    uint64_t keep_ns; /* how far the columns of the snapshots need it to reach */
    vitals_snapshot *items[HISTORY_MOST];
    size_t count;
};

int vitals_history_new(uint64_t window_ns, vitals_history **out, vitals_error *error)
{
    if (window_ns > WINDOW_MOST_NS)
        return error_set(error, VITALS_EARGUMENT, 0, "history of %llu ns: give at most a day",
                         (unsigned long long)window_ns);
    vitals_history *history = memory_alloc(sizeof *history);
    if (history == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "history: out of memory");
    history->window_ns = window_ns;
    *out = history;
    return 0;
}

static void drop_all(vitals_history *history)
{
    for (size_t i = 0; i < history->count; i++)
        vitals_snapshot_unref(history->items[i]);
    history->count = 0;
}

void vitals_history_free(vitals_history *history)
{
    if (history == NULL)
        return;
    drop_all(history);
    memory_free(history);
}

static void drop(vitals_history *history, size_t at)
{
    vitals_snapshot_unref(history->items[at]);
    memmove(history->items + at, history->items + at + 1,
            (--history->count - at) * sizeof history->items[0]);
}

/* How much too early a sample may come: timers jitter, as in rate.c. */
static uint64_t less_early(uint64_t ns)
{
    return ns - ns / 10;
}

static bool goes_on(const vitals_snapshot *then, const vitals_snapshot *now)
{
    return then->stream == now->stream && then->pid_namespace == now->pid_namespace &&
           then->boot_id.size == now->boot_id.size &&
           memcmp(then->boot_id.bytes, now->boot_id.bytes, now->boot_id.size) == 0;
}

static uint64_t needed_ns(vitals_metric metric)
{
    uint64_t step = uint64_max(vitals_metric_resolution_ns(metric, 0),
                               vitals_metric_resolution_ns(metric, 1));
    return uint64_max(saturating_mul(step, STEPS),
                      saturating_mul(vitals_metric_every_ns(metric), 2));
}

static uint64_t reach_of(const vitals_history *history, const vitals_snapshot *snapshot)
{
    uint64_t reach = history->window_ns;
    for (unsigned entity = 0; entity <= ENTITY_MAX; entity++) {
        const struct table *table = snapshot_table(snapshot, entity);
        for (size_t i = 0; table != NULL && i < table->column_count; i++)
            if (table->columns[i].kind == VITALS_COUNTER)
                reach = uint64_max(reach, needed_ns(table->columns[i].metric));
    }
    return reach;
}

/* Gives up what lies behind the reach, and what has a neighbour that serves as well. */
static void thin(vitals_history *history)
{
    uint64_t now_ns = history->items[history->count - 1]->monotonic_ns;
    while (history->count > 2 &&
           now_ns - history->items[1]->monotonic_ns >= less_early(history->keep_ns))
        drop(history, 0);
    for (size_t i = 1; i + 1 < history->count;) {
        uint64_t older_ns = history->items[i - 1]->monotonic_ns;
        uint64_t newer_ns = history->items[i + 1]->monotonic_ns;
        if (newer_ns - older_ns <= (now_ns - newer_ns) / SPARSE)
            drop(history, i);
        else
            i++;
    }
}

void vitals_history_add(vitals_history *history, const vitals_snapshot *snapshot)
{
    const vitals_snapshot *last = history->count != 0 ? history->items[history->count - 1] : NULL;
    if (last != NULL && !goes_on(last, snapshot))
        drop_all(history);
    else if (last != NULL && snapshot->monotonic_ns <= last->monotonic_ns)
        return;
    history->keep_ns = uint64_max(history->count != 0 ? history->keep_ns : 0,
                                  reach_of(history, snapshot));
    if (history->count == HISTORY_MOST)
        drop(history, 1); /* the oldest still reaches as far */
    history->items[history->count++] = vitals_snapshot_ref(snapshot);
    thin(history);
}

vitals_availability vitals_history_rate(const vitals_history *history, const vitals_row *row,
                                        vitals_metric metric, double *out)
{
    vitals_availability state = vitals_row_rate(row, NULL, metric, out);
    if (state != VITALS_NOT_YET)
        return state; /* it has none against any snapshot */
    uint64_t now_ns = row->table->snapshot->monotonic_ns;
    uint64_t wanted_ns = less_early(history->window_ns);

    /* The newest that is a window old, or an older one where that has no rate; else the oldest of
     * the others. */
    size_t younger = history->count;
    while (younger > 0 && history->items[younger - 1]->monotonic_ns > now_ns - wanted_ns)
        younger--;
    for (size_t i = younger; i > 0 && state == VITALS_NOT_YET; i--)
        state = vitals_row_rate(row, history->items[i - 1], metric, out);
    for (size_t i = younger; i < history->count && state == VITALS_NOT_YET; i++)
        state = vitals_row_rate(row, history->items[i], metric, out);
    return state;
}

size_t vitals_history_rates(const vitals_history *history, const vitals_snapshot *snapshot,
                            vitals_metric metric, double *out, signed char *availabilities,
                            size_t capacity)
{
    size_t count = vitals_snapshot_count(snapshot, metric >> 8);
    for (size_t i = 0; i < size_min(count, capacity); i++) {
        double rate = (double)NAN;
        const vitals_row *row = vitals_snapshot_row(snapshot, metric >> 8, i);
        vitals_availability state = vitals_history_rate(history, row, metric, &rate);
        out[i] = rate;
        if (availabilities != NULL)
            availabilities[i] = (signed char)state;
    }
    return count;
}
