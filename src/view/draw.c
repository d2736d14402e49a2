/* draw.c: see draw.h. */
#include "view/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/base.h"

enum draw_place { PLACE_LEFT, PLACE_INSIDE, PLACE_RIGHT };
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

enum theme look_theme(const struct look *look)
{
    return look->colorless ? THEME_MONO : look->light ? THEME_LIGHT : look->theme;
}

static bool has_edge(const struct edges *edges, int column)
{
    for (int i = 0; i < edges->count; i++) {
        if (edges->at[i] == column)
            return true;
    }
    return false;
}

static int right_edge(const struct edges *edges)
{
    return edges->count > 0 ? edges->at[edges->count - 1] : 0;
}

/* The character of a rule at a column: a line, or a crossing. */
static const char *rule_at(const struct pen *pen, int x, int right, bool strong,
                           const struct edges *above, const struct edges *below)
{
    bool first = x == 0, last = x == right;
    unsigned meets = (has_edge(above, x) || (first && above->count > 0) ? MEETS_ABOVE : 0u) |
                     (has_edge(below, x) || (first && below->count > 0) ? MEETS_BELOW : 0u);
    enum draw_place place = first ? PLACE_LEFT : last ? PLACE_RIGHT : PLACE_INSIDE;
    if (pen->look->ascii)
        return meets != MEETS_NOTHING ? "+" : strong ? "=" : "-";
    return strong ? STRONG[place][meets] : LIGHT[place][meets];
}

void draw_rule(struct pen *pen, int y, bool strong, const struct edges *above,
               const struct edges *below)
{
    const struct edges *both[] = {above, below};
    int right = right_edge(above) > right_edge(below) ? right_edge(above) : right_edge(below);
    if (y < 0 || y >= pen->canvas->height || pen->look->plain)
        return;
    canvas_repeat(pen->canvas, 0, y, right + 1, STYLE_PLAIN,
                  pen->look->ascii ? (strong ? "=" : "-") : (strong ? "═" : "─"));
    (void)canvas_text(pen->canvas, 0, y, STYLE_PLAIN, rule_at(pen, 0, right, strong, above, below));
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < both[i]->count; j++) {
            int x = both[i]->at[j];
            (void)canvas_text(pen->canvas, x, y, STYLE_PLAIN,
                              rule_at(pen, x, right, strong, above, below));
        }
    }
}

void draw_edges(struct pen *pen, int y, const struct edges *edges)
{
    for (int i = 0; i < edges->count && !pen->look->plain; i++)
        canvas_repeat(pen->canvas, edges->at[i], y, 1, STYLE_PLAIN, pen->look->ascii ? "|" : "│");
}

void draw_fit(char *text, int columns)
{
    while (canvas_columns(text) > columns) {
        char *last = NULL;
        for (char *part = text; (part = strstr(part, "  ")) != NULL; part += 2)
            last = part;
        if (last == NULL && (last = strrchr(text, ' ')) == NULL)
            return;
        *last = '\0';
    }
}

void draw_box(struct pen *pen, const struct box *box, const char *title)
{
    static const char *const LINES[2][6] = {{"┌", "┐", "└", "┘", "─", "│"},
                                            {"+", "+", "+", "+", "-", "|"}};
    static const char *const BLANKS[6] = {" ", " ", " ", " ", " ", " "};
    const char *const *lines = pen->look->plain ? BLANKS : LINES[pen->look->ascii];
    struct canvas *canvas = pen->canvas;
    int right = box->x + box->columns - 1, bottom = box->y + box->rows - 1;
    canvas_erase(canvas, box->x, box->y, box->columns, box->rows);
    canvas_repeat(canvas, box->x, box->y, box->columns, STYLE_PLAIN, lines[4]);
    canvas_repeat(canvas, box->x, bottom, box->columns, STYLE_PLAIN, lines[4]);
    for (int y = box->y + 1; y < bottom; y++) {
        canvas_repeat(canvas, box->x, y, 1, STYLE_PLAIN, lines[5]);
        canvas_repeat(canvas, right, y, 1, STYLE_PLAIN, lines[5]);
    }
    canvas_repeat(canvas, box->x, box->y, 1, STYLE_PLAIN, lines[0]);
    canvas_repeat(canvas, right, box->y, 1, STYLE_PLAIN, lines[1]);
    canvas_repeat(canvas, box->x, bottom, 1, STYLE_PLAIN, lines[2]);
    canvas_repeat(canvas, right, bottom, 1, STYLE_PLAIN, lines[3]);
    if (box->columns <= BOX_TITLE)
        return;

    char parts[254], text[256];
    int room = box->columns - BOX_TITLE + 2; /* with a blank at either side */
    (void)snprintf(parts, sizeof parts, "%s", title);
    draw_fit(parts, room - 2);
    (void)snprintf(text, sizeof text, " %s ", parts);
    int wide = canvas_columns(text);
    canvas_words(canvas, box->x + 2, box->y, wide < room ? wide : room, STYLE_BOLD, text);
}

