/* own_row.h: a row of a document in the form that vitals writes (model/json.c), read without a
 * tree of it: its members stand in the order of the columns, without blanks, and its strings are
 * printable ASCII without a backslash.
 *
 * A row that differs in any way is not refused, but left to jansson. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

enum { ROW_METRICS_MAX = 256 }; /* columns of a table */

/* A value of the row. It may be one that its metric does not allow. */
struct json_cell {
    enum { CELL_NULL, CELL_NUMBER, CELL_TEXT, CELL_OTHER, CELL_MISSING } kind;
    double number;
    vitals_text text;
    vitals_availability
        state; /* VITALS_HAVE where the row does not say; UNSET: a word that is none */
    bool aged; /* `age_ns` is its own */
    double age_ns;
};

/* A number that is none is NaN, a text NULL. */
struct json_row_cells {
    double key, parent, age_ns; /* parent: 0: none */
    vitals_text label;
    struct json_cell cells[ROW_METRICS_MAX]; /* of the columns */
};

/* The columns that a table of a document names, in the order in which vitals writes them. */
struct json_columns {
    vitals_metric metrics[ROW_METRICS_MAX];
    size_t count;
    bool parented; /* its rows have a member `parent` */
    bool own;      /* all of them are known, and in the order of the catalogue */
};

/* Returns true with the row, which borrows from the bytes, or false: the row is in another form. */
bool own_row_read(vitals_text bytes, const struct json_columns *columns,
                  struct json_row_cells *out);
