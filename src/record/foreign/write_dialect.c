/* write_dialect.c: writes files as resource-tracker does, by the tables of dialect.c.
 *
 * A row holds growth since the row before, so the first sample gives the header instead of a row. A
 * value that cannot be read is 0, as in that tool's files. */
#include "record/foreign/dialect.h"
#include "record/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/decimal.h"

enum { COLUMNS_MAX = 64 };

struct dialect_state {
    const struct dialect *dialect;
    bool begun;
    double before[COLUMNS_MAX]; /* of each column that holds growth */
};

/* A family of formats: selects one of its dialects. */
struct write_dialect_family {
    const struct dialect *process, *system; /* without `process`, or for a machine, `system` */
};

static double column_value(const struct dialect_column *column, const struct record_sample *sample)
{
    double sum = 0;
    int plus = column->plus > 0 ? column->plus : 1;
    for (int i = 0; i < DIALECT_TERMS && column->measures[i] != NULL; i++) {
        const vitals_usage_value *value = sample_find(sample, column->measures[i], column->scope);
        if (value == NULL || value->state <= 0)
            return 0;
        sum += i < plus ? value->value : -value->value;
    }
    return sum / (column->scale > 0 ? column->scale : 1);
}

/* Remembers the value of a column that holds growth. */
static double number_of(struct recorder *recorder, const struct dialect_column *column,
                        const struct record_sample *sample, size_t place)
{
    struct dialect_state *state = recorder->state;
    switch (column->kind) {
    case DIALECT_TIME: return (double)(sample->realtime_ns / 1000) / 1e6;
    case DIALECT_PID: return atof(recorder_attribute_text(recorder, "pid"));
    case DIALECT_BOOT: {
        double value = 0;
        const vitals_row *host = sample->snapshot != NULL
                                     ? vitals_snapshot_next(sample->snapshot, VITALS_HOST, NULL)
                                     : NULL;
        return host != NULL && vitals_row_number(host, column->metric, &value) > 0 ? value : 0;
    }
    case DIALECT_GROWTH: {
        double now = column_value(column, sample), before = state->before[place];
        if (column->decimals == -1)
            now = round(now); /* so that the rows add up */
        state->before[place] = now;
        return now > before && state->begun ? now - before : 0;
    }
    case DIALECT_GAUGE:
    case DIALECT_CHILDREN: break;
    }
    return column_value(column, sample);
}

typedef void each_column(struct recorder *recorder, const struct dialect *part, size_t index,
                         size_t place, const struct record_sample *sample);

static void for_each(struct recorder *recorder, const struct record_sample *sample,
                     each_column *each)
{
    struct dialect_state *state = recorder->state;
    size_t place = 0;
    for (const struct dialect *part = state->dialect; part != NULL; part = part->then)
        for (size_t i = part == state->dialect ? 0 : 1; i < part->count; i++, place++) {
            if (place > 0)
                text_file_put(&recorder->file, ",");
            each(recorder, part, i, place, sample);
        }
}

static void put_title(struct recorder *recorder, const struct dialect *part, size_t index,
                      size_t place, const struct record_sample *sample)
{
    char name[COLUMN_WORDS];
    (void)number_of(recorder, &part->columns[index], sample, place);
    (void)snprintf(name, sizeof name, "%s%s", place > 0 && part->prefix != NULL ? part->prefix : "",
                   part->columns[index].name);
    text_file_field(&recorder->file, name, true);
}

static void put_value(struct recorder *recorder, const struct dialect *part, size_t index,
                      size_t place, const struct record_sample *sample)
{
    const struct dialect_column *column = &part->columns[index];
    double value = number_of(recorder, column, sample, place);
    char words[NUMBER_WORDS];
    if (column->kind == DIALECT_CHILDREN && value <= 0)
        (void)snprintf(words, sizeof words, "\"\"");
    else if (column->decimals == -2)
        number_shortest(value, words);
    else
        number_rounded(value, column->decimals == -1 ? 0 : column->decimals, column->real, words);
    text_file_put(&recorder->file, words);
}

static int dialect_sample(struct recorder *recorder, const struct record_sample *sample,
                          vitals_error *error)
{
    struct dialect_state *state = recorder->state;
    if (!state->begun) {
        const struct write_dialect_family *family = recorder->format->table;
        bool tree = sample_find(sample, "cpu_seconds", VITALS_SCOPE_TREE) != NULL;
        state->dialect = tree ? family->process : family->system;
        if (!recorder->options.no_header) {
            for_each(recorder, sample, put_title);
            state->begun = true;
            return text_file_end_line(&recorder->file, error);
        }
    }

    /* The file ends when the tracked processes have ended. The first sample of a run may come
     * before its process. */
    const vitals_usage_value *living = sample_find(sample, "processes", VITALS_SCOPE_TREE);
    bool of_process = state->dialect == &DIALECT_PROCESS || state->dialect == &DIALECT_OLD_PROCESS;
    bool ended = of_process && living != NULL && living->state > 0 && living->value <= 0;
    bool none_yet = !state->begun && state->dialect->columns[1].kind == DIALECT_PID &&
                    recorder_attribute_text(recorder, "pid")[0] == '\0' && living != NULL &&
                    (living->state <= 0 || living->value <= 0);
    if (ended || none_yet)
        return 0;
    for_each(recorder, sample, put_value);
    state->begun = true;
    return text_file_end_line(&recorder->file, error);
}

/* With `of_machine` and `of_tree` a sample has the machine's values, and processes. */
#define DIALECT_FORMAT(title, process, system, ends, of_machine, of_tree)                          \
    {                                                                                              \
        .name = (title), .state_size = sizeof(struct dialect_state), .text = true, .crlf = (ends), \
        .table = &(const struct write_dialect_family){&(process), &(system)},                      \
        .machine = (of_machine), .tree = (of_tree), .sample = dialect_sample                       \
    }

// clang-format off
const struct format FORMAT_DIALECTS[] = {
    DIALECT_FORMAT("resource-tracker", DIALECT_PROCESS, DIALECT_SYSTEM, false, false, false),
    DIALECT_FORMAT("resource-tracker-process", DIALECT_PROCESS, DIALECT_PROCESS, false, false, true),
    DIALECT_FORMAT("resource-tracker-system", DIALECT_SYSTEM, DIALECT_SYSTEM, false, true, false),
    DIALECT_FORMAT("resource-tracker-combined", DIALECT_COMBINED, DIALECT_COMBINED, true, true, true),
    DIALECT_FORMAT("resource-tracker-0.3", DIALECT_OLD_PROCESS, DIALECT_OLD_SYSTEM, true, false, false),
    DIALECT_FORMAT("resource-tracker-0.3-process", DIALECT_OLD_PROCESS, DIALECT_OLD_PROCESS, true, false, true),
    DIALECT_FORMAT("resource-tracker-0.3-system", DIALECT_OLD_SYSTEM, DIALECT_OLD_SYSTEM, true, true, false),
};
// clang-format on
const size_t FORMAT_DIALECT_COUNT = sizeof FORMAT_DIALECTS / sizeof FORMAT_DIALECTS[0];
