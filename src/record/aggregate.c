/* aggregate.c: an account made of a recording's series, where none was stored: what they come to.
 *
 * As usage.h says it: of a gauge its largest, its mean over time and its least, of a counter its
 * growth. Pure but for memory. */
#include "record/recording_data.h"

#include <math.h>
#include <string.h>

void fold_add(struct fold *fold, double seconds, double value)
{
    double window = seconds - fold->last_seconds;
    if (fold->count == 0) {
        fold->first = fold->least = fold->largest = value;
    } else if (window > 0) {
        fold->area += window * (fold->rate ? value : (value + fold->last) / 2);
        fold->weight += window;
    }
    if (fold->count > 0)
        fold->growth += value >= fold->last ? value - fold->last : value;
    fold->least = value < fold->least ? value : fold->least;
    fold->largest = value > fold->largest ? value : fold->largest;
    fold->last = value;
    fold->last_seconds = seconds;
    fold->count++;
}

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
    const struct fold *fold = &recording->folds[index];
    char name[COLUMN_WORDS];
    if (fold->count == 0)
        return;
    if (series->counter) {
        add_figure(recording, series, series->name, fold->growth);
        return;
    }
    double mean = fold->weight > 0 ? fold->area / fold->weight : fold->last;
    const struct {
        const char *name;
        double value;
    } statistics[] = {{"peak", fold->largest}, {"mean", mean}, {"min", fold->least}};
    for (size_t i = 0; i < sizeof statistics / sizeof statistics[0]; i++) {
        statistic_name(series, statistics[i].name, name, sizeof name);
        add_figure(recording, series, name, statistics[i].value);
    }
}

/* What people ask first, made of what was seen. */
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
        const struct fold *fold = series != NULL ? &recording->folds[series - recording->series]
                                                 : NULL;
        if (fold == NULL || fold->count == 0)
            continue;
        add_figure(recording, &high, "memory_peak_high_bytes", fold->largest);
        break;
    }
}

void fold_account(struct recording *recording)
{
    if (recording->rows_told > 0)
        add_first_figures(recording);
    for (size_t i = 0; i < recording->series_count; i++)
        add_series(recording, i);
}
