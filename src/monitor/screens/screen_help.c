/* screen_help.c: every key, from the key table; any key that does not scroll goes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/screens/screen.h"

enum { LINES_MOST = 200, LINE = 160, KEYS_WIDE = 20 };

struct help {
    int top;
    int count;
    struct {
        char keys[KEYS_WIDE + 1];
        char text[LINE];
        bool heading, dim;
    } lines[LINES_MOST];
};

/* A heading is its text alone. */
static void add(struct help *help, const char *keys, const char *text, bool heading, bool dim)
{
    if (help->count >= LINES_MOST)
        return;
    (void)snprintf(help->lines[help->count].keys, sizeof help->lines[0].keys, "%.20s", keys);
    (void)snprintf(help->lines[help->count].text, sizeof help->lines[0].text, "%s", text);
    help->lines[help->count].heading = heading;
    help->lines[help->count++].dim = dim;
}

/* What most people need of all that follows. */
static void add_everyday(struct help *help, bool readonly)
{
    static const char *const KEYS[][2] = {
        {"Up Down", "select a process"},
        {"Enter", "look at it: charts, GPUs, threads, files"},
        {"T", "end it: asks before it sends SIGTERM"},
        {"/", "show only what holds the words; Esc shows all again"},
        {"o", "sort: the next key names the column"},
        {"g", "processes on devices, or all processes"},
        {"d", "to the devices: Enter shows one"},
        {"q", "quit; elsewhere: back"},
    };
    add(help, "", "", false, false);
    add(help, "", "Every day", true, false);
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        add(help, KEYS[i][0], KEYS[i][1], false, readonly && KEYS[i][0][0] == 'T');
    add(help, "", "", false, false);
    add(help, "", "Signs", true, false);
    add(help, "Before a PID", "+ a new process, - an ended one, = the selected one again", false,
        false);
}

static int open_help(struct monitor *monitor, void **state)
{
    const struct look *look = &monitor->options->look;
    const char *readonly = monitor->options->readonly;
    struct help *help = calloc(1, sizeof *help);
    char keys[KEYS_WIDE + 1], text[LINE];
    const bool nvitop = monitor->model.arranged.nvitop;
    if (help == NULL)
        return -1;
    (void)snprintf(text, sizeof text, "vitals %s", vitals_version_text());
    add(help, "", text, true, false);
    if (!nvitop)
        add_everyday(help, readonly != NULL);
    for (int i = 0; i < 2 && nvitop; i++) {
        const unsigned *thresholds = i == 0 ? look->gpu_thresholds : look->memory_thresholds;
        (void)snprintf(text, sizeof text, "green below %u %%, yellow, red from %u %%",
                       thresholds[0], thresholds[1]);
        add(help, i == 0 ? "Device load" : "Device memory", text, false, false);
    }
    add(help, "Type of process", "C computes, G draws, X does both", false, false);
    if (!nvitop)
        add(help, look->ascii ? "o held" : "○ held",
            "before a command: holds memory of a device, unused", false, false);
    if (readonly != NULL) {
        (void)snprintf(text, sizeof text, "%s: no signal is sent%s", readonly,
                       nvitop ? "" : ", nothing is changed");
        add(help, nvitop ? "Signals" : "Processes", text, false, false);
    }

    enum key_group group = KEYS_END;
    for (const struct binding *binding = bindings; binding->keys != NULL; binding++) {
        if (binding->group == KEYS_PART && nvitop)
            continue;
        if (binding->group != group) {
            group = binding->group;
            add(help, "", "", false, false);
            add(help, "", key_group_names[group], true, false);
        }
        if (binding->help == NULL)
            continue;
        bool clears = !nvitop && binding->action == ACTION_CLEAR;
        add(help, binding->keys,
            clears ? "no filter; then nothing selected or tagged" : binding->help, false,
            readonly != NULL && action_changes(binding->action));
        if (binding->action == ACTION_HIDE)
            add(help, "", ARRANGING_PANELS, false, false);
        for (size_t i = 0; binding->action == ACTION_SORT && i < list_column_count; i++) {
            const struct column *column = &list_columns[i];
            if (column->letter == 0)
                continue;
            (void)snprintf(keys, sizeof keys, "  o%c", column->letter);
            (void)snprintf(text, sizeof text, "by %s%s%s", column->name,
                           column->falling ? ", the most first" : "",
                           column->views == VIEW_DEVICES ? " (on devices)" : "");
            add(help, keys, text, false, false);
        }
        for (size_t i = 0; binding->action == ACTION_GROUP && group_names[i] != NULL; i++) {
            (void)snprintf(keys, sizeof keys, "  G%c", group_letters[i]);
            (void)snprintf(text, sizeof text, "%s%s%s", i > 0 ? "by " : "", group_names[i],
                           i == GROUP_JOB ? " or pod" : "");
            add(help, keys, text, false, false);
        }
    }
    add(help, "Mouse", "the wheel moves, with Ctrl five times as far", false, false);
    add(help, "", "a click selects; on a title it sorts", false, false);
    *state = help;
    return 0;
}

