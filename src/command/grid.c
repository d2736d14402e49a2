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

/* In safe ASCII, which holds no control characters, bytes are columns. */
static bool is_ascii(const char *text, size_t size)
{
    unsigned char any = 0; // without an early exit, so that the compiler vectorizes it
    for (size_t i = 0; i < size; i++)
        any |= (unsigned char)text[i];
    return any < 0x80;
}

/* Cells widen a column to PADDED_MOST at most, as a command line may be megabytes, to which each
 * row would be padded. A wider cell moves the rest of its own row. PIECE: bytes that are painted at
 * once. */
enum { PIECE = 512, PADDED_MOST = 200 };

/* Takes the next piece of safe text, as a string; it ends between characters. */
static size_t take_piece(const char *text, size_t size, char out[static PIECE + 1])
{
    size_t part = text_part((vitals_text){text, size}, PIECE);
    memcpy(out, text, part);
    out[part] = '\0';
    return part;
}

/* Returns the columns of safe text of any length. */
static size_t columns_of(const char *text, size_t size)
{
    if (is_ascii(text, size))
        return size;
    size_t wide = 0;
    while (size > 0) {
        char piece[PIECE + 1];
        size_t part = take_piece(text, size, piece);
        wide += paint_columns(piece);
        text += part;
        size -= part;
    }
    return wide;
}

void grid_column(struct grid *grid, const char *title, enum align align, size_t most)
{
    if (grid->column_count == GRID_COLUMNS)
        return;
    size_t wide = columns_of(title, strlen(title));
    grid->columns[grid->column_count++] = (struct grid_column){title, align, most, wide};
}

void grid_cell(struct grid *grid, enum color color, const char *text)
{
    size_t at = grid->text.size, size = strlen(text);
    grid->failed = grid->failed || MEMORY_GROW(grid->cells, grid->capacity, grid->count) < 0;
    if (!grid->failed)
        buffer_append(&grid->text, text, size + 1);
    grid->failed |= grid->text.failed;
    if (grid->failed || grid->column_count == 0)
        return;
    struct grid_column *column = &grid->columns[grid->count % grid->column_count];
    struct grid_cell cell = {at, size, columns_of(text, size), color};
    grid->cells[grid->count++] = cell;
    size_t most = column->most > 0 ? column->most : PADDED_MOST;
    size_t wide = cell.wide < most || column->align == ALIGN_RIGHT ? cell.wide : most;
    if (wide > column->wide)
        column->wide = wide;
}

static void paint_spaces(struct paint *paint, size_t count)
{
    static const char SPACES[] = "                                ";
    enum { MOST = sizeof SPACES - 1 };
    for (; count > MOST; count -= MOST)
        paint_text(paint, COLOR_PLAIN, SPACES);
    if (count > 0)
        paint_text(paint, COLOR_PLAIN, SPACES + MOST - count);
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

    paint_spaces(paint, form->indent);
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

        /* Prints a cell in `wide` columns (SIZE_MAX: its own width); the last cell of a line is not
         * padded at its right. */
        size_t used = cells[i].wide, size = cells[i].size, dots = 0;
        if (cells[i].wide > wide) {
            dots = wide >= 2 ? 2 : wide;
            size = used = size < wide - dots ? size : wide - dots;
            if (!is_ascii(text, size)) /* in ASCII, bytes are columns */
                size = paint_fitting(text, wide - dots, &used);
        }
        size_t pad = wide == SIZE_MAX ? 0 : wide - used - dots;
        if (column->align == ALIGN_RIGHT)
            paint_spaces(paint, pad);
        if (size == cells[i].size)
            paint_text(paint, cells[i].color, text);
        else {
            char piece[PIECE + 1];
            while (size > 0) {
                size_t part = take_piece(text, size, piece);
                paint_text(paint, cells[i].color, piece);
                text += part;
                size -= part;
            }
        }
        if (dots > 0)
            paint_repeat(paint, cells[i].color, ".", dots);
        if (column->align == ALIGN_LEFT && !last)
            paint_spaces(paint, pad);

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
            size_t size = strlen(titles[i]);
            cells[i] = (struct grid_cell){0, size, columns_of(titles[i], size), COLOR_BOLD};
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
