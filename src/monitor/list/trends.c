/* trends.c: how much CPU each process of the list has used, reading by reading. See model.h. */
#include <string.h>

#include "monitor/model.h"
#include "util/memory.h"
#include "util/search.h"
#include "view/cell_text.h"

/* Levels are absolute, so that a line of a process that works evenly is flat and stays as it is. */
static unsigned char level_of(double cores)
{
    return (unsigned char)(cores < 0.005 ? 0
                           : cores < 0.1 ? 1
                           : cores < 0.5 ? 2
                           : cores < 1   ? 3
                                         : 4);
}

/* True if a process of the reading before, which the newest one has not, has ended. A reading of
 * the users of devices alone has none that has left its device, and lives: it is asked. */
static bool has_ended(const struct readings *readings, uint64_t key, vitals_context *context)
{
    const vitals_snapshot *now = readings->now, *before = readings->previous;
    vitals_process *process = NULL;
    if (before == NULL) /* it was forgotten */
        return false;
    if (vitals_snapshot_count(now, VITALS_TABLE_PROCESS) >
        vitals_snapshot_count(now, VITALS_TABLE_GPU_PROCESS))
        return true; /* some are on no device, so it has all */
    const vitals_row *row = vitals_snapshot_find(before, VITALS_TABLE_PROCESS, key);
    int code = context != NULL && row != NULL ? vitals_process_of(context, row, &process, NULL) : 0;
    vitals_process_close(process);
    return code == VITALS_EGONE;
}

/* Both the old ones and the rows stand in the order of keys. Without memory all is forgotten. */
void trends_update(struct trends *trends, const struct readings *readings, vitals_context *context)
{
    const vitals_snapshot *now = readings->now;
    struct trends before = *trends;
    bool goes_on = before.stream == vitals_snapshot_stream(now);
    size_t at = 0;
    trends->items = before.spare;
    trends->capacity = before.spare_capacity;
    trends->spare = before.items;
    trends->spare_capacity = before.capacity;
    trends->count = 0;
    trends->stream = vitals_snapshot_stream(now);
    trends->sequence = vitals_snapshot_sequence(now);
    trends->readings = goes_on ? before.readings + 1 : 0;
    bool full = trends->readings % TREND_READINGS == 0; /* lines seldom move */
    trends->steps = goes_on ? before.steps + full : 1;
    before.count = goes_on ? before.count : 0;
    for (const vitals_row *row = NULL;;) {
        row = row_next(now, VITALS_TABLE_PROCESS, row);
        uint64_t key = row != NULL ? vitals_row_key(row) : UINT64_MAX;
        for (; at < before.count && before.items[at].key < key; at++) {
            if (before.items[at].gone || !has_ended(readings, before.items[at].key, context))
                continue;
            if (MEMORY_GROW(trends->items, trends->capacity, trends->count) < 0)
                break;
            trends->items[trends->count] = before.items[at];
            trends->items[trends->count++].gone = true;
        }
        if (row == NULL)
            return;
        if (MEMORY_GROW(trends->items, trends->capacity, trends->count) < 0) {
            trends->count = 0;
            return;
        }
        struct trend *trend = &trends->items[trends->count++];
        bool known = at < before.count && before.items[at].key == key && !before.items[at].gone;
        *trend = known ? before.items[at] : (struct trend){.key = key};
        at += at < before.count && before.items[at].key == key;
        if (vitals_row_rate(row, readings->older, VITALS_PROCESS_CPU_SECONDS, &trend->cores) <= 0)
            trend->cores = -1;
        unsigned char level = level_of(trend->cores);
        trend->newest = level > trend->newest ? level : trend->newest;
        if (!full)
            continue;
        memmove(trend->levels + 1, trend->levels, TREND_ROOM - 1);
        trend->levels[0] = trend->newest;
        trend->newest = 0;
    }
}

const struct trend *trends_find(const struct trends *trends, uint64_t key)
{
    return search_find(trends->items, trends->count, sizeof *trends->items,
                       (struct search_number){offsetof(struct trend, key), key});
}

void trends_done(struct trends *trends)
{
    memory_free(trends->items);
    memory_free(trends->spare);
    *trends = (struct trends){.count = 0};
}
