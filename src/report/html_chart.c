/* html_chart.c: which series make a chart, and their common moments.
 *
 * Many samples are thinned to CHART_POINTS_MAX moments: of a gauge the largest of each stretch is
 * kept, so that no peak is lost; of a counter its growth over the stretch. */
#include "report/html.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_form.h"

/* A line is made of the first of its measures that was recorded. */
struct html_chart_source {
    const char *measure, *subject; /* "*": of every device */
    const char *label;
};

enum { SOURCES_MAX = 4 };

// One line of a chart, one line.
// clang-format off
static const struct {
    const char *id, *title, *unit;
    struct html_chart_source sources[SOURCES_MAX];
} CHARTS[] = {
    {"cpu", "CPUs in use", "cores", {
        {"cpu_cores", "", "this run"},
        {"cpu_cores", "system", "machine"}}},
    {"memory", "Memory of the processes", "bytes", {
        {"memory_resident_bytes", "", "resident"},
        {"memory_pss_bytes", "", "proportional"},
        {"memory_both_bytes", "", "private and shared"}}},
    {"machine", "Memory of the machine", "bytes", {
        {"memory_used_bytes", "system", "used"}}},
    {"disk", "Disks", "bytes/s", {
        {"disk_read_bytes", "", "read"},
        {"disk_written_bytes", "", "written"},
        {"disk_read_bytes", "system", "machine, read"},
        {"disk_written_bytes", "system", "machine, written"}}},
    {"network", "Network", "bytes/s", {
        {"network_received_bytes", "", "received"},
        {"network_transmitted_bytes", "", "sent"},
        {"network_received_bytes", "system", "machine, received"},
        {"network_transmitted_bytes", "system", "machine, sent"}}},
    {"gpu", "GPUs busy", "ratio", {
        {"device_utilization_ratio", "*", ""},
        {"gpu_utilization_ratio", "*", "by this run"}}},
    {"gpu-memory", "GPU memory", "bytes", {
        {"device_memory_used_bytes", "*", ""},
        {"gpu_memory_bytes", "*", "by this run"}}},
    {"power", "Power of GPUs", "watts", {
        {"device_power_watts", "*", ""}}},
    {"processes", "Processes and threads", "", {
        {"processes", "", "processes"},
        {"threads", "", "threads"}}},
};
// clang-format on

/* ---- lines ---- */

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* A series that is read more seldom than samples are taken has nothing in between; a line goes on
 * there as long as the next reading is no later than usual. */
static double cadence_of(const struct series *series)
{
    static const double LATE = 1.75; /* of the usual */
    double *gaps = calloc(series->count + 1, sizeof *gaps), before = (double)NAN;
    size_t count = 0;
    for (size_t i = 0; i < series->count && gaps != NULL; i++) {
        if (isnan(series->values[i]))
            continue;
        if (!isnan(before))
            gaps[count++] = series->seconds[i] - before;
        before = series->seconds[i];
    }
    if (count > 0)
        qsort(gaps, count, sizeof *gaps, by_size);
    double cadence = count > 0 ? gaps[count / 2] * LATE : 0;
    free(gaps);
    return cadence;
}

static void fill_gauge(const struct series *series, const struct charts *charts, double cadence,
                       double *values)
{
    bool mean = strcmp(series->unit, "cores") == 0 || strcmp(series->unit, "ratio") == 0;
    size_t at = 0, before = SIZE_MAX;
    for (size_t i = 0; i < charts->points; i++) {
        /* A microsecond: moments went through a text of so many digits. */
        double until = charts->begin + charts->seconds[i] + 1e-6;
        values[i] = (double)NAN;
        for (; at < series->count && series->seconds[at] <= until; at++)
            if (!isnan(series->values[at]) && !(series->values[at] <= values[i]))
                values[i] = series->values[at];
    }

    /* Between two readings a gauge goes straight from one to the other, a mean is one. */
    for (size_t i = 0; i < charts->points; i++) {
        if (isnan(values[i]))
            continue;
        double passed = before != SIZE_MAX ? charts->seconds[i] - charts->seconds[before] : 0;
        for (size_t k = before; k != SIZE_MAX && passed <= cadence && ++k < i;) {
            double part = (charts->seconds[k] - charts->seconds[before]) / passed;
            values[k] = mean ? values[i] : values[before] + (values[i] - values[before]) * part;
        }
        before = i;
    }
}

