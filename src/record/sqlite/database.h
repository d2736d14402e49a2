/* database.h: opens SQLite databases with one set of limits and errors.
 *
 * Only files with `database` in their name use it. In a build without SQLite they return
 * EUNSUPPORTED. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

#include "feed/built_without.h"

#define DATABASE_ABSENT BUILT_WITHOUT_SQLITE "; recordings in CSV work without it"

/* Writes an account into an existing recording. Errors: those of database_open. */
int database_put_account(const char *path, const vitals_account *account, vitals_error *error);

#if VITALS_WITH_SQLITE

#include <sqlite3.h>

#include "record/frame/frame.h"
#include "record/replay/timeline.h"

enum { DATABASE_APPLICATION = 0x56544C53, DATABASE_SCHEMA = 1 }; /* "VTLS" */

enum database_use { DATABASE_MAKE, DATABASE_WRITE, DATABASE_READ };

/* Errors: EGONE, EDENIED, ESYSTEM, EFORMAT (no database), EARGUMENT (MAKE: there already). */
int database_open(const char *path, enum database_use use, bool overwrite, sqlite3 **out,
                  vitals_error *error);
int database_run(sqlite3 *database, const char *path, const char *sql, vitals_error *error);
int database_prepare(sqlite3 *database, const char *path, const char *sql, sqlite3_stmt **out,
                     vitals_error *error);

/* The tables of a recording, without the columns of its series. */
extern const char DATABASE_TABLES[];

/* The begin of the table of samples; the columns of the series follow. */
#define DATABASE_SAMPLES                                                   \
    "CREATE TABLE samples(sample INTEGER PRIMARY KEY, time REAL NOT NULL," \
    " monotonic_ns INTEGER NOT NULL"

/* Closes a database that was written: moves the log into the file, so that one file is left. A
 * reader may prevent that, which does no harm. Accepts NULL. */
void database_close_written(sqlite3 *database);

/* Quotes a name for SQL. */
void database_quote(const char *name, char *out, size_t capacity);

/* Runs a statement that gives no rows, and resets it; fails if its values could not be `bound`. */
int database_step(sqlite3_stmt *statement, bool bound, const char *path, vitals_error *error);
int database_fail(sqlite3 *database, const char *path, vitals_error *error);

/* EFORMAT, with a message that names the file, `why`, and the command that may save a part of it.
 */
int database_fail_damaged(const char *path, const char *why, vitals_error *error);

/* Returns the number that a statement gives, or 0. */
long long database_number(sqlite3 *database, const char *sql);

/* Gives the size of the database in bytes. */
#define DATABASE_BYTES "SELECT page_count*page_size FROM pragma_page_count,pragma_page_size"

/* Returns EUNSUPPORTED if a newer vitals recorded it in a form that this one does not know. */
int database_check_form(sqlite3 *database, const char *path, vitals_error *error);

/* True if there is an ordinary table of that name: no view and no virtual table, which a hostile
 * file could have instead. */
bool database_has_table(sqlite3 *database, const char *name);

/* ---- the frames of a recording, by number or time (frames_database.c). One thread. ---- */

struct frames {
    char *path;
    sqlite3 *database;
    sqlite3_stmt *find[4]; /* by enum timeline_place */
    sqlite3_stmt *read;
    struct frame_decoder decoder;
};

/* Errors: those of database_open, EUNSUPPORTED: it holds no snapshots, EMEMORY. */
int frames_open(struct frames *frames, const char *path, vitals_error *error);
void frames_close(struct frames *frames);

/* Finds the number of the frame at a place relative to a number or a time. Returns 1, 0 if there is
 * none, or ESYSTEM, EFORMAT. */
int frames_find(struct frames *frames, enum timeline_place place, int64_t argument, int64_t *number,
                vitals_error *error);

/* Decodes a frame that exists. Errors: EFORMAT, EUNSUPPORTED (frames_is_broken), EMEMORY,
 * ESYSTEM. */
int frames_read(struct frames *frames, int64_t number, vitals_snapshot **out, vitals_error *error);

/* True if an error concerns one frame only. */
bool frames_is_broken(int code);
#endif
