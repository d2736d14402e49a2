/* screen_environment.c: the environment of a process, read once, beside the loop.
 *
 * Reading it waits for a lock that the process may hold for long, so a thread does it. If the
 * screen is closed meanwhile the thread is left behind, and the last of the two frees the memory.
 * The handle proves that it is the process of the line. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "monitor/screens/screen.h"

enum { HEAD = 2, NAME = 256, VALUE = 4096 };

struct job {
    atomic_int owners;
    vitals_process *process; /* the thread's, until `done` */
    int descriptor;          /* can be read once it is done */
    atomic_bool done;
    vitals_snapshot *answer;
    vitals_error error;
};

struct environment_entry {
    const vitals_row *row;
    vitals_text name;
};

struct screen_environment {
    struct job *job;
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

static atomic_int busy; /* threads that have not come back */

bool monitor_is_busy(void)
{
    return atomic_load(&busy) > 0;
}

/* ---- the thread ---- */

static void job_unref(struct job *job)
{
    if (job == NULL || atomic_fetch_sub(&job->owners, 1) > 1)
        return;
    vitals_snapshot_unref(job->answer);
    vitals_process_free(job->process);
    if (job->descriptor >= 0)
        (void)close(job->descriptor);
    free(job);
}

static void *work(void *data)
{
    struct job *job = data;
    vitals_request *request = NULL;
    uint64_t one = 1;
    int code = vitals_request_new(0, &request, &job->error);
    if (code == 0)
        code = vitals_request_add_table(request, VITALS_ENVIRONMENT, &job->error);
    if (code == 0)
        code = vitals_process_ask(job->process, request, &job->answer, &job->error);
    vitals_request_free(request);
    atomic_store(&job->done, true);
    ssize_t ignored = write(job->descriptor, &one, sizeof one);
    (void)ignored;
    job_unref(job);
    atomic_fetch_sub(&busy, 1);
    return NULL;
}

static int job_start(struct job *job)
{
    pthread_t thread;
    sigset_t all, before;
    job->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (job->descriptor < 0)
        return -1;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store(&job->owners, 2);
    atomic_fetch_add(&busy, 1);
    int code = pthread_create(&thread, NULL, work, job);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) {
        atomic_fetch_sub(&busy, 1);
        atomic_store(&job->owners, 1);
        return -1;
    }
    (void)pthread_detach(thread);
    return 0;
}

/* ---- the screen ---- */

static int by_name(const void *a, const void *b)
{
    const struct environment_entry *x = a, *y = b;
    size_t size = x->name.size < y->name.size ? x->name.size : y->name.size;
    int order = memcmp(x->name.bytes, y->name.bytes, size);
    return order != 0 ? order : x->name.size < y->name.size ? -1 : x->name.size > y->name.size;
}

/* The answer's rows, sorted, once it is there. */
static void take(struct screen_environment *environment)
{
    const vitals_snapshot *answer = environment->job->answer;
    environment->taken = true;
    if (answer == NULL)
        return;
    size_t count = vitals_snapshot_count(answer, VITALS_ENVIRONMENT);
    environment->entries = calloc(count + 1, sizeof *environment->entries);
    for (const vitals_row *row = NULL;
         environment->entries != NULL &&
         (row = vitals_snapshot_next(answer, VITALS_ENVIRONMENT, row)) != NULL;) {
        struct environment_entry entry = {.row = row, .name = {"", 0}};
        if (vitals_row_text(row, VITALS_ENVIRONMENT_NAME, &entry.name) > 0)
            environment->entries[environment->count++] = entry;
    }
    if (environment->count > 0)
        qsort(environment->entries, environment->count, sizeof *environment->entries, by_name);
}

/* "NAME" and its value, safe. */
static void entry_words(const struct environment_entry *entry, bool ascii, char name[static NAME],
                        char value[static VALUE])
{
    (void)cell_text(entry->row, VITALS_ENVIRONMENT_NAME, ascii, name, NAME);
    (void)cell_text(entry->row, VITALS_ENVIRONMENT_VALUE, ascii, value, VALUE);
}

