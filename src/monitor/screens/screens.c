/* screens.c: the stack of screens, and what keys come to. See screen.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/list/match.h"
#include "monitor/screens/screen.h"
#include "monitor/source.h"

const struct screen *const screens[] = {
    &screen_main, &screen_tree,        &screen_process, &screen_device, &screen_columns,
    &screen_help, &screen_environment, &screen_signal,  &screen_alerts, &screen_settings,
    NULL};

int monitor_init(struct monitor *monitor, const struct monitor_options *options)
{
    *monitor = (struct monitor){.options = options};
    if (model_init(&monitor->model, options) < 0)
        return -1;
    model_arrange(&monitor->model, options->arrangement);
    if (options->notice != NULL)
        model_say(&monitor->model, "%s", options->notice);
    return monitor_open(monitor, &screen_main);
}

void monitor_done(struct monitor *monitor)
{
    while (monitor->depth > 0)
        monitor_close(monitor);
    source_streams_wait();
    free(monitor->copied);
    model_done(&monitor->model);
}

static void free_state(const struct screen *screen, void *state)
{
    if (screen->close != NULL)
        screen->close(state);
    free(state);
}

int monitor_open(struct monitor *monitor, const struct screen *screen)
{
    void *state = NULL;
    if (monitor->depth >= SCREENS_DEEP)
        return -1;
    if (screen->size > 0 && (state = calloc(1, screen->size)) == NULL)
        return -1;
    if (screen->open != NULL && screen->open(monitor, state) < 0) {
        free_state(screen, state);
        return -1;
    }
    monitor->stack[monitor->depth].screen = screen;
    monitor->stack[monitor->depth++].state = state;
    return 0;
}

void monitor_close(struct monitor *monitor)
{
    if (monitor->depth == 0)
        return;
    monitor->depth--;
    free_state(monitor->stack[monitor->depth].screen, monitor->stack[monitor->depth].state);
}

static const struct screen *top(const struct monitor *monitor, void **state)
{
    *state = monitor->stack[monitor->depth - 1].state;
    return monitor->stack[monitor->depth - 1].screen;
}

bool monitor_needs_all(const struct monitor *monitor)
{
    if (monitor->model.same)
        return false;
    for (int i = 0; i < monitor->depth; i++) {
        if (monitor->stack[i].screen->needs_all)
            return true;
    }
    if (monitor->model.machine.now == NULL)
        return false;
    struct wants wants;
    monitor_wants(monitor, &wants);
    /* A parent's name is that of a process that is on no device. */
    return monitor->model.view == VIEW_ALL || wants.count > 0 ||
           monitor->model.arranged.group == GROUP_PARENT;
}

void monitor_wants(const struct monitor *monitor, struct wants *out)
{
    struct arrangement arrangement;
    struct match match;
    unsigned views = monitor->model.view;
    for (int i = 0; i < monitor->depth; i++) /* a tree has the columns of the list of all */
        views |= monitor->stack[i].screen->needs_all ? VIEW_ALL : 0u;
    model_arrangement(&monitor->model, &arrangement);
    wants_of(&arrangement, views, out);
    match_parse(monitor->model.search, &match);
    match_needs(&match, out);
}

int monitor_descriptor(const struct monitor *monitor)
{
    void *state;
    const struct screen *screen = top(monitor, &state);
    return screen->descriptor != NULL ? screen->descriptor(state) : -1;
}

uint64_t monitor_patience_ns(const struct monitor *monitor)
{
    void *state;
    const struct screen *screen = top(monitor, &state);
    return screen->patience_ns != NULL ? screen->patience_ns(state) : 0;
}

