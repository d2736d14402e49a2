/* screen_main.c: devices, the machine, processes. */
#include <stdio.h>
#include <string.h>

#include "monitor/screens/device_choice.h"
#include "monitor/screens/screen.h"

enum { SIDEWAYS = 2 };

/* ---- drawing ---- */

/* The snapshot's own moment, and what one should know. */
static void draw_top(const struct monitor *monitor, struct pen *pen, int y)
{
    const struct model *model = &monitor->model;
    static const char HINT[] = "(Press h for help or q to quit)";
    char text[WORDS] = "";
    int x = 0;
    if (model->machine.now != NULL && !cell_time(model->machine.now, text))
        text[0] = '\0';
    x += canvas_text(pen->canvas, x, y, STYLE_PLAIN, text);
    if (model->paused)
        x += canvas_text(pen->canvas, x, y, STYLE_BOLD | STYLE_YELLOW, " [held: p goes on]");
    if (model_is_demo(model))
        x += canvas_text(pen->canvas, x, y, STYLE_YELLOW, " [DEMO]");
    if (model->options->root && model->options->readonly == NULL)
        x += canvas_text(pen->canvas, x, y, STYLE_RED | STYLE_BOLD, " [root]");
    int right = model->width < NARROW ? model->width : NARROW;
    if (x + 1 + (int)strlen(HINT) <= right)
        (void)canvas_text(pen->canvas, right - (int)strlen(HINT), y, STYLE_PLAIN, HINT);
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    const struct model *model = &monitor->model;
    struct layout layout;
    (void)state;
    layout_of(model, &layout);
    draw_top(monitor, pen, -model->lift);
    const struct device_panel devices = pane_devices(model, layout.devices);
    struct edges edges = {.count = 0};
    if (!(model->arranged.hidden & PANEL_DEVICES)) {
        device_panel_draw(pen, &devices, layout.devices_y - model->lift);
        device_panel_edges(&devices, &edges);
    }
    if (!(model->arranged.hidden & PANEL_HOST))
        pane_host(pen, model, layout.host_y - model->lift, layout.host_full, layout.traffic,
                  &edges);
    pane_processes(pen, model, &layout, model->lift);
}

/* ---- what follows from what ---- */

static int page(const struct monitor *monitor)
{
    struct layout layout;
    layout_of(&monitor->model, &layout);
    return layout.lines > 1 ? layout.lines - 1 : 1;
}

/* Lines of the list that are seen from a place on; rules take some. */
static int lines_from(const struct model *model, const struct layout *layout, int first)
{
    int rows = 0, lines = 0;
    for (int i = first; i < (int)model->list.count; i++) {
        const struct item *items = model->list.items;
        rows += 1 + (layout->rules && i > first && items[i].order != items[i - 1].order);
        if (rows > layout->lines)
            break;
        lines++;
    }
    return lines > 0 ? lines : 1;
}

/* Scrolls so that the selection is seen, and not beyond an end. */
static void settle(struct monitor *monitor, void *state)
{
    struct model *model = &monitor->model;
    enum { TRAFFIC_READINGS = 4 }; /* with the last of them it goes */
    struct layout layout;
    (void)state;
    device_choice_settle(model);
    layout_of(model, &layout);
    if (layout.traffic_fits)
        model->traffic_left = TRAFFIC_READINGS;
    int count = (int)model->list.count, place = model->loose ? -1 : model_selected(model);
    if (place >= 0 && place < model->top)
        model->top = place;
    while (place >= 0 && place >= model->top + lines_from(model, &layout, model->top))
        model->top++;
    while (model->top > 0 && model->top - 1 + lines_from(model, &layout, model->top - 1) >= count)
        model->top--;
    model->top = count == 0 ? 0 : model->top >= count ? count - 1 : model->top;
    int row = layout.lines_y + place - model->top;
    if (place >= 0 && row - model->lift >= model->height - 1)
        model->lift = row - model->height + 2;
    if (model->lift > layout.lift_most)
        model->lift = layout.lift_most;
    if (model->lift < 0)
        model->lift = 0;
}

/* ---- keys ---- */

/* The whole screen: first the panels go out of sight, then the list moves. */
static void scroll(struct model *model, int by)
{
    struct layout layout;
    layout_of(model, &layout);
    if (by > 0 ? model->lift < layout.lift_most : model->top == 0)
        model->lift += by;
    else
        model->top += by;
    model->loose = true;
}

static void select_step(struct model *model, int step)
{
    int count = (int)model->list.count, place = model_selected(model);
    if (count == 0)
        return;
    place = place < 0 ? model->top : place + step;
    place = place < 0 ? 0 : place >= count ? count - 1 : place;
    model_select(model, place);
}

static void set_view(struct model *model)
{
    model->view = model->view == VIEW_ALL ? VIEW_DEVICES : VIEW_ALL;
    model->view_chosen = true;
    const struct column *column = columns_sorted(model->sort);
    if (column != NULL && !(column->views & model->view)) {
        model->sort = 0;
        model->arranged.sort_count = 0;
    }
    model->top = model->shift = 0;
    (void)model_list(model);
}

static void reset(struct model *model)
{
    model->sort = 0;
    model->reversed = model->has_selected = model->view_chosen = model->has_device = false;
    model->tag_count = 0;
    model->top = model->shift = model->lift = 0;
    model->search[0] = model->filter[0] = '\0';
    model->mode = model->options->mode;
    model_arrange(model, model->options->arrangement);
    if (!model->view_chosen)
        model->view = model_device_count(model) > 0 ? VIEW_DEVICES : VIEW_ALL;
    model_pause(model, false);
    (void)model_list(model);
}

