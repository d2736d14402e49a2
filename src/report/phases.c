/* phases.c: see phases.h. The arithmetic; phases_print.c shows it.
 *
 * A recording pairs what began and ended in one thread, so a name that is nested in itself, or runs
 * in several threads at once, has as many calls. Its samples are those in any of its calls, each
 * once. Growth of a counter is taken between its values at begin and end, on the line between the
 * samples around them; where calls overlap, the time that they share is counted once. */
#include "report/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/search.h"

/* A time in which calls of the phase run. */
struct phases_span {
    double begin, end;
};

struct spans {
    struct phases_span *items;
    size_t count;
};

/* ---- spans ---- */

static int by_begin(const void *a, const void *b)
{
    const struct phases_span *left = a, *right = b;
    return left->begin < right->begin ? -1 : left->begin > right->begin;
}

/* ---- series ---- */

static bool is_before(const void *point, const void *second)
{
    return *(const double *)point < *(const double *)second;
}

/* The first point that is not before the moment. */
static size_t first_from(const struct series *series, double second)
{
    return search_place(series->seconds, series->count, sizeof *series->seconds, &second,
                        is_before);
}

/* The value of a counter at a time, interpolated between its points; constant before the first and
 * after the last. NaN if there is none. *beyond: it is further from the points than these are from
 * each other, as where the file is one part of a rotated recording. */
static double value_at(const struct series *series, double second, bool *beyond)
{
    size_t last = series->count > 0 ? series->count - 1 : 0;
    double gap = last > 0 ? (series->seconds[last] - series->seconds[0]) / (double)last : 0;
    size_t after = first_from(series, second);
    while (after < series->count && isnan(series->values[after]))
        after++;
    size_t before = first_from(series, second);
    while (before > 0 && isnan(series->values[before - 1]))
        before--;
    bool first = before == 0, none = after == series->count;
    *beyond |= isfinite(second) &&
               ((none && !first && second - series->seconds[before - 1] > gap) ||
                (first && !none && series->seconds[after] - second > gap));
    if (none)
        return first ? (double)NAN : series->values[before - 1];
    if (first)
        return series->values[after];
    double x0 = series->seconds[before - 1], x1 = series->seconds[after];
    double y0 = series->values[before - 1], y1 = series->values[after];
    return x1 > x0 ? y0 + (y1 - y0) * (second - x0) / (x1 - x0) : y1;
}

static size_t points_in(const struct series *series, struct phases_span span)
{
    size_t from = first_from(series, span.begin), to = from;
    while (to < series->count && series->seconds[to] <= span.end)
        to++;
    return to - from;
}

static void aggregate(const struct series *series, const struct spans *spans,
                      struct phase_measure *measure)
{
    *measure = (struct phase_measure){.series = series, .growth = (double)NAN};
    bool seen = false;
    for (size_t i = 0; i < spans->count; i++) {
        seen = seen || points_in(series, spans->items[i]) > 0;
        size_t from = first_from(series, spans->items[i].begin);
        for (size_t at = from; at < series->count && series->seconds[at] <= spans->items[i].end;
             at++) {
            if (!isnan(series->values[at]))
                statistics_add(&measure->values, series->values[at]);
        }
        double grown = value_at(series, spans->items[i].end, &measure->is_short) -
                       value_at(series, spans->items[i].begin, &measure->is_short);
        if (series->counter && !isnan(grown))
            measure->growth = (isnan(measure->growth) ? 0 : measure->growth) + grown;
    }
    /* Between two samples a counter is taken to grow evenly; a phase without any sample would have
     * no other figure. */
    if (!seen)
        measure->growth = (double)NAN;
}

/* When samples were taken: a series without values. */
static struct series clock_of(const struct recording *recording)
{
    struct series clock = {.name = "", .unit = "", .subject = "", .label = ""};
    clock.seconds = recording_seconds(recording, &clock.count);
    return clock;
}

static int aggregate_all(const struct recording *recording, struct phase *phase,
                         struct spans *spans, vitals_error *error)
{
    size_t count;
    const struct series *series = recording_series(recording, &count);
    const struct series clock = clock_of(recording);

    /* Overlapping spans become one. */
    size_t kept = 0;
    qsort(spans->items, spans->count, sizeof *spans->items, by_begin);
    for (size_t i = 0; i < spans->count; i++) {
        struct phases_span next = spans->items[i];
        if (kept == 0 || next.begin > spans->items[kept - 1].end)
            spans->items[kept++] = next;
        else
            spans->items[kept - 1].end = fmax(spans->items[kept - 1].end, next.end);
    }
    spans->count = kept;

