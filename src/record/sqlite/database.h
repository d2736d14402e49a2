/* database.h: SQLite, as recordings need it: opened the same way everywhere, its errors as ours.
 *
 * Only files with `database` in their name use it; in a build without SQLite they return
 * EUNSUPPORTED. */
#ifndef VITALS_RECORD_SQLITE_DATABASE_H
#define VITALS_RECORD_SQLITE_DATABASE_H

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

#include "feed/built_without.h"

#define DATABASE_ABSENT BUILT_WITHOUT_SQLITE "; recordings in CSV work without it"

/* "3.40.1", or NULL where it was built without. */
const char *database_version(void);

/* Puts an account into a recording of ours that stands already. Errors: those of opening. */
int database_put_account(const char *path, const vitals_account *account, vitals_error *error);

#if VITALS_WITH_SQLITE

#include <sqlite3.h>

enum { DATABASE_APPLICATION = 0x56544C53, DATABASE_SCHEMA = 1 }; /* "VTLS" */

enum database_use { DATABASE_MAKE, DATABASE_WRITE, DATABASE_READ };

/* Errors: EGONE, EDENIED, ESYSTEM, EFORMAT (no database), EARGUMENT (MAKE: there already). */
int database_open(const char *path, enum database_use use, bool overwrite, sqlite3 **out,
                  vitals_error *error);
int database_run(sqlite3 *database, const char *path, const char *sql, vitals_error *error);
int database_prepare(sqlite3 *database, const char *path, const char *sql, sqlite3_stmt **out,
                     vitals_error *error);

/* The tables of a recording of ours, but for the columns of its series. */
extern const char DATABASE_TABLES[];

/* A name as SQL takes it, in quotes. */
void database_quote(const char *name, char *out, size_t capacity);

/* One step of a statement that gives no rows, and makes it ready again. */
int database_step(sqlite3_stmt *statement, const char *path, vitals_error *error);
int database_fail(sqlite3 *database, const char *path, vitals_error *error);

/* EFORMAT, with a message that names the file, `why`, and the command that may save a part of it.
 */
int database_fail_damaged(const char *path, const char *why, vitals_error *error);

/* The one number that a statement gives; 0 where it gives none. */
long long database_number(sqlite3 *database, const char *sql);

/* How large it is. */
#define DATABASE_BYTES "SELECT page_count*page_size FROM pragma_page_count,pragma_page_size"

/* Errors: EUNSUPPORTED: it is a recording of ours, of a newer form than this vitals knows. */
int database_check_form(sqlite3 *database, const char *path, vitals_error *error);

/* Whether there is an ordinary table of that name: no view and no virtual one, which a hostile file
 * could have put in its place. */
bool database_has_table(sqlite3 *database, const char *name);
#endif

#endif
