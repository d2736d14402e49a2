/* screen_main.c: devices, the machine, processes. */
#include <stdio.h>
#include <string.h>

#include "monitor/screens/screen.h"
#include "util/base.h"

enum { SIDEWAYS = 2 };

static const struct hint HINTS[] = {
    {'h', "h", "help"},     {INPUT_ENTER, "Enter", "details"},
    {'T', "T", "end it"},   {'/', "/", "filter"},
    {'o', "o", "sort"},     {'t', "t", "tree"},
    {'b', "b", "past"},     {'A', "A", "alerts"},
    {'\\', "\\", "search"}, {'g', "g", "all/GPU"},
    {'G', "G", "group"},    {'d', "d", "devices"},
    {'y', "y", "chart"},    {'z', "z", "time"},
    {'C', "C", "columns"},  {'q', "q", "quit"},
};

/* The devices that are shown, as places of a list; `*count` of them. */
static const vitals_row *device_at(const struct model *model, int place, int *count)
{
    const vitals_row *found = NULL;
    int at = 0;
    for (const vitals_row *gpu = NULL; (gpu = model_next_device(model, gpu)) != NULL; at++)
        found = at == place ? gpu : found;
    *count = at;
    return found;
}

static int chosen_place(const struct model *model)
{
    int at = 0;
    for (const vitals_row *gpu = NULL; (gpu = model_next_device(model, gpu)) != NULL; at++) {
        if (vitals_row_key(gpu) == model->device)
            return at;
    }
    return -1;
}

static void choose_device(struct model *model, const vitals_row *gpu)
{
    model->has_device = gpu != NULL;
    model->device = vitals_row_key(gpu);
}

/* Choosing a device: while one is chosen the keys that move are about devices, and Enter opens the
 * screen of one; a process may stay selected meanwhile. false: the key is about processes. */
static bool device_choice_act(struct monitor *monitor, enum action action, int argument)
{
    struct model *model = &monitor->model;
    int count, place = chosen_place(model);
    const vitals_row *gpu = device_at(model, 0, &count);
    if (action == ACTION_DEVICE && argument >= 0) { /* by its number, which its label says */
        char label[16];
        (void)snprintf(label, sizeof label, "%d", argument);
        while (gpu != NULL && strcmp(vitals_row_label(gpu), label) != 0)
            gpu = model_next_device(model, gpu);
        if (gpu == NULL) {
            model_say(&monitor->model, "there is no device %d", argument);
            return true;
        }
        choose_device(model, gpu);
        (void)monitor_open(monitor, &screen_device);
        return true;
    }
    if (action == ACTION_DEVICE && model->has_device) {
        choose_device(model, NULL);
        return true;
    }
    if (action == ACTION_DEVICE) { /* at that of the selected process */
        const vitals_row *own = model->has_selected && model->selected.gpu != 0
                                    ? vitals_snapshot_find(model->machine.now, VITALS_TABLE_GPU,
                                                           model->selected.gpu)
                                    : NULL;
        choose_device(model, own != NULL ? own : gpu);
        model->arranged.hidden &= ~(unsigned)PANEL_DEVICES;
        model->lift = 0;
        model_say(&monitor->model, "%s",
                  model->has_device ? "arrow keys choose a device, Enter shows it, d goes back"
                                    : "there is no device to look at");
        return true;
    }
    if (!model->has_device)
        return false;
    switch ((int)action) { /* keys that are about processes otherwise */
    case ACTION_UP: place--; break;
    case ACTION_DOWN: place++; break;
    case ACTION_SIDEWAYS: place += argument; break;
    case ACTION_FIRST: place = 0; break;
    case ACTION_LAST: place = count - 1; break;
    case ACTION_PROCESS: (void)monitor_open(monitor, &screen_device); return true;
    case ACTION_CLEAR: choose_device(model, NULL); return true;
    default: return false;
    }
    choose_device(model, device_at(model, place_within(place, count - 1), &count));
    return true;
}

/* A click chooses a device, another one opens it; false: it was none, and no device is chosen. */
static bool device_choice_click(struct monitor *monitor, const struct layout *layout,
                                const struct input_event *event)
{
    struct model *model = &monitor->model;
    int row = event->y - (layout->devices_y - model->lift);
    const struct device_panel panel = pane_devices(model, layout->devices);
    const vitals_row *gpu = NULL;
    if (layout->usual)
        gpu = pane_gpus_at(model, layout, event->x, event->y);
    else if (row >= 0 && event->y < layout->host_y - model->lift)
        gpu = device_panel_at(&panel, row);
    if (gpu == NULL) {
        choose_device(model, NULL);
        return false;
    }
    if (model->has_device && model->device == vitals_row_key(gpu))
        (void)monitor_open(monitor, &screen_device);
    else
        choose_device(model, gpu);
    return true;
}

