/* write_gpu_tracker_database.c: writes gpu_tracker's SQLite form: static_data has one row, data has
 * one for each sample. Marks go to a sub-tracking file beside it. */
#include "record/foreign/foreign.h"
#include "record/format.h"
#include "record/sqlite/database.h"

#include <stdio.h>
#include <stdlib.h>

enum { SQL_MAX = 2048 };

struct tracking_database {
    sqlite3 *database, *sub;
    sqlite3_stmt *row, *mark;
    char sub_path[4096];
};

/* CREATE TABLE name(columns) or INSERT INTO name VALUES(?,…). */
static void make_sql(const char *table, const struct gpu_tracker_column *columns, size_t count,
                     bool insert, char out[static SQL_MAX])
{
    static const char *const TYPES[] = {[GPU_TRACKER_TEXT] = " VARCHAR",
                                        [GPU_TRACKER_WHOLE] = " INTEGER",
                                        [GPU_TRACKER_REAL] = " FLOAT"};
    size_t used = (size_t)snprintf(out, SQL_MAX,
                                   insert ? "INSERT INTO %s VALUES(" : "CREATE TABLE %s (", table);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(out + used, SQL_MAX - used, "%s%s%s", i > 0 ? ", " : "",
                                 insert ? "?" : columns[i].name,
                                 insert ? "" : TYPES[columns[i].type]);
    (void)snprintf(out + used, SQL_MAX - used, ")");
}

static int make_table(struct recorder *recorder, const char *table,
                      const struct gpu_tracker_column *columns, size_t count, sqlite3_stmt **insert,
                      vitals_error *error)
{
    struct tracking_database *state = recorder->state;
    char sql[SQL_MAX];
    make_sql(table, columns, count, false, sql);
    int code = database_run(state->database, recorder->path, sql, error);
    make_sql(table, columns, count, true, sql);
    return code < 0 ? code : database_prepare(state->database, recorder->path, sql, insert, error);
}

static int write_row(struct recorder *recorder, sqlite3_stmt *statement,
                     const struct gpu_tracker_column *columns, size_t count,
                     const struct record_sample *sample, vitals_error *error)
{
    double cores = atof(recorder_attribute_text(recorder, "expected_cores"));
    bool bound = true;
    for (size_t i = 0; i < count; i++) {
        const struct gpu_tracker_column *column = &columns[i];
        int place = (int)i + 1;
        double value = column->type == GPU_TRACKER_TEXT ? 0
                                                        : gpu_tracker_value(column, sample, cores);
        int result = column->type == GPU_TRACKER_TEXT
                         ? sqlite3_bind_text(statement, place, column->text, -1, SQLITE_STATIC)
                     : column->type == GPU_TRACKER_WHOLE
                         ? sqlite3_bind_int64(statement, place, (sqlite3_int64)value)
                         : sqlite3_bind_double(statement, place, value);
        bound = bound && result == SQLITE_OK;
    }
    return database_step(statement, bound, recorder->path, error);
}

/* Rates need two samples, so the first gives the static row alone. Each row is a transaction of its
 * own, so that readers see it at once. */
static int tracking_sample(struct recorder *recorder, const struct record_sample *sample,
                           vitals_error *error)
{
    struct tracking_database *state = recorder->state;
    if (state->row != NULL)
        return write_row(recorder, state->row, GPU_TRACKER_DATA_COLUMNS, GPU_TRACKER_DATA, sample,
                         error);
    sqlite3_stmt *once = NULL;
    int code = make_table(recorder, "static_data", GPU_TRACKER_STATIC_COLUMNS, GPU_TRACKER_STATIC,
                          &once, error);
    if (code == 0)
        code = write_row(recorder, once, GPU_TRACKER_STATIC_COLUMNS, GPU_TRACKER_STATIC, sample,
                         error);
    (void)sqlite3_finalize(once);
    return code < 0 ? code
                    : make_table(recorder, "data", GPU_TRACKER_DATA_COLUMNS, GPU_TRACKER_DATA,
                                 &state->row, error);
}

static int tracking_mark(struct recorder *recorder, const vitals_mark *mark, uint64_t realtime_ns,
                         vitals_error *error)
{
    struct tracking_database *state = recorder->state;
    char safe[256];
    int code = 0;
    if (state->mark == NULL) {
        gpu_tracker_beside(recorder->path, state->sub_path, sizeof state->sub_path);
        code = database_open(state->sub_path, DATABASE_MAKE, recorder->options.overwrite,
                             &state->sub, error);
        if (code == 0)
            code = database_run(state->sub, state->sub_path,
                                "CREATE TABLE data (process_id INTEGER, code_block_name VARCHAR, "
                                "position INTEGER, timestamp FLOAT)",
                                error);
        if (code == 0)
            code = database_prepare(state->sub, state->sub_path, "INSERT INTO data VALUES(?,?,?,?)",
                                    &state->mark, error);
    }
    if (code < 0)
        return code;
    (void)vitals_text_format(vitals_text_of(mark->name), VITALS_TEXT_TERMINAL, safe, sizeof safe);
    bool bound = sqlite3_bind_int64(state->mark, 1, mark->pid) == SQLITE_OK &&
                 sqlite3_bind_text(state->mark, 2, safe, -1, SQLITE_TRANSIENT) == SQLITE_OK &&
                 sqlite3_bind_int(state->mark, 3, mark->begins ? 0 : 1) == SQLITE_OK &&
                 sqlite3_bind_double(state->mark, 4, (double)(realtime_ns / 1000) / 1e6) ==
                     SQLITE_OK;
    return database_step(state->mark, bound, state->sub_path, error);
}

static int tracking_end(struct recorder *recorder, vitals_error *error UNUSED)
{
    struct tracking_database *state = recorder->state;
    (void)sqlite3_finalize(state->row);
    (void)sqlite3_finalize(state->mark);
    database_close_written(state->database);
    database_close_written(state->sub);
    *state = (struct tracking_database){0};
    return 0;
}

static int tracking_begin(struct recorder *recorder, vitals_error *error)
{
    struct tracking_database *state = recorder->state;
    return database_open(recorder->path, DATABASE_MAKE, recorder->options.overwrite,
                         &state->database, error);
}

static uint64_t tracking_size(const struct recorder *recorder)
{
    const struct tracking_database *state = recorder->state;
    return (uint64_t)database_number(state->database, DATABASE_BYTES);
}

const struct format FORMAT_GPU_TRACKER_DATABASE = {.name = "gpu-tracker-sqlite",
                                                   .state_size = sizeof(struct tracking_database),
                                                   .machine = true,
                                                   .begin = tracking_begin,
                                                   .sample = tracking_sample,
                                                   .end = tracking_end,
                                                   .mark = tracking_mark,
                                                   .size = tracking_size};
