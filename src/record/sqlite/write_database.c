/* write_database.c: writes vitals' own recording, one SQLite file (docs/recording.md).
 *
 * `samples` has a row for each sample and a column for each series. A sample or a mark is committed
 * at once, unless the next sample comes within a second of the last commit. Committed rows survive
 * a kill of this process. */
#include "record/format.h"
#include "record/frame/frame.h"
#include "record/sqlite/database.h"
#include "util/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

/* SQLite allows a table 2000 columns. */
enum { SERIES_MAX = 1900, SQL_MAX = 512 };

#define COMMIT_NS   900000000u
#define FRAME_SHARE 100 /* frames take at most 1/100 of a CPU's time */
#define FRAME_PLAIN 256 /* bytes of a frame that is not deflated */

struct stored_series {
    vitals_measure measure;
    vitals_scope scope;
    char *subject, *column;
    vitals_availability state; /* that was written last */
    uint64_t read_ns;          /* monotonic, in the current sample; 0: none */
};

struct database_state {
    sqlite3 *database;
    sqlite3_stmt *sample, *state_change, *moment, *mark, *frame;
    struct stored_series *series;
    size_t count, capacity;
    bool dropped; /* some series had no room */
    bool in_transaction;
    int64_t sample_number;
    uint64_t committed_ns;      /* monotonic, of the newest committed sample */
    uint64_t newest_ns, gap_ns; /* monotonic of the newest sample, and the gap before it */
    struct frame_encoder encoder;
    int64_t key_sequence;  /* of the key of the next frames */
    uint64_t frame_due_ns; /* not before */
    uint64_t frames_left_out;
};

/* ---- transactions ---- */

static int begin_transaction(struct recorder *recorder, vitals_error *error)
{
    struct database_state *state = recorder->state;
    if (state->in_transaction)
        return 0;
    int code = database_run(state->database, recorder->path, "BEGIN", error);
    state->in_transaction = code == 0;
    return code;
}

static int commit(struct recorder *recorder, vitals_error *error)
{
    struct database_state *state = recorder->state;
    if (!state->in_transaction)
        return 0;
    int code = database_run(state->database, recorder->path, "COMMIT", error);
    if (code < 0)
        (void)sqlite3_exec(state->database, "ROLLBACK", NULL, NULL, NULL);
    if (code < 0)
        frame_encoder_begin_anew(&state->encoder); /* its key may be lost */
    state->in_transaction = false;
    state->committed_ns = recorder->monotonic_ns;
    return code;
}

/* Commits, unless the next sample is due soon enough. */
static int commit_if_due(struct recorder *recorder, vitals_error *error)
{
    const struct database_state *state = recorder->state;
    uint64_t waited_ns = recorder->monotonic_ns - state->committed_ns;
    uint64_t interval_ns = recorder->options.interval_ns;
    uint64_t next_ns = interval_ns > state->gap_ns ? interval_ns : state->gap_ns;
    if (waited_ns < COMMIT_NS && waited_ns + next_ns < COMMIT_NS)
        return 0;

    return commit(recorder, error);
}

/* Binds a text that SQLite copies. */
static bool bind_text(sqlite3_stmt *statement, int place, const char *text)
{
    return sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT) == SQLITE_OK;
}

/* Runs a statement once. The arguments are texts; NULL ends them. */
static int run_with(struct recorder *recorder, const char *sql, const char *const *texts,
                    vitals_error *error)
{
    struct database_state *state = recorder->state;
    sqlite3_stmt *statement = NULL;
    bool bound = true;
    int code = database_prepare(state->database, recorder->path, sql, &statement, error);
    for (int i = 0; code == 0 && texts[i] != NULL; i++)
        bound = bind_text(statement, i + 1, texts[i]) && bound;
    if (code == 0)
        code = database_step(statement, bound, recorder->path, error);
    (void)sqlite3_finalize(statement);
    return code;
}

/* ---- series: a column each ---- */

/* Column names of SQLite ignore case. */
static bool column_is_taken(const struct database_state *state, const char *column)
{
    for (size_t i = 0; i < state->count; i++)
        if (strcasecmp(state->series[i].column, column) == 0)
            return true;
    return strcasecmp(column, "sample") == 0 || strcasecmp(column, "time") == 0 ||
           strcasecmp(column, "monotonic_ns") == 0;
}

