/* screen_help.c: every key, from the key table; any key that does not scroll goes back. */
#include <stdio.h>
#include <string.h>

#include "monitor/screens/screen.h"

/* No text is wider than the words of two columns at 120 columns. */
enum { LINES_MOST = 200, LINE = 160, KEYS_WIDE = 18, WORDS_WIDE = 38 };

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
    (void)snprintf(help->lines[help->count].keys, sizeof help->lines[0].keys, "%.18s", keys);
    (void)snprintf(help->lines[help->count].text, sizeof help->lines[0].text, "%s", text);
    help->lines[help->count].heading = heading;
    help->lines[help->count++].dim = dim;
}

/* What most people need of all that follows. */
static void add_everyday(struct help *help, bool readonly)
{
    static const char *const KEYS[][2] = {
        {"Up Down", "select a process"},
        {"Enter", "its page: charts, GPUs, threads, files"},
        {"T", "end it: asks before it sends SIGTERM"},
        {"/", "only what holds the words; Esc: all"},
        {"o", "sort: the next key names the column"},
        {"g", "processes on devices, or all processes"},
        {"d", "to the devices: Enter shows one"},
        {"q", "quit; elsewhere: back"},
    };
    add(help, "", "Every day", true, false);
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        add(help, KEYS[i][0], KEYS[i][1], false, readonly && KEYS[i][0][0] == 'T');
    add(help, "", "Signs", true, false);
    add(help, "Before a PID", "+ new, - ended, = the selected again", false, false);
}

/* A letter that a key before it waits for: in the last line if it has room. 0: none. */
static void add_letter(struct help *help, bool first, char letter, const char *name)
{
    char words[WORDS_WIDE];
    if (letter == 0)
        return;
    (void)snprintf(words, sizeof words, "%c %s", letter, name);
    char *last = help->lines[help->count - 1].text;
    if (first || strlen(last) + 2 + strlen(words) > WORDS_WIDE)
        add(help, "", words, false, false);
    else
        cell_add(last, LINE, "  %s", words);
}

static int open_help(struct monitor *monitor, void *state)
{
    const struct look *look = &monitor->options->look;
    const char *readonly = monitor->options->readonly;
    struct help *help = state;
    char text[LINE];
    const bool nvitop = monitor->model.arranged.nvitop;
    (void)snprintf(text, sizeof text, "vitals %s", vitals_version_text());
    add(help, "", text, true, false);
    if (!nvitop)
        add_everyday(help, readonly != NULL);
    for (int i = 0; i < 2 && nvitop; i++) {
        const unsigned *thresholds = i == 0 ? look->gpu_thresholds : look->memory_thresholds;
        (void)snprintf(text, sizeof text, "green below %u %%, red from %u %%", thresholds[0],
                       thresholds[1]);
        add(help, i == 0 ? "Device load" : "Device memory", text, false, false);
    }
    add(help, "Type of process", "C computes, G draws, X does both", false, false);
    if (!nvitop)
        add(help, look->ascii ? "o held" : "○ held", "holds memory of a device, unused", false,
            false);
    if (readonly != NULL) {
        (void)snprintf(text, sizeof text, "%s: %s", readonly,
                       nvitop ? "no signal is sent" : "nothing is changed");
        add(help, nvitop ? "Signals" : "Processes", text, false, false);
    }

    enum key_group group = KEYS_END;
    for (const struct binding *binding = bindings; binding->keys != NULL; binding++) {
        if (binding->group == KEYS_PART && nvitop)
            continue;
        if (binding->group != group) {
            group = binding->group;
            add(help, "", key_group_names[group], true, false);
        }
        if (binding->help == NULL)
            continue;
        bool clears = !nvitop && binding->action == ACTION_CLEAR;
        add(help, binding->keys, clears ? "no filter; then no selection, no tags" : binding->help,
            false, readonly != NULL && action_changes(binding->action));
        if (binding->action == ACTION_HIDE)
            add(help, "", "g graphs, t disks, networks; c theme", false, false);
        if (binding->action == ACTION_SORT)
            add_letter(help, true, 'n', "as it comes");
        for (size_t i = 0; binding->action == ACTION_SORT && i < list_column_count; i++)
            add_letter(help, false, list_columns[i].letter, list_columns[i].name);
        for (size_t i = 0; binding->action == ACTION_GROUP && group_names[i] != NULL; i++)
            add_letter(help, i == 0, group_letters[i],
                       i == GROUP_JOB ? "job, pod" : group_names[i]);
    }
    add(help, "Mouse", "wheel moves, click selects or sorts", false, false);
    return 0;
}

/* The columns that the lines stand in: one if all of them fit, else as many as are wide enough. */
struct help_form {
    int columns, width, keys, rows;
};

static struct help_form form_of(const struct monitor *monitor, const struct help *help)
{
    enum { WIDE_ENOUGH = KEYS_WIDE + WORDS_WIDE + 2, MOST = 3, NARROW_KEYS = 12 };
    int width = monitor->model.width - 1, rows = monitor->model.height - 1;
    struct help_form form = {.columns = 1, .width = width, .rows = rows > 0 ? rows : 1};
    form.keys = width < 60 - 1 ? NARROW_KEYS : KEYS_WIDE;
    while (form.columns < MOST && help->count > form.rows * form.columns &&
           width / (form.columns + 1) >= WIDE_ENOUGH)
        form.columns++;
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
        const char *text = help->lines[help->top + i].text;
        ink style = help->lines[help->top + i].dim ? STYLE_DIM : STYLE_PLAIN;
        int y = i % form.rows;
        if (help->lines[help->top + i].heading) {
            int end = x + form.width - 1;
            x += canvas_text(pen->canvas, x, y, INK_TITLE, text) + 1;
            if (!pen->look->plain)
                canvas_repeat(pen->canvas, x, y, end - x, INK_FRAME, pen->look->ascii ? "-" : "─");
            continue;
        }
        canvas_words(pen->canvas, x, y, form.keys, style | STYLE_CYAN,
                     help->lines[help->top + i].keys);
        canvas_words(pen->canvas, x + form.keys + 1, y, form.width - form.keys - 2, style, text);
    }
    canvas_words(pen->canvas, 1, height - 1, width - 2, STYLE_BOLD,
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
    .size = sizeof(struct help),
    .open = open_help,
    .draw = draw,
    .click = click,
    .input = press_any,
    .settle = settle,
};
