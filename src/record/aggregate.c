/* aggregate.c: makes the account of a recording that stores none, from its series.
 *
 * A gauge gives its peak, its mean over time and its minimum; a counter gives its growth (usage.h).
 * Pure but for memory. */
#include "record/recording_data.h"

#include <math.h>
#include <string.h>

/* "memory_resident_bytes", "peak" → "memory_resident_peak_bytes"; "threads_peak". */
static void statistic_name(const struct series *series, const char *statistic, char *out,
                           size_t capacity)
{
    size_t size = strlen(series->name), unit = strlen(series->unit);
    bool ends = unit > 0 && size > unit + 1 && series->name[size - unit - 1] == '_' &&
                strcmp(series->name + size - unit, series->unit) == 0;
    size_t stem = ends ? size - unit - 1 : size;
    (void)snprintf(out, capacity, "%.*s_%s%s%s", (int)stem, series->name, statistic,
                   ends ? "_" : "", ends ? series->unit : "");
}

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

static void add_series(struct recording *recording, size_t index)
{
    const struct series *series = &recording->series[index];
    const struct aggregate *aggregate = &recording->aggregates[index];
    char name[COLUMN_WORDS];
    if (aggregate->count == 0)
        return;
    if (series->counter) {
        add_figure(recording, series, series->name, aggregate->growth);
        return;
    }
    double mean = aggregate->weight > 0 ? aggregate->area / aggregate->weight : aggregate->last;
    const struct {
        const char *name;
        double value;
    } statistics[] = {{"peak", aggregate->largest}, {"mean", mean}, {"min", aggregate->least}};
    for (size_t i = 0; i < sizeof statistics / sizeof statistics[0]; i++) {
        statistic_name(series, statistics[i].name, name, sizeof name);
        add_figure(recording, series, name, statistics[i].value);
    }
}

/* Adds the wall time and the memory peak, which reports print first. */
static void add_first_figures(struct recording *recording)
{
    static const char *const MEMORIES[] = {"memory_both_bytes", "memory_pss_bytes",
                                           "memory_resident_bytes"};
    const struct series wall = {.unit = "seconds", .subject = "", .label = ""};
    const struct series high = {.unit = "bytes", .subject = "", .label = ""};
    add_figure(recording, &wall, "wall_seconds",
               recording->last_seconds - recording->first_seconds);
    for (size_t i = 0; i < sizeof MEMORIES / sizeof MEMORIES[0]; i++) {
        const struct series *series = recording_find(recording, MEMORIES[i], "");
        const struct aggregate *aggregate = series != NULL
                                                ? &recording->aggregates[series - recording->series]
                                                : NULL;
        if (aggregate == NULL || aggregate->count == 0)
            continue;
        add_figure(recording, &high, "memory_peak_high_bytes", aggregate->largest);
        break;
    }
}

void aggregate_account(struct recording *recording)
{
    if (recording->rows_told > 0)
        add_first_figures(recording);
    for (size_t i = 0; i < recording->series_count; i++)
        add_series(recording, i);
}
