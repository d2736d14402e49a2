/* phases_print.c: phases as text, as JSON, and as gpu_tracker's analysis. */
#include "report/phases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/foreign/foreign.h"
#include "report/json_form.h"
#include "report/words.h"
#include "view/paint.h"

/* ---- text ---- */

enum { NAME_COLUMNS = 22, CALL_COLUMNS = 7, NUMBER_COLUMNS = 12 };

/* In the order in which they are left out where the width is too small: from the end. */
static const struct phases_column {
    const char *title, *measure, *unit;
    enum { CALLS_TOTAL, CALLS_MEAN, CALLS_LONGEST, GROWTH, LARGEST, MEAN } what;
} COLUMNS[] = {
    {"time", "wall_seconds", "seconds", CALLS_TOTAL},
    {"a call", "wall_seconds", "seconds", CALLS_MEAN},
    {"CPU", "cpu_seconds", "seconds", GROWTH},
    {"memory peak", "memory_resident_bytes", "bytes", LARGEST},
    {"GPU memory", "gpu_memory_bytes", "bytes", LARGEST},
    {"GPUs busy", "gpu_utilization_ratio", "ratio", MEAN},
    {"CPUs in use", "cpu_cores", "cores", MEAN},
    {"longest", "wall_seconds", "seconds", CALLS_LONGEST},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

/* NaN: not known. */
static double column_value(const struct phases_column *column, const struct phase *phase)
{
    const struct phase_measure *measure = phase_measure_of(phase, column->measure, "");
    bool called = phase->calls > 0, seen = measure != NULL && measure->values.count > 0;
    switch (column->what) {
    case CALLS_TOTAL: return called ? phase->seconds.total : (double)NAN;
    case CALLS_MEAN: return called ? phase->seconds.mean : (double)NAN;
    case CALLS_LONGEST: return called ? phase->seconds.max : (double)NAN;
    case GROWTH: return measure != NULL ? measure->growth : (double)NAN;
    case LARGEST: return seen ? measure->values.max : (double)NAN;
    case MEAN: return seen ? measure->values.mean : (double)NAN;
    }
    return (double)NAN;
}

static void phase_line(struct paint *paint, const struct phase *phase,
                       const struct account_view *view, const bool shown[])
{
    char name[1024], words[WORDS];
    (void)vitals_text_format(vitals_text_of(phase->name),
                             view->ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, name,
                             sizeof name);
    (void)snprintf(words, sizeof words, "%zu%s", phase->calls, phase->open > 0 ? "+" : "");
    paint_text(paint, COLOR_PLAIN, "  ");
    paint_cell(paint, COLOR_BOLD, ALIGN_LEFT, NAME_COLUMNS, name);
    paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, CALL_COLUMNS, words);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        double value = column_value(&COLUMNS[i], phase);
        if (!shown[i])
            continue;
        if (isnan(value))
            (void)snprintf(words, sizeof words, "N/A");
        else if (strcmp(COLUMNS[i].unit, "cores") == 0) /* the title says what they are */
            (void)snprintf(words, sizeof words, "%.2f", value);
        else
            (void)words_value(view, COLUMNS[i].measure, COLUMNS[i].unit, value, words);
        paint_cell(paint, isnan(value) ? COLOR_DIM : COLOR_PLAIN, ALIGN_RIGHT, NUMBER_COLUMNS,
                   words);
    }
    paint_end(paint);
}

static void note(struct paint *paint, const char *line)
{
    paint_text(paint, COLOR_DIM, line);
    paint_end(paint);
}

const char PHASES_QUALITY[] =
    "time: exact; CPU: estimate, on the line between two samples; the rest: "
    "sampled";

static void notes(struct paint *paint, const struct phases *phases)
{
    char line[WORDS];
    size_t open = 0, empty = 0, beyond = 0;
    for (size_t i = 0; i < phases->count; i++) {
        const struct phase_measure *cpu = phase_measure_of(&phases->items[i], "cpu_seconds", "");
        beyond += cpu != NULL && phase_measure_state(cpu) == VITALS_LOWER_BOUND;
        open += phases->items[i].open;
        empty += phases->items[i].calls - phases->items[i].non_empty;
    }
    (void)snprintf(line, sizeof line, "  %s", PHASES_QUALITY);
    note(paint, line);
    (void)snprintf(line, sizeof line, "  +  %zu never ended and are not counted", open);
    if (open > 0)
        note(paint, line);
    (void)snprintf(line, sizeof line,
                   "  %zu call%s shorter than a sample: of %s only the time is known", empty,
                   empty == 1 ? " was" : "s were", empty == 1 ? "it" : "them");
    if (empty > 0)
        note(paint, line);
    (void)snprintf(line, sizeof line, "  %zu went on beyond the samples: CPU is at least that",
                   beyond);
    if (beyond > 0)
        note(paint, line);
    (void)snprintf(line, sizeof line, "  %zu more names are not shown", phases->left_out);
    if (phases->left_out > 0)
        note(paint, line);
}

