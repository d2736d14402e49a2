/* recording_data.c: see recording_data.h. */
#include "record/recording_data.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
    (void)vitals_text_format((vitals_text){raw, strlen(raw)}, VITALS_TEXT_ASCII, line, sizeof line);
    if (line[0] != '\0' && recording->problem.size > 0)
        text_byte(&recording->problem, '\n');
    text_string(&recording->problem, line);
}

/* ---- series ---- */

/* True if formatting changed only backslashes: the text was made safe when it was recorded, and
 * doing so again would double them. */
static bool is_safe(const char *text, const char *formatted)
{
    for (; *text != '\0'; text++, formatted++) {
        if (*text != *formatted)
            return false;
        if (*text == '\\' && formatted[1] == '\\' && text[1] != '\\')
            formatted++;
    }
    return *formatted == '\0';
}

static void make_safe(const char *text, char *out, size_t capacity)
{
    size_t size = strlen(text);
    (void)vitals_text_format((vitals_text){text, size}, VITALS_TEXT_TERMINAL, out, capacity);
    if (size < capacity && is_safe(text, out))
        memcpy(out, text, size + 1);
}

/* Returns a copy that is safe to print. */
static char *safe_copy(const char *text)
{
    char safe[COLUMN_WORDS];
    make_safe(text, safe, sizeof safe);
    return strdup(safe);
}