/* A counter as growth per second. A counter that runs backwards is a new one. */
static void fill_rate(const struct series *series, const struct charts *charts, double cadence,
                      double *values)
{
    size_t at = 0, from = 0;
    double before = (double)NAN, before_second = (double)NAN;
    for (size_t i = 0; i < charts->points; i++) {
        double until = charts->begin + charts->seconds[i] + 1e-6, last = (double)NAN,
               last_second = (double)NAN;
        for (; at < series->count && series->seconds[at] <= until; at++) {
            if (isnan(series->values[at]))
                continue;
            last = series->values[at];
            last_second = series->seconds[at];
        }
        double passed = last_second - before_second;
        values[i] = last >= before && passed > 0 ? (last - before) / passed : (double)NAN;
        for (; from < i && !isnan(last) && passed <= cadence; from++)
            values[from] = values[i];
        if (!isnan(last)) {
            from = i + 1;
            before = last;
            before_second = last_second;
        }
    }
}

/* Each value stands for the time since the one before; of a counter the growth over all of it. */
static void measure_line(const struct series *series, size_t points, struct chart_line *line)
{
    double sum = 0, weight = 0, growth = 0, before = (double)NAN, since = 0;
    line->mean = line->peak = (double)NAN;
    for (size_t i = 0; i < points; i++)
        line->peak = fmax(line->peak, line->values[i]);
    for (size_t i = 0; i < series->count; i++) {
        double value = series->values[i], passed = series->seconds[i] - since;
        if (isnan(value))
            continue;
        if (!isnan(before) && passed > 0) {
            sum += value * passed;
            growth += fmax(value - before, 0);
            weight += passed;
        }
        before = value;
        since = series->seconds[i];
    }
    if (weight > 0)
        line->mean = (series->counter ? growth : sum) / weight;
}

/* The words for a device: a recording may hold only its identity. */
static const char *device_words(const struct recording *recording, const struct series *series)
{
    const vitals_account *account = recording_account(recording);
    if (series->label[0] != '\0')
        return series->label;
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL;) {
        if (strcmp(vitals_figure_subject(figure), series->subject) == 0 &&
            vitals_figure_label(figure)[0] != '\0')
            return vitals_figure_label(figure);
    }
    return series->subject;
}

static int add_line(struct charts *charts, struct chart *chart, const struct series *series,
                    const char *of, const char *label)
{
    if (chart->line_count == CHART_LINES_MAX) {
        chart->left_out++;
        return 0;
    }
    struct chart_line *line = &chart->lines[chart->line_count];
    line->values = calloc(charts->points + 1, sizeof *line->values);
    if (line->values == NULL)
        return -1;
    chart->line_count++;
    bool device = label[0] == '\0' || strcmp(label, "by this run") == 0;
    (void)snprintf(line->label, sizeof line->label, "%.60s%s%.30s", device ? of : "",
                   device && label[0] != '\0' ? " " : "", label);
    line->how = series->counter ? "sampled: growth of a counter between two samples"
                                : "sampled: what happened between two samples was not seen";
    double cadence = cadence_of(series);
    if (series->counter)
        fill_rate(series, charts, cadence, line->values);
    else
        fill_gauge(series, charts, cadence, line->values);
    measure_line(series, charts->points, line);
    /* A device that the run never used needs no line of the run's share. */
    bool known = false, used = !device || label[0] == '\0';
    for (size_t i = 0; i < charts->points; i++) {
        known = known || !isnan(line->values[i]);
        used = used || line->values[i] > 0;
    }
    if (!used || !known) {
        free(line->values);
        chart->line_count--;
    }
    return 0;
}

static void free_lines(struct chart *chart)
{
    for (size_t i = 0; i < chart->line_count; i++)
        free(chart->lines[i].values);
    chart->line_count = 0;
}

static int make_chart(const struct recording *recording, struct charts *charts, size_t which)
{
    struct chart *chart = &charts->items[charts->count];
    size_t count;
    const struct series *series = recording_series(recording, &count);
    *chart = (struct chart){
        .id = CHARTS[which].id, .title = CHARTS[which].title, .unit = CHARTS[which].unit};
    for (size_t i = 0; i < SOURCES_MAX && CHARTS[which].sources[i].measure != NULL; i++) {
        const struct html_chart_source *source = &CHARTS[which].sources[i];
        for (size_t j = 0; j < count; j++) {
            bool matches = source->subject[0] == '*'
                               ? words_is_device(series[j].subject)
                               : strcmp(series[j].subject, source->subject) == 0;
            if (matches && series[j].count >= 2 && strcmp(series[j].name, source->measure) == 0 &&
                add_line(charts, chart, &series[j], device_words(recording, &series[j]),
                         source->label) < 0)
                return -1;
        }
    }

    /* A chart that is 0 all the time is left out. */
    bool any = false;
    for (size_t i = 0; i < chart->line_count; i++)
        for (size_t j = 0; j < charts->points; j++)
            any = any || chart->lines[i].values[j] > 0;
    if (any)
        charts->count++;
    else
        free_lines(chart);
    return 0;
}

