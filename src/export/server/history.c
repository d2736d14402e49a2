/* history.c: see page.h. The table KEPT lists the metrics. */
#include "export/server/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feed/rows.h"

/* A metric of every row of its table; of a counter its rate. If the counter `counted` can be read,
 * its rate is kept instead. */
static const struct kept {
    vitals_metric metric;
    vitals_metric counted;
} KEPT[] = {
    {.metric = VITALS_HOST_CPU_BUSY_SECONDS},
    {.metric = VITALS_HOST_CPU_IOWAIT_SECONDS},
    {.metric = VITALS_HOST_LOAD_1M},
    {.metric = VITALS_HOST_MEMORY_USED_BYTES},
    {.metric = VITALS_HOST_MEMORY_CACHED_BYTES},
    {.metric = VITALS_HOST_SWAP_USED_BYTES},
    {.metric = VITALS_HOST_DISK_READ_BYTES},
    {.metric = VITALS_HOST_DISK_WRITTEN_BYTES},
    {.metric = VITALS_HOST_NETWORK_RECEIVED_BYTES},
    {.metric = VITALS_HOST_NETWORK_TRANSMITTED_BYTES},
    {.metric = VITALS_HOST_PACKAGE_ENERGY_JOULES},
    {.metric = VITALS_PRESSURE_SOME_10S_RATIO},
    {.metric = VITALS_GPU_UTILIZATION_RATIO, .counted = VITALS_GPU_BUSY_SECONDS},
    {.metric = VITALS_GPU_MEMORY_USED_BYTES},
    {.metric = VITALS_GPU_POWER_WATTS},
    {.metric = VITALS_GPU_TEMPERATURE_CELSIUS},
};
enum { KEPT_COUNT = sizeof KEPT / sizeof KEPT[0] };

enum { LABEL_SIZE = 64 };

struct history_series_line {
    vitals_metric metric;
    uint64_t key;
    unsigned silent; /* points since the last value */
    char label[LABEL_SIZE];
    float values[HISTORY_POINTS]; /* one per history.times; NAN: missing */
};

/* A ring of points. `next` is the place of the next one, which replaces the oldest once the ring
 * is full. */
struct history_store {
    struct history_series_line *lines[HISTORY_LINES_MAX];
    size_t lines_count;
    uint64_t left_out;              /* values of the newest point without a line */
    uint64_t times[HISTORY_POINTS]; /* boottime: includes suspension and never steps back */
    size_t next, count;
    uint64_t realtime_ns;           /* of the newest point */
    uint64_t step;                  /* of the newest point, counted from boot */
    uint64_t stream;                /* the stream that the keys of the lines belong to */
    vitals_snapshot *older;         /* the newest point, with which rates are computed */
    vitals_snapshot *before, *last; /* at least 0.9 s apart; see history_before */
};

enum { STEP_NS = 1000000000, BEFORE_NS = 900000000 };

struct history_store *history_new(void)
{
    struct history_store *history = calloc(1, sizeof *history);
    if (history != NULL)
        history->step = UINT64_MAX;
    return history;
}

static void forget(struct history_store *history)
{
    for (size_t i = 0; i < history->lines_count; i++)
        free(history->lines[i]);
    vitals_snapshot_unref(history->older);
    history->older = NULL;
    history->lines_count = 0;
    history->count = history->next = 0;
}

void history_free(struct history_store *history)
{
    if (history == NULL)
        return;
    forget(history);
    vitals_snapshot_unref(history->before);
    vitals_snapshot_unref(history->last);
    free(history);
}

/* ---- one point ---- */

static void keep(struct history_store *history, const struct kept *kept,
                 const vitals_snapshot *snapshot)
{
    double value;
    EACH_ROW(row, snapshot, vitals_metric_table(kept->metric)) {
        bool counts = vitals_metric_kind(kept->metric) == VITALS_COUNTER;
        vitals_metric counter = counts ? kept->metric : kept->counted;
        bool known = counter != 0 && vitals_row_rate(row, history->older, counter, &value) > 0;
        if (known && !counts)
            value = fmin(value, 1);

        /* A late source repeats its last reading, which belongs to one point only. */
        if (!known && !counts &&
            (vitals_row_availability(row, kept->metric) != VITALS_STALE ||
             (history->older != NULL && vitals_row_read_ns(row, kept->metric) >
                                            vitals_snapshot_monotonic_ns(history->older))))
            known = vitals_row_number(row, kept->metric, &value) > 0;
        if (!known)
            continue;

        const char *label = vitals_row_label(row);
        struct history_series_line *line = NULL;
        for (size_t i = 0; i < history->lines_count && line == NULL; i++) {
            if (history->lines[i]->metric == kept->metric &&
                history->lines[i]->key == vitals_row_key(row))
                line = history->lines[i];
        }
        if (line == NULL && history->lines_count < HISTORY_LINES_MAX &&
            (line = malloc(sizeof *line)) != NULL) {
            *line = (struct history_series_line){.metric = kept->metric,
                                                 .key = vitals_row_key(row)};
            (void)vitals_text_format(vitals_text_of(label), VITALS_TEXT_TERMINAL, line->label,
                                     sizeof line->label);
            for (size_t i = 0; i < HISTORY_POINTS; i++)
                line->values[i] = NAN;
            history->lines[history->lines_count++] = line;
        }
        if (line == NULL) {
            history->left_out++;
            continue;
        }
        line->values[history->next] = (float)value;
        line->silent = 0;
    }
}

