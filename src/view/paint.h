/* paint.h: lines of text with color and counted columns, written as they come.
 *
 * A canvas is for what has a size; this is for tables and paragraphs of any length. All text must
 * be safe already. A failed write is remembered, and painting on is then harmless. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

// clang-format off
enum color {
    COLOR_PLAIN, COLOR_GREEN, COLOR_YELLOW, COLOR_RED, COLOR_CYAN, COLOR_MAGENTA, COLOR_DIM,
    COLOR_BOLD
};
// clang-format on

enum align { ALIGN_LEFT, ALIGN_RIGHT };

struct paint {
    bool color; /* ANSI colors */
    vitals_write_fn *write;
    void *data;
    /* Gets each piece of text, newlines too, with its color, in place of `write`. NULL: none. */
    void (*piece)(void *data, enum color color, const char *bytes, size_t size);
    enum color now; /* of the next piece */
    int failed;
    size_t used;
    char bytes[4096];
};

void paint_init(struct paint *paint, bool color, vitals_write_fn *write, void *data);
int paint_done(struct paint *paint); /* 0, or what write gave */

void paint_text(struct paint *paint, enum color color, const char *text);

/* Exactly `columns` wide: padded, or cut at its right with "..". */
void paint_cell(struct paint *paint, enum color color, enum align align, size_t columns,
                const char *text);
void paint_repeat(struct paint *paint, enum color color, const char *glyph, size_t count);
void paint_end(struct paint *paint); /* of the line */

/* Words from the end of the line, of which `at` columns are used, wrapped at `width` columns (0:
 * not at all). Further lines are indented to `at`; each part begins with `prefix`. The last line is
 * not ended; paint_paragraph ends it. */
void paint_wrapped(struct paint *paint, enum color color, size_t at, size_t width,
                   const char *prefix, const char *text);
void paint_paragraph(struct paint *paint, enum color color, size_t at, size_t width,
                     const char *text);

/* The same behind a label that stands in the first `at` columns. */
void paint_labelled(struct paint *paint, size_t at, size_t width, const char *label,
                    enum color color, const char *text);

/* Columns of safe text; and how many of its bytes fit, of which *used (may be NULL) columns. */
size_t paint_columns(const char *text);
size_t paint_fitting(const char *text, size_t columns, size_t *used);