/* Columns by which the longest command is longer than its room. */
static int line_end(const struct model *model)
{
    struct column_choice choice;
    char command[WORDS_COMMAND];
    int most = 0;
    columns_choose(model, model->width - 3, &choice);
    for (size_t i = 0; i < model->list.count; i++) {
        (void)pane_command(model, &model->list.items[i], command);
        int wide = canvas_columns(command);
        most = wide > most ? wide : most;
    }
    return most > choice.command ? most - choice.command : 0;
}

static void move_sideways(struct model *model, int columns)
{
    int end = line_end(model);
    model->shift += columns;
    model->shift = model->shift > end ? end : model->shift;
    model->shift = model->shift < 0 ? 0 : model->shift;
}

static void tag(struct model *model)
{
    int place = model_selected(model);
    if (place < 0)
        return;
    struct identity identity = item_identity(&model->list.items[place]);
    model_tag(model, &identity);
    select_step(model, 1);
}

static void set_sort(struct model *model, unsigned sort)
{
    model->sort = sort;
    model->reversed = false;
    model->arranged.sort_count = 0;
    model->top = 0;
    (void)model_list(model);
}

static bool act(struct monitor *monitor, void *state, enum action action, int argument)
{
    struct model *model = &monitor->model;
    int place = model_selected(model);
    (void)state;
    model->loose = false;
    if (device_choice_act(monitor, action, argument))
        return true;
    switch ((int)action) {
    case ACTION_UP: select_step(model, -1); return true;
    case ACTION_DOWN: select_step(model, 1); return true;
    case ACTION_PAGE_UP: select_step(model, -page(monitor)); return true;
    case ACTION_PAGE_DOWN: select_step(model, page(monitor)); return true;
    case ACTION_SCROLL: scroll(model, argument); return true;
    case ACTION_FIRST: model_select(model, model->list.count > 0 ? 0 : -1); return true;
    case ACTION_LAST: model_select(model, (int)model->list.count - 1); return true;
    case ACTION_SIDEWAYS: move_sideways(model, argument * SIDEWAYS); return true;
    case ACTION_LINE_BEGIN: model->shift = 0; return true;
    case ACTION_LINE_END: model->shift = line_end(model); return true;
    case ACTION_TAG: tag(model); return true;
    case ACTION_CLEAR:
        model->has_selected = false;
        model->tag_count = 0;
        model->search[0] = '\0'; /* nor is read what only the search needs */
        return true;
    case ACTION_MODE:
        model->mode = (enum monitor_mode)argument;
        model->mode_chosen = true;
        return true;
    case ACTION_VIEW: set_view(model); return true;
    case ACTION_SORT_STEP:
        set_sort(model, columns_sort_step(model->view, model->sort, argument));
        return true;
    case ACTION_INVERT:
        model->reversed = !model->reversed;
        (void)model_list(model);
        return true;
    case ACTION_RESET: reset(model); return true;
    case ACTION_SEARCH_STEP:
        place = model_search(model, place < 0 ? 0 : place + argument, argument);
        if (place >= 0)
            model_select(model, place);
        else
            monitor_say(monitor, "nothing is found; \\ searches");
        return true;
    default: return false;
    }
}

/* ---- the mouse ---- */

static void click_title(struct model *model, int x)
{
    struct column_choice choice;
    columns_choose(model, model->width - 3, &choice);
    for (size_t i = choice.count; i-- > 0;) {
        const struct column *column = choice.shown[i];
        int begin = 1 + choice.x[i] - (i >= choice.fixed ? model->shift : 0);
        if (x < begin || (column->width > 0 && x >= begin + choice.width[i]))
            continue;
        unsigned sort = column_sorts(column) ? (unsigned)(column - list_columns) + 1 : 0;
        model->arranged.sort_count = 0;
        if (sort != 0 && sort == model->sort)
            model->reversed = !model->reversed;
        else if (sort != 0 || column->width == 0 || i == 0) {
            model->sort = sort;
            model->reversed = false;
        }
        (void)model_list(model);
        return;
    }
}

/* The line of the list in a row of the screen; -1: none. */
static int place_at(const struct model *model, const struct layout *layout, int y)
{
    int at = layout->lines_y - model->lift, end = at + layout->lines;
    for (int i = model->top; i < (int)model->list.count && at < end; i++, at++) {
        const struct item *items = model->list.items;
        if (layout->rules && i > model->top && items[i].order != items[i - 1].order)
            at++;
        if (at == y)
            return i;
    }
    return -1;
}

static bool click(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct model *model = &monitor->model;
    struct layout layout;
    (void)state;
    layout_of(model, &layout);
    switch (event->code) {
    case INPUT_WHEEL_UP: select_step(model, -input_times(event)); return true;
    case INPUT_WHEEL_DOWN: select_step(model, input_times(event)); return true;
    case INPUT_WHEEL_LEFT: move_sideways(model, -SIDEWAYS * input_times(event)); return true;
    case INPUT_WHEEL_RIGHT: move_sideways(model, SIDEWAYS * input_times(event)); return true;
    default: break;
    }
    if (event->y == layout.list_y + 1 - model->lift) {
        click_title(model, event->x);
        return true;
    }
    if (device_choice_click(monitor, &layout, event))
        return true;
    model_select(model, place_at(model, &layout, event->y));
    return true;
}

static bool target(const struct monitor *monitor, const void *state, struct identity *out)
{
    (void)state;
    *out = monitor->model.selected;
    return model_selected(&monitor->model) >= 0 && out->group == 0;
}

const struct screen screen_main = {
    .name = "main",
    .bit = ON_MAIN,
    .draw = draw,
    .act = act,
    .click = click,
    .settle = settle,
    .target = target,
};
