/* grid.h: text in columns as wide as what stands in them.
 *
 * Cells are given row by row, measured, and painted when all are there. Everything that is put in
 * is safe text already. Out of memory: later cells are dropped, and grid_paint says so. One
 * thread. */
#ifndef VITALS_COMMAND_GRID_H
#define VITALS_COMMAND_GRID_H

#include "command/output.h"
#include "feed/text.h"
#include "view/paint.h"

enum { GRID_COLUMNS = 128 };

struct grid_column {
    const char *title; /* borrowed; safe */
    enum align align;
    size_t most; /* columns; what is wider is cut; 0: as wide as it is */
    size_t wide; /* what was measured */
};

struct grid_cell {
    size_t at, size; /* in the grid's text, without its NUL */
    size_t wide;     /* columns */
    enum color color;
};

struct grid {
    struct grid_column columns[GRID_COLUMNS];
    size_t column_count;
    struct grid_cell *cells; /* row after row */
    size_t count, capacity;
    struct buffer text; /* of the cells, each with its NUL */
    bool failed;
};

/* One of zeros is empty. Forgets rows and columns; keeps its memory. */
void grid_reset(struct grid *grid);
void grid_done(struct grid *grid);

void grid_column(struct grid *grid, const char *title, enum align align, size_t most);

/* The next cell; the row is full after as many as there are columns. */
void grid_cell(struct grid *grid, enum color color, const char *text);

/* All rows below their titles, each line behind `indent` spaces; in at most `width` columns, the
 * last column being cut, and where even the others do not fit, the line (0: nothing is cut).
 * Without titles where `titles` is false. -1: out of memory. */
struct grid_form {
    size_t indent, width;
    bool titles;
};
/* How wide lines must be for no column to be left out. */
size_t grid_least(const struct grid *grid, const struct grid_form *form);

int grid_paint(const struct grid *grid, const struct grid_form *form, struct paint *paint);

/* The same to an output, behind an empty line with `apart`. The exit code; no memory is told. */
int grid_print(const struct grid *grid, const struct grid_form *form, bool color, bool apart,
               struct output *output);

#endif