static void measure(struct screen_environment *environment, bool ascii)
{
    char name[NAME], value[VALUE];
    for (size_t i = 0; i < environment->count; i++) {
        entry_words(&environment->entries[i], ascii, name, value);
        int wide = canvas_columns(name) + 1 + canvas_columns(value);
        environment->widest = wide > environment->widest ? wide : environment->widest;
    }
}

static int lines_of(const struct monitor *monitor)
{
    return monitor->model.height > HEAD + 1 ? monitor->model.height - HEAD - 1 : 1;
}

static void move_sideways(const struct monitor *monitor, struct screen_environment *environment,
                          int by)
{
    int most = environment->widest + 2 - monitor->model.width; /* a column at either side */
    environment->shift += by;
    environment->shift = environment->shift > most ? most : environment->shift;
    environment->shift = environment->shift < 0 ? 0 : environment->shift;
}

static void settle(struct monitor *monitor, void *state)
{
    struct screen_environment *environment = state;
    if (!environment->taken && atomic_load(&environment->job->done)) {
        take(environment);
        measure(environment, monitor->options->look.ascii);
    }
    move_sideways(monitor, environment, 0);
    environment->top = scroll_to(environment->top, -1, lines_of(monitor), (int)environment->count);
}

/* Why there is nothing to show. */
static void draw_reason(const struct screen_environment *environment, struct pen *pen, int width)
{
    char line[512] = "Reading...";
    if (environment->taken && environment->job->answer == NULL)
        (void)snprintf(line, sizeof line, "%s", environment->job->error.message);
    else if (environment->taken) {
        vitals_availability state = vitals_snapshot_state(environment->job->answer,
                                                          VITALS_ENVIRONMENT);
        (void)snprintf(line, sizeof line, "%s",
                       state > 0 ? "It is empty" : vitals_availability_name(state));
    }
    struct canvas_field field = {.x = 1, .y = HEAD, .columns = width - 2, .style = STYLE_YELLOW};
    canvas_field(pen->canvas, &field, line);
}

static void draw_entry(const struct screen_environment *environment, struct pen *pen, size_t place,
                       int y)
{
    char name[NAME], value[VALUE];
    entry_words(&environment->entries[place], pen->look->ascii, name, value);
    int x = 1 - environment->shift, wide = pen->canvas->width;
    x += canvas_text(pen->canvas, x, y, STYLE_BLUE | STYLE_BOLD, name);
    x += canvas_text(pen->canvas, x, y, STYLE_MAGENTA, "=");
    x += canvas_text(pen->canvas, x, y, STYLE_PLAIN, value);
    if (x > wide)
        canvas_repeat(pen->canvas, wide - 1, y, 1, STYLE_DIM, ">");
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    const struct screen_environment *environment = state;
    int width = monitor->model.width, lines = lines_of(monitor);
    char line[WORDS_COMMAND + 64];
    (void)snprintf(line, sizeof line, "Environment of %lld: %s", (long long)environment->pid,
                   environment->command);
    struct canvas_field field = {.columns = width, .style = STYLE_BOLD};
    canvas_field(pen->canvas, &field, line);
    canvas_repeat(pen->canvas, 0, 1, width, STYLE_DIM, pen->look->ascii ? "#" : "─");
    for (int i = 0; i < lines && (size_t)(environment->top + i) < environment->count; i++)
        draw_entry(environment, pen, (size_t)(environment->top + i), HEAD + i);
    if (environment->count == 0)
        draw_reason(environment, pen, width);
    (void)canvas_text(pen->canvas, 1, monitor->model.height - 1, STYLE_DIM,
                      "e or q goes back, r reads it again");
}

static int descriptor(const void *state)
{
    const struct screen_environment *environment = state;
    return environment->taken ? -1 : environment->job->descriptor;
}

static void close_environment(void *state)
{
    struct screen_environment *environment = state;
    if (environment == NULL)
        return;
    free(environment->entries);
    job_unref(environment->job);
    free(environment);
}