ink draw_load(bool known, double ratio, const unsigned thresholds[2])
{
    double percent = ratio * 100;
    if (!known)
        return STYLE_YELLOW;
    return percent >= thresholds[1]   ? STYLE_RED
           : percent >= thresholds[0] ? STYLE_YELLOW
                                      : STYLE_GREEN;
}

/* Along the colors of the palette's cube, by hand: green, yellow, orange, red, violet. */
ink draw_gradient(double place)
{
    static const unsigned char COLORS[] = {77,  113, 112, 148, 184, 178, 214,
                                           208, 202, 203, 197, 198, 163};
    enum { COUNT = sizeof COLORS };
    double at = place < 0 ? 0 : place > 1 ? 1 : place;
    return COLORS[(size_t)(at * (COUNT - 1) + 0.5)] + 1u;
}

void draw_bar(struct pen *pen, int x, int y, int columns, const struct bar *bar)
{
    static const char *const EIGHTHS[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    enum { RATIO = 6, LEAST = 4 };
    int label = canvas_columns(bar->label) + 2, note = bar->note_columns;
    if (columns < label + RATIO + LEAST + note)
        note = 0;
    int length = pen->look->plain ? 0 : columns - label - RATIO - note;
    canvas_erase(pen->canvas, x, y, columns, 1);
    int at = x + canvas_text(pen->canvas, x, y, bar->style, bar->label);
    at += canvas_text(pen->canvas, at, y, bar->style, ": ");

    if (bar->tracked && bar->known && length > 0)
        canvas_repeat(pen->canvas, at, y, length, STYLE_DIM, pen->look->ascii ? "." : "·");
    if (length > 0 && !bar->known && !bar->tracked) {
        canvas_repeat(pen->canvas, at, y, length, bar->style, pen->look->ascii ? "." : "░");
        at += length;
    } else if (length > 0 && bar->known) {
        double inside = bar->ratio < 0 ? 0 : bar->ratio > 1 ? 1 : bar->ratio;
        int eighths = (int)lround(inside * length * 8), drawn = 0;
        eighths = eighths == 0 ? 1 : eighths; /* something is not nothing */
        for (; drawn * 8 < eighths; drawn++) {
            int left = eighths - drawn * 8;
            const char *glyph = pen->look->ascii ? "|" : EIGHTHS[left > 8 ? 8 : left];
            ink style = pen->look->colorful ? draw_gradient((double)drawn / length) : bar->style;
            canvas_repeat(pen->canvas, at + drawn, y, 1, style, glyph);
        }
        at += bar->tracked ? 0 : drawn;
    }
    at += bar->tracked ? length : 0;

    char ratio[16] = "N/A";
    double percent = bar->ratio * 100;
    if (bar->known && percent >= (bar->fraction ? 99.95 : 99.5))
        (void)snprintf(ratio, sizeof ratio, bar->tracked ? "100%%" : "MAX");
    else if (bar->known)
        (void)snprintf(ratio, sizeof ratio, bar->fraction ? "%.1f%%" : "%.0f%%", percent);
    int blanks = bar->tracked ? RATIO - 1 - (int)strlen(ratio) : 0; /* its columns are fixed */
    (void)canvas_text(pen->canvas, at + 1 + (blanks > 0 ? blanks : 0) - (blanks < 0), y, bar->style,
                      ratio);
    if (note > 0 && bar->note != NULL) {
        struct canvas_field field = {
            .x = x + columns - note, .y = y, .columns = note, .right = true, .style = bar->style};
        canvas_field(pen->canvas, &field, bar->note);
    }
}

/* The dots of a braille cell from its bottom or from its top, left and right column. */
static const unsigned char DOTS[2][2][5] = {
    {{0, 0x40, 0x44, 0x46, 0x47}, {0, 0x80, 0xa0, 0xb0, 0xb8}},
    {{0, 0x01, 0x03, 0x07, 0x47}, {0, 0x08, 0x18, 0x38, 0xb8}}};
static const char *const MARKS[2][4] = {{" ", ".", ":", "|"}, {" ", "'", ":", "|"}};

/* Steps that a value has in a height of so many; at least one, unless it is 0 or not known. */
static int steps_of(double value, double most, int steps)
{
    if (isnan(value) || value <= 0 || most <= 0)
        return 0;
    int result = (int)lround((value >= most ? 1 : value / most) * steps);
    return result == 0 ? 1 : result;
}

/* The halves of a column, `back` columns before the newest. */
static void column_values(const struct graph *graph, size_t back, double *left, double *right)
{
    const struct history *history = graph->history;
    enum { SHORT_HALF = 3 }; /* seconds: drawn once they are whole, not twice */
    size_t ago = graph->ago + back * GRAPH_SECONDS, half = (size_t)graph->seconds / 2;
    double *const HALVES[] = {right, left};
    if (graph->seconds == 1) {
        *left = *right = history_get(history, graph->ago + back);
        return;
    }
    if (half == 0) {
        *left = history_get(history, ago + 1);
        *right = history_get(history, ago);
        return;
    }
    size_t end = (size_t)((history->newest - graph->ago) / (half * 2) + 1) * half * 2;
    for (size_t i = 0; i < 2; i++) { /* the newest one may not be full yet */
        size_t until = end - back * half * 2 - i * half, newest = (size_t)history->newest;
        size_t begin = until - half,
               last = until - 1 < newest - graph->ago ? until - 1 : newest - graph->ago;
        bool partial = half <= SHORT_HALF && until - 1 > newest - graph->ago;
        if (begin > last || partial ||
            !history_mean(history, newest - last, last - begin + 1, HALVES[i]))
            *HALVES[i] = (double)NAN;
    }
}

static int inside(int steps, int row, int each)
{
    int left = steps - row * each;
    return left < 0 ? 0 : left > each ? each : left;
}

/* Steps of a cell, left and right; ASCII has the right one. */
static void put_dots(struct pen *pen, int x, int y, bool down, const int steps[2], ink style)
{
    unsigned dots = DOTS[down][0][steps[0]] | (unsigned)DOTS[down][1][steps[1]];
    char glyph[4] = {(char)0xe2, (char)(0xa0 | dots >> 6), (char)(0x80 | (dots & 0x3f))};
    canvas_repeat(pen->canvas, x, y, 1, style, pen->look->ascii ? MARKS[down][steps[1]] : glyph);
}

void draw_steps(struct pen *pen, int x, int y, const int steps[2], ink style)
{
    int both[2] = {steps[0], steps[1] > 0 ? steps[1] : steps[0]};
    if (pen->look->ascii) { /* three steps, and one value for both */
        both[1] = (both[1] * 3 + 3) / 4;
        both[0] = 0;
    }
    if (steps[0] > 0 || steps[1] > 0)
        put_dots(pen, x, y, false, pen->look->ascii ? both : steps, style);
}

/* The column of the mark, of so many; below 0: none. */
static int mark_column(const struct graph *graph, int columns)
{
    uint64_t newest = graph->history->newest, each = (uint64_t)graph->seconds;
    if (graph->mark == 0 || each == 0 || newest < graph->mark)
        return -1;
    return columns - 1 - (int)((newest - graph->ago) / each - (newest - graph->mark + 1) / each);
}

void draw_graph(struct pen *pen, const struct box *box, const struct graph *graph)
{
    bool ascii = pen->look->ascii;
    int each = ascii ? 3 : 4;
    for (int column = 0; column < box->columns && !pen->look->plain; column++) {
        double left, right;
        column_values(graph, (size_t)(box->columns - 1 - column), &left, &right);
        if (ascii) /* one value for both */
            left = right = isnan(left) ? right : isnan(right) ? left : (left + right) / 2;
        int a = steps_of(left, graph->most, box->rows * each);
        int b = steps_of(right, graph->most, box->rows * each);

        for (int row = 0; row < box->rows; row++) {
            int y = graph->down ? box->y + row : box->y + box->rows - 1 - row;
            int one = inside(a, row, each), two = inside(b, row, each);
            if (one == 0 && two == 0)
                continue;
            ink style = graph->style;
            if (graph->steps > 0)
                style += (ink)((2 * row + 1) * graph->steps / (2 * box->rows));
            else if (pen->look->colorful && box->rows > 1)
                style = draw_gradient((double)row / (box->rows - 1));
            put_dots(pen, box->x + column, y, graph->down, (const int[]){one, two}, style);
        }
    }
    int mark = pen->look->plain ? -1 : mark_column(graph, box->columns);
    for (int row = 0; row < box->rows && mark >= 0; row++)
        canvas_repeat(pen->canvas, box->x + mark, box->y + row, 1, INK_KEY,
                      pen->look->ascii ? "|" : "│");
}

void draw_time_marks(struct pen *pen, int left, int right, int y)
{
    static const int SECONDS[] = {30, 60, 120, 300};
    for (size_t i = 0; i < ARRAY_COUNT(SECONDS) && !pen->look->plain; i++) {
        char text[16];
        int x = right - SECONDS[i] / GRAPH_SECONDS;
        int wide = snprintf(text, sizeof text, "%ds", SECONDS[i]);
        if (x - wide <= left + 1)
            continue;
        (void)canvas_text(pen->canvas, x - wide, y, STYLE_DIM, text);
        canvas_repeat(pen->canvas, x, y, 1, STYLE_PLAIN, pen->look->ascii ? "+" : "├");
    }
}

void draw_gauge(struct pen *pen, const struct gauge *gauge)
{
    static const char *const GLYPHS[2][3] = {{"━", "╸", "─"}, {"|", "|", "."}};
    const char *const *glyphs = GLYPHS[pen->look->ascii];
    if (!gauge->known || pen->look->plain || gauge->columns <= 0)
        return;
    double ratio = gauge->ratio < 0 ? 0 : gauge->ratio > 1 ? 1 : gauge->ratio;
    int halves = (int)lround(ratio * gauge->columns * 2);
    ink style = theme_step(gauge->ramp, 0.5 + ratio / 2);
    halves = halves == 0 && ratio > 0 ? 1 : halves;
    canvas_repeat(pen->canvas, gauge->x, gauge->y, gauge->columns, INK_TRACK, glyphs[2]);
    canvas_repeat(pen->canvas, gauge->x, gauge->y, halves / 2, style, glyphs[0]);
    if (halves % 2 != 0)
        canvas_repeat(pen->canvas, gauge->x + halves / 2, gauge->y, 1, style, glyphs[1]);
}

/* Words in a row of a tile, from `x` on, in what is left of its columns; returns where they end. */
static int tile_words(struct pen *pen, int x, int y, int end, ink style, const char *text)
{
    int wide = canvas_columns(text);
    if (wide == 0 || x >= end)
        return x;
    wide = wide < end - x ? wide : end - x;
    canvas_words(pen->canvas, x, y, wide, style, text);
    return x + wide;
}

void draw_tile(struct pen *pen, const struct box *box, const struct tile *tile)
{
    enum { VALUE_LEAST = 12 };
    int x = box->x, y = box->y, end = box->x + box->columns, rows = box->rows - 2;
    int value = canvas_columns(tile->value), right = canvas_columns(tile->right);
    ink title = tile->chosen ? INK_TITLE | STYLE_REVERSE : INK_TITLE;
    if (!pen->look->plain)
        canvas_repeat(pen->canvas, x, y, box->columns, INK_FRAME, pen->look->ascii ? "-" : "─");
    x = tile_words(pen, x, y, end - value - 1, title, tile->label);
    if (tile->label[0] != '\0')
        x = tile_words(pen, x, y, end - value - 1, STYLE_PLAIN, " ");
    if (tile->note[0] != '\0' && box->columns - value - canvas_columns(tile->note) < VALUE_LEAST)
        x = tile_words(pen, x, y, end - value - 1, tile->note_style, tile->note);
    else {
        int behind = canvas_columns(tile->note) + (value > 0 ? 2 : 3); /* and blanks */
        x = tile_words(pen, x, y, end - value - behind, STYLE_PLAIN, tile->name);
        if (tile->name[0] != '\0')
            x = tile_words(pen, x, y, end - value - 1, STYLE_PLAIN, " ");
        x = tile_words(pen, x, y, end - value - 1, tile->note_style, tile->note);
    }
    if (tile->note[0] != '\0')
        (void)tile_words(pen, x, y, end - value - 1, STYLE_PLAIN, " ");
    if (value > 0) {
        (void)tile_words(pen, end - value - 1, y, end, STYLE_PLAIN, " ");
        (void)tile_words(pen, end - value, y, end, tile->value_style, tile->value);
    }

    bool both = tile->up != NULL && tile->down != NULL;
    int upper = both ? rows - rows / 2 : rows;
    if (tile->up != NULL)
        draw_graph(pen, &(struct box){box->x, y + 1, box->columns, upper}, tile->up);
    if (both)
        draw_graph(pen, &(struct box){box->x, y + 1 + upper, box->columns, rows / 2}, tile->down);
    if (tile->begin != NULL && upper > 1 && !pen->look->plain) {
        int mark = tile->up != NULL ? mark_column(tile->up, box->columns) : -1;
        int wide = canvas_columns(tile->begin), at = box->x + mark + 1;
        at -= mark >= 0 && at + wide > end ? wide + 1 : 0; /* before the line */
        (void)tile_words(pen, at < box->x ? box->x : at, y + 1, end, mark < 0 ? INK_SOFT : INK_KEY,
                         tile->begin);
    }
    y += 1 + rows;
    (void)tile_words(pen, box->x, y, end, tile->left_style, tile->left);
    if (canvas_columns(tile->left) + 1 + right <= box->columns)
        (void)tile_words(pen, end - right, y, end, INK_SOFT, tile->right);
}