static void draw_usual(const struct model *model, const struct layout *layout, struct pen *pen)
{
    bool hosted = !(model->arranged.hidden & PANEL_HOST) && layout->host_y < layout->devices_y;
    pane_header(pen, model);
    if (layout->attention_y >= 0)
        pane_attention(pen, model, layout->attention_y);
    if (hosted)
        pane_machine(pen, model, layout->host_y, layout->machine_charts);
    if (layout->cpus_y >= 0)
        pane_cores(pen, model, layout->cpus_y, layout->cpu_rows);
    pane_gpus(pen, model, layout);
    pane_processes(pen, model, layout, 0);
    if (layout->hints)
        hints_draw(pen, model, HINTS, ARRAY_COUNT(HINTS));
}

static void draw(const struct monitor *monitor, const void *state UNUSED, struct pen *pen)
{
    static const char HINT[] = "(Press h for help or q to quit)";
    const struct model *model = &monitor->model;
    const struct monitor_options *options = model->options;
    struct layout layout;
    layout_of(model, &layout);
    if (layout.usual) {
        draw_usual(model, &layout, pen);
        return;
    }

    /* The snapshot's own time, and what one should know. */
    char text[WORDS] = "";
    int x = 0, y = -model->lift, right = model->width < NARROW ? model->width : NARROW;
    if (model->machine.now != NULL && !cell_time(model->machine.now, text))
        text[0] = '\0';
    x += canvas_text(pen->canvas, x, y, STYLE_PLAIN, text);
    if (model->paused)
        x += canvas_text(pen->canvas, x, y, STYLE_BOLD | STYLE_YELLOW, " [held: p goes on]");
    if (model_is_demo(model))
        x += canvas_text(pen->canvas, x, y, STYLE_YELLOW, " [DEMO]");
    if (options->root && options->readonly == NULL)
        x += canvas_text(pen->canvas, x, y, STYLE_RED | STYLE_BOLD, " [root]");
    if (x + 1 + (int)strlen(HINT) <= right)
        (void)canvas_text(pen->canvas, right - (int)strlen(HINT), y, STYLE_PLAIN, HINT);

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
        rows += 1 + (layout->rules && i > first && pane_begins_device(model, (size_t)i));
        if (rows > layout->lines)
            break;
        lines++;
    }
    return lines > 0 ? lines : 1;
}

/* Scrolls so that the selection is seen, and not beyond an end. */
static void settle(struct monitor *monitor, void *state UNUSED)
{
    struct model *model = &monitor->model;
    enum { TRAFFIC_READINGS = 4 }; /* with the last of them it goes */
    struct layout layout;
    /* A device that has left, or that cannot be seen, is not chosen any more. */
    if (model->has_device && ((model->arranged.hidden & PANEL_DEVICES) || chosen_place(model) < 0))
        choose_device(model, NULL);
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
    model->top = place_within(model->top, count - 1);
    int row = layout.lines_y + place - model->top;
    if (place >= 0 && !layout.usual && row - model->lift >= model->height - 1)
        model->lift = row - model->height + 2;
    model->lift = place_within(model->lift, layout.lift_most);
}

static void select_step(struct model *model, int step)
{
    int count = (int)model->list.count, place = model_selected(model);
    if (count == 0)
        return;
    model_select(model, place_within(place < 0 ? model->top : place + step, count - 1));
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
    char command[WORDS_COMMAND], work[WORDS];
    int most = 0;
    columns_choose(model, model->width - 3, &choice);
    for (size_t i = 0; i < model->list.count; i++) {
        (void)pane_command(model, &model->list.items[i], command);
        item_work(model, &model->list.items[i], work, sizeof work);
        int wide = canvas_columns(command) +
                   (model->arranged.nvitop ? 0 : canvas_columns(work) + 2);
        most = wide > most ? wide : most;
    }
    return most > choice.command ? most - choice.command : 0;
}

static void move_sideways(struct model *model, int columns)
{
    model->shift = place_within(model->shift + columns, line_end(model));
}

/* A page moves the selection with it, a line the list alone. */
static void scroll_usual(struct monitor *monitor, int argument)
{
    struct model *model = &monitor->model;
    if (argument == KEYS_PAGE || argument == -KEYS_PAGE) {
        select_step(model, argument < 0 ? -page(monitor) : page(monitor));
        return;
    }
    model->top += argument;
    model->loose = true;
}

static void second_chart(struct model *model)
{
    static const char *const NAMES[] = {"memory", "power, of its limit", "temperature, to 100 "};
    if (model->arranged.nvitop || model_device_count(model) == 0) {
        model_say(model, "the main screen has charts of each device, where there are devices");
        return;
    }
    enum second_chart second = (enum second_chart)((model->arranged.second + 1) % SECOND_KINDS);
    model->arranged.second = second;
    model_say(model, "below the utilization of each device: %s%s", NAMES[second],
              second != SECOND_TEMPERATURE ? ""
              : model->options->look.ascii ? "C"
                                           : "°C");
}

