/* canvas.c: see canvas.h. */
#include "view/canvas.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_MOST = 4096 };

static const struct cell BLANK = {.text = " "};

int canvas_resize(struct canvas *canvas, int width, int height)
{
    width = width < 1 ? 1 : width > SIDE_MOST ? SIDE_MOST : width;
    height = height < 1 ? 1 : height > SIDE_MOST ? SIDE_MOST : height;
    size_t count = (size_t)width * (size_t)height;
    if (count > canvas->capacity) {
        struct cell *cells = realloc(canvas->cells, count * sizeof *cells);
        if (cells == NULL) {
            canvas_done(canvas);
            return -1;
        }
        canvas->cells = cells;
        canvas->capacity = count;
    }
    canvas->width = width;
    canvas->height = height;
    canvas_clear(canvas);
    return 0;
}

void canvas_clear(struct canvas *canvas)
{
    size_t count = (size_t)canvas->width * (size_t)canvas->height;
    for (size_t i = 0; i < count; i++)
        canvas->cells[i] = BLANK;
    canvas->wide = false;
}

void canvas_done(struct canvas *canvas)
{
    free(canvas->cells);
    *canvas = (struct canvas){0};
}

struct cell *canvas_at(const struct canvas *canvas, int x, int y)
{
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height)
        return NULL;
    return &canvas->cells[(size_t)y * (size_t)canvas->width + (size_t)x];
}

size_t canvas_next(const char *text, int *columns)
{
    unsigned char first = (unsigned char)text[0];
    *columns = 1;
    if (first == '\0')
        return 0;
    if (first < 0x80)
        return 1;
    size_t size = 1, whole = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    while (size < whole && ((unsigned char)text[size] & 0xc0) == 0x80)
        size++;

    /* Boxes, blocks and braille, of which most screens are made: U+2500 to U+28FF. */
    unsigned char second = (unsigned char)text[1];
    if (size == 3 && first == 0xe2 && second >= 0x94 && second <= 0xa3)
        return size;

    char pair[8] = "a"; /* a mark has no columns only behind what it stands on */
    memcpy(pair + 1, text, size);
    *columns = (int)vitals_text_columns((vitals_text){pair, size + 1}, VITALS_TEXT_TERMINAL) - 1;
    if (*columns < 0 || *columns > 2)
        *columns = 1;
    return size;
}

/* canvas_next() for loops over text, which is ASCII nearly always. */
static inline size_t next(const char *text, int *columns)
{
    *columns = 1;
    return (signed char)*text > 0 ? 1 : canvas_next(text, columns);
}

int canvas_columns(const char *text)
{
    int sum = 0, columns;
    for (size_t size; (size = next(text, &columns)) > 0; text += size)
        sum += columns;
    return sum;
}

/* A half of a wide character that loses the other half becomes a blank. */
static void break_wide(struct canvas *canvas, int x, int y)
{
    struct cell *cell = canvas_at(canvas, x, y), *left = canvas_at(canvas, x - 1, y),
                *right = canvas_at(canvas, x + 1, y);
    if (cell == NULL)
        return;
    if (cell->text[0] == '\0' && left != NULL)
        *left = (struct cell){.text = " ", .style = left->style};
    if (cell->text[0] != '\0' && right != NULL && right->text[0] == '\0')
        *right = (struct cell){.text = " ", .style = right->style};
}

static struct cell cell_of(const char *text, size_t size, ink style)
{
    unsigned char first = (unsigned char)text[0];
    struct cell cell = {.style = (uint16_t)style};
    if (first >= ' ' && first < 0x7f)
        cell.text[0] = text[0];
    else if (first >= 0xc0)
        memcpy(cell.text, text, size);
    else
        cell.text[0] = '?'; /* a control */
    return cell;
}

static void put(struct canvas *canvas, int x, int y, const struct cell *cell, int columns)
{
    struct cell *place = canvas_at(canvas, x, y);
    if (canvas->wide)
        break_wide(canvas, x, y);
    if (place != NULL)
        *place = *cell;
    if (columns < 2)
        return;
    struct cell *second = canvas_at(canvas, x + 1, y);
    if (place == NULL || second == NULL) { /* a half of it would lie outside */
        if (place != NULL)
            *place = (struct cell){.text = " ", .style = cell->style};
        return;
    }
    canvas->wide = true;
    break_wide(canvas, x + 1, y);
    *second = (struct cell){.style = cell->style};
}

/* Behind the character before it; a longer pile is cut. */
static void combine(struct canvas *canvas, int x, int y, const char *text, size_t size)
{
    struct cell *cell = canvas_at(canvas, x, y);
    if (cell != NULL && cell->text[0] == '\0')
        cell = canvas_at(canvas, x - 1, y);
    if (cell == NULL)
        return;
    size_t used = strlen(cell->text);
    if (used + size < CELL_TEXT)
        memcpy(cell->text + used, text, size);
}

/* Writes from a column on what ends before another one; returns the column behind it. */
static int write_text(struct canvas *canvas, int at, int y, int end, ink style, const char *text)
{
    int columns;
    for (size_t size; (size = next(text, &columns)) > 0 && at + columns <= end; text += size) {
        if (columns == 0)
            combine(canvas, at - 1, y, text, size);
        else {
            struct cell cell = cell_of(text, size, style);
            put(canvas, at, y, &cell, columns);
        }
        at += columns;
    }
    return at;
}

int canvas_text(struct canvas *canvas, int x, int y, ink style, const char *text)
{
    if (y < 0 || y >= canvas->height)
        return canvas_columns(text);
    return write_text(canvas, x, y, INT_MAX, style, text) - x;
}

