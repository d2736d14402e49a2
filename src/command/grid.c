/* grid.c: see grid.h. */
#include "command/grid.h"

#include <string.h>

#include "command/command.h"
#include "util/memory.h"

void grid_reset(struct grid *grid)
{
    grid->column_count = grid->count = 0;
    buffer_reset(&grid->text);
    grid->failed = false;
}

void grid_done(struct grid *grid)
{
    memory_free(grid->cells);
    buffer_done(&grid->text);
    *grid = (struct grid){0};
}

/* Cells widen a column to PADDED_MOST at most, as a command line may be megabytes, to which each
 * row would be padded. A wider cell moves the rest of its own row. */
enum { PADDED_MOST = 200 };

void grid_column(struct grid *grid, const char *title, enum align align, size_t most)
{
    if (grid->column_count == GRID_COLUMNS)
        return;
    size_t wide = paint_columns(title);
    grid->columns[grid->column_count++] = (struct grid_column){title, align, most, wide};
}

void grid_cell(struct grid *grid, enum color color, const char *text)
{
    size_t at = grid->text.size;
    grid->failed = grid->failed || MEMORY_GROW(grid->cells, grid->capacity, grid->count) < 0;
    if (!grid->failed)
        buffer_append(&grid->text, text, strlen(text) + 1);
    grid->failed |= grid->text.failed;
    if (grid->failed || grid->column_count == 0)
        return;
    struct grid_column *column = &grid->columns[grid->count % grid->column_count];
    struct grid_cell cell = {at, paint_columns(text), color};
    grid->cells[grid->count++] = cell;
    size_t most = column->most > 0 ? column->most : PADDED_MOST;
    size_t wide = cell.wide < most || column->align == ALIGN_RIGHT ? cell.wide : most;
    if (wide > column->wide)
        column->wide = wide;
}

/* The fewest columns to which a text is cut. */
static size_t size_least(size_t wide)
{
    return wide < 8 ? wide : 8;
}

size_t grid_least(const struct grid *grid, const struct grid_form *form)
{
    size_t least = form->indent;
    for (size_t i = 0; i < grid->column_count; i++) {
        bool cut = i + 1 == grid->column_count && grid->columns[i].align == ALIGN_LEFT;
        least += (i > 0) + (cut ? size_least(grid->columns[i].wide) : grid->columns[i].wide);
    }
    return least;
}

static void paint_row(const struct grid *grid, const struct grid_form *form, struct paint *paint,
                      const struct grid_cell *cells, const char *const *titles)
{
    size_t count = grid->column_count;
    size_t left = form->width > 0 ? form->width : SIZE_MAX;

    /* Columns left for the last column of the grid. */
    const struct grid_column *end = &grid->columns[count - 1];
    size_t taken = form->indent, least = size_least(end->wide);
    for (size_t i = 0; i + 1 < count; i++)
        taken += grid->columns[i].wide + 1;
    size_t end_width = end->align == ALIGN_RIGHT     ? end->wide
                       : form->width == 0            ? SIZE_MAX
                       : form->width > taken + least ? form->width - taken
                                                     : least;

    paint_repeat(paint, COLOR_PLAIN, " ", form->indent);
    left -= form->indent < left ? form->indent : left;
    for (size_t i = 0; i < count; i++) {
        const struct grid_column *column = &grid->columns[i];
        bool last = i + 1 == count;
        const char *text = titles != NULL ? titles[i] : grid->text.bytes + cells[i].at;
        size_t wide = last ? end_width : column->wide;
        if (!last && column->most == 0 && cells[i].wide > wide)
            wide = cells[i].wide;
        if (left <= (i > 0) || (wide > left - (i > 0) && column->align == ALIGN_RIGHT))
            break; /* the line is full; a number must not be cut, it would read as another number */
        if (i > 0)
            paint_text(paint, COLOR_PLAIN, " ");
        left -= i > 0;
        wide = wide < left || wide == SIZE_MAX ? wide : left;

        /* A cell in `wide` columns (SIZE_MAX: its own width); the last of a line is not padded. */
        size_t pad = wide == SIZE_MAX || wide < cells[i].wide ? 0 : wide - cells[i].wide;
        if (column->align == ALIGN_RIGHT)
            paint_repeat(paint, COLOR_PLAIN, " ", pad);
        if (cells[i].wide > wide)
            paint_cell(paint, cells[i].color, ALIGN_LEFT, wide, text);
        else
            paint_text(paint, cells[i].color, text);
        if (column->align == ALIGN_LEFT && !last)
            paint_repeat(paint, COLOR_PLAIN, " ", pad);

        left -= wide < left ? wide : left;
    }
    paint_end(paint);
}

int grid_paint(const struct grid *grid, const struct grid_form *form, struct paint *paint)
{
    if (grid->column_count == 0)
        return 0;
    if (form->titles) {
        struct grid_cell cells[GRID_COLUMNS];
        const char *titles[GRID_COLUMNS];
        for (size_t i = 0; i < grid->column_count; i++) {
            titles[i] = grid->columns[i].title;
            cells[i] = (struct grid_cell){0, paint_columns(titles[i]), COLOR_BOLD};
        }
        paint_row(grid, form, paint, cells, titles);
    }
    for (size_t at = 0; at + grid->column_count <= grid->count; at += grid->column_count)
        paint_row(grid, form, paint, grid->cells + at, NULL);
    return grid->failed ? -1 : 0;
}

int grid_print(const struct grid *grid, const struct grid_form *form, bool color, bool apart,
               struct output *output)
{
    struct paint paint;
    paint_init(&paint, color, output_write, output);
    if (apart)
        paint_end(&paint);
    int code = grid_paint(grid, form, &paint);
    (void)paint_done(&paint);
    return code == 0 ? EXIT_DONE : command_fail(EXIT_CANNOT, "out of memory");
}
