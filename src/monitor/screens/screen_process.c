/* screen_process.c: one process over time: CPU and memory, and what it does on a device. Graphs
 * begin when the screen is opened, and scale themselves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/screens/screen.h"

enum { GRAPHS = 4, HEAD = 6, FACT = 320 };

struct screen_process {
    struct identity identity;
    uint64_t sequence; /* of the last snapshot that was added */
    unsigned epoch;    /* of the model, then */
    struct history histories[GRAPHS];
};

/* ---- the graphs: a table ---- */

struct process_subject {
    const char *title;
    bool device; /* only of one that uses a device */
    bool down;
    double floor; /* a full column is no less */
    ink style;
    bool (*value)(const struct model *model, const struct item *item, double *out);
    void (*words)(double value, char *out);
};

static bool cpu_value(const struct model *model, const struct item *item, double *out)
{
    return item_cpu(model, item->process, out);
}

static bool resident_value(const struct model *model, const struct item *item, double *out)
{
    (void)model;
    return cell_fresh(item->process, VITALS_PROCESS_RESIDENT_BYTES, out);
}

static bool memory_value(const struct model *model, const struct item *item, double *out)
{
    (void)model;
    return cell_fresh(item->user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, out);
}

static bool busy_value(const struct model *model, const struct item *item, double *out)
{
    (void)model;
    return cell_fresh(item->user, VITALS_GPU_PROCESS_UTILIZATION_RATIO, out);
}

static void share_words(double value, char *out)
{
    (void)snprintf(out, WORDS, "%.1f%%", value * 100);
}

static void bytes_words(double value, char *out)
{
    (void)vitals_human_bytes(value > 0 && value < 1e18 ? (uint64_t)value : 0, out);
}

static const struct process_subject SUBJECTS[GRAPHS] = {
    {"HOST-CPU", false, false, 0.1, STYLE_CYAN, cpu_value, share_words},
    {"HOST-MEM", false, true, 1 << 20, STYLE_MAGENTA, resident_value, bytes_words},
    {"GPU-MEM", true, false, 1 << 20, STYLE_GREEN, memory_value, bytes_words},
    {"GPU-SM", true, true, 0.1, STYLE_YELLOW, busy_value, share_words},
};

/* ---- what is known of it now ---- */

static struct item item_of(const struct model *model, const struct screen_process *process)
{
    struct item item = {.process = model_process(model, &process->identity)};
    const vitals_row *user = NULL;
    while ((user = model_user_of(model, &process->identity, user)) != NULL) {
        item.user = user;
        if (process->identity.gpu == 0 || vitals_row_parent(user) == process->identity.gpu)
            break;
    }
    if (item.user != NULL)
        item.gpu = vitals_snapshot_find(model->machine.now, VITALS_GPU,
                                        vitals_row_parent(item.user));
    return item;
}

static void settle(struct monitor *monitor, void *state)
{
    struct screen_process *process = state;
    const struct model *model = &monitor->model;
    const vitals_snapshot *now = model->machine.now;
    if (model->epoch != process->epoch) {
        memset(process->histories, 0, sizeof process->histories);
        process->sequence = 0;
        process->epoch = model->epoch;
    }
    if (now == NULL || vitals_snapshot_sequence(now) == process->sequence)
        return;
    struct item item = item_of(model, process);
    process->sequence = vitals_snapshot_sequence(now);
    for (size_t i = 0; i < GRAPHS; i++) {
        double value;
        bool known = SUBJECTS[i].value(model, &item, &value);
        history_add(&process->histories[i], vitals_snapshot_monotonic_ns(now),
                    known ? value : (double)NAN);
    }
}

static void recall(void *state, const struct model *then)
{
    struct screen_process *process = state;
    struct item item = item_of(then, process);
    /* one of the two, as the list is of all processes or of those on devices */
    const vitals_snapshot *moment = then->machine.now != NULL ? then->machine.now : then->all.now;
    for (size_t i = 0; i < GRAPHS; i++) {
        double value;
        bool known = SUBJECTS[i].value(then, &item, &value);
        history_add_before(&process->histories[i], vitals_snapshot_monotonic_ns(moment),
                           known ? value : (double)NAN);
    }
}

/* ---- drawing ---- */

/* The whole row, whatever the list of the view leaves out. */
static void draw_row(struct pen *pen, const struct model *model, const struct item *item)
{
    static const char *const NAMES[] = {"GPU",   "PID",  "USER", "GPU-MEM", "%SM",
                                        "%GMBW", "%CPU", "%MEM", "TIME"};
    char line[2][WORDS * 10] = {"", ""}, text[WORDS];
    size_t used[2] = {0, 0};
    int room = model->width - 4;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        for (size_t j = 0; j < list_column_count; j++) {
            const struct column *column = &list_columns[j];
            if (strcmp(column->title, NAMES[i]) != 0 ||
                (int)used[0] + column->width > room /* titles are ASCII */)
                continue;
            column_words(column, model, item, text);
            cell_cut(text, column->width - 1, "+");
            used[0] += column_pad(column->title, column->width, false, line[0] + used[0],
                                  sizeof line[0] - used[0]);
            used[1] += column_pad(text, column->width, false, line[1] + used[1],
                                  sizeof line[1] - used[1]);
        }
    }
    static const struct {
        const char *title;
        vitals_metric metric;
    } ENGINES[] = {{"%ENC", VITALS_GPU_PROCESS_ENCODER_RATIO},
                   {"%DEC", VITALS_GPU_PROCESS_DECODER_RATIO}};
    for (size_t i = 0; i < 2 && (int)used[0] + 6 <= room && item->user != NULL; i++) {
        used[0] += (size_t)snprintf(line[0] + used[0], sizeof line[0] - used[0], "%6s",
                                    ENGINES[i].title);
        used[1] += (size_t)snprintf(line[1] + used[1], sizeof line[1] - used[1], "%6s",
                                    cell_share(item->user, ENGINES[i].metric, text));
    }
    (void)canvas_text(pen->canvas, 2, 1, STYLE_BOLD, line[0]);
    (void)canvas_text(pen->canvas, 2, 2, STYLE_PLAIN, line[1]);
}

