/* canvas.h: a screen in memory: cells, each with a character and a style.
 *
 * Screens draw into it and know of no terminal. Drawing outside is cut off, so a part may be drawn
 * at negative rows. All text must be safe already (vitals_text_format); a control character becomes
 * a question mark. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

/* A color and flags. Color 0 is the terminal's own, n + 1 is the terminal's n-th (0 to 255). */
typedef uint32_t ink;

// clang-format off
enum {
    STYLE_PLAIN = 0, STYLE_RED = 2, STYLE_GREEN = 3, STYLE_YELLOW = 4, STYLE_BLUE = 5,
    STYLE_MAGENTA = 6, STYLE_CYAN = 7, STYLE_WHITE = 8, STYLE_COLORS = 0x1ff,
    STYLE_BOLD = 1 << 9, STYLE_DIM = 1 << 10, STYLE_REVERSE = 1 << 11, STYLE_UNDERLINE = 1 << 12
};
// clang-format on

/* A character with what combines with it, UTF-8, and zeros. An empty text is the right half of a
 * wide one. Cells that look the same are the same bytes. */
enum { CELL_TEXT = 14 };
struct cell {
    char text[CELL_TEXT];
    uint16_t style; /* an ink */
};
_Static_assert(sizeof(struct cell) == 16, "nothing stands between what is compared as bytes");

struct canvas {
    int width, height;
    bool wide;          /* some character since the last clear takes two columns */
    struct cell *cells; /* row by row */
    size_t capacity;
};

/* One of zeros is empty. Resizing clears it; -1: out of memory, and it is empty then. */
int canvas_resize(struct canvas *canvas, int width, int height);
void canvas_clear(struct canvas *canvas);
void canvas_done(struct canvas *canvas);

/* NULL outside. */
struct cell *canvas_at(const struct canvas *canvas, int x, int y);

/* Writes in one row; gives the columns that the text takes, cut off or not. */
int canvas_text(struct canvas *canvas, int x, int y, ink style, const char *text);

/* Writes exactly `columns`, without the first `skip` columns of the text: padded with blanks, or
 * cut with ".." at its right. */
struct canvas_field {
    int x, y, columns;
    bool right; /* aligned */
    int skip;
    ink style;
};
void canvas_field(struct canvas *canvas, const struct canvas_field *field, const char *text);

/* The same of a whole text, aligned at the left. */
void canvas_words(struct canvas *canvas, int x, int y, int columns, ink style, const char *text);

/* One glyph of one column, `count` times. */
void canvas_repeat(struct canvas *canvas, int x, int y, int count, ink style, const char *glyph);

/* Blanks. */
void canvas_erase(struct canvas *canvas, int x, int y, int columns, int rows);

/* Adds flags to what stands there. A color replaces the one that it has. */
void canvas_restyle(struct canvas *canvas, int x, int y, int columns, ink style);

/* Columns of a safe text. */
int canvas_columns(const char *text);

/* The next character of a safe text: its bytes and its columns (0: combines with the one before).
 * Gives 0 at the end. */
size_t canvas_next(const char *text, int *columns);

/* For a light background: colors that would not be seen on it become darker ones of 256. */
void canvas_darken(struct canvas *canvas);

/* Takes every color and flag away but these. */
void canvas_keep(struct canvas *canvas, ink kept);

/* Every row as text and a newline, blanks at its end left out; with ANSI styles where asked for.
 * 0, or what `write` gave to stop. */
int canvas_print(const struct canvas *canvas, bool styles, vitals_write_fn *write, void *data);
