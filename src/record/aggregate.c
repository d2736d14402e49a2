/* aggregate.c: makes the account of a recording that stores none, from its series.
 *
 * A gauge gives its peak, its mean over time and its minimum; a counter gives its growth (usage.h).
 * Pure but for memory. */
#include "record/recording_data.h"

#include "util/base.h"
#include <math.h>
#include <string.h>

static void add_figure(struct recording *recording, const struct series *series, const char *name,
                       double value)
{
    const vitals_figure_form form = {.name = name,
                                     .unit = series->unit,
                                     .subject = series->subject,
                                     .label = series->label,
                                     .source = "what was recorded",
                                     .state = VITALS_SAMPLED,
                                     .value = value};
    vitals_error error;
    if (isfinite(value) && vitals_account_put(recording->account, &form, &error) == VITALS_EMEMORY)
        recording->no_memory = true;
}

/* "memory_resident_bytes", "peak" → "memory_resident_peak_bytes"; "threads_peak". */
static void add_statistic(struct recording *recording, const struct series *series,
                          const char *statistic, double value)
{
    char name[COLUMN_WORDS];
    size_t size = strlen(series->name), unit = strlen(series->unit);
    bool ends = unit > 0 && size > unit + 1 && series->name[size - unit - 1] == '_' &&
                strcmp(series->name + size - unit, series->unit) == 0;
    size_t stem = ends ? size - unit - 1 : size;
    (void)snprintf(name, sizeof name, "%.*s_%s%s%s", (int)stem, series->name, statistic,
                   ends ? "_" : "", ends ? series->unit : "");
    add_figure(recording, series, name, value);
}

/* The wall time and the memory peak come first: reports print them first. */
void aggregate_account(struct recording *recording)
{
    static const char *const MEMORIES[] = {"memory_both_bytes", "memory_pss_bytes",
                                           "memory_resident_bytes"};
    const struct series wall = {.unit = "seconds", .subject = "", .label = ""};
    const struct series high = {.unit = "bytes", .subject = "", .label = ""};
    bool any = recording->rows_told > 0;
    if (any)
        add_figure(recording, &wall, "wall_seconds",
                   recording->last_seconds - recording->first_seconds);
    for (size_t i = 0; i < ARRAY_COUNT(MEMORIES) && any; i++) {
        const struct series *series = recording_find(recording, MEMORIES[i], "");
        if (series == NULL || recording->states[series - recording->series].aggregate.count == 0)
            continue;
        add_figure(recording, &high, "memory_peak_high_bytes",
                   recording->states[series - recording->series].aggregate.largest);
        break;
    }

    for (size_t i = 0; i < recording->series_count; i++) {
        const struct series *series = &recording->series[i];
        const struct aggregate *aggregate = &recording->states[i].aggregate;
        double mean = aggregate->weight > 0 ? aggregate->area / aggregate->weight : aggregate->last;
        if (aggregate->count > 0 && series->counter) {
            add_figure(recording, series, series->name, aggregate->growth);
        } else if (aggregate->count > 0) {
            add_statistic(recording, series, "peak", aggregate->largest);
            add_statistic(recording, series, "mean", mean);
            add_statistic(recording, series, "min", aggregate->least);
        }
    }
}