static int add_series(struct recorder *recorder, const vitals_usage_value *value,
                      vitals_error *error)
{
    struct database_state *state = recorder->state;
    const char *name = vitals_measure_name(value->measure);
    char column[COLUMN_WORDS], id[24];
    if (MEMORY_GROW(state->series, state->capacity, state->count) != 0)
        return record_no_memory(recorder->path, error);
    column_name(value->subject, name, column);
    for (unsigned i = 2; column_is_taken(state, column) && i < SERIES_MAX; i++)
        (void)snprintf(column, sizeof column, "%.40s.%.80s.%u", value->subject, name, i);
    struct stored_series series = {.measure = value->measure,
                                   .scope = value->scope,
                                   .subject = strdup(value->subject),
                                   .column = strdup(column),
                                   .state = VITALS_HAVE};
    int code = series.subject == NULL || series.column == NULL
                   ? record_no_memory(recorder->path, error)
                   : 0;

    (void)snprintf(id, sizeof id, "%zu", state->count + 1);
    const char *kind = vitals_measure_is_counter(value->measure) ? "counter" : "gauge";
    const char *const texts[] = {
        id,   column, name, value->subject, value->label, vitals_measure_unit(value->measure),
        kind, NULL};
    if (code == 0)
        code = run_with(recorder, "INSERT INTO series VALUES(?1,?2,?3,?4,?5,?6,?7)", texts, error);
    if (code < 0) {
        free(series.subject);
        free(series.column);
        return code;
    }
    state->series[state->count++] = series;
    return 0;
}

/* Returns the index of a value's series, or -1. Values come in a fixed order, so that the hint is
 * nearly always right. */
static long series_of(const struct database_state *state, const vitals_usage_value *value,
                      size_t hint)
{
    for (size_t i = 0; i < state->count; i++) {
        size_t at = (hint + i) % state->count;
        const struct stored_series *series = &state->series[at];
        if (series->measure == value->measure && series->scope == value->scope &&
            strcmp(series->subject, value->subject) == 0)
            return (long)at;
    }
    return -1;
}

/* Adds the columns of all series from `first` on. The table is still empty at the first sample, and
 * is made anew: SQLite parses the whole schema again for each column that is added. */
static int add_columns(struct recorder *recorder, size_t first, vitals_error *error)
{
    struct database_state *state = recorder->state;
    bool anew = state->sample_number == 1;
    char quoted[2 * COLUMN_WORDS + 8];
    struct buffer sql = {0};
    if (anew)
        buffer_string(&sql, "DROP TABLE samples;" DATABASE_SAMPLES);
    for (size_t i = first; i < state->count; i++) {
        database_quote(state->series[i].column, quoted, sizeof quoted);
        buffer_format(&sql, anew ? ",%s REAL" : "ALTER TABLE samples ADD COLUMN %s REAL;", quoted);
    }
    buffer_string(&sql, anew ? ")" : "");
    int code = sql.failed ? record_no_memory(recorder->path, error)
                          : database_run(state->database, recorder->path, sql.bytes, error);
    buffer_done(&sql);
    return code;
}

static int learn_series(struct recorder *recorder, const struct record_sample *sample,
                        vitals_error *error)
{
    struct database_state *state = recorder->state;
    size_t before = state->count, hint = 0;
    int code = 0;
    for (size_t i = 0; i < sample->count && code == 0; i++) {
        long at = series_of(state, sample->values[i], hint);
        if (at >= 0)
            hint = (size_t)at + 1;
        else if (state->count == SERIES_MAX)
            state->dropped = true;
        else
            code = add_series(recorder, sample->values[i], error);
    }
    if (code == 0 && state->count > before)
        code = add_columns(recorder, before, error);
    if (code < 0 || (state->count == before && state->sample != NULL))
        return code;

    /* The values of a row are in the order of the series. */
    struct buffer sql = {0};
    buffer_string(&sql, "INSERT INTO samples VALUES(");
    for (size_t i = 0; i < state->count + 3; i++)
        buffer_format(&sql, "%s?%zu", i > 0 ? "," : "", i + 1);
    buffer_byte(&sql, ')');
    (void)sqlite3_finalize(state->sample);
    state->sample = NULL;
    code = sql.failed ? record_no_memory(recorder->path, error)
                      : database_prepare(state->database, recorder->path, sql.bytes, &state->sample,
                                         error);
    buffer_done(&sql);
    return code;
}

/* ---- samples ---- */

/* Writes the availability of a series from this sample on if it has changed; it begins as HAVE. */
static int write_state(struct recorder *recorder, size_t at, vitals_availability now,
                       vitals_error *error)
{
    struct database_state *state = recorder->state;
    if (state->series[at].state == now)
        return 0;
    state->series[at].state = now;
    bool bound = sqlite3_bind_int64(state->state_change, 1, state->sample_number) == SQLITE_OK &&
                 sqlite3_bind_int64(state->state_change, 2, (sqlite3_int64)at + 1) == SQLITE_OK &&
                 bind_text(state->state_change, 3, vitals_availability_name(now));
    return database_step(state->state_change, bound, recorder->path, error);
}

