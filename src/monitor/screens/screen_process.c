/* screen_process.c: one process: its values over time, as far back as they were kept; on pages in
 * tabs (process_page.h), or with --layout nvitop as two or four graphs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "monitor/screens/process_page.h"
#include "monitor/screens/screen.h"
#include "util/base.h"

enum { GRAPHS = CHART_READ, HEAD = 6, FACT = 320 };

static const struct process_subject {
    const char *title;
    bool down;
    double floor; /* a full column is no less */
    ink style;
    vitals_metric metric; /* of gpu_process: only of one that uses a device */
    bool bytes;           /* else a share */
} SUBJECTS[GRAPHS] = {
    {"HOST-CPU", false, 0.1, STYLE_CYAN, VITALS_PROCESS_CPU_SECONDS, false},
    {"HOST-MEM", true, 1 << 20, STYLE_MAGENTA, VITALS_PROCESS_RESIDENT_BYTES, true},
    {"GPU-MEM", false, 1 << 20, STYLE_GREEN, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, true},
    {"GPU-SM", true, 0.1, STYLE_YELLOW, VITALS_GPU_PROCESS_UTILIZATION_RATIO, false},
};

/* NaN: not known. */
static double subject_value(const struct process_subject *subject, const struct model *model,
                            const struct item *item)
{
    double value;
    bool user = vitals_metric_table(subject->metric) == VITALS_TABLE_GPU_PROCESS;
    bool known = subject->metric == VITALS_PROCESS_CPU_SECONDS
                     ? item_cpu(model, item->process, &value)
                     : cell_fresh(user ? item->user : item->process, subject->metric, &value);
    return known ? value : (double)NAN;
}

static const char *subject_words(const struct process_subject *subject, double value, char *out)
{
    if (isnan(value))
        return cell_not_available(out);
    if (subject->bytes)
        return vitals_human_bytes(value > 0 && value < 1e18 ? (uint64_t)value : 0, out);
    (void)snprintf(out, WORDS, "%.1f%%", value * 100);
    return out;
}

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
        item.gpu = vitals_snapshot_find(model->machine.now, VITALS_TABLE_GPU,
                                        vitals_row_parent(item.user));
    return item;
}

/* The values of a moment; bytes of disks where the list has them. */
static void record(struct screen_process *process, const struct model *model,
                   const struct item *item, uint64_t time_ns,
                   void (*add)(struct history *history, uint64_t time_ns, double value))
{
    static const vitals_metric DISKS[] = {VITALS_PROCESS_READ_BYTES, VITALS_PROCESS_WRITTEN_BYTES};
    double rate;
    for (size_t i = 0; i < GRAPHS; i++)
        add(&process->histories[i], time_ns, subject_value(&SUBJECTS[i], model, item));
    for (size_t i = 0; i < ARRAY_COUNT(DISKS); i++) {
        if (item_rate(model, item->process, DISKS[i], &rate))
            add(&process->histories[CHART_READ + i], time_ns, rate);
    }
}

static void add_reading(struct screen_process *process, const struct model *model)
{
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
    record(process, model, &item, vitals_snapshot_monotonic_ns(now), history_add);
}

static void settle(struct monitor *monitor, void *state)
{
    struct screen_process *process = state;
    add_reading(process, &monitor->model);
    if (!monitor->model.arranged.nvitop)
        process_page_settle(monitor, process);
}

static void recall(void *state, const struct model *then)
{
    struct screen_process *process = state;
    struct item item = item_of(then, process);
    /* one of the two, as the list is of all processes or of those on devices */
    const vitals_snapshot *moment = then->machine.now != NULL ? then->machine.now : then->all.now;
    record(process, then, &item, vitals_snapshot_monotonic_ns(moment), history_add_before);
}

/* The box above the graphs: the whole row, whatever the list of the view leaves out, and the
 * command. */
