/* paint.c: see paint.h. */
#include "view/paint.h"

#include <string.h>

#include "view/canvas.h"

static const char *const ESCAPES[] = {
    [COLOR_PLAIN] = "",       [COLOR_GREEN] = "\033[32m", [COLOR_YELLOW] = "\033[33m",
    [COLOR_RED] = "\033[31m", [COLOR_CYAN] = "\033[36m",  [COLOR_MAGENTA] = "\033[35m",
    [COLOR_DIM] = "\033[2m",  [COLOR_BOLD] = "\033[1m",
};

void paint_init(struct paint *paint, bool color, vitals_write_fn *write, void *data)
{
    *paint = (struct paint){.color = color, .write = write, .data = data};
}

static void flush(struct paint *paint)
{
    if (paint->failed == 0 && paint->used > 0)
        paint->failed = paint->write(paint->data, paint->bytes, paint->used);
    paint->used = 0;
}

int paint_done(struct paint *paint)
{
    flush(paint);
    return paint->failed;
}

static void put(struct paint *paint, const char *bytes, size_t size)
{
    if (paint->piece != NULL) {
        paint->piece(paint->data, paint->now, bytes, size);
        return;
    }
    while (size > 0) {
        if (paint->used == sizeof(paint->bytes))
            flush(paint);
        size_t room = sizeof(paint->bytes) - paint->used;
        size_t part = size < room ? size : room;
        memcpy(paint->bytes + paint->used, bytes, part);
        paint->used += part;
        bytes += part;
        size -= part;
    }
}

static void put_string(struct paint *paint, const char *string)
{
    put(paint, string, strlen(string));
}

static void begin_color(struct paint *paint, enum color color)
{
    paint->now = color;
    if (paint->color && color != COLOR_PLAIN)
        put_string(paint, ESCAPES[color]);
}

static void end_color(struct paint *paint, enum color color)
{
    paint->now = COLOR_PLAIN;
    if (paint->color && color != COLOR_PLAIN)
        put_string(paint, "\033[0m");
}

void paint_text(struct paint *paint, enum color color, const char *text)
{
    begin_color(paint, color);
    put_string(paint, text);
    end_color(paint, color);
}

size_t paint_columns(const char *text)
{
    return (size_t)canvas_columns(text);
}

size_t paint_fitting(const char *text, size_t columns, size_t *used)
{
    size_t at = 0, sum = 0;
    int wide;
    for (size_t size; (size = canvas_next(text + at, &wide)) > 0 && sum + (size_t)wide <= columns;
         at += size)
        sum += (size_t)wide;
    if (used != NULL)
        *used = sum;
    return at;
}

void paint_repeat(struct paint *paint, enum color color, const char *glyph, size_t count)
{
    begin_color(paint, color);
    for (size_t i = 0; i < count; i++)
        put_string(paint, glyph);
    end_color(paint, color);
}

void paint_cell(struct paint *paint, enum color color, enum align align, size_t columns,
                const char *text)
{
    size_t wide = paint_columns(text), pad = wide < columns ? columns - wide : 0;
    if (align == ALIGN_RIGHT)
        paint_repeat(paint, COLOR_PLAIN, " ", pad);
    begin_color(paint, color);
    if (wide <= columns)
        put_string(paint, text);
    else {
        size_t used = 0, dots = columns >= 2 ? 2 : columns;
        put(paint, text, paint_fitting(text, columns - dots, &used));
        put(paint, "..", dots);
        pad = columns - used - dots;
    }
    end_color(paint, color);
    if (align == ALIGN_LEFT || wide > columns)
        paint_repeat(paint, COLOR_PLAIN, " ", pad);
}

void paint_end(struct paint *paint)
{
    put(paint, "\n", 1);
}

void paint_wrapped(struct paint *paint, enum color color, size_t at, size_t width,
                   const char *prefix, const char *text)
{
    enum { LEAST = 16 };
    size_t taken = at + strlen(prefix);
    size_t columns = width > taken + LEAST ? width - taken : LEAST;
    for (;;) {
        size_t whole = strlen(text), fits = width > 0 ? paint_fitting(text, columns, NULL) : whole;
        size_t size = fits; /* up to a blank if there is one */
        while (fits < whole && size > 0 && text[size] != ' ')
            size--;
        size = size > 0 ? size : fits > 0 ? fits : whole;
        begin_color(paint, color);
        put_string(paint, prefix);
        put(paint, text, size);
        end_color(paint, color);
        text += size;
        text += strspn(text, " ");
        if (*text == '\0')
            return;
        paint_end(paint);
        paint_repeat(paint, COLOR_PLAIN, " ", at);
    }
}

void paint_paragraph(struct paint *paint, enum color color, size_t at, size_t width,
                     const char *text)
{
    paint_wrapped(paint, color, at, width, "", text);
    paint_end(paint);
}

void paint_labelled(struct paint *paint, size_t at, size_t width, const char *label,
                    enum color color, const char *text)
{
    paint_text(paint, COLOR_PLAIN, "  ");
    paint_cell(paint, color == COLOR_DIM ? COLOR_DIM : COLOR_PLAIN, ALIGN_LEFT, at - 2, label);
    paint_wrapped(paint, color, at, width, "", text);
}