/* Writes the read times of values that are older than their sample, as those of devices are. A time
 * holds for the following columns of the same subject up to the next one: in the order of columns,
 * as read_times_apply reads them, since a series that was added late is elsewhere in a sample. */
static int write_moments(struct recorder *recorder, const struct record_sample *sample,
                         vitals_error *error)
{
    struct database_state *state = recorder->state;
    const char *subject = NULL;
    uint64_t told_ns = sample->monotonic_ns;
    int code = 0;
    for (size_t i = 0; i < state->count; i++) {
        struct stored_series *series = &state->series[i];
        uint64_t read_ns = series->read_ns;
        series->read_ns = 0;
        if (subject == NULL || strcmp(subject, series->subject) != 0)
            told_ns = sample->monotonic_ns;
        subject = series->subject;
        if (read_ns == 0 || read_ns == told_ns || code < 0)
            continue;
        told_ns = read_ns;
        bool bound = sqlite3_bind_int64(state->moment, 1, state->sample_number) == SQLITE_OK &&
                     sqlite3_bind_int64(state->moment, 2, (sqlite3_int64)i + 1) == SQLITE_OK &&
                     sqlite3_bind_int64(state->moment, 3, (sqlite3_int64)read_ns) == SQLITE_OK;
        code = database_step(state->moment, bound, recorder->path, error);
    }
    return code;
}

static int write_values(struct recorder *recorder, const struct record_sample *sample,
                        vitals_error *error)
{
    struct database_state *state = recorder->state;
    const uint64_t now_ns = sample->monotonic_ns, near_ns = recorder->options.interval_ns / 100;
    size_t hint = 0;
    bool bound = sqlite3_bind_int64(state->sample, 1, state->sample_number) == SQLITE_OK &&
                 sqlite3_bind_double(state->sample, 2, (double)sample->realtime_ns / 1e9) ==
                     SQLITE_OK &&
                 sqlite3_bind_int64(state->sample, 3, (sqlite3_int64)sample->monotonic_ns) ==
                     SQLITE_OK;
    int code = 0;

    for (size_t i = 0; i < sample->count && bound && code == 0; i++) {
        const vitals_usage_value *value = sample->values[i];
        long at = series_of(state, value, hint);
        if (at < 0)
            continue;
        hint = (size_t)at + 1;
        if (!usage_value_is_fresh(value))
            continue;
        code = write_state(recorder, (size_t)at, value->state, error);
        if (value->state <= 0)
            continue;

        /* A value that is hardly older than its sample was read with it. */
        bool older = value->read_ns != 0 && value->read_ns < now_ns &&
                     now_ns - value->read_ns > near_ns;
        state->series[at].read_ns = older ? value->read_ns : now_ns;
        bound = sqlite3_bind_double(state->sample, (int)at + 4, value->value) == SQLITE_OK;
    }

    if (code == 0 && bound)
        code = write_moments(recorder, sample, error);
    if (code < 0)
        return code;
    return database_step(state->sample, bound, recorder->path, error);
}

/* ---- frames: a whole one now and then, and what differs from it ---- */

/* CPU time of this thread: a busy machine or a slow disk makes no frame expensive. */
static uint64_t thread_cpu_ns(void)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_THREAD, &usage);
    return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * NS_PER_SECOND +
           ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000;
}

/* Writes the frame of a sample, unless it comes too soon after an expensive one. */
static int write_frame(struct recorder *recorder, const struct record_sample *sample,
                       vitals_error *error)
{
    struct database_state *state = recorder->state;
    if (!recorder->options.frames || sample->snapshot == NULL)
        return 0;
    if (sample->monotonic_ns < state->frame_due_ns) {
        state->frames_left_out++;
        return 0;
    }

    uint64_t begun_ns = thread_cpu_ns();
    struct frame frame;
    int code = frame_encode(&state->encoder, sample->snapshot, &frame, error);
    if (code == 0) {
        /* The time that the snapshot itself has. */
        const sqlite3_int64 time_ns = (sqlite3_int64)vitals_snapshot_realtime_ns(sample->snapshot);
        bool bound = sqlite3_bind_int64(state->frame, 1, time_ns) == SQLITE_OK &&
                     (frame.whole ||
                      sqlite3_bind_int64(state->frame, 2, state->key_sequence) == SQLITE_OK) &&
                     bind_text(state->frame, 3, frame_encoding_name(frame.encoding)) &&
                     sqlite3_bind_blob64(state->frame, 4, frame.content, frame.size,
                                         SQLITE_STATIC) == SQLITE_OK;
        code = database_step(state->frame, bound, recorder->path, error);
    }
    if (code < 0)
        frame_encoder_begin_anew(&state->encoder);
    else if (frame.whole)
        state->key_sequence = sqlite3_last_insert_rowid(state->database);

    state->frame_due_ns = sample->monotonic_ns + (thread_cpu_ns() - begun_ns) * FRAME_SHARE;
    return code;
}

