/* host_bars.c: see host_bars.h. */
#include "view/host_bars.h"

#include <stdio.h>
#include <string.h>

#include "util/base.h"
#include "view/cell_text.h"
#include "view/device_panel.h"

enum { LOAD = 160, NOTE = WORDS + 16 };

bool host_cpu_ratio(const vitals_snapshot *now, const vitals_snapshot *older, double *out)
{
    return cell_busy(row_next(now, VITALS_TABLE_HOST, NULL), older, VITALS_HOST_CPU_BUSY_SECONDS,
                     VITALS_HOST_CPU_TOTAL_SECONDS, out);
}

void host_load_words(const vitals_row *host, const char *begin, int columns, char *out,
                     size_t capacity)
{
    static const vitals_metric LOADS[] = {VITALS_HOST_LOAD_1M, VITALS_HOST_LOAD_5M,
                                          VITALS_HOST_LOAD_15M};
    (void)snprintf(out, capacity, "%s", begin);
    for (size_t i = 0; i < ARRAY_COUNT(LOADS); i++) {
        double load;
        char number[WORDS] = "N/A";
        if (cell_value(host, LOADS[i], &load))
            (void)snprintf(number, sizeof number, "%.2f", load);
        if (strlen(number) > 7) /* 10000 or more */
            memcpy(number, "9999+", 6);
        cell_add(out, capacity, " %*s", columns, number);
    }
}

static void boxed_bar(struct pen *pen, int x, int y, int columns, const struct bar *bar)
{
    (void)canvas_text(pen->canvas, x, y, STYLE_PLAIN, "[ ");
    draw_bar(pen, x + 2, y, columns - 4, bar);
    (void)canvas_text(pen->canvas, x + columns - 2, y, STYLE_PLAIN, " ]");
}

void host_bars_draw(struct pen *pen, const struct host_bars *bars, int y)
{
    enum { SWAP_COLUMNS = 35 };
    char load[LOAD], note[NOTE], words[WORDS];
    double seconds;
    const vitals_row *host = bars->host;
    const char *begin = bars->width >= NARROW ? "( Load Average:" : "(";
    host_load_words(host, begin, bars->load_columns, load, sizeof load);
    cell_add(load, sizeof load, " )");
    int wide = canvas_columns(load);

    struct bar cpu = {.label = "CPU", .fraction = true, .tracked = bars->tracked, .note = note};
    cpu.known = bars->cpu_known;
    cpu.ratio = bars->cpu_ratio;
    cpu.style = cpu.known ? STYLE_CYAN : STYLE_DIM;
    if (cell_value(host, VITALS_HOST_UPTIME_SECONDS, &seconds))
        cpu.note_columns = 1 + snprintf(note, sizeof note, "UPTIME: %s",
                                        vitals_human_duration(seconds, words));
    boxed_bar(pen, 0, y, bars->width - wide - 2, &cpu);
    (void)canvas_text(pen->canvas, bars->width - wide, y++, STYLE_PLAIN, load);

    int right = bars->width >= NARROW ? SWAP_COLUMNS : (bars->width - 2) / 2;
    struct bar memory = {.label = "MEM", .fraction = true, .tracked = bars->tracked, .note = note};
    memory.known = cell_ratio(host, VITALS_HOST_MEMORY_USED_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES,
                              &memory.ratio);
    memory.style = memory.known ? STYLE_MAGENTA : STYLE_DIM;
    memory.note_columns = 1 + snprintf(note, sizeof note, "USED: %s",
                                       cell_bytes(host, VITALS_HOST_MEMORY_USED_BYTES, words));
    boxed_bar(pen, 0, y, bars->width - right - 2, &memory);

    struct bar swap = {.label = "SWP", .fraction = true, .tracked = bars->tracked};
    swap.known = cell_ratio(host, VITALS_HOST_SWAP_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES,
                            &swap.ratio); /* false if no swap is configured, too */
    swap.style = swap.known ? STYLE_BLUE : STYLE_DIM;
    if (swap.known) {
        swap.note = cell_bytes(host, VITALS_HOST_SWAP_USED_BYTES, words);
        swap.note_columns = (int)strlen(swap.note) + 1;
    }
    boxed_bar(pen, bars->width - right, y, right, &swap);
}