int charts_of(const struct recording *recording, struct charts *out)
{
    size_t samples;
    const double *seconds = recording_seconds(recording, &samples);
    *out = (struct charts){.thinned = samples > CHART_POINTS_MAX};
    out->spans = recording_phases(recording, &out->span_count);
    for (size_t i = 0, names = 0; i < out->span_count && i < CHART_SPANS_MAX; i++) {
        size_t same = 0;
        while (same < i && strcmp(out->spans[same].name, out->spans[i].name) != 0)
            same++;
        out->span_names[i] = (uint16_t)(same < i ? out->span_names[same] : names++);
    }
    out->points = out->thinned ? CHART_POINTS_MAX : samples;
    out->seconds = calloc(out->points + 1, sizeof *out->seconds);
    int code = out->seconds != NULL ? 0 : -1;
    if (code == 0 && samples > 0)
        out->begin = seconds[0];
    for (size_t i = 0; i < out->points && code == 0; i++)
        out->seconds[i] = out->thinned ? (seconds[samples - 1] - out->begin) * (double)i /
                                             (double)(out->points - 1)
                                       : seconds[i] - out->begin;
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0] && code == 0; i++)
        code = make_chart(recording, out, i);
    if (code < 0)
        charts_done(out);
    return code;
}

void charts_done(struct charts *charts)
{
    for (size_t i = 0; i < charts->count; i++)
        free_lines(&charts->items[i]);
    free(charts->seconds);
    *charts = (struct charts){.begin = 0};
}

/* ---- data ---- */

static void put_numbers(struct json_form *form, const double *values, size_t count)
{
    form_begin(form, '[');
    for (size_t i = 0; i < count; i++) {
        char digits[32];
        (void)snprintf(digits, sizeof digits, "%.6g", values[i]); /* more is not to be seen */
        form_number(form, isnan(values[i]) ? (double)NAN : strtod(digits, NULL));
    }
    form_end(form, ']');
}

void charts_data(struct html *html, const struct charts *charts)
{
    struct json_form form;
    double last = charts->points > 0 ? charts->seconds[charts->points - 1] : 0;
    json_form_init(&form, 0, html->write, html->data);
    form.script = true;
    form.failed = html->failed;
    form_begin(&form, '{');
    form_put_bool(&form, "thinned", charts->thinned);
    form_key(&form, "seconds");
    put_numbers(&form, charts->seconds, charts->points);
    form_begin_member(&form, "charts", '[');
    for (size_t i = 0; i < charts->count; i++) {
        const struct chart *chart = &charts->items[i];
        form_begin(&form, '{');
        form_put_string(&form, "id", chart->id);
        form_put_string(&form, "unit", chart->unit);
        form_begin_member(&form, "series", '[');
        for (size_t j = 0; j < chart->line_count; j++) {
            form_begin(&form, '{');
            form_put_string(&form, "label", chart->lines[j].label);
            form_put_string(&form, "how", chart->lines[j].how);
            form_key(&form, "values");
            put_numbers(&form, chart->lines[j].values, charts->points);
            form_end(&form, '}');
        }
        form_end(&form, ']');
        form_end(&form, '}');
    }
    form_end(&form, ']');
    form_begin_member(&form, "phases", '[');
    for (size_t i = 0; i < charts->span_count && i < CHART_SPANS_MAX; i++) {
        const struct recorded_phase *span = &charts->spans[i];
        form_begin(&form, '{');
        form_put_number(&form, "begin", span->begin - charts->begin);
        form_put_number(&form, "end", isnan(span->end) ? last : span->end - charts->begin);
        form_put_number(&form, "color", charts->span_names[i] % CHART_COLORS);
        form_end(&form, '}');
    }
    form_end(&form, ']');
    form_end(&form, '}');
    html->failed = form.failed;
}
