/* read_database.c: reads SQLite recordings of vitals and gpu_tracker.
 *
 * Only tables are read, never a view that a hostile file may have in a table's place, and SQLite
 * checks each page. A file with a page that it cannot read is refused. */
#include "record/recording_data.h"
#include "record/sqlite/database.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one table, row by row ---- */

typedef void take_row(struct recording *recording, sqlite3_stmt *statement, void *data);

/* "" where it is no text. */
static const char *text_at(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text != NULL ? (const char *)text : "";
}

/* If not all rows can be read, `problem` says why. */
static void for_each(struct recording *recording, sqlite3 *database, const char *sql,
                     take_row *take, void *data)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    while (result == SQLITE_OK || result == SQLITE_ROW) {
        result = sqlite3_step(statement);
        if (result == SQLITE_ROW)
            take(recording, statement, data);
        if (recording->no_memory)
            result = SQLITE_DONE;
    }
    recording->damaged = recording->damaged || (result & 0xFF) == SQLITE_CORRUPT;
    if (result != SQLITE_DONE)
        recording_wrong(recording, "not all of it can be read: %s", sqlite3_errmsg(database));
    (void)sqlite3_finalize(statement);
}

/* ---- ours ---- */

static void take_attribute(struct recording *recording, sqlite3_stmt *statement, void *data UNUSED)
{
    const char *text = text_at(statement, 1);
    recording_attribute(recording, text_at(statement, 0), vitals_text_of(text));
}

/* The times at which values older than their samples were read: the rows of the table `moments`,
 * read in parallel with those of `samples`. A row holds for its series and the following ones of
 * its subject, up to the next row. */
struct read_times {
    sqlite3_stmt *statement; /* NULL: none, or no more */
    int64_t sample, series, monotonic_ns;
};

static void read_times_next(struct read_times *times)
{
    if (times->statement == NULL)
        return;
    if (sqlite3_step(times->statement) != SQLITE_ROW) {
        (void)sqlite3_finalize(times->statement);
        times->statement = NULL;
        return;
    }
    times->sample = sqlite3_column_int64(times->statement, 0);
    times->series = sqlite3_column_int64(times->statement, 1);
    times->monotonic_ns = sqlite3_column_int64(times->statement, 2);
}

/* Sets the ages of the next sample; sample numbers rise. `series_of` gives the index of each series
 * from 1 to `count`, or SIZE_MAX. */
static void read_times_apply(struct read_times *times, struct recording *recording, int64_t sample,
                             int64_t monotonic_ns, const size_t *series_of, size_t count)
{
    const char *subject = NULL;
    double age = 0;
    while (times->statement != NULL && times->sample < sample)
        read_times_next(times);
    if (times->statement == NULL || times->sample != sample)
        return;
    for (size_t i = 0; i < count; i++) {
        while (times->statement != NULL && times->sample == sample &&
               times->series < (int64_t)i + 1)
            read_times_next(times);
        if (series_of[i] == SIZE_MAX)
            continue;
        const char *own = recording->series[series_of[i]].subject;
        bool told = times->statement != NULL && times->sample == sample &&
                    times->series == (int64_t)i + 1;
        if (told) {
            /* A file may lie: a value cannot be newer than its sample. */
            int64_t read_ns = times->monotonic_ns;
            age = read_ns > 0 && read_ns < monotonic_ns ? (double)(monotonic_ns - read_ns) / 1e9
                                                        : 0;
        } else if (subject == NULL || strcmp(subject, own) != 0) {
            age = 0;
        }
        subject = own;
        if (age > 0)
            recording_age(recording, series_of[i], age);
    }
}

/* Fixed columns of `samples`; those of the series follow in the order of their ids. */
enum { SAMPLE = 0, MONOTONIC = 2, FIRST_SERIES = 3 };

struct sample_reader {
    size_t count;
    struct {
        char *name;
        size_t series;
    } * columns;    /* of `samples`, as the table `series` tells */
    size_t *places; /* series of each column, or SIZE_MAX; NULL: not read yet */
    int width, time;
    struct read_times times;
};

