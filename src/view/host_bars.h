/* host_bars.h: CPU, memory, swap and load of the machine as bars in two lines. Pure. */
#pragma once

#include "view/draw.h"

struct host_bars {
    const vitals_row *host; /* NULL: nothing is known of the machine */
    bool cpu_known;
    double cpu_ratio;
    int width;
    int load_columns; /* each load average takes at least so many */
    bool tracked;     /* as in struct bar */
};

enum { HOST_BARS_ROWS = 2 };
void host_bars_draw(struct pen *pen, const struct host_bars *bars, int y);

/* Busy share of all CPUs between two snapshots, each of which may be NULL; returns false if it is
 * not known. */
bool host_cpu_ratio(const vitals_snapshot *now, const vitals_snapshot *older, double *out);

/* `begin` and the three load averages: "Load Average: 7.41 6.92 5.18". */
void host_load_words(const vitals_row *host, const char *begin, int columns, char *out,
                     size_t capacity);
