/* database.c: see database.h. */
#include "record/sqlite/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/error.h"
#include "util/file.h"

const char DATABASE_TABLES[] =
    "CREATE TABLE attributes(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE series(id INTEGER PRIMARY KEY, column_name TEXT NOT NULL UNIQUE,"
    " name TEXT NOT NULL, subject TEXT NOT NULL, label TEXT NOT NULL, unit TEXT NOT NULL,"
    " kind TEXT NOT NULL);" DATABASE_SAMPLES ");"
    "CREATE TABLE states(sample INTEGER NOT NULL, series INTEGER NOT NULL, state TEXT NOT NULL,"
    " PRIMARY KEY(sample, series)) WITHOUT ROWID;"
    "CREATE TABLE moments(sample INTEGER NOT NULL, series INTEGER NOT NULL,"
    " monotonic_ns INTEGER NOT NULL, PRIMARY KEY(sample, series)) WITHOUT ROWID;"
    "CREATE TABLE marks(time REAL NOT NULL, begins INTEGER NOT NULL, name TEXT NOT NULL,"
    " pid INTEGER, tid INTEGER, told INTEGER NOT NULL);"
    "CREATE TABLE frames(sequence INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL,"
    " key INTEGER, encoding TEXT NOT NULL, content BLOB NOT NULL);"
    "CREATE INDEX frames_time ON frames(time_ns);"
    "CREATE TABLE account(place INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL,"
    " subject TEXT NOT NULL, label TEXT NOT NULL, source TEXT NOT NULL, state TEXT NOT NULL,"
    " value REAL);";

int database_fail_damaged(const char *path, const char *why, vitals_error *error)
{
    return record_fail(VITALS_EFORMAT, path, error,
                       "SQLite cannot read it: %s; sqlite3 FILE .recover may save a part of it",
                       why);
}

int database_fail(sqlite3 *database, const char *path, vitals_error *error)
{
    int number = sqlite3_system_errno(database), result = sqlite3_errcode(database) & 0xFF;
    if (result == SQLITE_NOMEM)
        return record_no_memory(path, error);
    if (result == SQLITE_NOTADB || result == SQLITE_CORRUPT)
        return database_fail_damaged(path, sqlite3_errmsg(database), error);
    if (result == SQLITE_CANTOPEN && number != 0)
        return record_fail_errno(number, path, error);
    int code = result == SQLITE_PERM || result == SQLITE_READONLY || result == SQLITE_AUTH
                   ? VITALS_EDENIED
                   : VITALS_ESYSTEM;
    const char *why = number != 0 ? strerror(number) : "the disk may be full";
    bool tells = result == SQLITE_IOERR || number != 0;
    (void)record_fail(code, path, error, "%s%s%s", sqlite3_errmsg(database), tells ? ": " : "",
                      tells ? why : "");
    if (error != NULL)
        error->detail = result == SQLITE_FULL ? ENOSPC : number;
    return code;
}

int database_run(sqlite3 *database, const char *path, const char *sql, vitals_error *error)
{
    return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : database_fail(database, path, error);
}

int database_prepare(sqlite3 *database, const char *path, const char *sql, sqlite3_stmt **out,
                     vitals_error *error)
{
    return sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK
               ? 0
               : database_fail(database, path, error);
}

int database_step(sqlite3_stmt *statement, bool bound, const char *path, vitals_error *error)
{
    int result = bound ? sqlite3_step(statement) : SQLITE_ERROR;
    int code = result == SQLITE_DONE || result == SQLITE_ROW
                   ? 0
                   : database_fail(sqlite3_db_handle(statement), path, error);
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return code;
}

/* Removes a database and the files that SQLite keeps beside it, which may be left of one that was
 * renamed while it was read. */
static int remove_old(const char *path, bool overwrite, vitals_error *error)
{
    static const char *const ENDINGS[] = {"-wal", "-shm", "-journal", ""};
    struct stat status;
    char beside[4096];
    bool there = stat(path, &status) == 0;
    if (!there) {
        /* SQLite would not say why the file cannot be made. */
        int descriptor = file_open_or_make(path, O_NONBLOCK);
        if (descriptor < 0)
            return record_fail_errno(errno, path, error);
        close(descriptor);
    }
    if (there && !S_ISREG(status.st_mode))
        return record_fail(VITALS_EARGUMENT, path, error, "is not a regular file");
    if (there && status.st_size > 0 && !overwrite)
        return record_fail(VITALS_EARGUMENT, path, error, "exists and is not empty");
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++) {
        size_t size = strlen(path);
        if (!there && ENDINGS[i][0] == '\0')
            break;
        if (size + strlen(ENDINGS[i]) >= sizeof beside)
            return record_fail(VITALS_EARGUMENT, path, error, "the path is too long");
        memcpy(beside, path, size);
        (void)strcpy(beside + size, ENDINGS[i]);
        if (unlink(beside) != 0 && errno != ENOENT)
            return record_fail_errno(errno, path, error);
    }
    return 0;
}

/* Reads the schema. SQLite reads the log of a database that was not closed only if it may also
 * write beside it. */