/* The environment of the target, or our own if no process is selected. */
static int open_handle(struct monitor *monitor, struct screen_environment *environment,
                       vitals_error *error)
{
    const struct identity *identity = &environment->identity;
    vitals_context *context = monitor->options->context;
    (void)snprintf(environment->command, sizeof environment->command,
                   "vitals itself, as nobody is selected");
    if (!environment->targeted) {
        *error = (vitals_error){.code = VITALS_EGONE,
                                .message = "select a process first (Up, Down)"};
        return context != NULL
                   ? vitals_process_open(context, getpid(), &environment->job->process, error)
                   : VITALS_EGONE;
    }
    const vitals_row *row = identity->start >= 0 ? model_process(&monitor->model, identity) : NULL;
    environment->pid = (int64_t)identity->pid;
    if (row == NULL) {
        *error = (vitals_error){.code = VITALS_EGONE};
        (void)snprintf(error->message, sizeof error->message, "nothing is known of process %llu",
                       (unsigned long long)identity->pid);
        return VITALS_EGONE;
    }
    (void)cell_command(row, monitor->options->look.ascii, environment->command);
    if (context == NULL)
        return 0;
    return vitals_process_of(context, row, &environment->job->process, error);
}

static int start(struct monitor *monitor, struct screen_environment *environment)
{
    vitals_error error;
    environment->job = calloc(1, sizeof *environment->job);
    if (environment->job == NULL)
        return -1;
    environment->job->descriptor = -1;
    atomic_store(&environment->job->owners, 1);
    if (open_handle(monitor, environment, &error) < 0) {
        monitor_say(monitor, "%s", error.message);
        return -1;
    }
    if (monitor->options->context == NULL) {
        (void)snprintf(environment->job->error.message, sizeof environment->job->error.message,
                       "it is asked of a living process; a recording has none");
        atomic_store(&environment->job->done, true);
        return 0;
    }
    environment->pid = vitals_process_pid(environment->job->process);
    return job_start(environment->job);
}

static int open_environment(struct monitor *monitor, void **state)
{
    struct screen_environment *environment = calloc(1, sizeof *environment);
    if (environment != NULL)
        environment->targeted = monitor_target(monitor, &environment->identity);
    if (environment == NULL || start(monitor, environment) < 0) {
        close_environment(environment);
        return -1;
    }
    *state = environment;
    return 0;
}

/* Reads it anew, of the same process; where that has ended, what was read stays. */
static void reload(struct monitor *monitor, struct screen_environment *environment)
{
    struct screen_environment *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return;
    fresh->targeted = environment->targeted;
    fresh->identity = environment->identity;
    if (start(monitor, fresh) == 0) {
        struct screen_environment before = *environment;
        *environment = *fresh;
        *fresh = before;
    }
    close_environment(fresh);
}

enum { SIDEWAYS = 5, LINES = 3 };

static bool act(struct monitor *monitor, void *state, enum action action, int argument)
{
    struct screen_environment *environment = state;
    int page = lines_of(monitor);
    switch ((int)action) {
    case ACTION_UP: environment->top--; return true;
    case ACTION_DOWN: environment->top++; return true;
    case ACTION_PAGE_UP: environment->top -= page; return true;
    case ACTION_PAGE_DOWN: environment->top += page; return true;
    case ACTION_FIRST: environment->top = 0; return true;
    case ACTION_LAST: environment->top = (int)environment->count; return true;
    case ACTION_SIDEWAYS: move_sideways(monitor, environment, argument * SIDEWAYS); return true;
    case ACTION_LINE_BEGIN: environment->shift = 0; return true;
    case ACTION_LINE_END: move_sideways(monitor, environment, environment->widest); return true;
    case ACTION_RESET: reload(monitor, environment); return true;
    default: return false;
    }
}

static bool click(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct screen_environment *environment = state;
    int times = input_times(event);
    switch (event->code) {
    case INPUT_WHEEL_UP: environment->top -= LINES * times; break;
    case INPUT_WHEEL_DOWN: environment->top += LINES * times; break;
    case INPUT_WHEEL_LEFT: move_sideways(monitor, environment, -SIDEWAYS * times); break;
    case INPUT_WHEEL_RIGHT: move_sideways(monitor, environment, SIDEWAYS * times); break;
    default: break;
    }
    return true;
}

const struct screen screen_environment = {
    .name = "environment",
    .bit = ON_ENVIRONMENT,
    .asks = true,
    .open = open_environment,
    .draw = draw,
    .act = act,
    .click = click,
    .settle = settle,
    .descriptor = descriptor,
    .close = close_environment,
};
