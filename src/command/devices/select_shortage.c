/* select_shortage.c: see select.h. */
#include "command/devices/select.h"

#include <stdio.h>

static bool is_known(const vitals_row *row, vitals_metric metric)
{
    vitals_availability state = vitals_row_availability(row, metric);
    return (state > 0 && state != VITALS_STALE) || state == VITALS_NOT_YET;
}

static bool is_judged(const vitals_select_options *options, const vitals_row *row)
{
    bool free = is_known(row, VITALS_GPU_MEMORY_FREE_BYTES);
    bool total = is_known(row, VITALS_GPU_MEMORY_TOTAL_BYTES);
    bool used = is_known(row, VITALS_GPU_MEMORY_USED_BYTES);
    bool busy = is_known(row, VITALS_GPU_UTILIZATION_RATIO) ||
                is_known(row, VITALS_GPU_BUSY_SECONDS);
    bool memory_busy = is_known(row, VITALS_GPU_MEMORY_BUSY_RATIO);
    bool asleep = vitals_row_availability(row, VITALS_GPU_MEMORY_USED_BYTES) == VITALS_SUSPENDED;
    return (free || total || used || busy || memory_busy || asleep) &&
           (options->min_free_bytes == 0 || free) && (options->min_total_bytes == 0 || total) &&
           (options->max_utilization_ratio < 0 || busy) &&
           (options->max_memory_busy_ratio < 0 || memory_busy);
}

/* In that case its driver may not tell which processes use it either. */
static bool is_lost(const vitals_row *row)
{
    vitals_availability state = vitals_row_availability(row, VITALS_GPU_MEMORY_USED_BYTES);
    return state == VITALS_GONE || state == VITALS_TIMED_OUT;
}

struct shortage shortage_of(const vitals_snapshot *snapshot, const vitals_select_options *options)
{
    struct shortage shortage = {0};
    for (size_t i = 0; i < options->candidate_count; i++) {
        const vitals_row *row = options->candidates[i];

        /* A divided device is judged by its partitions. */
        bool judged = is_judged(options, row);
        for (const vitals_row *part = NULL;
             !judged && (part = vitals_snapshot_next_child(vitals_row_snapshot(row), VITALS_GPU,
                                                           vitals_row_key(row), part)) != NULL;)
            judged = is_judged(options, part);

        shortage.known += judged;
        shortage.unknown += !judged && vitals_row_parent(row) == 0;
    }
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next_child(snapshot, VITALS_GPU, 0, row)) != NULL;) {
        bool named = select_variable(row) != NULL;
        shortage.unknown += !named && is_lost(row);
        shortage.mute += !named && !is_lost(row);
    }
    return shortage;
}

void shortage_reasons(const struct shortage *shortage, char out[static SHORTAGE_REASONS])
{
    const struct {
        size_t count;
        const char *what;
    } reasons[] = {{shortage->unknown, "cannot be judged (vitals doctor says why)"},
                   {shortage->mute, "no variable hands to a program"}};
    size_t size = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].count > 0)
            size += (size_t)snprintf(out + size, SHORTAGE_REASONS - size, "; there %s %zu that %s",
                                     reasons[i].count == 1 ? "is" : "are", reasons[i].count,
                                     reasons[i].what);
    }
}