    phase->measures = calloc(count > 0 ? count : 1, sizeof *phase->measures);
    if (phase->measures == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++)
        aggregate(&series[i], spans, &phase->measures[i]);
    phase->measure_count = count;
    for (size_t i = 0; i < spans->count; i++)
        phase->timepoints += points_in(&clock, spans->items[i]);
    return 0;
}

/* ---- calls ---- */

/* `calls` are of one name. */
static int aggregate_phase(const struct recording *recording,
                           const struct recorded_phase *const *calls, size_t count,
                           struct phase *phase, vitals_error *error)
{
    const struct series clock = clock_of(recording);
    struct spans spans = {.items = calloc(count, sizeof *spans.items)};
    if (spans.items == NULL)
        return error_no_memory(error);
    *phase = (struct phase){.name = calls[0]->name, .first = calls[0]->begin};
    for (size_t i = 0; i < count; i++) {
        struct phases_span span = {calls[i]->begin, calls[i]->end};
        if (isnan(span.end)) {
            phase->open++;
            continue;
        }
        phase->calls++;
        statistics_add(&phase->seconds, span.end - span.begin);
        phase->non_empty += points_in(&clock, span) > 0;
        spans.items[spans.count++] = span;
    }
    int code = aggregate_all(recording, phase, &spans, error);
    free(spans.items);
    return code;
}

static int by_name(const void *a, const void *b)
{
    const struct recorded_phase *left = *(const struct recorded_phase *const *)a;
    const struct recorded_phase *right = *(const struct recorded_phase *const *)b;
    int order = strcmp(left->name, right->name);
    if (order != 0)
        return order;
    return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static int by_first(const void *a, const void *b)
{
    const struct phase *left = a, *right = b;
    return left->first < right->first ? -1 : left->first > right->first;
}

int phases_of(const struct recording *recording, struct phases *out, vitals_error *error)
{
    struct phases phases = {0};
    size_t count;
    const struct recorded_phase *calls = recording_phases(recording, &count);
    struct phases_span always = {-(double)INFINITY, (double)INFINITY};
    struct spans whole = {&always, 1};
    const struct recorded_phase **sorted = calloc(count + 1, sizeof(void *));
    phases.items = calloc(count < PHASES_MAX ? count + 1 : PHASES_MAX, sizeof *phases.items);
    for (size_t i = 0; sorted != NULL && i < count; i++)
        sorted[i] = &calls[i];
    int code = sorted == NULL || phases.items == NULL
                   ? error_no_memory(error)
                   : aggregate_all(recording, &phases.whole, &whole, error);
    if (code == 0)
        qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t at = 0, same; at < count && code == 0; at += same) {
        same = 1;
        while (at + same < count && strcmp(sorted[at + same]->name, sorted[at]->name) == 0)
            same++;
        if (phases.count < PHASES_MAX)
            code = aggregate_phase(recording, sorted + at, same, &phases.items[phases.count++],
                                   error);
        else
            phases.left_out++;
    }
    free(sorted);
    if (code < 0) {
        phases_done(&phases);
        return code;
    }
    qsort(phases.items, phases.count, sizeof *phases.items, by_first);
    *out = phases;
    return 0;
}

const struct phase_measure *phase_measure_of(const struct phase *phase, const char *name,
                                             const char *subject)
{
    for (size_t i = 0; i < phase->measure_count; i++) {
        const struct series *series = phase->measures[i].series;
        if (strcmp(series->name, name) == 0 && strcmp(series->subject, subject) == 0)
            return &phase->measures[i];
    }
    return NULL;
}

vitals_availability phase_measure_state(const struct phase_measure *measure)
{
    if (measure->series->counter)
        return isnan(measure->growth) ? VITALS_NOT_YET
               : measure->is_short    ? VITALS_LOWER_BOUND
                                      : VITALS_ESTIMATE;
    return measure->values.count > 0 ? VITALS_SAMPLED : VITALS_NOT_YET;
}

void phases_done(struct phases *phases)
{
    for (size_t i = 0; i < phases->count; i++)
        free(phases->items[i].measures);
    free(phases->items);
    free(phases->whole.measures);
    *phases = (struct phases){0};
}
