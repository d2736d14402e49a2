/* csv.h: bytes become rows of CSV (RFC 4180), however they are cut. Pure but for memory.
 *
 * A row that is too long or has too many fields is passed over and counted. Fields are given as
 * strings: a NUL in one is a space. */
#ifndef VITALS_RECORD_CSV_H
#define VITALS_RECORD_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CSV_FIELDS_MAX = 8192, CSV_ROW_MAX = 4 * 1024 * 1024 };

struct csv_row {
    const char *const *fields;
    size_t count;
    bool first_quoted; /* how the first field stood */
    uint64_t line;     /* where it begins, from 1 */
};

/* Not 0: no more. */
typedef int csv_take(void *data, const struct csv_row *row);

struct csv {
    csv_take *take;
    void *data;
    char *bytes; /* of the row so far, each field ended by a NUL */
    size_t used, capacity;
    size_t *starts;
    const char **fields;
    size_t count;
    bool quoted, in_quotes, quote_before, first_quoted, too_long, started, failed;
    uint64_t line, row_line, passed_over;
    int stopped;
};

/* False: no memory. */
bool csv_init(struct csv *csv, csv_take *take, void *data);

/* 0, or what `take` returned, or -1 where memory is out. */
int csv_push(struct csv *csv, const char *bytes, size_t size);

/* What stands behind the last end of a line is a row too where `whole`, else dropped. Returns
 * whether there was any. */
bool csv_end(struct csv *csv, bool whole);
void csv_done(struct csv *csv);

/* A number as such files hold it: decimal digits, a point, an exponent; false for all else. */
bool csv_number(const char *field, double *out);

#endif
