/* write_csv.c: our own CSV: one rectangular table, docs/recording.md.
 *
 * time, mark, then a column for each series that the first sample had. A mark is a row of its own
 * with nothing but its time and what it says. What is no table (attributes, the account) stands
 * beside it in FILE.json, an account. */
#include "record/format.h"
#include <vitals/sys/account.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct column {
    vitals_measure measure;
    vitals_scope scope;
    char *subject;
};

struct csv_state {
    bool headed;
    struct column *columns;
    size_t count;
};

static int write_header(struct recorder *recorder, vitals_error *error)
{
    struct csv_state *state = recorder->state;
    char name[COLUMN_WORDS];
    text_file_put(&recorder->file, "time,mark");
    for (size_t i = 0; i < state->count; i++) {
        column_name(state->columns[i].subject, vitals_measure_name(state->columns[i].measure),
                    name);
        text_file_put(&recorder->file, ",");
        text_file_field(&recorder->file, name, false);
    }
    return text_file_end_line(&recorder->file, error);
}

/* What later samples have beyond the first one's series has no column. */
static int learn_columns(struct recorder *recorder, const struct tick *tick, vitals_error *error)
{
    struct csv_state *state = recorder->state;
    state->headed = true;
    state->columns = calloc(tick->count > 0 ? tick->count : 1, sizeof *state->columns);
    for (size_t i = 0; i < tick->count && state->columns != NULL; i++) {
        struct column *column = &state->columns[i];
        *column = (struct column){tick->values[i].measure, tick->values[i].scope,
                                  strdup(tick->values[i].subject)};
        if (column->subject == NULL)
            break;
        state->count++;
    }
    if (state->count != tick->count)
        return record_fail(VITALS_EMEMORY, recorder->file.path, error, "out of memory");
    return recorder->options.no_header ? 0 : write_header(recorder, error);
}

/* Values come in a fixed order, so that the next column's value is nearly always the next value. */
static const vitals_usage_value *value_of(const struct tick *tick, const struct column *column,
                                          size_t *hint)
{
    for (size_t i = 0; i < tick->count; i++) {
        size_t at = (*hint + i) % tick->count;
        const vitals_usage_value *value = &tick->values[at];
        if (value->measure == column->measure && value->scope == column->scope &&
            strcmp(value->subject, column->subject) == 0) {
            *hint = at + 1;
            return value;
        }
    }
    return NULL;
}

static void put_time(struct text_file *file, uint64_t realtime_ns)
{
    char words[NUMBER_WORDS];
    (void)snprintf(words, sizeof words, "%llu.%06llu",
                   (unsigned long long)(realtime_ns / 1000000000u),
                   (unsigned long long)(realtime_ns % 1000000000u / 1000u));
    text_file_put(file, words);
}

static int csv_sample(struct recorder *recorder, const struct tick *tick, vitals_error *error)
{
    struct csv_state *state = recorder->state;
    char words[NUMBER_WORDS];
    size_t hint = 0;
    int code = state->headed ? 0 : learn_columns(recorder, tick, error);
    if (code < 0)
        return code;
    put_time(&recorder->file, tick->realtime_ns);
    text_file_put(&recorder->file, ",");
    for (size_t i = 0; i < state->count; i++) {
        const vitals_usage_value *value = value_of(tick, &state->columns[i], &hint);
        text_file_put(&recorder->file, ",");
        if (value == NULL || value->state <= 0 || !tick_is_fresh(value))
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
    (void)vitals_text_format((vitals_text){mark->name, strlen(mark->name)}, VITALS_TEXT_TERMINAL,
                             safe, sizeof safe);
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

static int write_bytes(void *data, const char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, data) == size ? 0 : -1;
}

/* Whole or not at all: written beside and then named. */
static int csv_account(struct recorder *recorder, const vitals_account *account,
                       vitals_error *error)
{
    char path[4096], fresh[4096];
    if (recorder->path == NULL)
        return 0;
    if ((size_t)snprintf(path, sizeof path, "%s.json", recorder->path) >= sizeof path ||
        (size_t)snprintf(fresh, sizeof fresh, "%s.new", path) >= sizeof fresh)
        return record_fail(VITALS_EARGUMENT, recorder->path, error, "too long a path");
    int descriptor = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file == NULL)
        return record_fail_errno(errno, fresh, error);
    errno = 0;
    int stopped = vitals_account_json(account, write_bytes, file);
    if (fclose(file) != 0 || stopped != 0 || rename(fresh, path) != 0) {
        int number = errno != 0 ? errno : EIO;
        (void)unlink(fresh);
        return record_fail_errno(number, path, error);
    }
    return 0;
}

static int csv_begin(struct recorder *recorder, vitals_error *error)
{
    (void)recorder;
    (void)error;
    return 0;
}

/* The attributes alone, as an account that has no figures yet. */
static int write_attributes(struct recorder *recorder, vitals_error *error)
{
    vitals_account *account = NULL;
    int code = vitals_account_new(&account, error);
    for (size_t i = 0; i < recorder->attribute_count && code == 0; i++) {
        const struct attribute *attribute = &recorder->attributes[i];
        code = vitals_account_set(account, attribute->name,
                                  (vitals_text){attribute->text, strlen(attribute->text)}, error);
    }
    if (code == 0)
        code = csv_account(recorder, account, error);
    vitals_account_free(account);
    return code;
}

static int csv_attribute(struct recorder *recorder, const char *name, const char *text,
                         vitals_error *error)
{
    (void)name;
    (void)text;
    return recorder->path == NULL ? 0 : write_attributes(recorder, error);
}

static int csv_end(struct recorder *recorder, vitals_error *error)
{
    struct csv_state *state = recorder->state;
    (void)error;
    for (size_t i = 0; i < state->count; i++)
        free(state->columns[i].subject);
    free(state->columns);
    *state = (struct csv_state){0};
    return 0;
}

const struct format FORMAT_CSV = {.name = "vitals-csv",
                                  .state_size = sizeof(struct csv_state),
                                  .text = true,
                                  .begin = csv_begin,
                                  .sample = csv_sample,
                                  .end = csv_end,
                                  .attribute = csv_attribute,
                                  .mark = csv_mark,
                                  .account = csv_account};