static void draw_process(struct pen *pen, const struct model *model, const struct item *item)
{
    static const char *const NAMES[] = {"GPU",  "PID",  "USER", "GPU-MEM", "%SM", "%GMBW",
                                        "%CPU", "%MEM", "TIME", "%ENC",    "%DEC"};
    char line[2][WORDS * 10] = {"", ""}, text[WORDS], command[WORDS_COMMAND];
    size_t used[2] = {0, 0};
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        const struct column *column = column_titled(NAMES[i]);
        bool engine = NAMES[i][1] == 'E' || NAMES[i][1] == 'D';
        int width = engine ? 6 : column->width;
        if ((int)used[0] + width > model->width - 4 /* titles are ASCII */ ||
            (engine && item->user == NULL))
            continue;
        column_words(column, model, item, text);
        cell_cut(text, column->width - 1, "+");
        used[0] += column_pad(column->title, width, false, line[0] + used[0],
                              sizeof line[0] - used[0]);
        used[1] += column_pad(text, width, false, line[1] + used[1], sizeof line[1] - used[1]);
    }
    (void)canvas_text(pen->canvas, 2, 1, STYLE_BOLD, line[0]);
    (void)canvas_text(pen->canvas, 2, 2, STYLE_PLAIN, line[1]);

    canvas_words(pen->canvas, 2, 3, model->width - 4,
                 item->process != NULL ? STYLE_PLAIN : STYLE_BOLD | STYLE_YELLOW,
                 item->process != NULL ? cell_command(item->process, pen->look->ascii, command)
                                       : "this process has ended, or is not seen any more");
}

static void draw_subject(struct pen *pen, const struct screen_process *process, size_t place,
                         const struct box *box)
{
    const struct process_subject *subject = &SUBJECTS[place];
    const struct history *history = &process->histories[place];
    char line[FACT], now[WORDS], most[WORDS], full[WORDS];
    size_t seconds = (size_t)box->columns * GRAPH_SECONDS;
    double highest = 0;
    bool known = history_most(history, 0, seconds, &highest);
    double scale = highest * 1.25 > subject->floor ? highest * 1.25 : subject->floor;
    struct graph graph = {
        .history = history, .most = scale, .down = subject->down, .style = subject->style};
    struct box inside = {box->x + 1, box->y + 1, box->columns - 2, box->rows - 2};
    (void)subject_words(subject, history_get(history, 0), now);
    (void)subject_words(subject, known ? highest : (double)NAN, most);
    (void)subject_words(subject, scale, full);
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
    if (!model->arranged.nvitop) {
        process_page_draw(monitor, process, &item, pen);
        return;
    }
    int top = HEAD - 1, rows = model->height - top - 1, width = model->width;
    bool device = item.user != NULL, beside = device && width >= NARROW;
    int count = device ? GRAPHS : 2, lines = beside ? 2 : count;
    struct box frame = {0, 0, width, HEAD - 1};
    draw_box(pen, &frame, "Process");
    draw_process(pen, model, &item);
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

static bool target(const struct monitor *monitor UNUSED, const void *state, struct identity *out)
{
    const struct screen_process *process = state;
    *out = process->identity;
    return true;
}

/* Its device has a screen of its own. */
static bool act(struct monitor *monitor, void *state, enum action action, int argument)
{
    struct screen_process *process = state;
    if (!monitor->model.arranged.nvitop &&
        process_page_act(monitor, &process->page, action, argument))
        return true;
    /* With --layout nvitop the keys of the pages do nothing. */
    const bool goes_on = action == ACTION_BACK || action == ACTION_ENVIRONMENT ||
                         action == ACTION_SIGNAL || action == ACTION_PAUSE ||
                         action == ACTION_HELP || action >= ACTION_TIME_SAMPLE;
    if (action != ACTION_DEVICE)
        return !goes_on;
    struct item item = item_of(&monitor->model, process);
    if (item.gpu == NULL) {
        model_say(&monitor->model, "this process is on no device");
        return true;
    }
    monitor->model.has_device = true;
    monitor->model.device = vitals_row_key(item.gpu);
    (void)monitor_open(monitor, &screen_device);
    return true;
}

static int open_process(struct monitor *monitor, void *state)
{
    struct screen_process *process = state;
    if (!monitor_target(monitor, &process->identity)) {
        model_say(&monitor->model, "select a process first (Up, Down)");
        return -1;
    }
    process->page.part = monitor->part;
    monitor->lines[0] = '\0';
    return 0;
}

const struct screen screen_process = {
    .name = "process",
    .bit = ON_PROCESS,
    .size = sizeof(struct screen_process),
    .open = open_process,
    .asks = true,
    .draw = draw,
    .act = act,
    .click = process_page_click,
    .settle = settle,
    .target = target,
    .descriptor = process_page_descriptor,
    .patience_ns = process_page_patience_ns,
    .answer = process_page_answer,
    .recall = recall,
    .close = process_page_close,
};
