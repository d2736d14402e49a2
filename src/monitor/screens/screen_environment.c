/* screen_environment.c: the environment of a process, read once, beside the loop. The handle proves
 * that it is the process of the line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/process_query.h"
#include "monitor/screens/screen.h"

enum { HEAD = 2, NAME = 256, VALUE = 4096 };

struct environment_entry {
    const vitals_row *row;
    vitals_text name;
};

struct screen_environment {
    struct process_query *query; /* NULL: it cannot be asked */
    vitals_snapshot *answer;     /* NULL: none, for the reason in `error` once it is taken */
    vitals_error error;
    bool targeted; /* false: our own, as no process is selected */
    struct identity identity;
    int64_t pid;
    char command[WORDS_COMMAND];
    struct environment_entry *entries;
    size_t count;
    bool taken;
    int widest; /* columns of the longest line */
    int top, shift;
};

static int by_name(const void *a, const void *b)
{
    const struct environment_entry *x = a, *y = b;
    size_t size = x->name.size < y->name.size ? x->name.size : y->name.size;
    int order = memcmp(x->name.bytes, y->name.bytes, size);
    return order != 0 ? order : x->name.size < y->name.size ? -1 : x->name.size > y->name.size;
}

/* "NAME" and its value, safe. */
static void entry_words(const struct environment_entry *entry, bool ascii, char name[static NAME],
                        char value[static VALUE])
{
    (void)cell_text(entry->row, VITALS_ENVIRONMENT_NAME, ascii, name, NAME);
    (void)cell_text(entry->row, VITALS_ENVIRONMENT_VALUE, ascii, value, VALUE);
}

static void move_sideways(const struct monitor *monitor, struct screen_environment *environment,
                          int by)
{
    int most = environment->widest + 2 - monitor->model.width; /* a column at either side */
    environment->shift = place_within(environment->shift + by, most);
}

static void settle(struct monitor *monitor, void *state)
{
    struct screen_environment *environment = state;
    bool done = environment->query != NULL &&
                process_query_take(environment->query, &environment->answer, &environment->error);
    const vitals_snapshot *answer = done ? environment->answer : NULL;
    environment->taken = environment->taken || done;
    if (answer != NULL)
        environment->entries = calloc(vitals_snapshot_count(answer, VITALS_TABLE_ENVIRONMENT) + 1,
                                      sizeof *environment->entries);
    for (const vitals_row *row = NULL;
         environment->entries != NULL &&
         (row = row_next(answer, VITALS_TABLE_ENVIRONMENT, row)) != NULL;) {
        struct environment_entry entry = {.row = row, .name = {"", 0}};
        char name[NAME], value[VALUE];
        if (vitals_row_text(row, VITALS_ENVIRONMENT_NAME, &entry.name) <= 0)
            continue;
        environment->entries[environment->count++] = entry;
        entry_words(&entry, monitor->options->look.ascii, name, value);
        int wide = canvas_columns(name) + 1 + canvas_columns(value);
        environment->widest = wide > environment->widest ? wide : environment->widest;
    }
    if (answer != NULL && environment->count > 0)
        qsort(environment->entries, environment->count, sizeof *environment->entries, by_name);
    move_sideways(monitor, environment, 0);
    environment->top = scroll_to(environment->top, -1, screen_lines(monitor),
                                 (int)environment->count);
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    const struct screen_environment *environment = state;
    int width = monitor->model.width, lines = screen_lines(monitor);
    char line[WORDS_COMMAND + 64], name[NAME], value[VALUE];
    (void)snprintf(line, sizeof line, "Environment of %lld: %s", (long long)environment->pid,
                   environment->command);
    canvas_words(pen->canvas, 0, 0, width, STYLE_BOLD, line);
    canvas_repeat(pen->canvas, 0, 1, width, STYLE_DIM, pen->look->ascii ? "#" : "─");

    for (int i = 0; i < lines && (size_t)(environment->top + i) < environment->count; i++) {
        int x = 1 - environment->shift, y = HEAD + i;
        entry_words(&environment->entries[environment->top + i], pen->look->ascii, name, value);
        x += canvas_text(pen->canvas, x, y, STYLE_BLUE | STYLE_BOLD, name);
        x += canvas_text(pen->canvas, x, y, STYLE_MAGENTA, "=");
        x += canvas_text(pen->canvas, x, y, STYLE_PLAIN, value);
        if (x > pen->canvas->width)
            canvas_repeat(pen->canvas, pen->canvas->width - 1, y, 1, STYLE_DIM, ">");
    }
    if (environment->count == 0) {
        const char *reason = "Reading...";
        if (environment->taken && environment->answer == NULL)
            reason = environment->error.message;
        else if (environment->taken) {
            vitals_availability state_of = vitals_snapshot_state(environment->answer,
                                                                 VITALS_TABLE_ENVIRONMENT);
            reason = state_of > 0 ? "It is empty" : vitals_availability_name(state_of);
        }
        canvas_words(pen->canvas, 1, HEAD, width - 2, STYLE_YELLOW, reason);
    }
    (void)canvas_text(pen->canvas, 1, monitor->model.height - 1, STYLE_DIM,
                      "e or q goes back, r reads it again");
}

