/* html_svg.c: charts and the lane of phases, drawn as SVG. Colors and letters come from the page's
 * style, so that they follow light, dark and print. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/html.h"
#include "util/base.h"

enum { WIDTH = 640, HEIGHT = 230, LEFT = 78, RIGHT = 12, TOP = 10, BOTTOM = 24 };
enum { COLUMNS = WIDTH - LEFT - RIGHT, ROWS = HEIGHT - TOP - BOTTOM, Y_LINES = 4, X_LINES = 6 };
enum { LANES_MAX = 8, LANE = 20, NAMES_MAX = 24, BAND = 3 };
enum { LETTER = 8 }; /* at most so wide in an axis's words */

struct scale {
    double seconds; /* of the whole width */
    double top;     /* the value at the upper edge */
    double step;    /* between lines */
};

static double x_of(const struct scale *scale, double second)
{
    double ratio = scale->seconds > 0 ? second / scale->seconds : 0;
    return LEFT + COLUMNS * fmin(fmax(ratio, 0), 1);
}

static double y_of(const struct scale *scale, double value)
{
    double ratio = scale->top > 0 ? value / scale->top : 0;
    return TOP + ROWS * (1 - fmin(fmax(ratio, 0), 1));
}

static double time_step(double step)
{
    static const double STEPS[] = {0.01, 0.02, 0.05, 0.1,  0.2,   0.5,   1,    2,
                                   5,    10,   15,   30,   60,    120,   300,  600,
                                   900,  1800, 3600, 7200, 14400, 28800, 86400};
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
        if (STEPS[i] >= step)
            return STEPS[i];
    }
    return ceil(step / 86400) * 86400;
}

static bool is_bytes(const char *unit)
{
    return strncmp(unit, "bytes", 5) == 0;
}