static int database_sample(struct recorder *recorder, const struct record_sample *sample,
                           vitals_error *error)
{
    struct database_state *state = recorder->state;
    int code = begin_transaction(recorder, error);
    state->sample_number++;
    state->gap_ns = state->newest_ns != 0 ? sample->monotonic_ns - state->newest_ns : 0;
    state->newest_ns = sample->monotonic_ns;
    if (code == 0)
        code = learn_series(recorder, sample, error);
    if (code == 0)
        code = write_values(recorder, sample, error);
    if (code == 0)
        code = write_frame(recorder, sample, error);
    return code < 0 ? code : commit_if_due(recorder, error);
}

/* ---- what is beside them ---- */

static int database_attribute(struct recorder *recorder, const char *name, const char *text,
                              vitals_error *error)
{
    const char *const texts[] = {name, text, NULL};
    return run_with(recorder, "INSERT OR REPLACE INTO attributes VALUES(?1,?2)", texts, error);
}

static int database_mark(struct recorder *recorder, const vitals_mark *mark, uint64_t realtime_ns,
                         vitals_error *error)
{
    struct database_state *state = recorder->state;
    int code = begin_transaction(recorder, error);
    if (code < 0)
        return code;
    char safe[256];
    (void)vitals_text_format(vitals_text_of(mark->name), VITALS_TEXT_TERMINAL, safe, sizeof safe);
    bool bound = sqlite3_bind_double(state->mark, 1, (double)realtime_ns / 1e9) == SQLITE_OK &&
                 sqlite3_bind_int(state->mark, 2, mark->begins != 0) == SQLITE_OK &&
                 bind_text(state->mark, 3, safe) &&
                 (mark->pid == 0 || sqlite3_bind_int64(state->mark, 4, mark->pid) == SQLITE_OK) &&
                 (mark->tid == 0 || sqlite3_bind_int64(state->mark, 5, mark->tid) == SQLITE_OK) &&
                 sqlite3_bind_int(state->mark, 6, mark->told != 0) == SQLITE_OK;
    code = database_step(state->mark, bound, recorder->path, error);
    return code < 0 ? code : commit_if_due(recorder, error);
}

static int write_figures(struct recorder *recorder, const vitals_account *account,
                         vitals_error *error)
{
    struct database_state *state = recorder->state;
    sqlite3_stmt *statement = NULL;
    int code = database_prepare(
        state->database, recorder->path,
        "INSERT INTO account(name,unit,subject,label,source,state,value) VALUES(?1,?2,?3,?4,?5,?6,"
        "?7)",
        &statement, error);
    for (const vitals_figure *figure = NULL;
         code == 0 && (figure = vitals_account_next(account, figure)) != NULL;) {
        double value = 0;
        vitals_availability availability = vitals_figure_value(figure, &value);
        bool bound = bind_text(statement, 1, vitals_figure_name(figure)) &&
                     bind_text(statement, 2, vitals_figure_unit(figure)) &&
                     bind_text(statement, 3, vitals_figure_subject(figure)) &&
                     bind_text(statement, 4, vitals_figure_label(figure)) &&
                     bind_text(statement, 5, vitals_figure_source(figure)) &&
                     bind_text(statement, 6, vitals_availability_name(availability)) &&
                     (availability <= 0 || sqlite3_bind_double(statement, 7, value) == SQLITE_OK);
        code = database_step(statement, bound, recorder->path, error);
    }
    (void)sqlite3_finalize(statement);
    return code;
}

