/* hints.c: the last row of a screen: keys and what they do, as many as fit. A click on one presses
 * it. */
#include <string.h>

#include "monitor/screens/screen.h"
#include "util/base.h"

const struct hint hints_main[] = {
    {'h', "h", "help"},     {INPUT_ENTER, "Enter", "details"},
    {'T', "T", "end it"},   {'/', "/", "filter"},
    {'o', "o", "sort"},     {'t', "t", "tree"},
    {'b', "b", "past"},     {'A', "A", "alerts"},
    {'\\', "\\", "search"}, {'g', "g", "all/GPU"},
    {'G', "G", "group"},    {'d', "d", "devices"},
    {'y', "y", "chart"},    {'z', "z", "time"},
    {'C', "C", "columns"},  {'q', "q", "quit"},
};
const size_t hints_main_count = ARRAY_COUNT(hints_main);

enum { GAP = 2 };

static int hint_columns(const struct hint *hint)
{
    return (int)(strlen(hint->key) + strlen(hint->does)) + 1;
}

/* Where a hint begins, and its columns; those that do not fit have none. The last, which leads
 * back, is always there. */
static int place_of(const struct hint *hints, size_t count, size_t index, int width, int *columns)
{
    int x = 1, last = hint_columns(&hints[count - 1]) + GAP;
    for (size_t i = 0; i < count; i++) {
        int own = hint_columns(&hints[i]);
        bool fits = x + own + (i + 1 == count ? 0 : last) < width;
        if (i == index) {
            *columns = fits ? own : 0;
            return x;
        }
        x += fits ? own + GAP : 0;
    }
    return x;
}

void hints_draw(struct pen *pen, const struct model *model, const struct hint *hints, size_t count)
{
    int y = model->height - 1;
    for (size_t i = 0; i < count; i++) {
        int columns, x = place_of(hints, count, i, model->width, &columns);
        if (columns == 0)
            continue;
        x += canvas_text(pen->canvas, x, y, INK_KEY, hints[i].key);
        (void)canvas_text(pen->canvas, x + 1, y, INK_SOFT, hints[i].does);
    }
}

bool hints_click(struct monitor *monitor, const struct input_event *event, const struct hint *hints,
                 size_t count)
{
    if (event->code != INPUT_CLICK || event->y != monitor->model.height - 1)
        return false;
    for (size_t i = 0; i < count; i++) {
        int columns, begin = place_of(hints, count, i, monitor->model.width, &columns);
        if (event->x < begin || event->x >= begin + columns)
            continue;
        monitor_input(monitor, &(struct input_event){.code = hints[i].code});
        break;
    }
    return true;
}
