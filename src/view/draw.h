/* draw.h: boxes, bars and graphs on a canvas. They know nothing of what they show. One thread. */
#pragma once

#include "view/canvas.h"
#include "view/history.h"
#include "view/theme.h"

/* How everything looks. */
struct look {
    bool ascii;
    bool plain;                 /* no lines, bars and graphs: text to be copied */
    bool light;                 /* the terminal's background is light */
    bool theme_given;           /* by the user: the background does not count */
    bool colorful;              /* gradients of 256 colors */
    bool colorless;             /* no color at all; bold, dim and reverse stay */
    bool few_colors;            /* it has less than 256 */
    bool direct;                /* the terminal takes any color, not 256 alone */
    enum theme theme;           /* of what is drawn by its meaning */
    unsigned gpu_thresholds[2]; /* percent: yellow from, red from */
    unsigned memory_thresholds[2];
};

/* Returns the theme to draw with: mono without colors, light on a light background, else `theme`.
 */
enum theme look_theme(const struct look *look);

/* A canvas with a look. */
struct pen {
    struct canvas *canvas;
    const struct look *look;
};

/* The columns of the vertical lines in a row of a box, ascending; the last is its right edge. */
enum { EDGES_MAX = 8 };
struct edges {
    int at[EDGES_MAX];
    int count;
};

/* A horizontal rule at x = 0 between a row above and a row below (count 0: nothing there). */
void draw_rule(struct pen *pen, int y, bool strong, const struct edges *above,
               const struct edges *below);

/* The vertical lines of a row. */
void draw_edges(struct pen *pen, int y, const struct edges *edges);

/* An empty box with a title, which cannot have so many of the box's columns. */
enum { BOX_TITLE = 6 };
struct box {
    int x, y, columns, rows;
};
void draw_box(struct pen *pen, const struct box *box, const char *title);

/* Takes whole parts off the right of a text, until it fits; they stand two columns apart, words
 * one. So no value is cut, and one word is what is left at least. A title of a box is fitted so. */
void draw_fit(char *text, int columns);

/* The color of a ratio by thresholds in percent. A missing one is yellow, as in nvitop: it deserves
 * a look. */
ink draw_load(bool known, double ratio, const unsigned thresholds[2]);

/* "MEM: ███▍ 28.4%   24.96GiB" in exactly `columns`; missing is a dotted bar and N/A. The note is
 * right aligned in `note_columns`, or left out if there is no room. */
struct bar {
    const char *label;
    bool known;
    double ratio;
    bool fraction; /* one decimal */
    bool tracked;  /* a track to its end, and the number behind that; nothing where it is missing */
    ink style;
    const char *note; /* NULL: none */
    int note_columns;
};
void draw_bar(struct pen *pen, int x, int y, int columns, const struct bar *bar);

/* The last seconds, the newest at the right. Two seconds a column and four steps a row of braille;
 * of ASCII one column is two seconds too, and three steps a row. */
struct graph {
    const struct history *history;
    size_t ago;  /* newest seconds that are left out */
    double most; /* what a full column stands for */
    bool down;   /* grows from the top */
    ink style;
    int steps;   /* inks from `style` on, from the base of the graph to its top; 0: one */
    int seconds; /* of a column, whose begin is then a multiple of it, so that a graph moves as
                    seldom as it can; 0: GRAPH_SECONDS, counted from the newest */
    size_t mark; /* a line stands so many seconds before the newest, less one; 0: none */
};
enum { GRAPH_SECONDS = 2 };
void draw_graph(struct pen *pen, const struct box *box, const struct graph *graph);

/* One column of a graph a row high, of two values of 0 to 4 steps. */
void draw_steps(struct pen *pen, int x, int y, const int steps[2], ink style);

/* Seconds behind the newest, in a rule below graphs that end at the edge `right`. */
void draw_time_marks(struct pen *pen, int left, int right, int y);

/* A bar with a track to its end: "━━━━╸─────". Nothing is drawn where the ratio is not known. */
struct gauge {
    int x, y, columns;
    bool known;
    double ratio;
    ink ramp; /* of theme.h */
};
void draw_gauge(struct pen *pen, const struct gauge *gauge);

/* A title with a value at its right, a chart of one or two series, and words below it: all rows of
 * the box but the first and the last are the chart's. */
struct tile {
    const char *label, *name; /* may be "" */
    const char *value;        /* what counts most, at the right */
    ink value_style;
    const char *note; /* in the title; "": none */
    ink note_style;
    const char *left, *right; /* below the chart */
    ink left_style;
    const struct graph *up, *down; /* `down` hangs below `up`; each may be NULL */
    const char *begin;             /* when the charts begin, or of which time their mark is; NULL:
                                      not said */
    bool chosen;
};
void draw_tile(struct pen *pen, const struct box *box, const struct tile *tile);

/* The color at a place of a gradient, 0 to 1: green to red. */
ink draw_gradient(double place);
