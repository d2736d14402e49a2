/* device_traffic.c: see device_traffic.h. */
#include "monitor/screens/device_traffic.h"

#include <math.h>
#include <stdio.h>

#include "view/cell_text.h"

enum { LINE = 200 };

/* ---- what is read ---- */

static double gauge(const vitals_row *gpu, vitals_metric metric)
{
    double rate;
    return cell_fresh(gpu, metric, &rate) ? rate : (double)NAN;
}

static void read_pcie(const struct sheet_view *view, double *in, double *out)
{
    *in = gauge(view->gpu, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
    *out = gauge(view->gpu, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND);
}

/* NAN where nothing is known of any; of what is known of some no sum is made. */
static double sum_links(const struct sheet_view *view, vitals_metric counter)
{
    double sum = (double)NAN;
    const vitals_snapshot *now = vitals_row_snapshot(view->gpu);
    for (const vitals_row *link = NULL;
         view->older != NULL &&
         (link = vitals_snapshot_next_child(now, VITALS_GPU_LINK, vitals_row_key(view->gpu),
                                            link)) != NULL;) {
        double rate;
        if (vitals_row_availability(link, counter) == VITALS_UNSUPPORTED)
            continue;
        if (vitals_row_rate(link, view->older, counter, &rate) <= 0)
            return (double)NAN;
        sum = isnan(sum) ? rate : sum + rate;
    }
    return sum;
}

static void read_links(const struct sheet_view *view, double *in, double *out)
{
    *in = sum_links(view, VITALS_GPU_LINK_RECEIVED_BYTES);
    *out = sum_links(view, VITALS_GPU_LINK_TRANSMITTED_BYTES);
}

static const struct way {
    const char *title;
    void (*read)(const struct sheet_view *view, double *in, double *out);
} WAYS[TRAFFIC_WAYS] = {{"PCIe", read_pcie}, {"Links", read_links}};

void device_traffic_add(struct device_traffic *traffic, const struct sheet_view *view)
{
    uint64_t now_ns = vitals_snapshot_monotonic_ns(vitals_row_snapshot(view->gpu));
    if (now_ns <= traffic->newest_ns)
        return;
    traffic->newest_ns = now_ns;
    for (size_t i = 0; i < TRAFFIC_WAYS; i++) {
        double in, out;
        WAYS[i].read(view, &in, &out);
        history_add(&traffic->ways[i].in, now_ns, in);
        history_add(&traffic->ways[i].out, now_ns, out);
    }
}

/* ---- what is seen ---- */

static size_t known(const struct history *history)
{
    enum { ENOUGH = 2 };
    size_t count = 0;
    for (size_t i = 0; i < history->count && count < ENOUGH; i++)
        count += isnan(history_get(history, i)) ? 0 : 1;
    return count;
}

static bool is_seen(const struct device_traffic *traffic, int way)
{
    return known(&traffic->ways[way].in) > 1 || known(&traffic->ways[way].out) > 1;
}

int device_traffic_count(const struct device_traffic *traffic)
{
    int count = 0;
    for (int i = 0; i < TRAFFIC_WAYS; i++)
        count += is_seen(traffic, i);
    return count;
}

/* "PCIe: in 1.2GiB/s  out 300.0MiB/s  MAX 2.0GiB/s" */
static void title(const struct device_traffic *traffic, int way, double most, char out[static LINE])
{
    char in[WORDS], sent[WORDS], highest[WORDS];
    double received = history_get(&traffic->ways[way].in, 0);
    double transmitted = history_get(&traffic->ways[way].out, 0);
    (void)snprintf(out, LINE, "%s: in %s  out %s  MAX %s", WAYS[way].title,
                   cell_rate(!isnan(received), received, in),
                   cell_rate(!isnan(transmitted), transmitted, sent),
                   cell_rate(true, most, highest));
}

/* Received bytes grow up, sent bytes down, on one scale. */
static void draw_way(const struct device_traffic *traffic, int way, struct pen *pen,
                     const struct box *box)
{
    char line[LINE];
    size_t seconds = (size_t)box->columns * GRAPH_SECONDS;
    const struct history *in = &traffic->ways[way].in, *out = &traffic->ways[way].out;
    double most = 0, other = 0;
    (void)history_most(in, 0, seconds, &most);
    (void)history_most(out, 0, seconds, &other);
    most = other > most ? other : most;
    title(traffic, way, most, line);
    draw_fit(line, box->columns - 6);
    draw_box(pen, box, line);
    int rows = box->rows - 2, upper = (rows + 1) / 2;
    struct box half = {box->x + 1, box->y + 1, box->columns - 2, upper};
    struct graph graph = {.history = in, .most = most > 0 ? most : 1, .style = STYLE_CYAN};
    draw_graph(pen, &half, &graph);
    half.y += upper;
    half.rows = rows - upper;
    graph.history = out;
    graph.down = true;
    graph.style = STYLE_BLUE;
    if (half.rows > 0)
        draw_graph(pen, &half, &graph);
    draw_time_marks(pen, box->x, box->x + box->columns - 1, box->y + box->rows - 1);
}

void device_traffic_draw(const struct device_traffic *traffic, int place, struct pen *pen,
                         const struct box *box)
{
    for (int i = 0; i < TRAFFIC_WAYS; i++) {
        if (is_seen(traffic, i) && place-- == 0)
            draw_way(traffic, i, pen, box);
    }
}