static void draw_command(struct pen *pen, const struct model *model, const struct item *item)
{
    char command[WORDS_COMMAND] = "this process has ended, or is not seen any more";
    struct canvas_field field = {.x = 2, .y = 3, .columns = model->width - 4};
    if (item->process != NULL)
        (void)cell_command(item->process, pen->look->ascii, command);
    else
        field.style = STYLE_BOLD | STYLE_YELLOW;
    canvas_field(pen->canvas, &field, command);
}

static void draw_subject(struct pen *pen, const struct screen_process *process, size_t place,
                         const struct box *box)
{
    const struct process_subject *subject = &SUBJECTS[place];
    const struct history *history = &process->histories[place];
    char line[FACT], now[WORDS], most[WORDS], full[WORDS];
    size_t seconds = (size_t)box->columns * GRAPH_SECONDS;
    double highest = 0, value = history_get(history, 0);
    bool known = history_most(history, 0, seconds, &highest);
    double scale = highest * 1.25 > subject->floor ? highest * 1.25 : subject->floor;
    struct graph graph = {
        .history = history, .most = scale, .down = subject->down, .style = subject->style};
    struct box inside = {box->x + 1, box->y + 1, box->columns - 2, box->rows - 2};
    (void)cell_not_available(now);
    (void)cell_not_available(most);
    if (!isnan(value))
        subject->words(value, now);
    if (known)
        subject->words(highest, most);
    subject->words(scale, full);
    (void)snprintf(line, sizeof line, "%s: %s  MAX: %s  (of %s)", subject->title, now, most, full);
    if (canvas_columns(line) > box->columns - BOX_TITLE) /* how high the graph is comes first */
        (void)snprintf(line, sizeof line, "%s: %s  (of %s)", subject->title, now, full);
    draw_box(pen, box, line);
    draw_graph(pen, &inside, &graph);
    draw_time_marks(pen, box->x, box->x + box->columns - 1, box->y + box->rows - 1);
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    const struct screen_process *process = state;
    const struct model *model = &monitor->model;
    struct item item = item_of(model, process);
    int top = HEAD - 1, rows = model->height - top - 1, width = model->width;
    bool device = item.user != NULL, beside = device && width >= NARROW;
    int count = device ? GRAPHS : 2, lines = beside ? 2 : count;
    struct box frame = {0, 0, width, HEAD - 1};
    draw_box(pen, &frame, "Process");
    draw_row(pen, model, &item);
    draw_command(pen, model, &item);
    int each = rows / lines;
    for (int i = 0; i < count && each >= 3; i++) {
        int column = beside ? i / 2 : 0, line = beside ? i % 2 : i;
        struct box box = {column * (width / 2), top + line * each, beside ? width / 2 : width,
                          each};
        draw_subject(pen, process, (size_t)i, &box);
    }
    (void)canvas_text(pen->canvas, 1, model->height - 1, STYLE_DIM,
                      "Enter or q goes back, e shows the environment");
}

static bool target(const struct monitor *monitor, const void *state, struct identity *out)
{
    const struct screen_process *process = state;
    (void)monitor;
    *out = process->identity;
    return true;
}

/* Its device has a screen of its own. */
static bool act(struct monitor *monitor, void *state, enum action action, int argument)
{
    const struct screen_process *process = state;
    struct item item = item_of(&monitor->model, process);
    (void)argument;
    if (action != ACTION_DEVICE)
        return false;
    if (item.gpu == NULL) {
        monitor_say(monitor, "this process is on no device");
        return true;
    }
    monitor->model.has_device = true;
    monitor->model.device = vitals_row_key(item.gpu);
    (void)monitor_open(monitor, &screen_device);
    return true;
}

static int open_process(struct monitor *monitor, void **state)
{
    struct identity identity;
    if (!monitor_target(monitor, &identity)) {
        monitor_say(monitor, "select a process first (Up, Down)");
        return -1;
    }
    struct screen_process *process = calloc(1, sizeof *process);
    if (process == NULL)
        return -1;
    process->identity = identity;
    *state = process;
    return 0;
}

const struct screen screen_process = {
    .name = "process",
    .bit = ON_PROCESS,
    .open = open_process,
    .draw = draw,
    .act = act,
    .settle = settle,
    .target = target,
    .recall = recall,
    .close = free,
};