/* With so many digits that tell something. */
static void value_words(const char *unit, double value, int digits, char out[static WORDS])
{
    static const char *const NAMES[] = {"", " B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    const struct account_view plain = {0};
    bool bytes = is_bytes(unit);
    size_t at = bytes;
    if (!bytes && strcmp(unit, "cores") != 0 && unit[0] != '\0') {
        (void)words_value(&plain, "", unit, value, out);
        return;
    }
    for (; bytes && value >= 1024 && at + 1 < sizeof NAMES / sizeof NAMES[0]; at++)
        value /= 1024;
    if (value >= 100) /* never an exponent */
        digits = (int)ceil(log10(value + 1));
    (void)snprintf(out, WORDS, "%.*g%s%s", digits, value, NAMES[at],
                   strcmp(unit, "bytes/s") == 0 ? "/s" : "");
}

/* ---- parts ---- */

static void put_frame(struct html *html, const struct scale *scale, const char *unit)
{
    char words[WORDS];
    for (double value = 0; value <= scale->top * 1.0001; value += scale->step) {
        double y = y_of(scale, value);
        value_words(unit, value, 4, words);
        html_format(html, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>",
                    LEFT, WIDTH - RIGHT, y, y);
        html_format(html, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>", LEFT - 8,
                    y + 4, words);
    }
    double step = time_step(scale->seconds / X_LINES);
    for (double second = 0; second <= scale->seconds * 1.0001 && step > 0; second += step) {
        /* "1:10", "2:03:00"; with a part of a second where steps have one */
        unsigned long long whole = (unsigned long long)(second + 1e-6);
        if (step < 1)
            (void)snprintf(words, sizeof words, "%.2f", second);
        else if (whole >= 3600)
            (void)snprintf(words, sizeof words, "%llu:%02llu:%02llu", whole / 3600, whole / 60 % 60,
                           whole % 60);
        else
            (void)snprintf(words, sizeof words, "%llu:%02llu", whole / 60, whole % 60);
        double x = x_of(scale, second);
        bool fits = x + (double)strlen(words) * LETTER / 2 < WIDTH;
        html_format(html, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>",
                    fits ? x : (double)WIDTH - 1, HEIGHT - 6, fits ? "middle" : "end", words);
    }
}

/* A line breaks if a value is missing; one value alone is a dot. If there are more points than
 * columns, each column has its largest. */
static void put_line(struct html *html, const struct charts *charts, const struct scale *scale,
                     const struct chart_line *line, size_t color)
{
    bool open = false, shown = false;
    size_t points = charts->points,
           stride = points > COLUMNS ? (points + COLUMNS - 1) / COLUMNS : 1;
    html_format(html, "<path class=\"line s%zu\" d=\"", color);
    for (size_t i = 0; i < points; i += stride) {
        double largest = (double)NAN;
        for (size_t j = i; j < i + stride && j < points; j++) {
            if (!isnan(line->values[j]) && !(line->values[j] <= largest))
                largest = line->values[j];
        }
        if (!isnan(largest)) {
            bool alone = !open && (i + stride >= points || isnan(line->values[i + stride]));
            html_format(html, "%s%.1f %.1f", open ? "L" : "M", x_of(scale, charts->seconds[i]),
                        y_of(scale, largest));
            if (alone)
                html_raw(html, "h1");
            shown = true;
        }
        open = !isnan(largest);
    }
    html_raw(html, shown ? "\"/>" : "M0 0\"/>");
}

static void put_chart(struct html *html, const struct charts *charts, const struct chart *chart)
{
    struct scale scale = {.seconds = charts->points > 0 ? charts->seconds[charts->points - 1] : 0};
    double most = 0;
    char mean[WORDS], peak[WORDS];
    for (size_t i = 0; i < chart->line_count; i++)
        for (size_t j = 0; j < charts->points; j++)
            most = fmax(most, chart->lines[i].values[j]);

    /* A step is 1, 2 or 5 times a power of ten; of bytes a power of two. */
    double step = most / Y_LINES, power = step > 0 ? pow(10, floor(log10(step))) : 1;
    double rest = step / power;
    scale.step = step <= 0               ? 1
                 : is_bytes(chart->unit) ? exp2(ceil(log2(step)))
                                         : power * (rest <= 1   ? 1
                                                    : rest <= 2 ? 2
                                                    : rest <= 5 ? 5
                                                                : 10);
    scale.top = fmax(ceil(most / scale.step) * scale.step, scale.step);
    html_format(html,
                "<figure class=\"chart\" id=\"%s\"><figcaption><b>%s</b><span class=\"keys\">",
                chart->id, chart->title);
    for (size_t i = 0; i < chart->line_count; i++) {
        html_format(html, "<span class=\"key\" title=\"%s\"><i class=\"k%zu\"></i>",
                    chart->lines[i].how, i % CHART_COLORS);
        html_string(html, chart->lines[i].label);
        value_words(chart->unit, chart->lines[i].mean, 3, mean);
        value_words(chart->unit, chart->lines[i].peak, 3, peak);
        html_raw(html, " <b>");
        if (!(chart->lines[i].peak > 0))
            html_raw(html, "none");
        else if (!isnan(chart->lines[i].mean))
            html_format(html, "mean %s, ", mean);
        if (chart->lines[i].peak > 0)
            html_format(html, "peak %s", peak);
        html_raw(html, "</b></span> ");
    }
    html_raw(html, "</span>");
    if (chart->left_out > 0)
        html_format(html, "<span class=\"key\">%zu more are not drawn</span>", chart->left_out);
    html_format(html, "</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">",
                WIDTH, HEIGHT, chart->title);
    put_frame(html, &scale, chart->unit);
    for (size_t i = 0; i < charts->span_count && i < CHART_SPANS_MAX; i++) {
        const struct recorded_phase *span = &charts->spans[i];
        double from = x_of(&scale, span->begin - charts->begin);
        double to = isnan(span->end) ? WIDTH - RIGHT : x_of(&scale, span->end - charts->begin);
        html_format(html, "<g class=\"p%d\"><title>", charts->span_names[i] % CHART_COLORS);
        html_string(html, span->name);
        html_format(html,
                    "</title><rect class=\"span\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
                    "height=\"%d\"/><rect class=\"band\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
                    "height=\"%d\"/></g>",
                    from, TOP, fmax(to - from, 1), ROWS, from, TOP - BAND, fmax(to - from, 1),
                    BAND);
    }
    for (size_t i = 0; i < chart->line_count; i++)
        put_line(html, charts, &scale, &chart->lines[i], i % CHART_COLORS);
    html_raw(html, "</svg></figure>\n");
}

/* ---- phases ---- */

/* Gives each phase the first lane that is free when it begins; LANES_MAX where none is. Returns how
 * many lanes there are. */
static size_t find_lanes(const struct charts *charts, size_t lanes[static CHART_SPANS_MAX])
{
    double free_from[LANES_MAX];
    size_t used = 0;
    for (size_t i = 0; i < charts->span_count && i < CHART_SPANS_MAX; i++) {
        const struct recorded_phase *span = &charts->spans[i];
        size_t lane = 0;
        while (lane < used && free_from[lane] > span->begin)
            lane++;
        lanes[i] = lane;
        if (lane == LANES_MAX)
            continue;
        free_from[lane] = isnan(span->end) ? (double)INFINITY : span->end;
        used = size_max(used, lane + 1);
    }
    return used;
}

/* A name is shown where it fits: always, or from a width of the screen on; NULL: nowhere. */
static const char *fits_class(const char *name, double percent)
{
    enum { NAME_LETTER = 7, PHONE = 290, TABLET = 640, DESK = 1060 };
    double needed = ((double)strlen(name) * NAME_LETTER + 12) * 100 / fmax(percent, 0.01);
    return needed <= PHONE ? "" : needed <= TABLET ? " tablet" : needed <= DESK ? " desk" : NULL;
}

/* The key: each name with its color, how often it came and how long it took in all. */
static void put_names(struct html *html, const struct charts *charts)
{
    size_t names = 0;
    for (size_t i = 0; i < charts->span_count && i < CHART_SPANS_MAX; i++) {
        const struct recorded_phase *span = &charts->spans[i];
        size_t calls = 0;
        double seconds = 0;
        char words[WORDS];
        if (charts->span_names[i] != names || names == NAMES_MAX)
            continue;
        names++;
        for (size_t j = i; j < charts->span_count && j < CHART_SPANS_MAX; j++) {
            bool ended = !isnan(charts->spans[j].end);
            if (charts->span_names[j] != charts->span_names[i])
                continue;
            calls++;
            seconds += ended ? charts->spans[j].end - charts->spans[j].begin : 0;
        }
        html_format(html, "<span class=\"key\"><i class=\"q%d\"></i>",
                    charts->span_names[i] % CHART_COLORS);
        html_string(html, span->name);
        if (calls > 1)
            html_format(html, " × %zu", calls);
        html_format(html, " <b>%s</b></span> ", words_seconds(seconds, words));
    }
}

static double percent_of(double second, double last)
{
    return last > 0 ? 100 * fmin(fmax(second / last, 0), 1) : 0;
}

static void put_lanes(struct html *html, const struct charts *charts)
{
    double last = charts->seconds[charts->points - 1];
    size_t lane_of[CHART_SPANS_MAX], lanes = find_lanes(charts, lane_of);
    html_raw(html, "<figure class=\"chart\"><figcaption><b>Phases</b><span class=\"keys\">");
    put_names(html, charts);
    html_format(html,
                "</span></figcaption><svg class=\"lanes\" "
                "width=\"100%%\" height=\"%zu\" role=\"img\" aria-label=\"Phases\">",
                lanes * LANE + 2);
    for (size_t i = 0; i < charts->span_count && i < CHART_SPANS_MAX; i++) {
        const struct recorded_phase *span = &charts->spans[i];
        if (lane_of[i] == LANES_MAX)
            continue;
        /* In percent of the width, so that letters keep their size on a narrow screen; what does
         * not fit into its own lane is cut there. */
        double from = percent_of(span->begin - charts->begin, last);
        double to = isnan(span->end) ? 100 : percent_of(span->end - charts->begin, last);
        html_format(
            html,
            "<svg class=\"p%d\" x=\"%.2f%%\" y=\"%zu\" width=\"%.2f%%\" height=\"%d\"><rect "
            "class=\"lane\" width=\"100%%\" height=\"100%%\" rx=\"3\"/>",
            charts->span_names[i] % CHART_COLORS, from, lane_of[i] * LANE + 2, fmax(to - from, 0.2),
            LANE - 4);
        const char *fits = fits_class(span->name, to - from);
        if (fits != NULL) {
            html_format(html, "<text class=\"lane-name%s\" x=\"5\" y=\"12\">", fits);
            html_string(html, span->name);
            html_raw(html, "</text>");
        }
        html_raw(html, "<title>");
        html_string(html, span->name);
        if (!isnan(span->end)) {
            char words[WORDS];
            html_format(html, " (%s)", words_seconds(span->end - span->begin, words));
        }
        html_raw(html, "</title></svg>");
    }
    html_raw(html, "</svg></figure>\n");
    if (charts->span_count > CHART_SPANS_MAX)
        html_format(html, "<p class=\"soft\">The first %d of %zu phases are drawn.</p>\n",
                    CHART_SPANS_MAX, charts->span_count);
}

void charts_draw(struct html *html, const struct charts *charts)
{
    if (charts->span_count > 0 && charts->points > 1)
        put_lanes(html, charts);
    html_raw(html, "<div class=\"charts\">\n");
    for (size_t i = 0; i < charts->count; i++)
        put_chart(html, charts, &charts->items[i]);
    html_raw(html, "</div>\n");
}