void monitor_span(struct monitor *monitor)
{
    struct model *model = &monitor->model;
    if (model->arranged.nvitop) {
        model_say(model, "the time base can be chosen on the main screen, without --layout nvitop");
        return;
    }
    model->arranged.span = (model->arranged.span + 1) % CHART_SPANS;
    int now = pane_seconds(model), full = chart_seconds[model->arranged.span];
    if (now == full)
        model_say(model, "a column of the charts is %d s", now);
    else
        model_say(model, "a column of the charts is %d s, and %d s once they are full", now, full);
}

static bool act(struct monitor *monitor, void *state UNUSED, enum action action, int argument)
{
    struct model *model = &monitor->model;
    int place = model_selected(model);
    struct layout layout;
    model->loose = false;
    if (device_choice_act(monitor, action, argument))
        return true;
    switch ((int)action) {
    case ACTION_UP: select_step(model, -1); return true;
    case ACTION_DOWN: select_step(model, 1); return true;
    case ACTION_PAGE_UP: select_step(model, -page(monitor)); return true;
    case ACTION_PAGE_DOWN: select_step(model, page(monitor)); return true;
    case ACTION_SECOND: second_chart(model); return true;
    case ACTION_SPAN: monitor_span(monitor); return true;
    case ACTION_SCROLL:
        if (!model->arranged.nvitop) {
            scroll_usual(monitor, argument);
            return true;
        }
        argument = argument < 0 ? -1 : 1;
        /* first the panels go out of sight, then the list moves */
        layout_of(model, &layout);
        if (argument > 0 ? model->lift < layout.lift_most : model->top == 0)
            model->lift += argument;
        else
            model->top += argument;
        model->loose = true;
        return true;
    case ACTION_FIRST: model_select(model, model->list.count > 0 ? 0 : -1); return true;
    case ACTION_LAST: model_select(model, (int)model->list.count - 1); return true;
    case ACTION_SIDEWAYS: move_sideways(model, argument * SIDEWAYS); return true;
    case ACTION_LINE_BEGIN: model->shift = 0; return true;
    case ACTION_LINE_END: model->shift = line_end(model); return true;
    case ACTION_TAG:
        if (place >= 0) {
            struct identity identity = item_identity(&model->list.items[place]);
            model_tag(model, &identity);
            select_step(model, 1);
        }
        return true;
    case ACTION_PROCESS: /* the first that is seen, where none is selected */
        if (model->arranged.nvitop || place >= 0 || model->list.count == 0)
            return false;
        model_select(model, model->top);
        return arranging_on_group(monitor, action);
    case ACTION_CLEAR:
        if (!model->arranged.nvitop && model->filter[0] != '\0') { /* the selection stays */
            model->filter[0] = '\0';
            (void)model_list(model);
            return true;
        }
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
        monitor_sort(monitor, columns_sort_step(model->view, model->sort, argument), false, false);
        return true;
    case ACTION_INVERT:
        if (!model->arranged.nvitop)
            return false;
        model->reversed = !model->reversed;
        (void)model_list(model);
        return true;
    case ACTION_RESET:
        if (argument == KEYS_TREE && !model->arranged.nvitop)
            (void)monitor_open(monitor, &screen_tree);
        else
            reset(model);
        return true;
    case ACTION_SEARCH_STEP:
        place = model_search(model, place < 0 ? 0 : place + argument, argument);
        if (place >= 0)
            model_select(model, place);
        else
            model_say(&monitor->model, "nothing is found; \\ searches");
        return true;
    default: return false;
    }
}

static void click_title(struct model *model, int x)
{
    struct column_choice choice;
    columns_choose(model, model->width - 3, &choice);
    for (size_t i = choice.count; i-- > 0;) {
        const struct column *column = choice.shown[i];
        int begin = 1 + choice.x[i] - (i >= choice.fixed ? pane_shift(model) : 0);
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

static bool click(struct monitor *monitor, void *state UNUSED, const struct input_event *event)
{
    struct model *model = &monitor->model;
    struct layout layout;
    layout_of(model, &layout);
    if (event->code != INPUT_CLICK) {
        if (input_lines(event, 0, 0) != 0)
            select_step(model, input_lines(event, 0, 0));
        else
            move_sideways(model, SIDEWAYS * input_columns(event));
        return true;
    }
    if (event->y == layout.list_y + 1 - model->lift) {
        click_title(model, event->x);
        return true;
    }
    if (layout.hints && hints_click(monitor, event, HINTS, ARRAY_COUNT(HINTS)))
        return true;
    if (layout.usual && event->y == layout.attention_y) {
        (void)monitor_open(monitor, &screen_alerts);
        return true;
    }
    if (device_choice_click(monitor, &layout, event))
        return true;
    int at = layout.lines_y - model->lift, end = at + layout.lines, found = -1;
    for (int i = model->top; i < (int)model->list.count && at < end && found < 0; i++, at++) {
        at += layout.rules && i > model->top && pane_begins_device(model, (size_t)i);
        found = at == event->y ? i : -1;
    }
    model_select(model, found);
    return true;
}

static bool target(const struct monitor *monitor, const void *state UNUSED, struct identity *out)
{
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