static int database_account(struct recorder *recorder, const vitals_account *account,
                            vitals_error *error)
{
    struct database_state *state = recorder->state;
    int code = begin_transaction(recorder, error);
    if (code == 0)
        code = database_run(state->database, recorder->path, "DELETE FROM account", error);
    for (const char *name = NULL;
         code == 0 && (name = vitals_account_next_attribute(account, name)) != NULL;) {
        vitals_text text = vitals_account_attribute(account, name);
        char *copy = strndup(text.bytes, text.size);
        code = copy == NULL ? record_no_memory(recorder->path, error)
                            : database_attribute(recorder, name, copy, error);
        free(copy);
    }
    if (code == 0 && vitals_account_failure(account).size > 0)
        code = database_attribute(recorder, "failure", vitals_account_failure(account).bytes,
                                  error);
    if (code == 0)
        code = write_figures(recorder, account, error);
    return code < 0 ? code : commit(recorder, error);
}

/* ---- a part ---- */

static void close_all(struct database_state *state)
{
    (void)sqlite3_finalize(state->sample);
    (void)sqlite3_finalize(state->state_change);
    (void)sqlite3_finalize(state->moment);
    (void)sqlite3_finalize(state->mark);
    (void)sqlite3_finalize(state->frame);
    database_close_written(state->database);
    for (size_t i = 0; i < state->count; i++) {
        free(state->series[i].subject);
        free(state->series[i].column);
    }
    memory_free(state->series);
    frame_encoder_done(&state->encoder);
    *state = (struct database_state){0};
}

static int database_begin(struct recorder *recorder, vitals_error *error)
{
    struct database_state *state = recorder->state;
    const struct {
        const char *sql;
        sqlite3_stmt **statement;
    } statements[] = {
        {"INSERT OR REPLACE INTO states VALUES(?1,?2,?3)", &state->state_change},
        {"INSERT OR REPLACE INTO moments VALUES(?1,?2,?3)", &state->moment},
        {"INSERT INTO marks VALUES(?1,?2,?3,?4,?5,?6)", &state->mark},
        {"INSERT INTO frames(time_ns,key,encoding,content) VALUES(?1,?2,?3,?4)", &state->frame},
    };
    char sql[SQL_MAX];
    (void)snprintf(sql, sizeof sql, "PRAGMA application_id=%d;PRAGMA user_version=%d;BEGIN;",
                   DATABASE_APPLICATION, DATABASE_SCHEMA);
    state->encoder.plain_max = FRAME_PLAIN;
    int code = database_open(recorder->path, DATABASE_MAKE, recorder->options.overwrite,
                             &state->database, error);
    if (code == 0)
        code = database_run(state->database, recorder->path, sql, error);
    if (code == 0)
        code = database_run(state->database, recorder->path, DATABASE_TABLES, error);
    if (code == 0)
        code = database_run(state->database, recorder->path, "COMMIT", error);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0] && code == 0; i++)
        code = database_prepare(state->database, recorder->path, statements[i].sql,
                                statements[i].statement, error);
    if (code == 0)
        code = database_attribute(recorder, "version", vitals_version_text(), error);
    if (code < 0)
        close_all(state);
    return code;
}

static int database_end(struct recorder *recorder, vitals_error *error)
{
    struct database_state *state = recorder->state;
    if (state->database == NULL)
        return 0;
    int code = commit(recorder, error);
    if (code == 0 && state->frames_left_out > 0) {
        char words[160];
        (void)snprintf(words, sizeof words,
                       "%llu of %lld samples have no frame: frames may take 1 %% of a CPU",
                       (unsigned long long)state->frames_left_out, (long long)state->sample_number);
        code = database_attribute(recorder, "frames_left_out", words, error);
    }
    if (code == 0 && state->dropped)
        code = database_attribute(recorder, "series_left_out",
                                  "more series than a recording has columns for", error);
    close_all(state);
    return code;
}

static uint64_t database_size(const struct recorder *recorder)
{
    const struct database_state *state = recorder->state;
    return (uint64_t)database_number(state->database, DATABASE_BYTES);
}

const struct format FORMAT_DATABASE = {.name = "vitals",
                                       .state_size = sizeof(struct database_state),
                                       .begin = database_begin,
                                       .sample = database_sample,
                                       .end = database_end,
                                       .attribute = database_attribute,
                                       .mark = database_mark,
                                       .account = database_account,
                                       .size = database_size};

int database_put_account(const char *path, const vitals_account *account, vitals_error *error)
{
    struct database_state state = {0};
    struct recorder recorder = {.path = (char *)path, .state = &state};
    int code = database_open(path, DATABASE_WRITE, false, &state.database, error);
    if (code < 0)
        return code;
    if (database_has_table(state.database, "account") &&
        database_has_table(state.database, "attributes"))
        code = database_account(&recorder, account, error);
    (void)sqlite3_close_v2(state.database);
    return code;
}
