/* screens.c: the stack of screens, and what keys come to. See screen.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "monitor/screen.h"

const struct screen *const screens[] = {&screen_main, &screen_tree, &screen_process, &screen_help,
                                        NULL};

/* ---- life ---- */

int monitor_init(struct monitor *monitor, const struct monitor_options *options)
{
    *monitor = (struct monitor){.options = options};
    model_init(&monitor->model, options);
    return monitor_open(monitor, &screen_main);
}

void monitor_done(struct monitor *monitor)
{
    while (monitor->depth > 0)
        monitor_close(monitor);
    model_done(&monitor->model);
}

int monitor_open(struct monitor *monitor, const struct screen *screen)
{
    void *state = NULL;
    if (monitor->depth >= SCREENS_DEEP)
        return -1;
    if (screen->open != NULL && screen->open(monitor, &state) < 0)
        return -1;
    monitor->stack[monitor->depth].screen = screen;
    monitor->stack[monitor->depth++].state = state;
    return 0;
}

void monitor_close(struct monitor *monitor)
{
    if (monitor->depth == 0)
        return;
    monitor->depth--;
    const struct screen *screen = monitor->stack[monitor->depth].screen;
    if (screen->close != NULL)
        screen->close(monitor->stack[monitor->depth].state);
}

static const struct screen *top(const struct monitor *monitor)
{
    return monitor->stack[monitor->depth - 1].screen;
}

static void *top_state(const struct monitor *monitor)
{
    return monitor->stack[monitor->depth - 1].state;
}

bool monitor_needs_all(const struct monitor *monitor)
{
    if (monitor->model.same)
        return false;
    for (int i = 0; i < monitor->depth; i++) {
        if (monitor->stack[i].screen->needs_all)
            return true;
    }
    return monitor->model.view == VIEW_ALL && monitor->model.machine.now != NULL;
}

int monitor_descriptor(const struct monitor *monitor)
{
    const struct screen *screen = top(monitor);
    return screen->descriptor != NULL ? screen->descriptor(top_state(monitor)) : -1;
}

uint64_t monitor_patience_ns(const struct monitor *monitor)
{
    const struct screen *screen = top(monitor);
    return screen->patience_ns != NULL ? screen->patience_ns(top_state(monitor)) : 0;
}

uint64_t monitor_now_ns(const struct monitor *monitor)
{
    if (monitor->options->context == NULL)
        return 0;
    const vitals_clock *clock = vitals_context_clock(monitor->options->context);
    return clock->monotonic_ns(clock->data);
}

bool monitor_target(const struct monitor *monitor, struct identity *out)
{
    for (int i = monitor->depth; i-- > 0;) {
        const struct screen *screen = monitor->stack[i].screen;
        if (screen->target != NULL)
            return screen->target(monitor, monitor->stack[i].state, out);
    }
    return false;
}

void monitor_say(struct monitor *monitor, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(monitor->model.message, sizeof monitor->model.message, format, arguments);
    va_end(arguments);
}

int scroll_to(int first, int place, int lines, int count)
{
    if (place >= 0 && place < first)
        first = place;
    if (place >= 0 && place >= first + lines)
        first = place - lines + 1;
    if (first > count - lines)
        first = count - lines;
    return first < 0 ? 0 : first;
}

/* ---- the prompt: words for the search or the filter ---- */

static char *prompt_text(struct monitor *monitor)
{
    return monitor->prompt == PROMPT_FILTER ? monitor->model.filter : monitor->model.search;
}

static void apply_prompt(struct monitor *monitor)
{
    struct model *model = &monitor->model;
    if (monitor->prompt == PROMPT_FILTER) {
        (void)model_list(model);
        return;
    }
    /* From where the search began, and back to there where nothing is found: whoever is selected is
     * what the words say, or who was chosen by hand. */
    model->has_selected = monitor->had_selected;
    model->selected = monitor->selected_before;
    int place = model_selected(model);
    place = model_search(model, place < 0 ? 0 : place, 1);
    if (place >= 0)
        model_select(model, place);
}

