/* panel_host.c: CPU, memory, swap and load in two lines, and a third where our own cgroup leaves us
 * less than the machine has. */
#include "report/panel.h"

#include <stdio.h>
#include <string.h>

/* Busy over total between the two snapshots. */
static vitals_availability cpu_ratio(const struct view *view, const vitals_row *host, double *out)
{
    double busy, total;
    vitals_availability a = vitals_row_growth(host, view->older, VITALS_HOST_CPU_BUSY_SECONDS,
                                              &busy, NULL);
    vitals_availability b = vitals_row_growth(host, view->older, VITALS_HOST_CPU_TOTAL_SECONDS,
                                              &total, NULL);
    if (a <= 0 || b <= 0)
        return a <= 0 ? a : b;
    if (total <= 0)
        return VITALS_NOT_YET;
    *out = busy / total;
    return a;
}

static void boxed(struct paint *paint, const struct bar *bar, size_t columns)
{
    paint_text(paint, COLOR_PLAIN, "[ ");
    paint_bar(paint, bar, columns - 4);
    paint_text(paint, COLOR_PLAIN, " ]");
}

static void load_words(const vitals_row *host, char *out, size_t capacity)
{
    static const vitals_metric LOADS[] = {VITALS_HOST_LOAD_1M, VITALS_HOST_LOAD_5M,
                                          VITALS_HOST_LOAD_15M};
    size_t used = (size_t)snprintf(out, capacity, "( Load Average:");
    for (size_t i = 0; i < 3; i++) {
        char number[PANEL_TEXT];
        double load;
        bool huge = vitals_row_f64(host, LOADS[i], &load) > 0 && load >= 10000;
        used += (size_t)snprintf(out + used, capacity - used, " %5s",
                                 huge ? "9999+" : panel_number(host, LOADS[i], "%.2f", number));
    }
    (void)snprintf(out + used, capacity - used, " )");
}

static void cpu_line(struct paint *paint, const struct view *view, const vitals_row *host)
{
    char load[PANEL_TEXT * 4], uptime[VITALS_HUMAN], note[PANEL_TEXT];
    double seconds;
    struct bar bar = {.label = "CPU", .fraction = true, .color = COLOR_CYAN};
    bar.availability = cpu_ratio(view, host, &bar.ratio);
    if (bar.availability <= 0)
        bar.color = COLOR_DIM;
    if (vitals_row_f64(host, VITALS_HOST_UPTIME_SECONDS, &seconds) > 0) {
        (void)snprintf(note, sizeof(note), "UPTIME: %s", vitals_human_duration(seconds, uptime));
        bar.note = note;
        bar.note_columns = strlen(note) + 1;
    }
    load_words(host, load, sizeof(load));
    boxed(paint, &bar, view->width - 2 - strlen(load));
    paint_text(paint, COLOR_PLAIN, "  ");
    paint_text(paint, COLOR_PLAIN, load);
    paint_end(paint);
}

static void memory_line(struct paint *paint, const struct view *view, const vitals_row *host)
{
    enum { SWAP_COLUMNS = 35 };
    char used[PANEL_TEXT], note[PANEL_TEXT * 2], swap_used[PANEL_TEXT];
    struct bar memory = {.label = "MEM", .fraction = true, .color = COLOR_MAGENTA, .note = note};
    memory.availability = panel_ratio(host, VITALS_HOST_MEMORY_USED_BYTES,
                                      VITALS_HOST_MEMORY_TOTAL_BYTES, &memory.ratio);
    (void)snprintf(note, sizeof(note), "USED: %s",
                   panel_bytes(host, VITALS_HOST_MEMORY_USED_BYTES, used));
    struct bar swap = {.label = "SWP",
                       .fraction = true,
                       .color = COLOR_CYAN,
                       .note = panel_bytes(host, VITALS_HOST_SWAP_USED_BYTES, swap_used)};
    swap.availability = panel_ratio(host, VITALS_HOST_SWAP_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES,
                                    &swap.ratio);
    if (swap.availability <= 0) { /* none configured, too: total is 0 */
        swap.note = NULL;
        swap.color = COLOR_DIM;
    }
    memory.note_columns = strlen(note) + 1;
    swap.note_columns = swap.note != NULL ? strlen(swap.note) + 1 : 0;
    boxed(paint, &memory, view->width - 2 - SWAP_COLUMNS);
    paint_text(paint, COLOR_PLAIN, "  ");
    boxed(paint, &swap, SWAP_COLUMNS);
    paint_end(paint);
}

/* What our cgroup allows, where it allows less than everything. */
static void cgroup_line(struct paint *paint, const vitals_row *host)
{
    double cores;
    uint64_t limit;
    char used[PANEL_TEXT], text[PANEL_TEXT];
    bool has_cores = vitals_row_f64(host, VITALS_HOST_CGROUP_CPU_LIMIT_CORES, &cores) > 0;
    bool has_limit = vitals_row_u64(host, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, &limit) > 0;
    if (!has_cores && !has_limit)
        return;
    paint_text(paint, COLOR_PLAIN, "[ our cgroup:");
    if (has_cores) {
        (void)snprintf(text, sizeof(text), " at most %.4g CPUs", cores);
        paint_text(paint, COLOR_PLAIN, text);
    }
    if (has_limit) {
        paint_text(paint, COLOR_PLAIN, has_cores ? ", memory " : " memory ");
        paint_text(paint, COLOR_PLAIN,
                   panel_bytes(host, VITALS_HOST_CGROUP_MEMORY_USED_BYTES, used));
        paint_text(paint, COLOR_PLAIN, " of at most ");
        paint_text(paint, COLOR_PLAIN, vitals_human_bytes(limit, text));
    }
    paint_text(paint, COLOR_PLAIN, " ]");
    paint_end(paint);
}

void panel_host(struct paint *paint, const struct view *view)
{
    const vitals_row *host = vitals_snapshot_next(view->now, VITALS_HOST, NULL);
    if (host == NULL)
        return;
    cpu_line(paint, view, host);
    memory_line(paint, view, host);
    cgroup_line(paint, host);
}