int phases_text(const struct phases *phases, const struct account_view *view,
                vitals_write_fn *write, void *data)
{
    struct paint paint;
    bool shown[COLUMN_COUNT];
    paint_init(&paint, view->color, write, data);
    paint_end(&paint);
    if (phases->count == 0) {
        paint_text(&paint, COLOR_PLAIN, "  no phases were marked (vitals mark --help)");
        paint_end(&paint);
        return paint_done(&paint);
    }
    /* A column that no phase has, or for which there is no room, is left out. */
    size_t used = 2 + NAME_COLUMNS + CALL_COLUMNS;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        shown[i] = false;
        for (size_t j = 0; j < phases->count && !shown[i]; j++)
            shown[i] = !isnan(column_value(&COLUMNS[i], &phases->items[j]));
        shown[i] = shown[i] && (view->width == 0 || used + NUMBER_COLUMNS <= view->width);
        used += shown[i] ? NUMBER_COLUMNS : 0;
    }
    paint_text(&paint, COLOR_PLAIN, "  ");
    paint_cell(&paint, COLOR_DIM, ALIGN_LEFT, NAME_COLUMNS, "phase");
    paint_cell(&paint, COLOR_DIM, ALIGN_RIGHT, CALL_COLUMNS, "calls");
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (shown[i])
            paint_cell(&paint, COLOR_DIM, ALIGN_RIGHT, NUMBER_COLUMNS, COLUMNS[i].title);
    paint_end(&paint);
    for (size_t i = 0; i < phases->count; i++)
        phase_line(&paint, &phases->items[i], view, shown);
    notes(&paint, phases);
    return paint_done(&paint);
}

/* ---- JSON ---- */

static void put_statistics(struct json_form *form, const struct statistics *statistics, double std,
                           bool total)
{
    bool known = statistics->count > 0;
    form_begin(form, '{');
    form_put_number(form, "min", known ? statistics->min : (double)NAN);
    form_put_number(form, "max", known ? statistics->max : (double)NAN);
    form_put_number(form, "mean", known ? statistics->mean : (double)NAN);
    form_put_number(form, "std", std);
    if (total)
        form_put_number(form, "total", statistics->total);
    form_end(form, '}');
}

void phases_json(const void *data, struct json_form *form)
{
    const struct phases *phases = data;
    form_begin(form, '[');
    for (size_t i = 0; i < phases->count; i++) {
        const struct phase *phase = &phases->items[i];
        form_begin(form, '{');
        form_put_string(form, "name", phase->name);
        form_put_count(form, "num_timepoints", phase->timepoints);
        form_put_count(form, "num_calls", phase->calls);
        form_put_count(form, "num_open_calls", phase->open);
        form_put_count(form, "num_non_empty_calls", phase->non_empty);
        form_key(form, "compute_seconds");
        put_statistics(form, &phase->seconds, statistics_deviation(&phase->seconds), true);
        form_begin_member(form, "resource_usage", '[');
        for (size_t j = 0; j < phase->measure_count; j++) {
            const struct phase_measure *measure = &phase->measures[j];
            const struct series *series = measure->series;
            form_begin(form, '{');
            form_put_string(form, "name", series->name);
            if (series->subject[0] != '\0')
                form_put_string(form, "subject", series->subject);
            form_put_string(form, "unit", series->unit);
            form_put_string(form, "availability",
                            vitals_availability_name(phase_measure_state(measure)));
            if (series->counter) {
                form_put_number(form, "growth", measure->growth);
            } else {
                form_put_count(form, "count", measure->values.count);
                form_key(form, "values");
                put_statistics(form, &measure->values, statistics_deviation(&measure->values),
                               false);
            }
            form_end(form, '}');
        }
        form_end(form, ']');
        form_end(form, '}');
    }
    form_end(form, ']');
}

/* ---- gpu_tracker's ---- */

static const char *unit_or(const char *unit, const char *otherwise)
{
    return unit != NULL ? unit : otherwise;
}

static double devices_of(const vitals_account *account)
{
    vitals_availability state;
    double devices = words_number(words_find(account, "devices", "peak", "system"), &state);
    return state > 0 ? devices : 0;
}