static void take_series(struct recording *recording, sqlite3_stmt *statement, void *data)
{
    struct sample_reader *reader = data;
    if (reader->count == SERIES_READ_MAX)
        return;
    size_t index = recording_series_index(recording, text_at(statement, 1), text_at(statement, 4),
                                          text_at(statement, 2),
                                          strcmp(text_at(statement, 5), "counter") == 0);
    recording_series_label(recording, index, text_at(statement, 3));
    char *name = strdup(text_at(statement, 0));
    recording->no_memory = recording->no_memory || name == NULL;
    if (name == NULL)
        return;
    reader->columns[reader->count].name = name;
    reader->columns[reader->count++].series = index;
}

static void take_sample(struct recording *recording, sqlite3_stmt *statement, void *data)
{
    struct sample_reader *reader = data;
    if (reader->places == NULL) {
        reader->width = sqlite3_column_count(statement);
        reader->places = malloc((size_t)reader->width * sizeof *reader->places);
        recording->no_memory = recording->no_memory || reader->places == NULL;
        for (int i = 0; i < reader->width && reader->places != NULL; i++) {
            const char *name = sqlite3_column_name(statement, i);
            reader->places[i] = SIZE_MAX;
            if (name != NULL && strcmp(name, "time") == 0)
                reader->time = i;
            for (size_t k = 0; k < reader->count && name != NULL; k++)
                if (strcmp(reader->columns[k].name, name) == 0)
                    reader->places[i] = reader->columns[k].series;
        }
    }
    double seconds = sqlite3_column_double(statement, reader->time);
    if (reader->places == NULL || !isfinite(seconds))
        return;

    recording_row(recording, seconds);
    for (int i = 0; i < reader->width; i++) {
        int type = reader->places[i] != SIZE_MAX ? sqlite3_column_type(statement, i) : SQLITE_NULL;
        if (type == SQLITE_FLOAT || type == SQLITE_INTEGER)
            recording_value(recording, reader->places[i], sqlite3_column_double(statement, i));
    }
    if (reader->width > FIRST_SERIES)
        read_times_apply(&reader->times, recording, sqlite3_column_int64(statement, SAMPLE),
                         sqlite3_column_int64(statement, MONOTONIC), reader->places + FIRST_SERIES,
                         (size_t)(reader->width - FIRST_SERIES));
    recording_row_end(recording);
}

static void take_mark(struct recording *recording, sqlite3_stmt *statement, void *data UNUSED)
{
    recording_mark(recording, sqlite3_column_int(statement, 1) != 0, text_at(statement, 2),
                   sqlite3_column_double(statement, 0), sqlite3_column_int64(statement, 3),
                   sqlite3_column_int64(statement, 4));
}

static void take_figure(struct recording *recording, sqlite3_stmt *statement, void *data UNUSED)
{
    const vitals_figure_form form = {
        .size = sizeof(vitals_figure_form),
        .name = text_at(statement, 0),
        .unit = text_at(statement, 1),
        .subject = text_at(statement, 2),
        .label = text_at(statement, 3),
        .source = text_at(statement, 4),
        .state = vitals_availability_from_name(text_at(statement, 5)),
        .value = sqlite3_column_double(statement, 6),
    };
    recording_figure(recording, &form);
}

static bool is_table(struct recording *recording, sqlite3 *database, const char *name)
{
    if (database_has_table(database, name))
        return true;
    recording_wrong(recording, "its table %s is missing", name);
    return false;
}

