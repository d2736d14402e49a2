/* salvage_database.c: what is left of a recording of ours that was cut off or broken, put together
 * anew. Each row of its pages (pages.h) is known by what it holds: no two tables of ours have rows
 * of one shape. Rows of a table that comes last, the account, are taken all or not at all. */
#include "record/sqlite/database.h"

#if VITALS_WITH_SQLITE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/sample.h"
#include "record/sqlite/pages.h"

enum { COLUMNS_BEFORE = 3, SERIES_MOST = 1900, NAME_MOST = 400 };

/* A letter for each column: k key, i integer, n integer or NULL, r number, v number or NULL,
 * t text, b blob; * the last one any number of times. */
static const struct shape {
    const char *columns, *insert;
    bool has_key;
} SHAPES[] = {
    {"kintb", "INSERT OR IGNORE INTO frames VALUES(?1,?2,?3,?4,?5)", true},
    {"ritnni", "INSERT INTO marks VALUES(?1,?2,?3,?4,?5,?6)", true},
    {"ktttttt", "INSERT OR IGNORE INTO series VALUES(?1,?2,?3,?4,?5,?6,?7)", true},
    {"tt", "INSERT OR IGNORE INTO attributes VALUES(?1,?2)", false},
    {"iii", "INSERT OR IGNORE INTO moments VALUES(?1,?2,?3)", false},
    {"iit", "INSERT OR IGNORE INTO states VALUES(?1,?2,?3)", false},
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0] };

struct salvage {
    const char *path;
    int descriptor;
    sqlite3 *out;
    sqlite3_stmt *insert[SHAPE_COUNT];
    sqlite3_stmt *sample;
    size_t series; /* columns of `sample` behind the first three */
    int result;    /* of SQLite */
};

/* ---- rows ---- */

static bool fits(char letter, const struct page_value *value)
{
    switch (letter) {
    case 'k': return value->kind == PAGE_NULL;
    case 'i': return value->kind == PAGE_INTEGER;
    case 'n': return value->kind == PAGE_INTEGER || value->kind == PAGE_NULL;
    case 'r': return value->kind == PAGE_INTEGER || value->kind == PAGE_REAL;
    case 'v': return value->kind != PAGE_TEXT && value->kind != PAGE_BLOB;
    case 't': return value->kind == PAGE_TEXT;
    default: return value->kind == PAGE_BLOB;
    }
}

static bool has_shape(const struct page_row *row, const char *columns)
{
    size_t at = 0;
    for (; at < row->count && *columns != '\0'; at++) {
        if (!fits(*columns, &row->values[at]))
            return false;
        columns += columns[1] != '*';
    }
    return at == row->count && (*columns == '\0' || columns[1] == '*');
}

static int bind(sqlite3_stmt *statement, int place, const struct page_value *value)
{
    switch (value->kind) {
    case PAGE_INTEGER: return sqlite3_bind_int64(statement, place, value->integer);
    case PAGE_REAL: return sqlite3_bind_double(statement, place, value->real);
    case PAGE_TEXT:
        return sqlite3_bind_text(statement, place, value->bytes, (int)value->size, SQLITE_STATIC);
    case PAGE_BLOB:
        return sqlite3_bind_blob64(statement, place, value->bytes, value->size, SQLITE_STATIC);
    case PAGE_NULL: break;
    }
    return SQLITE_OK; /* what is not bound is NULL */
}

static void insert(struct salvage *salvage, sqlite3_stmt *statement, const struct page_row *row,
                   size_t columns)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < row->count && i < columns && result == SQLITE_OK; i++)
        result = bind(statement, (int)i + 1, &row->values[i]);
    if (row->has_key && result == SQLITE_OK && row->values[0].kind == PAGE_NULL)
        result = sqlite3_bind_int64(statement, 1, row->key);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    /* a row that breaks a rule of its table is none of ours */
    if (result != SQLITE_DONE && (result & 0xFF) != SQLITE_CONSTRAINT)
        salvage->result = result;
}

