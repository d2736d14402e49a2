/* error.h: errors that name a file. */
#pragma once

#include <vitals/vitals.h>

#define RECORD_NOTHING_YET "is empty: nothing has been recorded in it yet"

/* Sets the error to "PATH: text", safe to print; path NULL: standard output; `error` may be NULL.
 * Returns the code. */
int record_fail(int code, const char *path, vitals_error *error, const char *format, ...)
    VITALS_FORMAT(4, 5);

/* The same: EMEMORY, "out of memory". */
int record_no_memory(const char *path, vitals_error *error);

/* The same for an errno: EGONE, EDENIED, EMEMORY or ESYSTEM, with strerror's text. */
int record_fail_errno(int number, const char *path, vitals_error *error);