static bool grow(void **array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t wanted = *capacity > 0 ? *capacity * 2 : 64;
    void *grown = realloc(*array, wanted * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

/* Makes room for one more series in all arrays. */
static bool grow_series(struct recording *recording)
{
    size_t capacity = recording->series_capacity;
    if (recording->series_count < capacity)
        return true;
    size_t wanted = capacity > 0 ? capacity * 2 : 64;
    void *series = realloc(recording->series, wanted * sizeof *recording->series);
    recording->series = series != NULL ? series : recording->series;
    void *aggregates = realloc(recording->aggregates, wanted * sizeof *recording->aggregates);
    recording->aggregates = aggregates != NULL ? aggregates : recording->aggregates;
    void *row = realloc(recording->row, wanted * sizeof *recording->row);
    recording->row = row != NULL ? row : recording->row;
    void *ages = realloc(recording->ages, wanted * sizeof *recording->ages);
    recording->ages = ages != NULL ? ages : recording->ages;
    void *own = realloc(recording->own, wanted * sizeof *recording->own);
    recording->own = own != NULL ? own : recording->own;
    if (series == NULL || aggregates == NULL || row == NULL || ages == NULL || own == NULL)
        return false;
    recording->series_capacity = wanted;
    return true;
}

/* Makes the values of a new series, missing in all rows before. */
static double *empty_column(const struct recording *recording)
{
    size_t capacity = recording->rows_capacity > 0 ? recording->rows_capacity : 1;
    double *values = malloc(capacity * sizeof *values);
    for (size_t i = 0; i < recording->rows && values != NULL; i++)
        values[i] = (double)NAN;
    return values;
}

/* SIZE_MAX: there is none. */
static size_t find_series(struct recording *recording, const char *name, const char *subject)
{
    for (size_t i = 0; i < recording->series_count; i++) {
        size_t at = (recording->series_next + i) % recording->series_count;
        if (strcmp(recording->series[at].name, name) != 0 ||
            strcmp(recording->series[at].subject, subject) != 0)
            continue;
        recording->series_next = at + 1;
        return at;
    }
    return SIZE_MAX;
}

size_t recording_series_index(struct recording *recording, const char *name, const char *unit,
                              const char *subject, bool counter)
{
    size_t known = find_series(recording, name, subject);
    if (known != SIZE_MAX)
        return known;
    if (recording->series_count == SERIES_READ_MAX || !grow_series(recording)) {
        recording->no_memory = recording->no_memory || recording->series_count != SERIES_READ_MAX;
        return SIZE_MAX;
    }
    size_t index = recording->series_count;
    double *values = empty_column(recording);
    struct series *series = &recording->series[index];
    *series = (struct series){.name = safe_copy(name),
                              .unit = safe_copy(unit),
                              .subject = safe_copy(subject),
                              .label = strdup(""),
                              .counter = counter,
                              .values = values};
    bool rate = strcmp(unit, "cores") == 0 || strcmp(unit, "ratio") == 0;
    recording->aggregates[index] = (struct aggregate){.rate = rate};
    recording->row[index] = (double)NAN;
    recording->ages[index] = 0;
    recording->own[index] = NULL;
    recording->series_count++;
    if (values == NULL || series->name == NULL || series->unit == NULL || series->subject == NULL ||
        series->label == NULL)
        recording->no_memory = true;
    return recording->no_memory ? SIZE_MAX : index;
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
    char *copy = index < recording->series_count ? safe_copy(label) : NULL;
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
        recording->row[i] = (double)NAN;
        recording->ages[i] = 0;
    }
}

/* Gives a series read times of its own; until then those of the rows hold. */
static bool has_own_seconds(struct recording *recording, size_t index)
{
    size_t capacity = recording->rows_capacity > 0 ? recording->rows_capacity : 1;
    double **own = &recording->own[index];
    if (*own != NULL)
        return true;
    *own = malloc(capacity * sizeof **own);
    if (*own != NULL && recording->rows > 0)
        memcpy(*own, recording->seconds, recording->rows * sizeof **own);
    recording->no_memory = recording->no_memory || *own == NULL;
    return *own != NULL;
}

void recording_age(struct recording *recording, size_t index, double age_seconds)
{
    if (index < recording->series_count && age_seconds > 0 && has_own_seconds(recording, index))
        recording->ages[index] = age_seconds;
}

/* Returns when the value of this row was read: never earlier than the one before it; a missing
 * value takes that one's time. */
static double own_seconds(const struct recording *recording, size_t index)
{
    double read = recording->row_seconds - recording->ages[index];
    if (recording->rows == 0)
        return read;
    double before = recording->own[index][recording->rows - 1];
    return isnan(recording->row[index]) || read < before ? before : read;
}

void recording_value(struct recording *recording, size_t index, double value)
{
    if (index < recording->series_count && isfinite(value))
        recording->row[index] = value;
}

void recording_growth(struct recording *recording, size_t index, double growth)
{
    if (index >= recording->series_count || !isfinite(growth))
        return;
    recording->aggregates[index].total += growth > 0 ? growth : 0;
    recording->row[index] = recording->aggregates[index].total;
}

/* Drops every second row of the curves. Sums and peaks see all rows. */
static void thin(struct recording *recording)
{
    size_t kept = (recording->rows + 1) / 2;
    for (size_t i = 0; i < recording->series_count; i++) {
        double *values = (double *)recording->series[i].values;
        for (size_t row = 0; row < kept; row++)
            values[row] = values[2 * row];
        double *own = recording->own[i];
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
        double *own = recording->own[i];
        if (own != NULL && (own = realloc(own, wanted * sizeof *own)) == NULL)
            return false;
        recording->own[i] = own;
    }
    recording->rows_capacity = wanted;
    return true;
}

static void aggregate_value(struct aggregate *aggregate, double seconds, double value)
{
    double window = seconds - aggregate->last_seconds;
    if (aggregate->count == 0) {
        aggregate->first = aggregate->least = aggregate->largest = value;
    } else if (window > 0) {
        aggregate->area += window * (aggregate->rate ? value : (value + aggregate->last) / 2);
        aggregate->weight += window;
    }
    if (aggregate->count > 0)
        aggregate->growth += value >= aggregate->last ? value - aggregate->last : value;
    aggregate->least = value < aggregate->least ? value : aggregate->least;
    aggregate->largest = value > aggregate->largest ? value : aggregate->largest;
    aggregate->last = value;
    aggregate->last_seconds = seconds;
    aggregate->count++;
}

static void aggregate_row(struct recording *recording)
{
    if (recording->rows_told > 1 && recording->row_seconds < recording->last_seconds)
        recording->backwards++;
    if (recording->rows_told == 1)
        recording->first_seconds = recording->row_seconds;
    recording->last_seconds = recording->row_seconds;
    for (size_t i = 0; i < recording->series_count; i++) {
        struct aggregate *aggregate = &recording->aggregates[i];
        if (isfinite(recording->row[i]))
            aggregate_value(aggregate, recording->row_seconds, recording->row[i]);
        else
            aggregate->last_seconds = recording->row_seconds; /* a gap is not part of the mean */
    }
}

void recording_row_end(struct recording *recording)
{
    if (recording->no_memory)
        return;
    if (recording->stride == 0)
        recording->stride = 1;
    recording->rows_told++;
    aggregate_row(recording);
    if ((recording->rows_told - 1) % recording->stride != 0)
        return;
    if (recording->rows > 1 && (recording->rows + 1) * (recording->series_count + 1) > CELLS_MAX) {
        thin(recording);
        if ((recording->rows_told - 1) % recording->stride != 0)
            return;
    }
    if (!grow_rows(recording)) {
        recording->no_memory = true;
        return;
    }
    recording->seconds[recording->rows] = recording->row_seconds;
    for (size_t i = 0; i < recording->series_count; i++) {
        ((double *)recording->series[i].values)[recording->rows] = recording->row[i];
        if (recording->own[i] != NULL)
            recording->own[i][recording->rows] = own_seconds(recording, i);
    }
    recording->rows++;
}

/* ---- phases: what began and ended in one thread ---- */

/* Finds the newest open phase of that name: of the thread, otherwise of the process, otherwise of
 * all. */
static size_t find_open(const struct recording *recording, const char *name, int64_t pid,
                        int64_t tid)
{
    size_t of_process = SIZE_MAX, of_all = SIZE_MAX;
    for (size_t i = recording->open_count; i-- > 0;) {
        const struct open_phase *open = &recording->open[i];
        if (strcmp(recording->phases[open->phase].name, name) != 0)
            continue;
        if (pid != 0 && open->pid == pid && open->tid == tid)
            return i;
        if (of_process == SIZE_MAX && pid != 0 && open->pid == pid)
            of_process = i;
        if (of_all == SIZE_MAX)
            of_all = i;
    }
    return of_process != SIZE_MAX ? of_process : of_all;
}

static void end_phase(struct recording *recording, const char *name, double seconds, int64_t pid,
                      int64_t tid)
{
    size_t at = find_open(recording, name, pid, tid);
    if (at == SIZE_MAX) {
        recording->ends_lost++;
        return;
    }
    recording->phases[recording->open[at].phase].end = seconds;
    memmove(&recording->open[at], &recording->open[at + 1],
            (recording->open_count - at - 1) * sizeof *recording->open);
    recording->open_count--;
}

void recording_mark(struct recording *recording, bool begins, const char *name, double seconds,
                    int64_t pid, int64_t tid)
{
    char safe[COLUMN_WORDS * 2];
    int depth = 0;
    make_safe(name, safe, sizeof safe);
    if (!begins) {
        end_phase(recording, safe, seconds, pid, tid);
        return;
    }
    if (recording->open == NULL)
        recording->open = malloc(PHASES_OPEN_MAX * sizeof *recording->open);
    if (recording->open == NULL || recording->open_count == PHASES_OPEN_MAX ||
        recording->phase_count == PHASES_MAX ||
        !grow((void **)&recording->phases, recording->phase_count, &recording->phase_capacity,
              sizeof *recording->phases)) {
        recording->phases_lost++;
        return;
    }
    for (size_t i = 0; i < recording->open_count; i++)
        depth += recording->open[i].pid == pid && recording->open[i].tid == tid;
    char *copy = strdup(safe);
    if (copy == NULL) {
        recording->no_memory = true;
        return;
    }
    recording->phases[recording->phase_count] = (struct recorded_phase){copy, seconds, (double)NAN,
                                                                        pid,  tid,     depth};
    recording->open[recording->open_count++] = (struct open_phase){recording->phase_count++, pid,
                                                                   tid};
}

/* ---- the account ---- */

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
    static const struct {
        const char *unit;
        double most;
    } MOST[] = {{"bytes", 0x1p64}, {"seconds", 1e10}};
    for (size_t i = 0; i < sizeof MOST / sizeof MOST[0]; i++) {
        if (strcmp(unit, MOST[i].unit) == 0)
            return value >= 0 && value <= MOST[i].most;
    }
    return true;
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
