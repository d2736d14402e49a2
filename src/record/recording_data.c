/* recording_data.c: see recording_data.h. */
#include "record/recording_data.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/base.h"
#include "util/memory.h"

void recording_wrong(struct recording *recording, const char *format, ...)
{
    enum { PROBLEM_MAX = 4096 };
    char raw[400], line[400];
    va_list arguments;
    if (recording->problem.size > PROBLEM_MAX)
        return;
    va_start(arguments, format);
    (void)vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    (void)vitals_text_format(vitals_text_of(raw), VITALS_TEXT_ASCII, line, sizeof line);
    if (line[0] != '\0' && recording->problem.size > 0)
        buffer_byte(&recording->problem, '\n');
    buffer_string(&recording->problem, line);
}

/* ---- series ---- */

enum { MARK_WORDS = 2 * COLUMN_WORDS };

/* Returns a copy of at most `most` bytes, with the NUL, that is safe to print. Where formatting
 * would change only backslashes, the text was made safe when it was recorded: doing so again would
 * double them. */
static char *safe_copy(const char *text, size_t most)
{
    char safe[MARK_WORDS];
    size_t size = strlen(text);
    (void)vitals_text_format((vitals_text){text, size}, VITALS_TEXT_TERMINAL, safe, most);

    const char *from = text, *to = safe;
    for (; *from != '\0' && *from == *to; from++, to++)
        if (*from == '\\' && to[1] == '\\' && from[1] != '\\')
            to++;
    return strdup(*from == '\0' && *to == '\0' ? text : safe);
}

size_t recording_series_index(struct recording *recording, const char *name, const char *unit,
                              const char *subject, bool counter)
{
    size_t index = recording->series_count;
    for (size_t i = 0; i < index; i++) {
        size_t at = (recording->series_next + i) % index;
        if (strcmp(recording->series[at].name, name) != 0 ||
            strcmp(recording->series[at].subject, subject) != 0)
            continue;
        recording->series_next = at + 1;
        return at;
    }
    if (index == SERIES_READ_MAX)
        return SIZE_MAX;

    if (index == recording->series_capacity) {
        size_t wanted = index > 0 ? index * 2 : 64;
        void *series = realloc(recording->series, wanted * sizeof *recording->series);
        recording->series = series != NULL ? series : recording->series;
        void *states = realloc(recording->states, wanted * sizeof *recording->states);
        recording->states = states != NULL ? states : recording->states;
        if (series == NULL || states == NULL) {
            recording->no_memory = true;
            return SIZE_MAX;
        }
        recording->series_capacity = wanted;
    }
    size_t rows = recording->rows_capacity > 0 ? recording->rows_capacity : 1;
    double *values = malloc(rows * sizeof *values);
    for (size_t i = 0; i < recording->rows && values != NULL; i++)
        values[i] = (double)NAN; /* missing in all rows before */
    struct series *series = &recording->series[index];
    *series = (struct series){.name = safe_copy(name, COLUMN_WORDS),
                              .unit = safe_copy(unit, COLUMN_WORDS),
                              .subject = safe_copy(subject, COLUMN_WORDS),
                              .label = strdup(""),
                              .counter = counter,
                              .values = values};
    bool rate = strcmp(unit, "cores") == 0 || strcmp(unit, "ratio") == 0;
    recording->states[index] = (struct series_state){.aggregate.rate = rate, .value = (double)NAN};
    recording->series_count++;
    if (values == NULL || series->name == NULL || series->unit == NULL || series->subject == NULL ||
        series->label == NULL)
        recording->no_memory = true;
    return recording->no_memory ? SIZE_MAX : index;
}

size_t recording_measure_index(struct recording *recording, const char *measure,
                               const char *subject)
{
    vitals_measure known = vitals_measure_find(measure);
    return recording_series_index(recording, measure, known != 0 ? vitals_measure_unit(known) : "",
                                  subject, known != 0 && vitals_measure_is_counter(known));
}

const struct series *recording_find(const struct recording *recording, const char *name,
                                    const char *subject)
{
    for (size_t i = 0; i < recording->series_count; i++)
        if (strcmp(recording->series[i].name, name) == 0 &&
            strcmp(recording->series[i].subject, subject) == 0)
            return &recording->series[i];
    return NULL;
}

void recording_series_label(struct recording *recording, size_t index, const char *label)
{
    char *copy = index < recording->series_count ? safe_copy(label, COLUMN_WORDS) : NULL;
    if (copy == NULL)
        return;
    free((char *)recording->series[index].label);
    recording->series[index].label = copy;
}

/* ---- rows ---- */

void recording_row(struct recording *recording, double seconds)
{
    recording->row_seconds = seconds;
    for (size_t i = 0; i < recording->series_count; i++) {
        recording->states[i].value = (double)NAN;
        recording->states[i].age = 0;
    }
}

