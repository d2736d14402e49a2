/* hints.c: the last row of the main screen: keys and what they do, as many as fit. A click on one
 * presses it. */
#include <stdio.h>
#include <string.h>

#include "monitor/screens/screen.h"
#include "util/base.h"

static const struct {
    uint32_t code;
    const char *key, *does;
} HINTS[] = {
    {'h', "h", "help"},    {INPUT_ENTER, "Enter", "details"},
    {'t', "t", "tree"},    {'\\', "\\", "search"},
    {'&', "&", "filter"},  {'o', "o", "sort"},
    {'G', "G", "group"},   {'g', "g", "all/GPU"},
    {'d', "d", "devices"}, {'y', "y", "chart"},
    {'z', "z", "time"},    {'T', "T", "end it"},
    {'C', "C", "columns"}, {'q', "q", "quit"},
};

enum { GAP = 2 };

/* Where a hint begins, and its columns; those that do not fit have none. `q` is always there. */
static int place_of(size_t index, int width, int *columns)
{
    int x = 1, last = 0;
    for (size_t i = 0; i < ARRAY_COUNT(HINTS); i++) {
        last = (int)(strlen(HINTS[ARRAY_COUNT(HINTS) - 1].key) +
                     strlen(HINTS[ARRAY_COUNT(HINTS) - 1].does)) +
               1 + GAP;
        int own = (int)(strlen(HINTS[i].key) + strlen(HINTS[i].does)) + 1;
        bool is_last = i + 1 == ARRAY_COUNT(HINTS), fits = x + own + (is_last ? 0 : last) < width;
        if (i == index) {
            *columns = fits ? own : 0;
            return x;
        }
        x += fits ? own + GAP : 0;
    }
    return x;
}

void hints_draw(struct pen *pen, int width, int y)
{
    for (size_t i = 0; i < ARRAY_COUNT(HINTS); i++) {
        int columns, x = place_of(i, width, &columns);
        if (columns == 0)
            continue;
        x += canvas_text(pen->canvas, x, y, INK_KEY, HINTS[i].key);
        (void)canvas_text(pen->canvas, x + 1, y, INK_SOFT, HINTS[i].does);
    }
}

void hints_click(struct monitor *monitor, int x)
{
    for (size_t i = 0; i < ARRAY_COUNT(HINTS); i++) {
        int columns, begin = place_of(i, monitor->model.width, &columns);
        if (x < begin || x >= begin + columns)
            continue;
        struct input_event event = {.code = HINTS[i].code};
        monitor_input(monitor, &event);
        return;
    }
}
