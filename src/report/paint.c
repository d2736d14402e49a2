/* paint.c: see paint.h. */
#include "report/paint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const ESCAPES[] = {
    [COLOR_PLAIN] = "",       [COLOR_GREEN] = "\033[32m", [COLOR_YELLOW] = "\033[33m",
    [COLOR_RED] = "\033[31m", [COLOR_CYAN] = "\033[36m",  [COLOR_MAGENTA] = "\033[35m",
    [COLOR_DIM] = "\033[2m",  [COLOR_BOLD] = "\033[1m",
};

void paint_init(struct paint *paint, const struct report_options *options, vitals_write *write,
                void *data)
{
    paint->options = options;
    paint->write = write;
    paint->data = data;
    paint->failed = 0;
    paint->used = 0;
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
    if (paint->options->color && color != COLOR_PLAIN)
        put_string(paint, ESCAPES[color]);
}

static void end_color(struct paint *paint, enum color color)
{
    if (paint->options->color && color != COLOR_PLAIN)
        put_string(paint, "\033[0m");
}

void paint_text(struct paint *paint, enum color color, const char *text)
{
    begin_color(paint, color);
    put_string(paint, text);
    end_color(paint, color);
}

enum { SAFE_TEXT = 1024 };

/* Safe text holds backslashes of its own escapes, and making it safe again would double them. With
 * another byte in their place it is the same to measure and to cut. */
static vitals_text neutral(const char *text, char out[static SAFE_TEXT])
{
    size_t size = 0;
    for (; text[size] != '\0' && size < SAFE_TEXT - 1; size++)
        out[size] = text[size] == '\\' ? '_' : text[size];
    out[size] = '\0';
    return (vitals_text){out, size};
}

size_t paint_columns(const char *text)
{
    char copy[SAFE_TEXT];
    return vitals_text_columns(neutral(text, copy), VITALS_TEXT_TERMINAL);
}

size_t paint_fitting(const char *text, size_t columns, size_t *used)
{
    char copy[SAFE_TEXT], cut[2 * SAFE_TEXT];
    vitals_text_fit(neutral(text, copy), VITALS_TEXT_TERMINAL, columns, cut, sizeof(cut), used);
    return strlen(cut);
}

void paint_repeat(struct paint *paint, enum color color, const char *glyph, size_t count)
{
    begin_color(paint, color);
    for (size_t i = 0; i < count; i++)
        put_string(paint, glyph);
    end_color(paint, color);
}

/* Cut with ".." at the right; returns the columns printed. */
static size_t put_cut(struct paint *paint, const char *text, size_t columns)
{
    size_t used = 0, dots = columns >= 2 ? 2 : columns;
    put(paint, text, paint_fitting(text, columns - dots, &used));
    put(paint, "..", dots);
    return used + dots;
}

void paint_cell(struct paint *paint, enum color color, enum align align, size_t columns,
                const char *text)
{
    size_t wide = paint_columns(text);
    size_t pad = wide < columns ? columns - wide : 0;
    if (align == ALIGN_RIGHT)
        paint_repeat(paint, COLOR_PLAIN, " ", pad);
    begin_color(paint, color);
    if (wide <= columns)
        put_string(paint, text);
    else
        pad = columns - put_cut(paint, text, columns);
    end_color(paint, color);
    if (align == ALIGN_LEFT || wide > columns)
        paint_repeat(paint, COLOR_PLAIN, " ", pad);
}

void paint_end(struct paint *paint)
{
    put(paint, "\n", 1);
}

/* ---- words ---- */

/* Bytes of the text that go into so many columns, up to a blank where there is one. */
static size_t fitting_words(const char *text, size_t columns)
{
    size_t fits = paint_fitting(text, columns, NULL), size = strlen(text);
    if (fits >= size)
        return size;
    size_t end = fits;
    while (end > 0 && text[end] != ' ')
        end--;
    return end > 0 ? end : fits > 0 ? fits : size;
}

void paint_paragraph(struct paint *paint, enum color color, size_t at, size_t width,
                     const char *text)
{
    enum { LEAST = 16 };
    size_t columns = SIZE_MAX;
    if (width > 0)
        columns = width > at + LEAST ? width - at : LEAST;
    for (;;) {
        size_t size = fitting_words(text, columns);
        begin_color(paint, color);
        put(paint, text, size);
        end_color(paint, color);
        paint_end(paint);
        text += size;
        text += strspn(text, " ");
        if (*text == '\0')
            return;
        paint_repeat(paint, COLOR_PLAIN, " ", at);
    }
}

/* ---- boxes ---- */