/* The columns that the lines stand in: one if all of them fit, else as many as are wide enough. */
struct help_form {
    int columns, width, keys, rows;
};

static struct help_form form_of(const struct monitor *monitor, const struct help *help)
{
    enum { WIDE_ENOUGH = 72, MOST = 3, NARROW_KEYS = 12, BESIDE_KEYS = 18 };
    int width = monitor->model.width - 1, rows = monitor->model.height - 1;
    struct help_form form = {.columns = 1, .width = width, .rows = rows > 0 ? rows : 1};
    form.keys = width < 60 - 1 ? NARROW_KEYS : KEYS_WIDE;
    while (form.columns < MOST && help->count > form.rows * form.columns &&
           width / (form.columns + 1) >= WIDE_ENOUGH)
        form.columns++;
    if (form.columns > 1)
        form.keys = BESIDE_KEYS;
    form.width = width / form.columns;
    return form;
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    const struct help *help = state;
    int height = monitor->model.height, width = monitor->model.width;
    const struct help_form form = form_of(monitor, help);
    for (int i = 0; i < form.rows * form.columns && help->top + i < help->count; i++) {
        int x = 1 + i / form.rows * form.width;
        bool heading = help->lines[help->top + i].heading;
        const char *left = heading ? help->lines[help->top + i].text
                                   : help->lines[help->top + i].keys;
        ink style = help->lines[help->top + i].dim ? STYLE_DIM : STYLE_PLAIN;
        struct canvas_field field = {
            .x = x, .y = i % form.rows, .columns = heading ? form.width - 1 : form.keys};
        field.style = heading ? STYLE_BOLD : style | STYLE_CYAN;
        canvas_field(pen->canvas, &field, left);
        field.x += form.keys + 1;
        field.columns = form.width - form.keys - 2;
        field.style = style;
        if (!heading)
            canvas_field(pen->canvas, &field, help->lines[help->top + i].text);
    }
    struct canvas_field last = {.x = 1, .y = height - 1, .columns = width - 2, .style = STYLE_BOLD};
    canvas_field(pen->canvas, &last,
                 help->count > form.rows * form.columns
                     ? "Up, Down and the wheel scroll; any other key goes back"
                     : "Any key goes back");
}

static void settle(struct monitor *monitor, void *state)
{
    struct help *help = state;
    const struct help_form form = form_of(monitor, help);
    help->top = scroll_to(help->top, -1, form.rows * form.columns, help->count);
}

static bool press_any(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct help *help = state;
    int page = monitor->model.height > 2 ? monitor->model.height - 2 : 1;
    int by = input_lines(event, page, help->count);
    if (by == 0) {
        monitor_close(monitor); /* and with it the state */
        return true;
    }
    help->top += by;
    settle(monitor, state);
    return true;
}

static bool click(struct monitor *monitor, void *state, const struct input_event *event)
{
    enum { STEP = 3 };
    struct help *help = state;
    if (event->code == INPUT_CLICK)
        monitor_close(monitor);
    else {
        help->top += STEP * input_lines(event, 0, 0);
        settle(monitor, state);
    }
    return true;
}

const struct screen screen_help = {
    .name = "help",
    .bit = ON_HELP,
    .open = open_help,
    .draw = draw,
    .click = click,
    .input = press_any,
    .settle = settle,
    .close = free,
};
