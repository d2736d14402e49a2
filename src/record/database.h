/* database.h: SQLite, as recordings need it: opened the same way everywhere, its errors as ours.
 *
 * Only files with `database` in their name include sqlite3.h; without it they say EUNSUPPORTED. */
#ifndef VITALS_RECORD_DATABASE_H
#define VITALS_RECORD_DATABASE_H

#include <stdbool.h>

#include <vitals/vitals.h>

#define DATABASE_ABSENT "this vitals was built without SQLite; CSV works without it"

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

/* Whether a file is shorter than it says it is: it was cut off. Its pages that are left can be
 * read. */
bool database_is_cut(const char *path);

/* One step of a statement that gives no rows, and makes it ready again. */
int database_step(sqlite3_stmt *statement, const char *path, vitals_error *error);
int database_fail(sqlite3 *database, const char *path, vitals_error *error);

/* Whether there is an ordinary table of that name: no view and no virtual one, which a hostile file
 * could have put in its place. */
bool database_has_table(sqlite3 *database, const char *name);
#endif

#endif
