/* device_traffic.c: see device_sheet.h. */
#include "monitor/screens/device_sheet.h"

#include <math.h>
#include <stdio.h>

#include "feed/rows.h"
#include "monitor/screens/pane.h"

/* NAN where nothing is known of any; of what is known of some no sum is made. */
static double sum_links(const struct sheet_view *view, vitals_metric counter)
{
    double sum = (double)NAN, rate;
    const vitals_snapshot *now = vitals_row_snapshot(view->gpu);
    EACH_CHILD(link, now, VITALS_TABLE_GPU_LINK, vitals_row_key(view->gpu)) {
        if (vitals_row_availability(link, counter) == VITALS_UNSUPPORTED)
            continue;
        if (vitals_row_rate(link, view->older, counter, &rate) <= 0)
            return (double)NAN;
        sum = isnan(sum) ? rate : sum + rate;
    }
    return sum;
}

static const char *const WAYS[TRAFFIC_WAYS] = {"PCIe", "Links"};

void device_traffic_add(struct device_traffic *traffic, const struct sheet_view *view)
{
    uint64_t now_ns = vitals_snapshot_monotonic_ns(vitals_row_snapshot(view->gpu));
    double in, out;
    if (now_ns <= traffic->newest_ns)
        return;
    traffic->newest_ns = now_ns;
    if (!cell_fresh(view->gpu, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, &in))
        in = (double)NAN;
    if (!cell_fresh(view->gpu, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND, &out))
        out = (double)NAN;
    history_add(&traffic->ways[0].in, now_ns, in);
    history_add(&traffic->ways[0].out, now_ns, out);
    history_add(&traffic->ways[1].in, now_ns, sum_links(view, VITALS_GPU_LINK_RECEIVED_BYTES));
    history_add(&traffic->ways[1].out, now_ns, sum_links(view, VITALS_GPU_LINK_TRANSMITTED_BYTES));
}

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

void device_traffic_draw(const struct device_traffic *traffic, const struct model *model, int place,
                         struct pen *pen, const struct box *box)
{
    int way = 0;
    for (; way < TRAFFIC_WAYS; way++) {
        if (is_seen(traffic, way) && place-- == 0)
            break;
    }
    if (way == TRAFFIC_WAYS)
        return;

    /* Received bytes grow up, sent bytes down, on one scale. They end now. */
    char in_words[WORDS * 2], out_words[WORDS * 2], rate[WORDS], scale[WORDS * 2];
    size_t seconds = (size_t)(box->columns * pane_seconds(model));
    const struct history *in = &traffic->ways[way].in, *out = &traffic->ways[way].out;
    double most = 0, other = 0, in_now = history_get(in, 0), out_now = history_get(out, 0);
    (void)history_most(in, 0, seconds, &most);
    (void)history_most(out, 0, seconds, &other);
    most = pane_scale(other > most ? other : most);
    (void)snprintf(in_words, sizeof in_words, "in %s", cell_rate(!isnan(in_now), in_now, rate));
    (void)snprintf(out_words, sizeof out_words, "out %s",
                   cell_rate(!isnan(out_now), out_now, rate));
    (void)snprintf(scale, sizeof scale, "full: %s", cell_rate(true, most, rate));
    struct graph up = pane_chart(model, in, most, INK_IN, false);
    struct graph down = pane_chart(model, out, most, INK_OUT, true);
    up.ago = up.mark = down.ago = down.mark = 0;
    struct tile tile = {
        .label = WAYS[way], .name = "", .value = in_words, .left = out_words, .right = scale};
    pane_pair(pen, box, &tile, &up, &down);
}