/* Corners and crossings, by what meets there: [place][line above and below]. */
enum place { PLACE_LEFT, PLACE_INSIDE, PLACE_RIGHT };
enum meets { MEETS_NOTHING, MEETS_ABOVE, MEETS_BELOW, MEETS_BOTH };

static const char *const STRONG[3][4] = {
    {"═", "╘", "╒", "╞"},
    {"═", "╧", "╤", "╪"},
    {"═", "╛", "╕", "╡"},
};
static const char *const LIGHT[3][4] = {
    {"─", "└", "┌", "├"},
    {"─", "┴", "┬", "┼"},
    {"─", "┘", "┐", "┤"},
};

static bool has_edge(const struct edges *edges, size_t column)
{
    for (size_t i = 0; i < edges->count; i++) {
        if (edges->at[i] == column)
            return true;
    }
    return false;
}

static size_t right_edge(const struct edges *edges)
{
    return edges->count > 0 ? edges->at[edges->count - 1] : 0;
}

void paint_rule(struct paint *paint, bool strong, const struct edges *above,
                const struct edges *below)
{
    size_t right = right_edge(above) > right_edge(below) ? right_edge(above) : right_edge(below);
    for (size_t x = 0; x <= right; x++) {
        bool first = x == 0, last = x == right;
        unsigned meets = (has_edge(above, x) || (first && above->count > 0) ? MEETS_ABOVE : 0u) |
                         (has_edge(below, x) || (first && below->count > 0) ? MEETS_BELOW : 0u);
        enum place place = first ? PLACE_LEFT : last ? PLACE_RIGHT : PLACE_INSIDE;
        if (paint->options->ascii)
            put_string(paint, meets != MEETS_NOTHING ? "+" : strong ? "=" : "-");
        else
            put_string(paint, strong ? STRONG[place][meets] : LIGHT[place][meets]);
    }
    paint_end(paint);
}

void paint_edge(struct paint *paint)
{
    put_string(paint, paint->options->ascii ? "|" : "│");
}

/* ---- bars ---- */

enum color paint_load(vitals_availability availability, double ratio, const unsigned thresholds[2])
{
    if (availability <= 0)
        return COLOR_DIM;
    double percent = ratio * 100;
    return percent >= thresholds[1]   ? COLOR_RED
           : percent >= thresholds[0] ? COLOR_YELLOW
                                      : COLOR_GREEN;
}

static const char *const EIGHTHS[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

/* A length in eighths of a column, at least one: something is not nothing. */
static size_t put_length(struct paint *paint, double ratio, size_t columns)
{
    double inside = ratio < 0 ? 0 : ratio > 1 ? 1 : ratio;
    size_t eighths = (size_t)llround(inside * (double)columns * 8);
    if (eighths == 0)
        eighths = 1;
    if (paint->options->ascii) {
        size_t whole = (eighths + 7) / 8;
        for (size_t i = 0; i < whole; i++)
            put_string(paint, "|");
        return whole;
    }
    for (size_t i = 0; i < eighths / 8; i++)
        put_string(paint, "█");
    put_string(paint, EIGHTHS[eighths % 8]);
    return (eighths + 7) / 8;
}

static void format_ratio(const struct bar *bar, char *out, size_t capacity)
{
    double percent = bar->ratio * 100;
    if (bar->availability <= 0)
        (void)snprintf(out, capacity, "N/A");
    else if (percent >= 99.95)
        (void)snprintf(out, capacity, "MAX");
    else
        (void)snprintf(out, capacity, bar->fraction ? "%.1f%%" : "%.0f%%", percent);
}

enum { BAR_LABEL = 5, BAR_RATIO = 6, BAR_LEAST = 6 };

void paint_bar(struct paint *paint, const struct bar *bar, size_t columns)
{
    char ratio[16];
    format_ratio(bar, ratio, sizeof(ratio));
    size_t note = bar->note_columns;
    if (columns < BAR_LABEL + BAR_RATIO + BAR_LEAST + note)
        note = 0;
    size_t length = columns - BAR_LABEL - BAR_RATIO - note, drawn = length;
    begin_color(paint, bar->color);
    put_string(paint, bar->label);
    put_string(paint, ": ");
    if (bar->availability > 0)
        drawn = put_length(paint, bar->ratio, length);
    else
        for (size_t i = 0; i < length; i++)
            put_string(paint, paint->options->ascii ? "." : "░");
    put_string(paint, " ");
    put_string(paint, ratio);
    paint_repeat(paint, COLOR_PLAIN, " ", length - drawn + BAR_RATIO - 1 - strlen(ratio));
    if (note > 0)
        paint_cell(paint, COLOR_PLAIN, ALIGN_RIGHT, note, bar->note != NULL ? bar->note : "");
    end_color(paint, bar->color);
}
