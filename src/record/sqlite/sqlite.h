/* sqlite.h: <sqlite3.h>, whose library is opened when a database first is (feed/library.h).
 *
 * A function that is called stands in both lists. Call sqlite_missing before any. */
#ifndef VITALS_RECORD_SQLITE_SQLITE_H
#define VITALS_RECORD_SQLITE_SQLITE_H

#include <sqlite3.h>

#define SQLITE_FUNCTIONS(FUNCTION)  \
    FUNCTION(bind_blob64)           \
    FUNCTION(bind_double)           \
    FUNCTION(bind_int)              \
    FUNCTION(bind_int64)            \
    FUNCTION(bind_text)             \
    FUNCTION(busy_timeout)          \
    FUNCTION(clear_bindings)        \
    FUNCTION(close_v2)              \
    FUNCTION(column_blob)           \
    FUNCTION(column_bytes)          \
    FUNCTION(column_count)          \
    FUNCTION(column_double)         \
    FUNCTION(column_int)            \
    FUNCTION(column_int64)          \
    FUNCTION(column_name)           \
    FUNCTION(column_text)           \
    FUNCTION(column_type)           \
    FUNCTION(db_config)             \
    FUNCTION(db_handle)             \
    FUNCTION(errcode)               \
    FUNCTION(errmsg)                \
    FUNCTION(exec)                  \
    FUNCTION(extended_result_codes) \
    FUNCTION(file_control)          \
    FUNCTION(finalize)              \
    FUNCTION(last_insert_rowid)     \
    FUNCTION(libversion)            \
    FUNCTION(limit)                 \
    FUNCTION(open_v2)               \
    FUNCTION(prepare_v2)            \
    FUNCTION(prepare_v3)            \
    FUNCTION(reset)                 \
    FUNCTION(step)                  \
    FUNCTION(system_errno)

struct sqlite_functions {
#define SQLITE_MEMBER(name) __typeof__(sqlite3_##name) *name;
    SQLITE_FUNCTIONS(SQLITE_MEMBER)
#undef SQLITE_MEMBER
};

extern struct sqlite_functions sqlite; /* set by sqlite_missing, and never after */

/* Opens it, once. NULL: it is open; else why it is not. */
const char *sqlite_missing(void);

#define sqlite3_bind_blob64           (*sqlite.bind_blob64)
#define sqlite3_bind_double           (*sqlite.bind_double)
#define sqlite3_bind_int              (*sqlite.bind_int)
#define sqlite3_bind_int64            (*sqlite.bind_int64)
#define sqlite3_bind_text             (*sqlite.bind_text)
#define sqlite3_busy_timeout          (*sqlite.busy_timeout)
#define sqlite3_clear_bindings        (*sqlite.clear_bindings)
#define sqlite3_close_v2              (*sqlite.close_v2)
#define sqlite3_column_blob           (*sqlite.column_blob)
#define sqlite3_column_bytes          (*sqlite.column_bytes)
#define sqlite3_column_count          (*sqlite.column_count)
#define sqlite3_column_double         (*sqlite.column_double)
#define sqlite3_column_int            (*sqlite.column_int)
#define sqlite3_column_int64          (*sqlite.column_int64)
#define sqlite3_column_name           (*sqlite.column_name)
#define sqlite3_column_text           (*sqlite.column_text)
#define sqlite3_column_type           (*sqlite.column_type)
#define sqlite3_db_config             (*sqlite.db_config)
#define sqlite3_db_handle             (*sqlite.db_handle)
#define sqlite3_errcode               (*sqlite.errcode)
#define sqlite3_errmsg                (*sqlite.errmsg)
#define sqlite3_exec                  (*sqlite.exec)
#define sqlite3_extended_result_codes (*sqlite.extended_result_codes)
#define sqlite3_file_control          (*sqlite.file_control)
#define sqlite3_finalize              (*sqlite.finalize)
#define sqlite3_last_insert_rowid     (*sqlite.last_insert_rowid)
#define sqlite3_libversion            (*sqlite.libversion)
#define sqlite3_limit                 (*sqlite.limit)
#define sqlite3_open_v2               (*sqlite.open_v2)
#define sqlite3_prepare_v2            (*sqlite.prepare_v2)
#define sqlite3_prepare_v3            (*sqlite.prepare_v3)
#define sqlite3_reset                 (*sqlite.reset)
#define sqlite3_step                  (*sqlite.step)
#define sqlite3_system_errno          (*sqlite.system_errno)

#endif
