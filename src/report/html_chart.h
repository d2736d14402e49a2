/* html_chart.h: series over time as charts: drawn, and as data for those that can be zoomed. */
#pragma once

#include "report/html.h"

enum {
    CHART_LINES_MAX = 16,
    CHARTS_MAX = 10,
    CHART_POINTS_MAX = 2000,
    CHART_SPANS_MAX = 400,
    CHART_COLORS = 8
};

/* One line, at the chart's common moments; NaN: nothing there. */
struct chart_line {
    char label[96]; /* text from outside */
    const char *how;
    double *values;
    double mean, peak; /* of all samples; NaN: not known */
};

struct chart {
    const char *id, *title, *unit; /* "cores", "bytes", "bytes/s", "ratio", "watts", "" */
    struct chart_line lines[CHART_LINES_MAX];
    size_t line_count, left_out;
};

struct charts {
    double begin;    /* realtime of second 0 */
    double *seconds; /* since then */
    size_t points;
    bool thinned; /* each point stands for several samples */
    struct chart items[CHARTS_MAX];
    size_t count;
    const struct recorded_phase *spans; /* of phases */
    size_t span_count;
    uint16_t span_names[CHART_SPANS_MAX]; /* the number of each name, by first beginning */
};

/* Returns 0, or less where memory is out. */
int charts_of(const struct recording *recording, struct charts *out);
void charts_done(struct charts *charts);

/* Every chart as an element, and the data of all as JSON inside a script element. */
void charts_draw(struct html *html, const struct charts *charts);
void charts_data(struct html *html, const struct charts *charts);
