/* paint.h: lines of text with color, columns counted.
 *
 * Everything that is painted is safe text already. A failed write is remembered; painting on is
 * then harmless. */
#ifndef VITALS_REPORT_PAINT_H
#define VITALS_REPORT_PAINT_H

#include "report/report.h"

enum color {
    COLOR_PLAIN,
    COLOR_GREEN,
    COLOR_YELLOW,
    COLOR_RED,
    COLOR_CYAN,
    COLOR_MAGENTA,
    COLOR_DIM,
    COLOR_BOLD
};

enum align { ALIGN_LEFT, ALIGN_RIGHT };

struct paint {
    const struct report_options *options;
    vitals_write *write;
    void *data;
    int failed;
    size_t used;
    char bytes[4096];
};

void paint_init(struct paint *paint, const struct report_options *options, vitals_write *write,
                void *data);
int paint_done(struct paint *paint); /* 0, or what write gave */

void paint_text(struct paint *paint, enum color color, const char *text);

/* Exactly `columns` wide: padded, or cut at its right with "..". */
void paint_cell(struct paint *paint, enum color color, enum align align, size_t columns,
                const char *text);
void paint_repeat(struct paint *paint, enum color color, const char *glyph, size_t count);
void paint_end(struct paint *paint); /* of the line */

/* Words from where the line stands (`at` columns are used), going on below their own beginning, up
 * to `width` columns (0: as long as they are), and the end of the line. */
void paint_paragraph(struct paint *paint, enum color color, size_t at, size_t width,
                     const char *text);

/* Columns of safe text; and how many of its bytes fit, of which *used (may be NULL) columns. */
size_t paint_columns(const char *text);
size_t paint_fitting(const char *text, size_t columns, size_t *used);

/* Where vertical lines stand in a row of a box: ascending columns, the last one is its right edge.
 */
enum { EDGES_MAX = 8 };
struct edges {
    size_t at[EDGES_MAX];
    size_t count;
};

/* A horizontal rule between a row above and a row below (count 0: nothing there). */
void paint_rule(struct paint *paint, bool strong, const struct edges *above,
                const struct edges *below);

/* A vertical line. */
void paint_edge(struct paint *paint);

/* "MEM: ███▍ 28.4%   24.96GiB" in exactly `columns`; missing is a dotted bar and a dim N/A. The
 * note stands right aligned in `note_columns`, which are kept free in all bars of a column, so that
 * equal ratios have equal lengths; where there is no room for it, in none. */
struct bar {
    const char *label; /* "MEM" */
    vitals_availability availability;
    double ratio;
    bool fraction; /* one decimal */
    enum color color;
    const char *note; /* NULL: none */
    size_t note_columns;
};
void paint_bar(struct paint *paint, const struct bar *bar, size_t columns);

/* How heavy a ratio is, by thresholds in percent; missing is dim. */
enum color paint_load(vitals_availability availability, double ratio, const unsigned thresholds[2]);

#endif
