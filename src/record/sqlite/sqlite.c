/* sqlite.c: see sqlite.h. */
#if VITALS_WITH_SQLITE
#include "record/sqlite/sqlite.h"

#include <stddef.h>

#include "feed/library.h"

/* What was never opened may be closed. */
static int close_nothing(sqlite3 *database)
{
    (void)database;
    return SQLITE_OK;
}

static int finalize_nothing(sqlite3_stmt *statement)
{
    (void)statement;
    return SQLITE_OK;
}

struct sqlite_functions sqlite = {.close_v2 = close_nothing, .finalize = finalize_nothing};

const char *sqlite_missing(void)
{
    static const struct library_symbol SYMBOLS[] = {
#define SYMBOL(name) {"sqlite3_" #name, offsetof(struct sqlite_functions, name)},
        SQLITE_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct library library = {.file = "libsqlite3.so.0",
                                     .table = &sqlite,
                                     .symbols = SYMBOLS,
                                     .count = sizeof(SYMBOLS) / sizeof(SYMBOLS[0])};
    return library_missing(&library);
}
#else
typedef int sqlite_is_left_out;
#endif
