/* grid.h: text in columns that are as wide as their cells.
 *
 * Cells are added row by row, measured, and painted when all are there. All text that is added must
 * be safe. If memory is exhausted, later cells are dropped and grid_paint returns an error. One
 * thread. */
#pragma once

#include "command/output.h"
#include "util/buffer.h"
#include "view/paint.h"

enum { GRID_COLUMNS = 128 };

struct grid_column {
    const char *title; /* borrowed; safe */
    enum align align;
    size_t most; /* columns; wider text is cut; 0: no limit */
    size_t wide; /* measured width */
};

struct grid_cell {
    size_t at;   /* in the grid's text */
    size_t wide; /* columns */
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

/* An object of zeros is empty. grid_reset removes rows and columns, and keeps the memory. */
void grid_reset(struct grid *grid);
void grid_done(struct grid *grid);

void grid_column(struct grid *grid, const char *title, enum align align, size_t most);

/* Adds the next cell; a row is full when it has as many cells as there are columns. */
void grid_cell(struct grid *grid, enum color color, const char *text);

struct grid_form {
    size_t indent, width; /* spaces before each line; columns of a line, 0: no limit */
    bool titles;
};

/* Returns the width that lines need so that no column is left out. */
size_t grid_least(const struct grid *grid, const struct grid_form *form);

/* Paints all rows below their titles. The last column is cut first, then the line if the other
 * columns do not fit. Returns -1 if memory is exhausted. */
int grid_paint(const struct grid *grid, const struct grid_form *form, struct paint *paint);

/* Paints to an output, after an empty line if `apart`. Returns the exit code; prints a message if
 * memory is exhausted. */
int grid_print(const struct grid *grid, const struct grid_form *form, bool color, bool apart,
               struct output *output);