bool gpu_tracker_statistics(const struct phase *phase, const vitals_account *account,
                            const struct account_view *view, size_t index, struct statistics *out)
{
    const struct gpu_tracker_column *column = &GPU_TRACKER_DATA_COLUMNS[index];
    const char *subject = scope_subject(column->scope), *unit = NULL;
    bool of_hardware = column->kind == GT_GPUS;
    double factor = column->kind == GT_AS_IT_IS ? column->scale : 1;
    if (column->kind == GT_RAM)
        unit = unit_or(view->memory_unit, "gigabytes");
    else if (column->kind == GT_GPU_RAM)
        unit = unit_or(view->gpu_memory_unit, "gigabytes");
    if (unit != NULL && vitals_usage_convert(1, unit, "bytes", &factor) == 0)
        factor = 1 / factor;

    /* gpu_tracker's own file has the share of the hardware; a file may lack the larger memory. */
    const struct phase_measure *found = phase_measure_of(
        phase, of_hardware ? column->name : column->measure, subject);
    if (found == NULL && of_hardware) {
        double devices = devices_of(account);
        found = phase_measure_of(phase, column->measure, subject);
        factor = devices > 0 ? 100 / devices : 0; /* 0: not known */
    } else if (found == NULL && strcmp(column->measure, "memory_both_bytes") == 0) {
        found = phase_measure_of(phase, "memory_resident_bytes", subject);
    }
    if (found == NULL || found->values.count == 0 || factor == 0)
        return false;
    *out = found->values;
    out->min *= factor;
    out->max *= factor;
    out->mean *= factor;
    out->square_sum *= factor * factor;
    return true;
}

static void put_measures(struct json_form *form, const char *key, const struct phase *phase,
                         const vitals_account *account, const struct account_view *view)
{
    form_begin_member(form, key, '{');
    for (size_t i = 0; i < GPU_TRACKER_MEASURES; i++) {
        struct statistics statistics = {0};
        (void)gpu_tracker_statistics(phase, account, view, i, &statistics);
        form_key(form, GPU_TRACKER_DATA_COLUMNS[i].name);
        put_statistics(form, &statistics, statistics_gpu_tracker_std(&statistics), false);
    }
    form_end(form, '}');
}

static void put_known(struct json_form *form, const char *key, bool known, double value,
                      bool is_float)
{
    bool before = form->floats;
    form->floats = is_float;
    form_put_number(form, key, known ? value : (double)NAN);
    form->floats = before;
}

static void put_capacity(struct json_form *form, const char *key, const vitals_account *account,
                         const char *measure, const char *unit)
{
    vitals_availability state;
    double bytes = words_number(words_find(account, measure, "peak", "system"), &state);
    bool known = state > 0 && vitals_usage_convert(bytes, "bytes", unit, &bytes) == 0;
    put_known(form, key, known, bytes, true);
}

static void put_static_data(struct json_form *form, const vitals_account *account,
                            const struct account_view *view)
{
    const char *memory = unit_or(view->memory_unit, "gigabytes");
    const char *gpu_memory = unit_or(view->gpu_memory_unit, "gigabytes");
    double cores = words_attribute_number(account, "system_cores"), devices = devices_of(account);
    double expected = words_attribute_number(account, "expected_cores");
    double expected_gpus = words_attribute_number(account, "expected_gpus");
    bool told = words_find(account, "devices", "peak", "system") != NULL;
    form_begin_member(form, "static_data", '{');
    form_put_string(form, "ram_unit", memory);
    form_put_string(form, "gpu_ram_unit", gpu_memory);
    form_put_string(form, "time_unit", unit_or(view->time_unit, "hours"));
    put_capacity(form, "ram_system_capacity", account, "memory_total_bytes", memory);
    put_capacity(form, "gpu_ram_system_capacity", account, "device_memory_total_bytes", gpu_memory);
    put_known(form, "system_core_count", cores > 0, cores, false);
    put_known(form, "n_expected_cores", expected > 0, expected, false);
    put_known(form, "system_gpu_count", told, devices, false);
    put_known(form, "n_expected_gpus", told, expected_gpus > 0 ? expected_gpus : devices, false);
    form_end(form, '}');
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct phase *)a)->name, ((const struct phase *)b)->name);
}

int phases_gpu_tracker(const struct phases *phases, const vitals_account *account,
                       const struct account_view *view, vitals_write_fn *write, void *data)
{
    struct json_form form;
    struct phase *sorted = calloc(phases->count + 1, sizeof *sorted);
    if (sorted == NULL)
        return -1;
    memcpy(sorted, phases->items, phases->count * sizeof *sorted); /* gpu_tracker sorts by name */
    qsort(sorted, phases->count, sizeof *sorted, by_name);

    json_form_init(&form, 1, write, data);
    form.floats = true;
    form_begin(&form, '{');
    put_measures(&form, "overall", &phases->whole, account, view);
    put_static_data(&form, account, view);
    form_begin_member(&form, "code_block_results", '[');
    for (size_t i = 0; i < phases->count; i++) {
        const struct phase *phase = &sorted[i];
        form_begin(&form, '{');
        form_put_string(&form, "name", phase->name);
        form_put_count(&form, "num_timepoints", phase->timepoints);
        form_put_count(&form, "num_calls", phase->calls);
        form_put_count(&form, "num_non_empty_calls", phase->non_empty);
        form_key(&form, "compute_time");
        put_statistics(&form, &phase->seconds, statistics_gpu_tracker_std(&phase->seconds), true);
        put_measures(&form, "resource_usage", phase, account, view);
        form_end(&form, '}');
    }
    form_end(&form, ']');
    form_end(&form, '}');
    free(sorted);
    return form.failed != 0 ? form.failed : write(data, "\n", 1);
}
