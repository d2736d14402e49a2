/* write_csv.c: writes vitals' own CSV, one rectangular table (docs/recording.md).
 *
 * The columns are time, mark, then one for each series; later series are appended. A mark is a row
 * with nothing but its time and text. Attributes and the account go to FILE.json. */
#include "record/format.h"
#include <vitals/sys/account.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feed/text.h"

#define SERIES_LEFT_OUT ((vitals_text){LEFT_OUT, sizeof LEFT_OUT - 1})
static const char LEFT_OUT[] =
    "what came after the first sample: the file could not be written anew";

static const uint64_t WIDEN_MAX = UINT64_C(1) << 30; /* the largest file that is rewritten */

struct write_csv_column {
    vitals_measure measure;
    vitals_scope scope;
    char *subject;
};

struct csv_state {
    bool headed;
    bool narrow; /* later series get no column */
    struct write_csv_column *columns;
    size_t count;
};

static void put_header(struct recorder *recorder)
{
    const struct csv_state *state = recorder->state;
    char name[COLUMN_WORDS];
    text_file_put(&recorder->file, "time,mark");
    for (size_t i = 0; i < state->count; i++) {
        column_name(state->columns[i].subject, vitals_measure_name(state->columns[i].measure),
                    name);
        text_file_put(&recorder->file, ",");
        text_file_field(&recorder->file, name, false);
    }
}

/* ---- columns ---- */

static bool is_of(const struct write_csv_column *column, const vitals_usage_value *value)
{
    return column->measure == value->measure && column->scope == value->scope &&
           strcmp(column->subject, value->subject) == 0;
}

/* Adds a column for each new series. Values come in a fixed order: the search begins at the place
 * that is nearly always right. */
static int learn_columns(struct recorder *recorder, const struct record_sample *sample,
                         vitals_error *error)
{
    struct csv_state *state = recorder->state;
    for (size_t i = 0; i < sample->count; i++) {
        const vitals_usage_value *value = sample->values[i];
        size_t tried = 0;
        while (tried < state->count && !is_of(&state->columns[(i + tried) % state->count], value))
            tried++;
        if (tried < state->count)
            continue;
        struct write_csv_column *columns = realloc(state->columns,
                                                   (state->count + 1) * sizeof *columns);
        char *subject = columns != NULL ? strdup(value->subject) : NULL;
        state->columns = columns != NULL ? columns : state->columns;
        if (subject == NULL)
            return record_no_memory(recorder->file.path, error);
        columns[state->count++] = (struct write_csv_column){value->measure, value->scope, subject};
    }
    return 0;
}

/* Adds columns for later series: the file is rewritten with them, empty in all lines so far, and
 * replaces the old one once it is whole. If that fails, the columns are left out, and an attribute
 * says so. */
static int widen(struct recorder *recorder, const struct record_sample *sample, vitals_error *error)
{
    struct csv_state *state = recorder->state;
    size_t before = state->count;
    if (state->narrow)
        return 0;
    int code = learn_columns(recorder, sample, error);
    if (code < 0 || state->count == before)
        return code;
    if (!recorder->file.standard && !recorder->options.no_header &&
        recorder->file.size <= WIDEN_MAX) {
        put_header(recorder);
        if (text_file_widen(&recorder->file, state->count - before) == 0)
            return 0;
    }
    while (state->count > before)
        free(state->columns[--state->count].subject);
    state->narrow = true;
    (void)recorder_attribute(recorder, "series_left_out", SERIES_LEFT_OUT, NULL);
    return 0;
}

static void put_time(struct text_file *file, uint64_t realtime_ns)
{
    char words[NUMBER_WORDS];
    (void)snprintf(words, sizeof words, "%llu.%06llu",
                   (unsigned long long)(realtime_ns / 1000000000u),
                   (unsigned long long)(realtime_ns % 1000000000u / 1000u));
    text_file_put(file, words);
}