void canvas_field(struct canvas *canvas, const struct canvas_field *field, const char *text)
{
    int columns, skip = field->skip, y = field->y;
    if (y < 0 || y >= canvas->height || field->columns <= 0)
        return;
    for (size_t size; skip > 0 && (size = next(text, &columns)) > 0; text += size)
        skip -= columns;
    for (size_t size; field->skip > 0 && (size = next(text, &columns)) > 0 && columns == 0;)
        text += size; /* what combined with the part that is gone */

    int lead = skip < 0 ? -skip : 0; /* a wide character was cut in two */
    int wide = canvas_columns(text) + lead, end = field->x + field->columns;
    bool cut = wide > field->columns;
    int at = field->x + (field->right && !cut ? field->columns - wide : 0) + lead;
    int dots = field->columns < 2 ? field->columns : 2;
    canvas_repeat(canvas, field->x, y, at - field->x, field->style, " ");
    at = write_text(canvas, at, y, cut ? end - dots : end, field->style, text);
    canvas_repeat(canvas, at, y, end - at, field->style, " ");
    if (cut)
        canvas_repeat(canvas, at, y, dots, field->style, ".");
}

void canvas_words(struct canvas *canvas, int x, int y, int columns, ink style, const char *text)
{
    struct canvas_field field = {.x = x, .y = y, .columns = columns, .style = style};
    canvas_field(canvas, &field, text);
}

void canvas_repeat(struct canvas *canvas, int x, int y, int count, ink style, const char *glyph)
{
    struct cell cell = cell_of(glyph, strlen(glyph), style);
    if (y < 0 || y >= canvas->height)
        return;
    int end = x + count < canvas->width ? x + count : canvas->width;
    for (int at = x < 0 ? 0 : x; at < end; at++)
        put(canvas, at, y, &cell, 1);
}

void canvas_erase(struct canvas *canvas, int x, int y, int columns, int rows)
{
    for (int row = y < 0 ? 0 : y; row < y + rows && row < canvas->height; row++)
        canvas_repeat(canvas, x, row, columns, STYLE_PLAIN, " ");
}

void canvas_restyle(struct canvas *canvas, int x, int y, int columns, ink style)
{
    for (int at = x; at < x + columns; at++) {
        struct cell *cell = canvas_at(canvas, at, y);
        if (cell == NULL)
            continue;
        if ((style & STYLE_COLORS) != 0)
            cell->style &= (uint16_t)~STYLE_COLORS;
        cell->style |= (uint16_t)style;
    }
}

void canvas_keep(struct canvas *canvas, ink kept)
{
    size_t count = (size_t)canvas->width * (size_t)canvas->height;
    for (size_t i = 0; i < count; i++)
        canvas->cells[i].style &= (uint16_t)kept;
}

void canvas_darken(struct canvas *canvas)
{
    static const unsigned char DARKER[][2] = {
        {STYLE_YELLOW, 95}, {STYLE_GREEN, 29}, {STYLE_CYAN, 31}, {STYLE_WHITE, 1}};
    size_t count = (size_t)canvas->width * (size_t)canvas->height;
    for (size_t i = 0; i < count; i++) {
        uint16_t *style = &canvas->cells[i].style;
        for (size_t j = 0; j < sizeof DARKER / sizeof DARKER[0]; j++) {
            if ((*style & STYLE_COLORS) == DARKER[j][0]) {
                *style = (uint16_t)((*style & ~STYLE_COLORS) | DARKER[j][1]);
                break;
            }
        }
    }
}

static void format_style(ink style, char *out, size_t capacity)
{
    static const struct {
        unsigned flag;
        const char *code;
    } FLAGS[] = {
        {STYLE_BOLD, ";1"}, {STYLE_DIM, ";2"}, {STYLE_UNDERLINE, ";4"}, {STYLE_REVERSE, ";7"}};
    unsigned color = style & STYLE_COLORS;
    size_t used = (size_t)snprintf(out, capacity, "\033[0");
    for (size_t i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; i++) {
        if (style & FLAGS[i].flag)
            used += (size_t)snprintf(out + used, capacity - used, "%s", FLAGS[i].code);
    }
    if (color > 8)
        used += (size_t)snprintf(out + used, capacity - used, ";38;5;%u", color - 1);
    else if (color > 0)
        used += (size_t)snprintf(out + used, capacity - used, ";%u", 29 + color);
    (void)snprintf(out + used, capacity - used, "m");
}

int canvas_print(const struct canvas *canvas, bool styles, vitals_write_fn *write, void *data)
{
    int stop = 0;
    for (int y = 0; y < canvas->height && stop == 0; y++) {
        const struct cell *row = canvas_at(canvas, 0, y);
        int end = canvas->width;
        while (end > 0 && strcmp(row[end - 1].text, " ") == 0 &&
               !(styles && row[end - 1].style & (STYLE_REVERSE | STYLE_UNDERLINE)))
            end--;

        ink now = STYLE_PLAIN;
        for (int x = 0; x < end && stop == 0; x++) {
            char code[48];
            if (styles && row[x].style != now) {
                format_style(row[x].style, code, sizeof code);
                stop = write(data, code, strlen(code));
                now = row[x].style;
            }
            if (stop == 0)
                stop = write(data, row[x].text, strlen(row[x].text));
        }
        if (stop == 0 && now != STYLE_PLAIN)
            stop = write(data, "\033[0m", 4);
        if (stop == 0)
            stop = write(data, "\n", 1);
    }
    return stop;
}