static int probe(sqlite3 *database, const char *path, vitals_error *error)
{
    char log[4096];
    struct stat status;
    long long tables = database_number(database, "SELECT count(*) FROM sqlite_master");
    int result = sqlite3_errcode(database);
    if (result == SQLITE_READONLY_ROLLBACK)
        return record_fail(VITALS_EFORMAT, path, error,
                           "its writer was killed during a change; run sqlite3 FILE .tables, which "
                           "undoes it from the -journal file");
    if ((result & 0xFF) == SQLITE_CANTOPEN || (result & 0xFF) == SQLITE_READONLY)
        return record_fail(VITALS_EDENIED, path, error,
                           "it was not closed, and its folder cannot be written; copy it and its "
                           "-wal file to another folder and read the copy");
    if (result != SQLITE_OK)
        return database_fail(database, path, error);
    if (tables == 0)
        return record_fail(VITALS_EFORMAT, path, error, RECORD_NOTHING_YET);

    /* If the file ends inside a page and no log holds that page, SQLite would read zeros for the
     * rest of it. */
    long long page_size = database_number(database, "PRAGMA page_size");
    if (page_size <= 0 || stat(path, &status) != 0 || status.st_size % page_size == 0)
        return 0;
    bool logged = (size_t)snprintf(log, sizeof log, "%s-wal", path) < sizeof log &&
                  stat(log, &status) == 0 && status.st_size > 0;
    return logged ? 0 : database_fail_damaged(path, "it was cut off", error);
}

int database_open(const char *path, enum database_use use, bool overwrite, sqlite3 **out,
                  vitals_error *error)
{
    static const int FLAGS[] = {[DATABASE_MAKE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                [DATABASE_WRITE] = SQLITE_OPEN_READWRITE,
                                [DATABASE_READ] = SQLITE_OPEN_READONLY};
    sqlite3 *database = NULL;
    int code = use == DATABASE_MAKE ? remove_old(path, overwrite, error) : 0;
    if (code < 0)
        return code;
    /* The system's reason is better than SQLite's. */
    if (use != DATABASE_MAKE && access(path, R_OK) != 0)
        return record_fail_errno(errno, path, error);

    if (sqlite3_open_v2(path, &database, FLAGS[use] | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        code = database != NULL ? database_fail(database, path, error)
                                : record_no_memory(path, error);
    /* Bounds the memory of the page cache, and allows a file from elsewhere nothing but reading. */
    if (code == 0) {
        int ignored;
        (void)sqlite3_extended_result_codes(database, 1);
        (void)sqlite3_busy_timeout(database, 2000);
        (void)sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, &ignored);
        (void)sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &ignored);
        (void)sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
        (void)sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 256 * 1024 * 1024);
        code = database_run(database, path,
                            use == DATABASE_MAKE
                                ? "PRAGMA journal_mode=MEMORY;PRAGMA journal_mode=WAL;"
                                  "PRAGMA synchronous=NORMAL;"
                                  "PRAGMA cache_size=-1024;PRAGMA temp_store=MEMORY;"
                                : "PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;",
                            error);
    }
    if (code == 0 && use != DATABASE_MAKE)
        code = probe(database, path, error);
    if (code < 0) {
        (void)sqlite3_close_v2(database);
        return code;
    }
    *out = database;
    return 0;
}

/* The change to and from WAL mode writes the first 100 bytes alone: with a -journal beside them, a
 * kill at that moment would leave a file that must be repaired first. */
void database_close_written(sqlite3 *database)
{
    if (database == NULL)
        return;
    (void)sqlite3_exec(database, "PRAGMA wal_checkpoint(TRUNCATE);PRAGMA busy_timeout=0;", NULL,
                       NULL, NULL);
    (void)sqlite3_exec(database, "PRAGMA journal_mode=MEMORY", NULL, NULL, NULL);
    (void)sqlite3_close_v2(database);
}

void database_quote(const char *name, char *out, size_t capacity)
{
    size_t used = 0;
    out[used++] = '"';
    for (; *name != '\0' && used + 4 < capacity; name++) {
        out[used++] = *name;
        if (*name == '"')
            out[used++] = '"';
    }
    out[used++] = '"';
    out[used] = '\0';
}

long long database_number(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    long long number = 0;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return number;
}

int database_check_form(sqlite3 *database, const char *path, vitals_error *error)
{
    long long form = database_number(database, "PRAGMA user_version");
    if (form <= DATABASE_SCHEMA ||
        database_number(database, "PRAGMA application_id") != DATABASE_APPLICATION)
        return 0;
    return record_fail(VITALS_EUNSUPPORTED, path, error,
                       "was recorded by a newer vitals (form %lld; this one reads up to %d); "
                       "update vitals to read it",
                       form, DATABASE_SCHEMA);
}

bool database_has_table(sqlite3 *database, const char *name)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;
    if (sqlite3_prepare_v2(database,
                           "SELECT 1 FROM sqlite_master WHERE type='table' AND name=?1 AND "
                           "rootpage>0",
                           -1, &statement, NULL) != SQLITE_OK)
        return false;
    if (sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK)
        found = sqlite3_step(statement) == SQLITE_ROW;
    (void)sqlite3_finalize(statement);
    return found;
}