uint64_t monitor_now_ns(const struct monitor *monitor)
{
    const vitals_clock *clock = monitor->options->clock;
    if (clock == NULL && monitor->options->context != NULL)
        clock = vitals_context_clock(monitor->options->context);
    return clock != NULL ? clock->monotonic_ns(clock->data) : 0;
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

static void recall(void *data, const struct model *then)
{
    struct monitor *monitor = data;
    for (int i = 0; i < monitor->depth; i++) {
        if (monitor->stack[i].screen->recall != NULL)
            monitor->stack[i].screen->recall(monitor->stack[i].state, then);
    }
}

bool monitor_recall(struct monitor *monitor, int most)
{
    return monitor->player != NULL && player_fill(monitor->player, most, recall, monitor);
}

int input_lines(const struct input_event *event, int page, int count)
{
    switch (event->code) {
    case INPUT_UP: return -1;
    case INPUT_DOWN: return 1;
    case INPUT_PAGE_UP: return -page;
    case INPUT_PAGE_DOWN: return page;
    case INPUT_HOME: return -count;
    case INPUT_END: return count;
    case INPUT_WHEEL_UP: return -input_times(event);
    case INPUT_WHEEL_DOWN: return input_times(event);
    default: return 0;
    }
}

int input_columns(const struct input_event *event)
{
    int times = input_times(event);
    return event->code == INPUT_WHEEL_LEFT ? -times : event->code == INPUT_WHEEL_RIGHT ? times : 0;
}

int action_lines(enum action action, int page, int count)
{
    switch ((int)action) {
    case ACTION_UP: return -1;
    case ACTION_DOWN: return 1;
    case ACTION_PAGE_UP: return -page;
    case ACTION_PAGE_DOWN: return page;
    case ACTION_FIRST: return -count;
    case ACTION_LAST: return count;
    default: return 0;
    }
}

int place_within(int place, int most)
{
    place = place > most ? most : place;
    return place < 0 ? 0 : place;
}

int screen_lines(const struct monitor *monitor)
{
    int lines = monitor->model.height - 3;
    return lines > 1 ? lines : 1;
}

int scroll_to(int first, int place, int lines, int count)
{
    if (place >= 0 && place < first)
        first = place;
    if (place >= 0 && place >= first + lines)
        first = place - lines + 1;
    return place_within(first, count - lines);
}

/* ---- the prompt: words for the search or the filter ---- */

/* Only what is safe to print as it is may stand in a prompt. */
static void type(char *text, uint32_t code)
{
    static const unsigned char FIRST[] = {0, 0, 0xc0, 0xe0, 0xf0};
    char bytes[4], safe[16];
    size_t used = strlen(text), size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    uint32_t left = code;
    if (code < ' ' || code == INPUT_BACKSPACE || code >= 0x110000)
        return;
    for (size_t i = size; i-- > 1; left >>= 6)
        bytes[i] = (char)(0x80 | (left & 0x3f));
    bytes[0] = (char)(size == 1 ? left : FIRST[size] | left);
    size_t written = vitals_text_format((vitals_text){bytes, size}, VITALS_TEXT_TERMINAL, safe,
                                        sizeof safe);
    if (written != size || used + size >= PROMPT_TEXT)
        return;
    memcpy(text + used, bytes, size);
    text[used + size] = '\0';
}

static void press_prompt(struct monitor *monitor, const struct input_event *event)
{
    struct model *model = &monitor->model;
    void *state;
    const struct screen *screen = top(monitor, &state);
    const enum prompt prompt = monitor->prompt;
    char *text = monitor->entered;
    size_t size = strlen(text);
    switch (event->code) {
    case INPUT_ENTER:
    case '\r':
        monitor->prompt = PROMPT_NONE;
        if (prompt >= PROMPT_LINES && screen->answer != NULL)
            screen->answer(monitor, state, prompt, text);
        if (prompt == PROMPT_TIME && text[0] != '\0' && !player_go(monitor->player, text))
            model_say(&monitor->model, "\"%s\" is not a time; write 12:03, -5min, 34%% or end",
                      text);
        if (text == model->search && text[0] != '\0' && model_search(model, 0, 1) < 0)
            model_say(&monitor->model, "nothing holds \"%s\"", text);
        if (prompt < PROMPT_TIME)
            arranging_check(monitor, text);
        return;
    case INPUT_ESCAPE:
    case INPUT_CONTROL('c'):
        memcpy(text, monitor->before, sizeof monitor->before);
        model->has_selected = monitor->had_selected;
        model->selected = monitor->selected_before;
        if (monitor->prompt == PROMPT_FILTER)
            (void)model_list(model);
        monitor->prompt = PROMPT_NONE;
        return;
    case INPUT_BACKSPACE:
    case INPUT_CONTROL('h'): /* a whole character */
        while (size > 0 && ((unsigned char)text[size - 1] & 0xc0) == 0x80)
            size--;
        text[size > 0 ? size - 1 : 0] = '\0';
        break;
    case INPUT_CONTROL('u'): text[0] = '\0'; break;
    default: type(text, event->code);
    }

    /* Searches from where the search began, and returns there if nothing is found: the selection is
     * a match, or was made by hand. */
    if (monitor->prompt == PROMPT_FILTER)
        (void)model_list(model);
    if (monitor->prompt != PROMPT_SEARCH)
        return;
    model->has_selected = monitor->had_selected;
    model->selected = monitor->selected_before;
    int place = model_selected(model);
    place = model_search(model, place < 0 ? 0 : place, 1);
    if (place >= 0)
        model_select(model, place);
}

static void begin_prompt(struct monitor *monitor, enum prompt prompt)
{
    char *text = prompt == PROMPT_FILTER  ? monitor->model.filter
                 : prompt == PROMPT_LINES ? monitor->lines
                 : prompt >= PROMPT_TIME  ? monitor->typed
                                          : monitor->model.search;
    monitor->prompt = prompt;
    monitor->entered = text;
    memcpy(monitor->before, text, sizeof monitor->before);
    monitor->had_selected = monitor->model.has_selected;
    monitor->selected_before = monitor->model.selected;
    if (prompt != PROMPT_FILTER && prompt != PROMPT_LINES)
        text[0] = '\0';
}

void monitor_ask(struct monitor *monitor, enum prompt prompt, const char *question)
{
    (void)snprintf(monitor->question, sizeof monitor->question, "%s", question);
    begin_prompt(monitor, prompt);
}

const char *monitor_readonly(const struct monitor *monitor)
{
    return monitor->model.away ? "this is the past (E goes to now)" : monitor->options->readonly;
}

bool monitor_pretends(const struct monitor *monitor)
{
    return !monitor->model.away && monitor->options->readonly != NULL &&
           monitor->options->context != NULL && model_is_demo(&monitor->model);
}

/* Actions that every screen has, those that move through the past first. */
static void act_anywhere(struct monitor *monitor, enum action action, int argument)
{
    struct player *player = monitor->player;
    if (player != NULL && player_act(player, action, argument))
        return;
    switch ((int)action) {
    case ACTION_TIME_SAMPLE:
    case ACTION_TIME_SECONDS:
    case ACTION_TIME_END:
    case ACTION_TIME_SPEED:
    case ACTION_TIME_MARK: model_say(&monitor->model, "this view has no history"); break;
    case ACTION_TIME_GO:
        if (player != NULL)
            monitor_ask(monitor, PROMPT_TIME, "Go to");
        else
            model_say(&monitor->model, "this view has no history");
        break;
    case ACTION_QUIT: monitor->quit = true; break;
    case ACTION_BACK: monitor_close(monitor); break;
    case ACTION_HELP: (void)monitor_open(monitor, &screen_help); break;
    case ACTION_SEARCH: begin_prompt(monitor, PROMPT_SEARCH); break;
    case ACTION_INVERT: /* only nvitop's screen has it on its key */
    case ACTION_FILTER: begin_prompt(monitor, PROMPT_FILTER); break;
    case ACTION_PAUSE: model_pause(&monitor->model, !monitor->model.paused); break;
    case ACTION_PROCESS:
        if (monitor_open(monitor, &screen_process) == 0 && player != NULL)
            player_fill_anew(player);
        break;
    case ACTION_TREE: (void)monitor_open(monitor, &screen_tree); break;
    case ACTION_ENVIRONMENT:
        if (monitor->model.away)
            model_say(&monitor->model, "it is asked of a living process (E goes to now)");
        else
            (void)monitor_open(monitor, &screen_environment);
        break;
    case ACTION_ALERTS: (void)monitor_open(monitor, &screen_alerts); break;
    case ACTION_SIGNAL:
        monitor->signal = argument;
        (void)monitor_open(monitor, &screen_signal);
        break;
    default: (void)arranging_act(monitor, action, argument);
    }
}

void monitor_input(struct monitor *monitor, const struct input_event *event)
{
    void *state;
    const struct screen *screen = top(monitor, &state);
    uint32_t code = event->code;
    if (code == INPUT_PASTE_BEGIN || code == INPUT_PASTE_END) {
        monitor->pasting = code == INPUT_PASTE_BEGIN;
        return;
    }
    if (monitor->pasting && (monitor->prompt == PROMPT_NONE || code < ' '))
        return; /* pasted text is no key */
    if (code >= INPUT_CLICK && code <= INPUT_WHEEL_RIGHT) {
        if (screen->click != NULL)
            (void)screen->click(monitor, state, event);
        return;
    }
    if (monitor->prompt != PROMPT_NONE) {
        press_prompt(monitor, event);
        return;
    }
    if (monitor->prefix != NULL) {
        arranging_press(monitor, code);
        return;
    }

    monitor->model.message[0] = '\0';
    monitor->model.traffic_left = 0;
    if (screen->input != NULL && screen->input(monitor, state, event))
        return;
    const struct binding *binding = binding_find(screen->bit, code);
    if (binding == NULL) {
        bool shown = code > ' ' && code < 0x7f;
        if (screen == &screen_main && code != INPUT_NONE && code != INPUT_ESCAPE)
            model_say(&monitor->model, "%.*s%s%s", shown, (const char[]){(char)code, '\0'},
                      shown ? " is no key here: " : "no key here: ", key_elsewhere(code));
        return;
    }
    struct identity of;
    if (code == INPUT_CONTROL('c') && monitor->model.tag_count == 0 &&
        !monitor_target(monitor, &of)) {
        model_say(&monitor->model, "q quits; C-c sends SIGINT to a selected process");
        return;
    }
    if (binding->action == ACTION_CLEAR && monitor->model.away) { /* back to now, first of all */
        act_anywhere(monitor, ACTION_TIME_END, 1);
        return;
    }
    const char *readonly = monitor_readonly(monitor);
    if (binding->action == ACTION_SIGNAL && readonly != NULL && !monitor_pretends(monitor))
        model_say(&monitor->model, "%s: no signal is sent", readonly);
    else if (!arranging_on_group(monitor, binding->action) &&
             (screen->act == NULL ||
              !screen->act(monitor, state, binding->action, binding->argument)))
        act_anywhere(monitor, binding->action, binding->argument);
}

/* ---- hints ---- */

enum { HINT_GAP = 2 };

static int hint_columns(const struct hint *hint)
{
    return (int)(strlen(hint->key) + strlen(hint->does)) + 1;
}

/* Where a hint begins, and its columns; those that do not fit have none. The last, which leads
 * back, is always there. */
static int place_of(const struct hint *hints, size_t count, size_t index, int width, int *columns)
{
    int x = 1, last = hint_columns(&hints[count - 1]) + HINT_GAP;
    for (size_t i = 0; i < count; i++) {
        int own = hint_columns(&hints[i]);
        bool fits = x + own + (i + 1 == count ? 0 : last) < width;
        if (i == index) {
            *columns = fits ? own : 0;
            return x;
        }
        x += fits ? own + HINT_GAP : 0;
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

/* ---- size and drawing ---- */

/* For a time of the past the last row shows it. */
static void fit(struct monitor *monitor)
{
    enum { LEAST = 5 };
    char words[PLAYER_WORDS];
    bool row = monitor->player != NULL && monitor->height >= LEAST &&
               player_words(monitor->player, true, 0, words);
    monitor->model.height = monitor->height - row;
}

void monitor_resize(struct monitor *monitor, int width, int height)
{
    monitor->model.width = width;
    monitor->height = height;
    monitor->model.traffic_left = 0;
    model_fit(&monitor->model);
    fit(monitor);
}

void monitor_settle(struct monitor *monitor)
{
    fit(monitor);
    for (int i = 0; i < monitor->depth; i++) {
        if (monitor->stack[i].screen->settle != NULL)
            monitor->stack[i].screen->settle(monitor, monitor->stack[i].state);
    }
}

enum theme monitor_theme(const struct monitor *monitor)
{
    const struct look *look = &monitor->options->look;
    if (monitor->model.arranged.theme != 0 && !look->colorless)
        return (enum theme)(monitor->model.arranged.theme - 1);
    return look_theme(look);
}

/* "Filter: words_", in the last row. What is typed is seen whatever room there is: its end, and as
 * much of the question before it and of a note behind it as fits. */
static void draw_prompt(const struct monitor *monitor, struct canvas *canvas)
{
    enum { QUESTION_LEAST = 6 };
    char question[PLAYER_WORDS], note[256], typed[PROMPT_TEXT + 2];
    const char *words = monitor->entered;
    int width = monitor->model.width, y = canvas->height - 1;
    bool asked = monitor->prompt >= PROMPT_TIME;
    bool noted = !asked && match_unknown(words, note, sizeof note);
    (void)snprintf(typed, sizeof typed, "%s_", words);
    (void)snprintf(question, sizeof question, "%s",
                   asked                              ? monitor->question
                   : monitor->prompt == PROMPT_FILTER ? "Filter"
                                                      : "Search");
    int own = canvas_columns(typed), wide = canvas_columns(question), room = width - own - 2;
    struct canvas_field field = {.y = y, .columns = width, .style = STYLE_BOLD};
    canvas_field(canvas, &field, "");
    field.columns = wide < room ? wide : room;
    if (field.columns == wide || field.columns >= QUESTION_LEAST) {
        canvas_field(canvas, &field, question);
        field.x = field.columns + canvas_text(canvas, field.columns, y, STYLE_BOLD, ": ");
    }
    field.skip = own > width - field.x ? own - (width - field.x) : 0;
    field.columns = own - field.skip;
    canvas_field(canvas, &field, typed);
    field.x += field.columns + 2;
    field.columns = width - field.x;
    field.skip = 0;
    if (noted)
        canvas_field(canvas, &field, note);
}

void monitor_draw(const struct monitor *monitor, struct canvas *canvas)
{
    const struct model *model = &monitor->model;
    struct look look = monitor->options->look;
    struct pen pen = {.canvas = canvas, .look = &look};
    void *state;
    look.plain = model->arranged.plain;
    canvas_clear(canvas);
    const struct screen *screen = top(monitor, &state);
    screen->draw(monitor, state, &pen);

    /* The last row, where something is to be told. */
    char line[PLAYER_WORDS] = "";
    ink style = STYLE_BOLD;
    if (monitor->prompt != PROMPT_NONE)
        draw_prompt(monitor, canvas);
    else if (monitor->prefix != NULL)
        (void)snprintf(line, sizeof line, "%s", monitor->prefix->words);
    else if (model->message[0] != '\0') {
        (void)snprintf(line, sizeof line, "%s", model->message);
        style = STYLE_BOLD | STYLE_YELLOW;
    }
    if (line[0] == '\0' && monitor->prompt == PROMPT_NONE && monitor->player != NULL &&
        player_words(monitor->player, look.ascii, screen->bit, line) && !monitor->player->file)
        draw_fit(line, model->width);
    if (line[0] != '\0')
        canvas_words(canvas, 0, canvas->height - 1, model->width, style, line);

    /* The terminal has the ramps of the look's theme. */
    enum theme theme = monitor_theme(monitor);
    canvas_theme(canvas, theme,
                 look.direct && theme == look_theme(&look) && theme_direct(theme) != NULL);
    if (look.plain)
        canvas_keep(canvas, STYLE_REVERSE);
    if (theme == THEME_MONO)
        canvas_keep(canvas, ~(ink)STYLE_COLORS);
    if (theme == THEME_LIGHT)
        canvas_darken(canvas);
}

void monitor_draw_below(const struct monitor *monitor, struct pen *pen)
{
    int below = monitor->depth - 2;
    if (below < 0)
        return;
    monitor->stack[below].screen->draw(monitor, monitor->stack[below].state, pen);
    for (int y = 0; y < pen->canvas->height; y++)
        canvas_restyle(pen->canvas, 0, y, pen->canvas->width, STYLE_DIM);
}