/* Gives the series read times of its own; until then those of the rows hold. */
void recording_age(struct recording *recording, size_t index, double age_seconds)
{
    if (index >= recording->series_count || age_seconds <= 0)
        return;
    struct series_state *state = &recording->states[index];
    if (state->own == NULL) {
        size_t capacity = recording->rows_capacity > 0 ? recording->rows_capacity : 1;
        state->own = malloc(capacity * sizeof *state->own);
        if (state->own == NULL) {
            recording->no_memory = true;
            return;
        }
        if (recording->rows > 0)
            memcpy(state->own, recording->seconds, recording->rows * sizeof *state->own);
    }
    state->age = age_seconds;
}

void recording_value(struct recording *recording, size_t index, double value)
{
    if (index < recording->series_count && isfinite(value))
        recording->states[index].value = value;
}

void recording_growth(struct recording *recording, size_t index, double growth)
{
    if (index >= recording->series_count || !isfinite(growth))
        return;
    struct series_state *state = &recording->states[index];
    state->aggregate.total += growth > 0 ? growth : 0;
    state->value = state->aggregate.total;
}

/* Drops every second row of the curves. Sums and peaks see all rows. */
static void thin(struct recording *recording)
{
    size_t kept = (recording->rows + 1) / 2;
    for (size_t i = 0; i < recording->series_count; i++) {
        double *values = (double *)recording->series[i].values;
        for (size_t row = 0; row < kept; row++)
            values[row] = values[2 * row];
        double *own = recording->states[i].own;
        for (size_t row = 0; own != NULL && row < kept; row++)
            own[row] = own[2 * row];
    }
    for (size_t row = 0; row < kept; row++)
        recording->seconds[row] = recording->seconds[2 * row];
    recording->rows = kept;
    recording->stride *= 2;
}

static bool grow_rows(struct recording *recording)
{
    if (recording->rows < recording->rows_capacity)
        return true;
    size_t wanted = recording->rows_capacity > 0 ? recording->rows_capacity * 2 : 256;
    double *seconds = realloc(recording->seconds, wanted * sizeof *seconds);
    if (seconds == NULL)
        return false;
    recording->seconds = seconds;
    for (size_t i = 0; i < recording->series_count; i++) {
        double *values = realloc((double *)recording->series[i].values, wanted * sizeof *values);
        if (values == NULL)
            return false;
        recording->series[i].values = values;
        double *own = recording->states[i].own;
        if (own != NULL && (own = realloc(own, wanted * sizeof *own)) == NULL)
            return false;
        recording->states[i].own = own;
    }
    recording->rows_capacity = wanted;
    return true;
}

static void aggregate_row(struct recording *recording)
{
    double seconds = recording->row_seconds;
    if (recording->rows_seen > 1 && seconds < recording->last_seconds)
        recording->backwards++;
    if (recording->rows_seen == 1)
        recording->first_seconds = seconds;
    recording->last_seconds = seconds;

    for (size_t i = 0; i < recording->series_count; i++) {
        struct aggregate *aggregate = &recording->states[i].aggregate;
        double value = recording->states[i].value, window = seconds - aggregate->last_seconds;
        aggregate->last_seconds = seconds; /* a gap is not part of the mean */
        if (!isfinite(value))
            continue;
        if (aggregate->count == 0) {
            aggregate->least = aggregate->largest = value;
        } else {
            aggregate->growth += value >= aggregate->last ? value - aggregate->last : value;
            if (window > 0) {
                double mean = aggregate->rate ? value : (value + aggregate->last) / 2;
                aggregate->area += window * mean;
                aggregate->weight += window;
            }
        }
        aggregate->least = value < aggregate->least ? value : aggregate->least;
        aggregate->largest = value > aggregate->largest ? value : aggregate->largest;
        aggregate->last = value;
        aggregate->count++;
    }
}

void recording_row_end(struct recording *recording)
{
    if (recording->no_memory)
        return;
    if (recording->stride == 0)
        recording->stride = 1;
    recording->rows_seen++;
    aggregate_row(recording);
    if ((recording->rows_seen - 1) % recording->stride != 0)
        return;
    if (recording->rows > 1 && (recording->rows + 1) * (recording->series_count + 1) > CELLS_MAX) {
        thin(recording);
        if ((recording->rows_seen - 1) % recording->stride != 0)
            return;
    }
    if (!grow_rows(recording)) {
        recording->no_memory = true;
        return;
    }

    size_t row = recording->rows++;
    recording->seconds[row] = recording->row_seconds;
    for (size_t i = 0; i < recording->series_count; i++) {
        const struct series_state *state = &recording->states[i];
        double read = recording->row_seconds - state->age;
        ((double *)recording->series[i].values)[row] = state->value;
        if (state->own == NULL)
            continue;
        /* Never earlier than the value before it; a missing value takes that one's time. */
        bool as_before = row > 0 && (isnan(state->value) || read < state->own[row - 1]);
        state->own[row] = as_before ? state->own[row - 1] : read;
    }
}