static void take_other(void *data, const struct page_row *row)
{
    struct salvage *salvage = data;
    for (size_t i = 0; i < SHAPE_COUNT && salvage->result == SQLITE_OK; i++)
        if (row->has_key == SHAPES[i].has_key && has_shape(row, SHAPES[i].columns))
            insert(salvage, salvage->insert[i], row, row->count);
}

/* Columns that came later are missing in what was written before. */
static void take_sample(void *data, const struct page_row *row)
{
    struct salvage *salvage = data;
    if (row->has_key && salvage->result == SQLITE_OK && has_shape(row, "kriv*"))
        insert(salvage, salvage->sample, row, salvage->series + COLUMNS_BEFORE);
}

/* ---- the file ---- */

static bool read_at(void *data, uint64_t offset, void *out, size_t size)
{
    const struct salvage *salvage = data;
    char *at = out;
    while (size > 0) {
        ssize_t got = pread(salvage->descriptor, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

static int scan(struct salvage *salvage, void (*take)(void *data, const struct page_row *row),
                vitals_error *error)
{
    struct stat status;
    if (fstat(salvage->descriptor, &status) != 0)
        return record_fail_errno(errno, salvage->path, error);
    const struct pages_reader reader = {
        .data = salvage, .read = read_at, .size = (uint64_t)status.st_size, .take = take};
    if (!pages_scan(&reader))
        return record_fail(VITALS_EFORMAT, salvage->path, error, "has no page that can be read");
    return salvage->result == SQLITE_OK ? 0 : database_fail(salvage->out, salvage->path, error);
}

/* A number of the file's header. */
static uint32_t header_number(struct salvage *salvage, uint64_t at)
{
    unsigned char bytes[4] = {0};
    (void)read_at(salvage, at, bytes, sizeof bytes);
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Without its first page nobody knows whose it is. */
static bool is_ours(struct salvage *salvage)
{
    enum { FORM_AT = 60, APPLICATION_AT = 68 };
    return header_number(salvage, APPLICATION_AT) == DATABASE_APPLICATION &&
           header_number(salvage, FORM_AT) <= DATABASE_SCHEMA;
}

/* ---- tables ---- */

static int make_tables(struct salvage *salvage, vitals_error *error)
{
    char sql[120];
    (void)snprintf(sql, sizeof sql,
                   "PRAGMA journal_mode=OFF;PRAGMA application_id=%d;PRAGMA user_version=%d;BEGIN;",
                   DATABASE_APPLICATION, DATABASE_SCHEMA);
    int code = database_run(salvage->out, salvage->path, sql, error);
    if (code == 0)
        code = database_run(salvage->out, salvage->path, DATABASE_TABLES, error);
    for (size_t i = 0; i < SHAPE_COUNT && code == 0; i++)
        code = database_prepare(salvage->out, salvage->path, SHAPES[i].insert, &salvage->insert[i],
                                error);
    return code;
}

/* The column of series N is the Nth behind the first three; one whose name is lost keeps its
 * place. */
static int add_columns(struct salvage *salvage, vitals_error *error)
{
    char sql[NAME_MOST * 2 + 80], quoted[NAME_MOST * 2], lost[32];
    sqlite3_stmt *names = NULL;
    int code = database_prepare(salvage->out, salvage->path,
                                "SELECT id,column_name FROM series WHERE id BETWEEN 1 AND 1900 "
                                "ORDER BY id",
                                &names, error);
    while (code == 0 && sqlite3_step(names) == SQLITE_ROW) {
        size_t id = (size_t)sqlite3_column_int64(names, 0);
        const unsigned char *name = sqlite3_column_text(names, 1);
        while (code == 0 && salvage->series < id) {
            bool known = ++salvage->series == id && name != NULL;
            (void)snprintf(lost, sizeof lost, "lost %zu", salvage->series);
            database_quote(known ? (const char *)name : lost, quoted, sizeof quoted);
            (void)snprintf(sql, sizeof sql, "ALTER TABLE samples ADD COLUMN %s REAL", quoted);
            code = database_run(salvage->out, salvage->path, sql, error);
        }
    }
    (void)sqlite3_finalize(names);
    return code;
}

static int prepare_sample(struct salvage *salvage, vitals_error *error)
{
    char sql[64 + 6 * (SERIES_MOST + COLUMNS_BEFORE)];
    size_t used = (size_t)snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO samples VALUES(?1");
    for (size_t i = 2; i <= salvage->series + COLUMNS_BEFORE; i++)
        used += (size_t)snprintf(sql + used, sizeof sql - used, ",?%zu", i);
    (void)snprintf(sql + used, sizeof sql - used, ")");
    return database_prepare(salvage->out, salvage->path, sql, &salvage->sample, error);
}

/* Of a part of an account the rest would be missed. */
static void copy_account(struct salvage *salvage, sqlite3 *damaged)
{
    enum { VALUE_COLUMN = 6 };
    static const char SELECT[] = "SELECT name,unit,subject,label,source,state,value FROM account "
                                 "ORDER BY place";
    static const char INSERT[] =
        "INSERT INTO account(name,unit,subject,label,source,state,value) VALUES(?1,?2,?3,?4,?5,?6,"
        "?7)";
    sqlite3_stmt *from = NULL, *to = NULL;
    int result = SQLITE_ERROR;
    if (damaged != NULL && database_has_table(damaged, "account") &&
        sqlite3_prepare_v2(damaged, SELECT, -1, &from, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(salvage->out, INSERT, -1, &to, NULL) == SQLITE_OK)
        result = sqlite3_step(from);
    while (result == SQLITE_ROW) {
        for (int i = 0; i < VALUE_COLUMN; i++)
            (void)sqlite3_bind_text(to, i + 1, (const char *)sqlite3_column_text(from, i), -1,
                                    SQLITE_TRANSIENT);
        if (sqlite3_column_type(from, VALUE_COLUMN) == SQLITE_FLOAT)
            (void)sqlite3_bind_double(to, VALUE_COLUMN + 1,
                                      sqlite3_column_double(from, VALUE_COLUMN));
        (void)sqlite3_step(to);
        (void)sqlite3_reset(to);
        (void)sqlite3_clear_bindings(to);
        result = sqlite3_step(from);
    }
    (void)sqlite3_finalize(from);
    (void)sqlite3_finalize(to);
    if (result != SQLITE_DONE)
        (void)sqlite3_exec(salvage->out, "DELETE FROM account", NULL, NULL, NULL);
}

static int put_together(struct salvage *salvage, sqlite3 *damaged, vitals_error *error)
{
    int code = make_tables(salvage, error);
    if (code == 0)
        code = scan(salvage, take_other, error);
    if (code == 0)
        code = add_columns(salvage, error);
    if (code == 0)
        code = prepare_sample(salvage, error);
    if (code == 0)
        code = scan(salvage, take_sample, error);
    if (code == 0)
        copy_account(salvage, damaged);
    for (size_t i = 0; i < SHAPE_COUNT; i++)
        (void)sqlite3_finalize(salvage->insert[i]);
    (void)sqlite3_finalize(salvage->sample);
    return code == 0 ? database_run(salvage->out, salvage->path, "COMMIT", error) : code;
}

/* An empty path is a database that nobody else sees. */
int database_salvage(const char *path, sqlite3 *damaged, sqlite3 **out, vitals_error *error)
{
    struct salvage salvage = {.path = path, .result = SQLITE_OK};
    salvage.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (salvage.descriptor < 0)
        return record_fail_errno(errno, path, error);
    int code = is_ours(&salvage) ? 0 : record_fail(VITALS_EFORMAT, path, error, "is no recording");
    if (code == 0 &&
        sqlite3_open_v2("", &salvage.out,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        code = record_fail(VITALS_EMEMORY, path, error, "out of memory");
    if (code == 0)
        code = put_together(&salvage, damaged, error);
    close(salvage.descriptor);
    if (code < 0) {
        (void)sqlite3_close_v2(salvage.out);
        return code;
    }
    *out = salvage.out;
    return 0;
}

#endif