static size_t encode(uint32_t code, char out[static 4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char FIRST[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(FIRST[size] | code);
    return size;
}

/* Only what is safe to print as it is may stand in a prompt. */
static void type(struct monitor *monitor, uint32_t code)
{
    char bytes[4], safe[16];
    char *text = prompt_text(monitor);
    size_t used = strlen(text);
    if (code < ' ' || code == PRESS_BACKSPACE || code >= 0x110000)
        return;
    size_t size = encode(code, bytes);
    size_t written = vitals_text_format((vitals_text){bytes, size}, VITALS_TEXT_TERMINAL, safe,
                                        sizeof safe);
    if (written != size || used + size >= sizeof monitor->model.search)
        return;
    memcpy(text + used, bytes, size);
    text[used + size] = '\0';
}

static void erase(char *text)
{
    size_t size = strlen(text);
    while (size > 0 && ((unsigned char)text[size - 1] & 0xc0) == 0x80)
        size--;
    text[size > 0 ? size - 1 : 0] = '\0';
}

static void press_prompt(struct monitor *monitor, const struct press *press)
{
    char *text = prompt_text(monitor);
    switch (press->code) {
    case PRESS_ENTER:
    case '\r':
        monitor->prompt = PROMPT_NONE;
        if (text == monitor->model.search && text[0] != '\0' &&
            model_search(&monitor->model, 0, 1) < 0)
            monitor_say(monitor, "nothing holds \"%s\"", text);
        return;
    case PRESS_ESCAPE:
    case PRESS_CONTROL('c'):
        memcpy(text, monitor->before, sizeof monitor->before);
        monitor->model.has_selected = monitor->had_selected;
        monitor->model.selected = monitor->selected_before;
        if (monitor->prompt == PROMPT_FILTER)
            (void)model_list(&monitor->model);
        monitor->prompt = PROMPT_NONE;
        return;
    case PRESS_BACKSPACE:
    case PRESS_CONTROL('h'): erase(text); break;
    case PRESS_CONTROL('u'): text[0] = '\0'; break;
    default: type(monitor, press->code);
    }
    apply_prompt(monitor);
}

static void begin_prompt(struct monitor *monitor, enum prompt prompt)
{
    monitor->prompt = prompt;
    char *text = prompt_text(monitor);
    memcpy(monitor->before, text, sizeof monitor->before);
    monitor->had_selected = monitor->model.has_selected;
    monitor->selected_before = monitor->model.selected;
    if (prompt == PROMPT_SEARCH)
        text[0] = '\0';
}

/* ---- keys ---- */

/* What every screen does the same way; false: the screen's own. */
static bool act_anywhere(struct monitor *monitor, enum action action, int argument)
{
    switch ((int)action) {
    case ACTION_QUIT: monitor->quit = true; return true;
    case ACTION_BACK: monitor_close(monitor); return true;
    case ACTION_HELP: (void)monitor_open(monitor, &screen_help); return true;
    case ACTION_SEARCH: begin_prompt(monitor, PROMPT_SEARCH); return true;
    case ACTION_FILTER: begin_prompt(monitor, PROMPT_FILTER); return true;
    case ACTION_SORT: monitor->prefix = 'o'; return true;
    case ACTION_PAUSE: model_pause(&monitor->model, !monitor->model.paused); return true;
    case ACTION_PROCESS: (void)monitor_open(monitor, &screen_process); return true;
    case ACTION_TREE: (void)monitor_open(monitor, &screen_tree); return true;
    case ACTION_ENVIRONMENT: (void)monitor_open(monitor, &screen_environment); return true;
    case ACTION_SIGNAL:
        monitor->signal = argument;
        (void)monitor_open(monitor, &screen_signal);
        return true;
    default: return false;
    }
}

/* `o` and a letter. */
static void press_sort(struct monitor *monitor, uint32_t code)
{
    struct model *model = &monitor->model;
    bool capital = code >= 'A' && code <= 'Z';
    char letter = code < 0x80 ? (char)(capital ? code + 32 : code) : 0;
    unsigned sort = columns_sort(model->view, letter);
    monitor->prefix = 0;
    if (code == PRESS_ESCAPE)
        return;
    if (sort == 0 && letter != 'n') {
        monitor_say(monitor, "no column is sorted by that key; h tells which are");
        return;
    }
    model->sort = sort;
    model->reversed = capital;
    model->top = 0;
    (void)model_list(model);
}

static void press_key(struct monitor *monitor, const struct press *press)
{
    const struct screen *screen = top(monitor);
    monitor->model.message[0] = '\0';
    if (screen->press != NULL && screen->press(monitor, top_state(monitor), press))
        return;
    const struct binding *binding = binding_find(screen->bit, press->code);
    if (binding == NULL)
        return;
    if (binding->signals && monitor->options->readonly != NULL) {
        monitor_say(monitor, "%s: no signal is sent", monitor->options->readonly);
        return;
    }
    if (screen->act != NULL &&
        screen->act(monitor, top_state(monitor), binding->action, binding->argument))
        return;
    (void)act_anywhere(monitor, binding->action, binding->argument);
}

static bool is_mouse(uint32_t code)
{
    return code >= PRESS_CLICK && code <= PRESS_WHEEL_RIGHT;
}

void monitor_press(struct monitor *monitor, const struct press *press)
{
    const struct screen *screen = top(monitor);
    if (press->code == PRESS_PASTE_BEGIN || press->code == PRESS_PASTE_END)
        monitor->pasting = press->code == PRESS_PASTE_BEGIN;
    else if (monitor->pasting && (monitor->prompt == PROMPT_NONE || press->code < ' '))
        return; /* nobody meant keys by it */
    else if (is_mouse(press->code)) {
        if (screen->click != NULL)
            (void)screen->click(monitor, top_state(monitor), press);
    } else if (monitor->prompt != PROMPT_NONE)
        press_prompt(monitor, press);
    else if (monitor->prefix != 0)
        press_sort(monitor, press->code);
    else
        press_key(monitor, press);
}

void monitor_resize(struct monitor *monitor, int width, int height)
{
    monitor->model.width = width;
    monitor->model.height = height;
}

void monitor_settle(struct monitor *monitor)
{
    for (int i = 0; i < monitor->depth; i++) {
        if (monitor->stack[i].screen->settle != NULL)
            monitor->stack[i].screen->settle(monitor, monitor->stack[i].state);
    }
}

/* ---- drawing ---- */

/* The last row, where something is to be told. */
static void draw_last_row(const struct monitor *monitor, struct pen *pen)
{
    const struct model *model = &monitor->model;
    char line[400] = "";
    ink style = STYLE_BOLD;
    if (monitor->prompt != PROMPT_NONE)
        (void)snprintf(line, sizeof line, "%s: %s_",
                       monitor->prompt == PROMPT_FILTER ? "Filter" : "Search",
                       monitor->prompt == PROMPT_FILTER ? model->filter : model->search);
    else if (monitor->prefix != 0)
        (void)snprintf(line, sizeof line, "Sort by (n p u g s b c m t, r h of all processes):");
    else if (model->message[0] != '\0') {
        (void)snprintf(line, sizeof line, "%s", model->message);
        style = STYLE_BOLD | STYLE_YELLOW;
    }
    if (line[0] == '\0')
        return;
    struct canvas_field field = {.y = model->height - 1, .columns = model->width, .style = style};
    canvas_field(pen->canvas, &field, line);
}

static void draw_at(const struct monitor *monitor, int place, struct pen *pen)
{
    monitor->stack[place].screen->draw(monitor, monitor->stack[place].state, pen);
}

void monitor_draw(const struct monitor *monitor, struct canvas *canvas)
{
    struct pen pen = {.canvas = canvas, .look = &monitor->options->look};
    canvas_clear(canvas);
    draw_at(monitor, monitor->depth - 1, &pen);
    draw_last_row(monitor, &pen);
    if (monitor->options->look.light)
        canvas_darken(canvas);
}

void monitor_draw_below(const struct monitor *monitor, struct pen *pen)
{
    if (monitor->depth < 2)
        return;
    draw_at(monitor, monitor->depth - 2, pen);
    for (int y = 0; y < pen->canvas->height; y++)
        canvas_restyle(pen->canvas, 0, y, pen->canvas->width, STYLE_DIM);
}