static int csv_sample(struct recorder *recorder, const struct record_sample *sample,
                      vitals_error *error)
{
    struct csv_state *state = recorder->state;
    char words[NUMBER_WORDS];
    size_t next = 0;
    int code = state->headed ? widen(recorder, sample, error)
                             : learn_columns(recorder, sample, error);
    if (code == 0 && !state->headed) {
        state->headed = true;
        if (!recorder->options.no_header) {
            put_header(recorder);
            code = text_file_end_line(&recorder->file, error);
        }
    }
    if (code < 0)
        return code;

    put_time(&recorder->file, sample->realtime_ns);
    text_file_put(&recorder->file, ",");
    for (size_t i = 0; i < state->count; i++) {
        size_t tried = 0, at = 0;
        for (; tried < sample->count; tried++) {
            at = (next + tried) % sample->count;
            if (is_of(&state->columns[i], sample->values[at]))
                break;
        }
        text_file_put(&recorder->file, ",");
        if (tried == sample->count)
            continue;
        next = at + 1;
        const vitals_usage_value *value = sample->values[at];
        if (value->state <= 0 || !usage_value_is_fresh(value))
            continue;
        number_shortest(value->value, words);
        text_file_put(&recorder->file, words);
    }
    return text_file_end_line(&recorder->file, error);
}

static int csv_mark(struct recorder *recorder, const vitals_mark *mark, uint64_t realtime_ns,
                    vitals_error *error)
{
    struct csv_state *state = recorder->state;
    char words[256], safe[208];
    (void)vitals_text_format(vitals_text_of(mark->name), VITALS_TEXT_TERMINAL, safe, sizeof safe);
    (void)snprintf(words, sizeof words, "%s %lld/%lld %s", mark->begins ? "begin" : "end",
                   (long long)mark->pid, (long long)mark->tid, safe);
    put_time(&recorder->file, realtime_ns);
    text_file_put(&recorder->file, ",");
    text_file_field(&recorder->file, words, false);
    for (size_t i = 0; i < state->count; i++)
        text_file_put(&recorder->file, ",");
    return text_file_end_line(&recorder->file, error);
}

/* ---- what stands beside it ---- */

/* Writes FILE.json under another name and renames it, so that it is always whole. */
static int csv_account(struct recorder *recorder, const vitals_account *account,
                       vitals_error *error)
{
    char path[4096], fresh[4096];
    struct stat status;
    if (recorder->path == NULL)
        return 0;
    if ((size_t)snprintf(path, sizeof path, "%s.json", recorder->path) >= sizeof path)
        return record_fail(VITALS_EARGUMENT, recorder->path, error, "the path is too long");
    unsigned mode = stat(recorder->path, &status) == 0 ? status.st_mode : 0600;
    int descriptor = text_file_beside(path, mode, fresh, sizeof fresh);
    if (descriptor < 0)
        return record_fail_errno(errno, path, error);
    FILE *file = fdopen(descriptor, "w");
    if (file == NULL) {
        int number = errno;
        close(descriptor);
        (void)unlink(fresh);
        return record_fail_errno(number, path, error);
    }
    errno = 0;
    int stopped = vitals_account_json(account, vitals_file_write, file, NULL);
    if (fclose(file) != 0 || stopped != 0 || rename(fresh, path) != 0) {
        int number = errno != 0 ? errno : EIO;
        (void)unlink(fresh);
        return record_fail_errno(number, path, error);
    }
    return 0;
}

static void csv_beside(const char *path, char *out, size_t capacity)
{
    (void)snprintf(out, capacity, "%s.json", path);
}

/* Writes all attributes as an account without figures. */
static int csv_attribute(struct recorder *recorder, const char *name UNUSED,
                         const char *text UNUSED, vitals_error *error)
{
    vitals_account *account = NULL;
    if (recorder->path == NULL)
        return 0;
    int code = vitals_account_new(&account, error);
    if (code == 0)
        code = recorder_describe(recorder, account, error);
    if (code == 0)
        code = csv_account(recorder, account, error);
    vitals_account_free(account);
    return code;
}

static int csv_end(struct recorder *recorder, vitals_error *error UNUSED)
{
    struct csv_state *state = recorder->state;
    for (size_t i = 0; i < state->count; i++)
        free(state->columns[i].subject);
    free(state->columns);
    *state = (struct csv_state){0};
    return 0;
}

const struct format FORMAT_CSV = {.name = "vitals-csv",
                                  .state_size = sizeof(struct csv_state),
                                  .text = true,
                                  .sample = csv_sample,
                                  .end = csv_end,
                                  .attribute = csv_attribute,
                                  .mark = csv_mark,
                                  .account = csv_account,
                                  .beside = csv_beside};