/* ---- phases: what began and ended in one thread ---- */

/* Ends the newest open phase of that name: of the thread, otherwise of the process, otherwise of
 * all. */
static void end_phase(struct recording *recording, const char *name, double seconds, int64_t pid,
                      int64_t tid)
{
    size_t of_thread = SIZE_MAX, of_process = SIZE_MAX, of_all = SIZE_MAX;
    for (size_t i = 0; i < recording->open_count; i++) {
        const struct open_phase *open = &recording->open[i];
        if (strcmp(recording->phases[open->phase].name, name) != 0)
            continue;
        of_all = i;
        if (pid != 0 && open->pid == pid)
            of_process = i;
        if (pid != 0 && open->pid == pid && open->tid == tid)
            of_thread = i;
    }
    size_t at = of_thread != SIZE_MAX ? of_thread : of_process != SIZE_MAX ? of_process : of_all;
    if (at == SIZE_MAX) {
        recording->ends_lost++;
        return;
    }
    recording->phases[recording->open[at].phase].end = seconds;
    recording->open_count--;
    memmove(&recording->open[at], &recording->open[at + 1],
            (recording->open_count - at) * sizeof *recording->open);
}

void recording_mark(struct recording *recording, bool begins, const char *name, double seconds,
                    int64_t pid, int64_t tid)
{
    int depth = 0;
    char *copy = safe_copy(name, MARK_WORDS);
    if (copy == NULL) {
        recording->no_memory = true;
        return;
    }
    if (!begins) {
        end_phase(recording, copy, seconds, pid, tid);
        free(copy);
        return;
    }

    if (recording->open == NULL)
        recording->open = malloc(PHASES_OPEN_MAX * sizeof *recording->open);
    if (recording->open == NULL || recording->open_count == PHASES_OPEN_MAX ||
        recording->phase_count == RECORDED_PHASES_MAX ||
        MEMORY_GROW(recording->phases, recording->phase_capacity, recording->phase_count) != 0) {
        recording->phases_lost++;
        free(copy);
        return;
    }
    for (size_t i = 0; i < recording->open_count; i++)
        depth += recording->open[i].pid == pid && recording->open[i].tid == tid;
    recording->phases[recording->phase_count] = (struct recorded_phase){copy, seconds, (double)NAN,
                                                                        pid,  tid,     depth};
    recording->open[recording->open_count++] = (struct open_phase){recording->phase_count++, pid,
                                                                   tid};
}

/* ---- the account ---- */

static void add_figure(struct recording *recording, const struct series *series, const char *name,
                       double value)
{
    const vitals_figure_form form = {.size = sizeof(vitals_figure_form),
                                     .name = name,
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

static void add_statistic(struct recording *recording, const struct series *series,
                          const char *statistic, double value)
{
    char name[COLUMN_WORDS];
    statistic_name(series->name, series->unit, statistic, name);
    add_figure(recording, series, name, value);
}

/* A gauge gives its peak, its mean over time and its minimum; a counter gives its growth. The wall
 * time and the memory peak come first: reports print them first. */
void aggregate_account(struct recording *recording)
{
    static const char *const MEMORIES[] = {"memory_both_bytes", "memory_pss_bytes",
                                           "memory_resident_bytes"};
    const struct series wall = {.unit = "seconds", .subject = "", .label = ""};
    const struct series high = {.unit = "bytes", .subject = "", .label = ""};
    bool any = recording->rows_seen > 0;
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

/* Sets an attribute. Names that are invalid are dropped: the file may be hostile. */
void recording_attribute(struct recording *recording, const char *name, vitals_text text)
{
    vitals_error error;
    if (text.size > TEXT_READ_MAX)
        text.size = TEXT_READ_MAX;
    if (vitals_account_set(recording->account, name, text, &error) == VITALS_EMEMORY)
        recording_wrong(recording, "it has more attributes than there is room for");
}

bool recording_is_possible(const char *unit, double value)
{
    if (strcmp(unit, "bytes") == 0)
        return value >= 0 && value <= 0x1p64;
    return strcmp(unit, "seconds") != 0 || (value >= 0 && value <= 1e10);
}

void recording_figure(struct recording *recording, const vitals_figure_form *form)
{
    vitals_error error;
    if (form->state > 0 && !recording_is_possible(form->unit, form->value)) {
        recording_wrong(recording, "%.64s of its account is %g %s, which no machine has",
                        form->name, form->value, form->unit);
        return;
    }
    int code = vitals_account_add(recording->account, form, &error);
    if (code == VITALS_EMEMORY)
        recording->no_memory = true;
    else if (code < 0)
        recording_wrong(recording, "a figure of its account is none: %s", error.message);
    else
        recording->account_stored = true;
}
