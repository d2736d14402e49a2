/* csv.h: parses CSV (RFC 4180) from blocks of bytes. Pure but for memory.
 *
 * A row that is too long or has too many fields is skipped and counted. Fields are strings: a NUL
 * in one is read as a space. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CSV_FIELDS_MAX = 8192, CSV_ROW_MAX = 4 * 1024 * 1024 };

struct csv_row {
    const char *const *fields;
    size_t count;
    bool first_quoted; /* the first field was quoted */
    uint64_t line;     /* where it begins, from 1 */
};

/* Returns 0 to continue, another value to stop. */
typedef int csv_take(void *data, const struct csv_row *row);

struct csv {
    csv_take *take;
    void *data;
    char *bytes; /* of the row so far; a NUL ends each field */
    size_t used, capacity;
    size_t *starts;
    const char **fields;
    size_t count;
    bool quoted, in_quotes, quote_before, first_quoted, too_long, started, failed;
    uint64_t line, row_line, skipped_rows;
    int stopped;
};

/* False: no memory. */
bool csv_init(struct csv *csv, csv_take *take, void *data);

/* Returns 0, what `take` returned, or -1 if memory is out. */
int csv_push(struct csv *csv, const char *bytes, size_t size);

/* Ends the file. Drops the bytes after the last line break; returns true if there were any. */
bool csv_end(struct csv *csv);
void csv_done(struct csv *csv);

/* Parses decimal digits, a point and an exponent; returns false for anything else. */
bool csv_number(const char *field, double *out);