static void read_samples(struct recording *recording, sqlite3 *database)
{
    struct sample_reader reader = {.time = 1};
    reader.columns = calloc(SERIES_READ_MAX, sizeof *reader.columns);
    recording->no_memory = recording->no_memory || reader.columns == NULL;
    bool known = !recording->no_memory && is_table(recording, database, "series") &&
                 is_table(recording, database, "samples");
    if (known) {
        for_each(recording, database,
                 "SELECT column_name,name,subject,label,unit,kind FROM series "
                 "ORDER BY id LIMIT 4096",
                 take_series, &reader);
        /* A recording without the table has no such times. */
        if (database_has_table(database, "moments") &&
            sqlite3_prepare_v2(database,
                               "SELECT sample,series,monotonic_ns FROM moments "
                               "ORDER BY sample,series",
                               -1, &reader.times.statement, NULL) == SQLITE_OK)
            read_times_next(&reader.times);
        for_each(recording, database, "SELECT * FROM samples ORDER BY sample", take_sample,
                 &reader);
    }
    (void)sqlite3_finalize(reader.times.statement);
    for (size_t i = 0; i < reader.count; i++)
        free(reader.columns[i].name);
    free(reader.columns);
    free(reader.places);
}

/* ---- gpu_tracker's: told to the reader of its CSV, which knows its columns ---- */

struct read_database_lines {
    FILE *file;
    bool headed;
};

static void write_field(FILE *file, const char *text)
{
    (void)putc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            (void)putc('"', file);
        (void)putc(*text, file);
    }
    (void)putc('"', file);
}

static void take_as_csv(struct recording *recording UNUSED, sqlite3_stmt *statement, void *data)
{
    struct read_database_lines *lines = data;
    int width = sqlite3_column_count(statement);
    for (int i = 0; i < width && !lines->headed; i++) {
        const char *name = sqlite3_column_name(statement, i);
        (void)fputs(i > 0 ? "," : "", lines->file);
        write_field(lines->file, name != NULL ? name : "");
    }
    if (!lines->headed)
        (void)putc('\n', lines->file);
    lines->headed = true;
    for (int i = 0; i < width; i++) {
        (void)fputs(i > 0 ? "," : "", lines->file);
        write_field(lines->file, text_at(statement, i));
    }
    (void)putc('\n', lines->file);
}

static int read_tracking(struct recording *recording, sqlite3 *database, vitals_error *error)
{
    FILE *file = tmpfile();
    struct read_database_lines lines = {.file = file};
    if (file == NULL)
        return record_fail(VITALS_ESYSTEM, recording->path, error,
                           "cannot create a temporary file in /tmp");
    if (database_has_table(database, "static_data"))
        for_each(recording, database, "SELECT * FROM static_data LIMIT 1", take_as_csv, &lines);
    lines.headed = false;
    for_each(recording, database, "SELECT * FROM data ORDER BY rowid", take_as_csv, &lines);
    int code = ferror(file) || fflush(file) != 0
                   ? record_fail(VITALS_ESYSTEM, recording->path, error,
                                 "the temporary copy of it cannot be written")
                   : 0;
    rewind(file);
    if (code == 0)
        code = read_tables(recording, file, error);
    (void)fclose(file);
    return code;
}

int read_database(struct recording *recording, vitals_error *error)
{
    sqlite3 *database = NULL;
    int code = database_open(recording->path, DATABASE_READ, false, &database, error);
    if (code < 0)
        return code;
    if (database_number(database, "PRAGMA application_id") != DATABASE_APPLICATION) {
        code = database_has_table(database, "data")
                   ? read_tracking(recording, database, error)
                   : record_fail(VITALS_EFORMAT, recording->path, error,
                                 "is an SQLite database, but not a recording");
    } else if ((code = database_check_form(database, recording->path, error)) == 0) {
        recording->format = "vitals";
        if (is_table(recording, database, "attributes"))
            for_each(recording, database, "SELECT name,value FROM attributes LIMIT 256",
                     take_attribute, NULL);
        read_samples(recording, database);
        if (is_table(recording, database, "marks"))
            for_each(recording, database,
                     "SELECT time,begins,name,pid,tid FROM marks ORDER BY rowid", take_mark, NULL);
        if (is_table(recording, database, "account"))
            for_each(recording, database,
                     "SELECT name,unit,subject,label,source,state,value FROM account "
                     "ORDER BY place",
                     take_figure, NULL);
    }
    if (code == 0 && recording->damaged)
        code = database_fail_damaged(recording->path, "it is damaged", error);
    (void)sqlite3_close_v2(database);
    return code;
}