static void add_point(struct history_store *history, const vitals_snapshot *snapshot)
{
    size_t newest = (history->next + HISTORY_POINTS - 1) % HISTORY_POINTS;
    uint64_t now_ns = vitals_snapshot_boottime_ns(snapshot);
    uint64_t stream = vitals_snapshot_stream(snapshot);
    if (stream != history->stream || (history->count > 0 && now_ns <= history->times[newest]))
        forget(history); /* another machine or boot */
    for (size_t i = 0; i < history->lines_count; i++) {
        history->lines[i]->values[history->next] = NAN;
        history->lines[i]->silent++;
    }

    /* Removes lines without a value for an hour. */
    size_t left = 0;
    for (size_t i = 0; i < history->lines_count; i++) {
        if (history->lines[i]->silent < HISTORY_POINTS)
            history->lines[left++] = history->lines[i];
        else
            free(history->lines[i]);
    }
    history->lines_count = left;

    history->left_out = 0;
    for (size_t i = 0; i < KEPT_COUNT; i++)
        keep(history, &KEPT[i], snapshot);
    history->times[history->next] = now_ns;
    history->next = (history->next + 1) % HISTORY_POINTS;
    history->count += history->count < HISTORY_POINTS;
    history->realtime_ns = vitals_snapshot_realtime_ns(snapshot);
    history->stream = stream;
    vitals_snapshot_unref(history->older);
    history->older = vitals_snapshot_ref(snapshot);
}

void history_take(struct history_store *history, const vitals_snapshot *snapshot)
{
    uint64_t now_ns = vitals_snapshot_boottime_ns(snapshot);
    uint64_t step = now_ns / STEP_NS / HISTORY_STEP_SECONDS;
    if (history->last == NULL || now_ns - vitals_snapshot_boottime_ns(history->last) >= BEFORE_NS) {
        vitals_snapshot_unref(history->before);
        history->before = history->last;
        history->last = vitals_snapshot_ref(snapshot);
    }
    if (step == history->step)
        return;
    history->step = step;
    add_point(history, snapshot);
}

const vitals_snapshot *history_before(const struct history_store *history)
{
    return history->before;
}

/* ---- the document ---- */

/* Returns the index of the i-th point, counted from the oldest. */
static size_t place_of(const struct history_store *history, size_t i)
{
    return (history->next + HISTORY_POINTS - history->count + i) % HISTORY_POINTS;
}

/* Five digits are more than a chart can show. */
static void write_value(struct buffer *text, double value)
{
    if (isnan(value)) {
        buffer_string(text, "null");
        return;
    }
    double step = value == 0 ? 1 : pow(10, floor(log10(fabs(value))) - 4);
    text_number(text, step >= 1 ? round(value) : round(value / step) / round(1 / step));
}

void history_write(const struct history_store *history, struct buffer *text)
{
    buffer_format(text, "{\"history\":1,\"step_seconds\":%d,\"left_out\":%llu,\"realtime_ms\":[",
                  HISTORY_STEP_SECONDS, (unsigned long long)history->left_out);
    uint64_t newest = history->count > 0 ? history->times[place_of(history, history->count - 1)]
                                         : 0;
    for (size_t i = 0; i < history->count; i++) {
        uint64_t ago_ns = newest - history->times[place_of(history, i)];
        uint64_t then_ns = history->realtime_ns > ago_ns ? history->realtime_ns - ago_ns : 0;
        buffer_format(text, i > 0 ? ",%llu" : "%llu", (unsigned long long)(then_ns / 1000000));
    }

    buffer_string(text, "],\"lines\":[");
    for (size_t i = 0; i < history->lines_count; i++) {
        if (i > 0)
            buffer_byte(text, ',');
        const struct history_series_line *line = history->lines[i];
        bool rate = vitals_metric_kind(line->metric) == VITALS_COUNTER;
        buffer_format(text, "{\"table\":\"%s\",\"key\":%llu,\"label\":\"",
                      vitals_table_name(vitals_metric_table(line->metric)),
                      (unsigned long long)line->key);
        text_safe(text, vitals_text_of(line->label), VITALS_TEXT_JSON);
        buffer_format(text, "\",\"metric\":\"%s%s\",\"unit\":\"%s\",\"values\":[",
                      vitals_metric_name(line->metric), rate ? "_per_second" : "",
                      vitals_metric_unit(line->metric));
        for (size_t p = 0; p < history->count; p++) {
            if (p > 0)
                buffer_byte(text, ',');
            write_value(text, (double)line->values[place_of(history, p)]);
        }
        buffer_string(text, "]}");
    }
    buffer_string(text, "],\"availability\":{");
    for (int i = VITALS_AVAILABILITY_MIN; i <= VITALS_AVAILABILITY_MAX; i++) {
        const char *help = vitals_availability_help((vitals_availability)i);
        buffer_format(text, "%s\"%s\":\"", i > VITALS_AVAILABILITY_MIN ? "," : "",
                      vitals_availability_name((vitals_availability)i));
        text_safe(text, vitals_text_of(help), VITALS_TEXT_JSON);
        buffer_byte(text, '"');
    }
    buffer_string(text, "}}");
}
