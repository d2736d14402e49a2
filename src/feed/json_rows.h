/* json_rows.h: where the rows of a document stand, so that each can be read by itself; and a row in
 * the form that vitals writes (model/json.c), read without a tree of it. Pure.
 *
 * A tree of a whole document takes ten times its bytes; that of a row is gone before the next one
 * is made. The rest of the document, the frame, holds the number of a row in each row's place, so
 * the document is JSON exactly where the frame is and each row is. Only bytes are looked at:
 * whether any of it is JSON is for the reader of the pieces to say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

struct json_row {
    size_t at, size; /* in the document */
    bool read;       /* the reader's: it has been */
};

struct json_rows {
    struct json_row *rows;
    size_t count;
    char *frame;
    size_t frame_size;
};

/* Finds the objects that are elements of the lists in the member "tables". 1: all of them are in
 * *out, yours to json_rows_done. 0: there is nothing to take out, or an element is no object.
 * EMEMORY. */
int json_rows_find(const char *bytes, size_t size, struct json_rows *out);

void json_rows_done(struct json_rows *rows); /* accepts zeros */

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

/* Reads a row whose members stand in the order of the columns, without blanks, and whose strings
 * are printable ASCII without a backslash. Returns true with the row, which borrows from the bytes,
 * or false: it differs in some way, and is left to jansson. */
bool own_row_read(vitals_text bytes, const struct json_columns *columns,
                  struct json_row_cells *out);