static int descriptor(const void *state)
{
    const struct screen_environment *environment = state;
    return environment->query != NULL ? process_query_descriptor(environment->query) : -1;
}

static void close_environment(void *state)
{
    struct screen_environment *environment = state;
    free(environment->entries);
    process_query_free(environment->query);
    vitals_snapshot_unref(environment->answer);
}

/* Finds the process, or vitals itself if none is selected, and begins to read its environment.
 * Returns -1 if it cannot, and says why. */
static int start(struct monitor *monitor, struct screen_environment *environment)
{
    const struct identity *identity = &environment->identity;
    vitals_context *context = monitor->options->context;
    vitals_process *process = NULL;
    vitals_request *request = NULL;
    const vitals_row *row = identity->start >= 0 && environment->targeted
                                ? model_process(&monitor->model, identity)
                                : NULL;
    vitals_error error = {.code = 0};
    int code = 0;
    environment->pid = (int64_t)identity->pid;
    if (!environment->targeted) {
        (void)snprintf(environment->command, sizeof environment->command,
                       "vitals itself, as no process is selected");
        if (context != NULL)
            code = vitals_process_open(context, getpid(), &process, &error);
        else
            model_say(&monitor->model, "select a process first (Up, Down)");
        if (context == NULL)
            return -1;
    } else if (row == NULL) {
        model_say(&monitor->model, "nothing is known of process %llu",
                  (unsigned long long)identity->pid);
        return -1;
    } else {
        (void)cell_command(row, monitor->options->look.ascii, environment->command);
        if (context != NULL)
            code = vitals_process_of(context, row, &process, &error);
    }
    if (code < 0) {
        model_say(&monitor->model, "%s", error.message);
        return -1;
    }
    if (context == NULL) {
        (void)snprintf(environment->error.message, sizeof environment->error.message,
                       "it is asked of a living process; a recording has none");
        environment->taken = true;
        return 0;
    }
    environment->pid = vitals_process_pid(process);
    environment->query = process_query_new(process);
    if (environment->query == NULL || vitals_request_new(0, &request, &error) < 0)
        return -1;
    if (vitals_request_add_table(request, VITALS_TABLE_ENVIRONMENT, &error) == 0)
        return process_query_ask(environment->query, request) ? 0 : -1;
    vitals_request_free(request);
    return -1;
}

static int open_environment(struct monitor *monitor, void *state)
{
    struct screen_environment *environment = state;
    environment->targeted = monitor_target(monitor, &environment->identity);
    return start(monitor, environment);
}

/* Reads it anew, of the same process; where that has ended, what was read stays. */
static void reload(struct monitor *monitor, struct screen_environment *environment)
{
    struct screen_environment fresh = {.targeted = environment->targeted,
                                       .identity = environment->identity};
    if (start(monitor, &fresh) == 0) {
        struct screen_environment before = *environment;
        *environment = fresh;
        fresh = before;
    }
    close_environment(&fresh);
}

enum { SIDEWAYS = 5, LINES = 3 };

static bool act(struct monitor *monitor, void *state, enum action action, int argument)
{
    struct screen_environment *environment = state;
    int by = action_lines(action, screen_lines(monitor), (int)environment->count);
    switch ((int)action) {
    case ACTION_SIDEWAYS: move_sideways(monitor, environment, argument * SIDEWAYS); return true;
    case ACTION_LINE_BEGIN: environment->shift = 0; return true;
    case ACTION_LINE_END: move_sideways(monitor, environment, environment->widest); return true;
    case ACTION_RESET: reload(monitor, environment); return true;
    default: environment->top += by; return by != 0;
    }
}

static bool click(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct screen_environment *environment = state;
    environment->top += LINES * input_lines(event, 0, 0);
    move_sideways(monitor, environment, SIDEWAYS * input_columns(event));
    return true;
}

const struct screen screen_environment = {
    .name = "environment",
    .bit = ON_ENVIRONMENT,
    .size = sizeof(struct screen_environment),
    .asks = true,
    .open = open_environment,
    .draw = draw,
    .act = act,
    .click = click,
    .settle = settle,
    .descriptor = descriptor,
    .close = close_environment,
};
