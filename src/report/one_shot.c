/* one_shot.c: the report that `vitals -1` prints: time, devices, host, and the processes that use
 * the devices; on a machine without devices, those that use the machine most.
 *
 * Each part is drawn on a canvas of its own rows and printed. */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/rows.h"
#include "feed/trouble.h"
#include "view/cell_text.h"
#include "view/device_panel.h"
#include "view/host_bars.h"

// clang-format off
const vitals_metric REPORT_METRICS[] = {
    VITALS_HOST_UPTIME_SECONDS, VITALS_HOST_LOAD_1M, VITALS_HOST_LOAD_5M, VITALS_HOST_LOAD_15M,
    VITALS_HOST_CPU_BUSY_SECONDS, VITALS_HOST_CPU_TOTAL_SECONDS, VITALS_HOST_MEMORY_TOTAL_BYTES,
    VITALS_HOST_MEMORY_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES, VITALS_HOST_SWAP_USED_BYTES,
    VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, VITALS_HOST_CGROUP_MEMORY_USED_BYTES,
    VITALS_HOST_CGROUP_CPU_LIMIT_CORES,
    VITALS_GPU_NAME, VITALS_GPU_PCI_BUS_ID, VITALS_GPU_DRIVER_VERSION, VITALS_GPU_CUDA_VERSION,
    VITALS_GPU_GPU_INSTANCE_ID, VITALS_GPU_COMPUTE_INSTANCE_ID, VITALS_GPU_MEMORY_TOTAL_BYTES,
    VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_UTILIZATION_RATIO, VITALS_GPU_MEMORY_BUSY_RATIO,
    VITALS_GPU_POWER_WATTS, VITALS_GPU_POWER_LIMIT_WATTS, VITALS_GPU_TEMPERATURE_CELSIUS,
    VITALS_GPU_FAN_RATIO, VITALS_GPU_PERFORMANCE_STATE, VITALS_GPU_COMPUTE_MODE,
    VITALS_GPU_PERSISTENCE_MODE, VITALS_GPU_DISPLAY_ACTIVE, VITALS_GPU_MIG_MODE,
    VITALS_GPU_ECC_ERRORS_UNCORRECTED, VITALS_GPU_THROTTLED_BY_POWER,
    VITALS_GPU_THROTTLED_BY_TEMPERATURE, VITALS_GPU_THROTTLED_BY_CURRENT,
    VITALS_GPU_THROTTLED_OTHERWISE, VITALS_GPU_THROTTLE_REASONS, VITALS_GPU_XID_ERRORS,
    VITALS_GPU_XID_LAST, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, VITALS_GPU_POOL_TOTAL_BYTES,
    VITALS_GPU_POOL_USED_BYTES,
    VITALS_PROCESS_PID, VITALS_PROCESS_START_SECONDS, VITALS_PROCESS_NAME, VITALS_PROCESS_STATE,
    VITALS_PROCESS_THREADS, VITALS_PROCESS_CPU_SECONDS, VITALS_PROCESS_RESIDENT_BYTES,
    VITALS_PROCESS_USER, VITALS_PROCESS_COMMAND_LINE,
    VITALS_GPU_PROCESS_PID, VITALS_GPU_PROCESS_PROCESS, VITALS_GPU_PROCESS_TYPE,
    VITALS_GPU_PROCESS_MEMORY_USED_BYTES, VITALS_GPU_PROCESS_UTILIZATION_RATIO,
    VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO,
    VITALS_SOURCE_MESSAGE,
};
// clang-format on
const size_t REPORT_METRIC_COUNT = sizeof(REPORT_METRICS) / sizeof(REPORT_METRICS[0]);

struct page {
    const struct one_shot_options *options;
    const vitals_snapshot *now, *older; /* older may be NULL */
    int width;                          /* of the whole report */
    struct canvas canvas;
    struct pen pen;
    vitals_write_fn *write;
    void *data;
    int code; /* 0, or why nothing more is printed */
};

/* An empty canvas for the next rows; returns false if nothing can be drawn. page_end prints it. */
static bool page_begin(struct page *page, int width, int rows)
{
    if (page->code == 0 && canvas_resize(&page->canvas, width, rows) < 0)
        page->code = VITALS_EMEMORY;
    return page->code == 0;
}

static void page_end(struct page *page)
{
    page->code = canvas_print(&page->canvas, page->options->color, page->write, page->data);
}

enum { COMFORTABLE = 140 };

/* A line of its own width, which a terminal may fold. */
static void print_line(struct page *page, ink style, const char *text)
{
    if (!page_begin(page, canvas_columns(text), 1))
        return;
    (void)canvas_text(&page->canvas, 0, 0, style, text);
    page_end(page);
}

/* ---- the parts ---- */

/* Why no device is shown: what failed, or in a few words that there is none. */
static void missing_words(const struct page *page, const struct device_panel *panel, char *out,
                          size_t capacity)
{
    char message[WORDS_COMMAND];
    if (vitals_snapshot_count(page->now, VITALS_TABLE_GPU) > 0) {
        device_panel_missing(panel, out, capacity);
        return;
    }
    size_t used = (size_t)snprintf(out, capacity, "No GPU"), begin = used;
    for (const vitals_row *row = NULL;
         (row = report_next_back_end(page->now, row)) != NULL && used < capacity;) {
        if (report_was_kept(row))
            used += (size_t)snprintf(out + used, capacity - used, "%s%s",
                                     used == begin ? ": " : "; ",
                                     cell_text(row, VITALS_SOURCE_MESSAGE,
                                               page->options->look.ascii, message, sizeof message));
    }
    if (used == begin)
        (void)snprintf(out + used, capacity - used, ": vitals doctor says why");
}

static void print_devices(struct page *page)
{
    enum { LINE = 4096 };
    const struct device_panel panel = {.now = page->now,
                                       .look = &page->options->look,
                                       .selection = page->options->selection,
                                       .width = page->width,
                                       .form = FORM_FULL,
                                       .tracked = true};
    if (device_panel_next(&panel, NULL) == NULL) {
        char line[LINE];
        missing_words(page, &panel, line, sizeof line);
        print_line(page, STYLE_DIM, line);
        return;
    }
    if (!page_begin(page, page->width, device_panel_rows(&panel)))
        return;
    device_panel_draw(&page->pen, &panel, 0);
    page_end(page);
}

static void print_host(struct page *page)
{
    enum { LOAD_COLUMNS = 5 };
    struct host_bars bars = {.host = vitals_snapshot_next(page->now, VITALS_TABLE_HOST, NULL),
                             .width = page->width,
                             .load_columns = LOAD_COLUMNS,
                             .tracked = true};
    if (bars.host == NULL || !page_begin(page, page->width, HOST_BARS_ROWS))
        return;
    bars.cpu_known = host_cpu_ratio(page->now, page->older, &bars.cpu_ratio);
    host_bars_draw(&page->pen, &bars, 0);
    page_end(page);

    /* A line about our own cgroup if it allows less than the machine has. */
    double cores;
    char count[WORDS] = "", used[WORDS], limit[WORDS], line[4 * WORDS];
    bool has_cores = cell_value(bars.host, VITALS_HOST_CGROUP_CPU_LIMIT_CORES, &cores);
    bool has_limit = vitals_row_availability(bars.host, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES) > 0;
    if (has_cores)
        (void)snprintf(count, sizeof count, " at most %.4g CPUs", cores);
    if (has_limit)
        (void)snprintf(line, sizeof line, "[ our cgroup:%s%s memory %s of at most %s ]", count,
                       has_cores ? "," : "",
                       cell_bytes(bars.host, VITALS_HOST_CGROUP_MEMORY_USED_BYTES, used),
                       cell_bytes(bars.host, VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, limit));
    else
        (void)snprintf(line, sizeof line, "[ our cgroup:%s ]", count);
    if (has_cores || has_limit)
        print_line(page, STYLE_PLAIN, line);
}

/* ---- the processes ---- */

enum { HOST_ROWS = 20, BORDER = 2, COMMAND_MARGIN = 3, TITLE = 13 };

/* A line of the table. */
struct one_shot_line {
    const vitals_row *gpu, *user; /* NULL in the table of the machine's processes */
    const vitals_row *process;    /* NULL: nothing is known of it */
    double cores, resident;       /* below 0: not known */
};

struct one_shot_column {
    const char *title;
    int gap, width; /* blanks before it, and its columns */
    bool left;      /* aligned */
    enum {
        NUMBER, /* these three: a metric of the process, or of its use of the device */
        BYTES,
        SHARE,
        GPU,
        TYPE,
        USER,
        CPU,
        MEMORY, /* the share of the machine's memory */
        TIME,
        WORK,
        COMMAND
    } what;
    vitals_metric metric;
};

/* Writes at most WORDS_COMMAND bytes. `room`: columns that the text has. */
static void column_words(const struct page *page, const struct one_shot_column *column,
                         const struct one_shot_line *line, int room, char *out)
{
    const bool ascii = page->options->look.ascii;
    const vitals_row *row = line->user != NULL &&
                                    vitals_metric_table(column->metric) == VITALS_TABLE_GPU_PROCESS
                                ? line->user
                                : line->process;
    double total, start, now = (double)vitals_snapshot_boottime_ns(page->now) / 1e9;
    (void)cell_not_available(out);
    switch (column->what) {
    case NUMBER: (void)cell_number(row, column->metric, "", out); break;
    case BYTES: (void)cell_bytes(row, column->metric, out); break;
    case SHARE: (void)cell_share(row, column->metric, out); break;
    case GPU: (void)snprintf(out, WORDS, "%s", vitals_row_label(line->gpu)); break;
    case TYPE:
        (void)cell_text(line->user, VITALS_GPU_PROCESS_TYPE, ascii, out, WORDS);
        if (strcmp(out, "C+G") == 0)
            memcpy(out, "X", 2);
        else if (strcmp(out, "N/A") == 0)
            memcpy(out, "?", 2);
        break;
    case USER:
        (void)cell_text(line->process, VITALS_PROCESS_USER, ascii, out, WORDS);
        cell_cut(out, column->width, "+");
        break;
    case CPU:
        if (line->cores >= 0)
            (void)snprintf(out, WORDS, "%.1f", line->cores * 100);
        break;
    case MEMORY:
        row = vitals_snapshot_next(page->now, VITALS_TABLE_HOST, NULL);
        if (line->resident >= 0 && cell_value(row, VITALS_HOST_MEMORY_TOTAL_BYTES, &total) &&
            total > 0)
            (void)snprintf(out, WORDS, "%.1f", line->resident / total * 100);
        break;
    case TIME:
        if (cell_value(line->process, VITALS_PROCESS_START_SECONDS, &start))
            (void)vitals_human_duration(now - start, out);
        break;
    case WORK: (void)report_work(line->process, ascii, out, WORDS_COMMAND); break;
    case COMMAND:
        if (line->process != NULL) {
            (void)cell_command(line->process, ascii, out);
            if (canvas_columns(out) > room) /* then the folders of its program go */
                (void)cell_program(out);
        } else
            (void)snprintf(
                out, WORDS_COMMAND, "%s",
                cell_stranger(vitals_row_availability(line->user, VITALS_GPU_PROCESS_PROCESS)));
        break;
    }
}

/* ---- the columns; the width of the last ones follows from the page ---- */

// clang-format off
static const struct one_shot_column GPU_COLUMNS[] = {
    {"GPU", 0, 4, false, GPU, 0},
    {"PID", 0, 8, false, NUMBER, VITALS_GPU_PROCESS_PID},
    {"", 1, 1, true, TYPE, 0},
    {"USER", 1, 7, false, USER, 0},
    {"GPU-MEM", 0, 9, false, BYTES, VITALS_GPU_PROCESS_MEMORY_USED_BYTES},
    {"%SM", 0, 4, false, SHARE, VITALS_GPU_PROCESS_UTILIZATION_RATIO},
    {"%GMBW", 0, 6, false, SHARE, VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO},
    {"%CPU", 0, 6, false, CPU, 0},
    {"%MEM", 0, 6, false, MEMORY, 0},
    {"TIME", 0, 9, false, TIME, 0},
    {"WORK", 2, 0, true, WORK, 0},
    {"COMMAND", 2, 0, true, COMMAND, 0},
};
static const struct one_shot_column HOST_COLUMNS[] = {
    {"PID", 0, 8, false, NUMBER, VITALS_PROCESS_PID},
    {"USER", 1, 9, false, USER, 0},
    {"THR", 0, 5, false, NUMBER, VITALS_PROCESS_THREADS},
    {"RES", 0, 9, false, BYTES, VITALS_PROCESS_RESIDENT_BYTES},
    {"%CPU", 0, 6, false, CPU, 0},
    {"%MEM", 0, 6, false, MEMORY, 0},
    {"TIME", 0, 9, false, TIME, 0},
    {"COMMAND", 2, 0, true, COMMAND, 0},
};
// clang-format on

struct one_shot_table {
    const struct one_shot_column *columns;
    size_t count;
    int work; /* columns of WORK; 0: it is not shown */
};

static int column_width(const struct one_shot_table *table, const struct one_shot_column *column)
{
    return column->what == WORK ? table->work : column->width;
}

/* ---- which processes ---- */

static struct one_shot_line line_of(const struct page *page, const vitals_row *gpu,
                                    const vitals_row *user, const vitals_row *process)
{
    uint64_t key;
    struct one_shot_line line = {
        .gpu = gpu, .user = user, .process = process, .cores = -1, .resident = -1};
    if (user != NULL && vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &key) > 0)
        line.process = vitals_snapshot_find(page->now, VITALS_TABLE_PROCESS, key);
    if (line.process == NULL ||
        vitals_row_rate(line.process, page->older, VITALS_PROCESS_CPU_SECONDS, &line.cores) <= 0)
        line.cores = -1;
    if (!cell_value(line.process, VITALS_PROCESS_RESIDENT_BYTES, &line.resident))
        line.resident = -1;
    return line;
}

static bool passes(const struct page *page, const struct one_shot_line *line)
{
    const struct selection *selection = &page->options->selection;
    const vitals_row *row = line->user != NULL ? line->user : line->process;
    vitals_metric metric = line->user != NULL ? VITALS_GPU_PROCESS_PID : VITALS_PROCESS_PID;
    uint64_t pid;
    if (vitals_row_u64(row, metric, &pid) <= 0)
        pid = 0;
    return (line->user == NULL || selection_has_type(selection, line->user)) &&
           selection_has_user(selection, line->process) && selection_has_pid(selection, pid);
}

static int compare_lines(const void *a, const void *b)
{
    const struct one_shot_line *x = a, *y = b;
    if (x->cores != y->cores)
        return x->cores > y->cores ? -1 : 1;
    if (x->resident != y->resident)
        return x->resident > y->resident ? -1 : 1;
    return vitals_row_key(x->process) < vitals_row_key(y->process) ? -1 : 1;
}

/* Returns the lines of the table, which the caller frees: by device, or of the machine the heaviest
 * first. NULL: out of memory. */
static struct one_shot_line *gather(const struct page *page, bool devices, size_t *count)
{
    vitals_table entity = devices ? VITALS_TABLE_GPU_PROCESS : VITALS_TABLE_PROCESS;
    struct one_shot_line *lines = calloc(vitals_snapshot_count(page->now, entity) + 1,
                                         sizeof *lines);
    *count = 0;
    if (lines == NULL)
        return NULL;
    if (!devices) {
        EACH_ROW(row, page->now, VITALS_TABLE_PROCESS) {
            struct one_shot_line line = line_of(page, NULL, NULL, row);
            if (passes(page, &line))
                lines[(*count)++] = line;
        }
        qsort(lines, *count, sizeof *lines, compare_lines);
        return lines;
    }

    EACH_ROW(gpu, page->now, VITALS_TABLE_GPU) {
        if (!selection_has_device(&page->options->selection, gpu))
            continue;
        EACH_CHILD(user, page->now, VITALS_TABLE_GPU_PROCESS, vitals_row_key(gpu)) {
            struct one_shot_line line = line_of(page, gpu, user, NULL);
            if (passes(page, &line))
                lines[(*count)++] = line;
        }
    }
    return lines;
}

static struct one_shot_table table_of(const struct page *page, const struct one_shot_line *lines,
                                      size_t count)
{
    enum { ROOMY = 110, WORK_MOST = 24 };
    char words[WORDS_COMMAND];
    struct one_shot_table table = {HOST_COLUMNS, sizeof HOST_COLUMNS / sizeof HOST_COLUMNS[0], 0};
    if (vitals_snapshot_count(page->now, VITALS_TABLE_GPU) == 0)
        return table;
    table.columns = GPU_COLUMNS;
    table.count = sizeof GPU_COLUMNS / sizeof GPU_COLUMNS[0];
    for (size_t i = 0; i < count && page->options->width >= ROOMY; i++) {
        (void)report_work(lines[i].process, page->options->look.ascii, words, sizeof words);
        int wide = canvas_columns(words);
        table.work = wide > table.work ? wide : table.work;
    }
    table.work = table.work < WORK_MOST ? table.work : WORK_MOST;
    return table;
}

/* The columns that the widest line of the processes needs. */
static int processes_width(const struct page *page)
{
    char command[WORDS_COMMAND];
    size_t count;
    struct one_shot_line *lines = gather(
        page, vitals_snapshot_count(page->now, VITALS_TABLE_GPU) > 0, &count);
    const struct one_shot_table table = table_of(page, lines, lines != NULL ? count : 0);
    free(lines);

    int widest = 0;
    EACH_ROW(row, page->now, VITALS_TABLE_PROCESS) {
        int wide = canvas_columns(cell_command(row, page->options->look.ascii, command));
        widest = wide > widest ? wide : widest;
    }
    for (size_t i = 0; i + 1 < table.count; i++) { /* the columns before the command */
        int width = column_width(&table, &table.columns[i]);
        widest += width > 0 ? table.columns[i].gap + width : 0;
    }
    return widest + BORDER + COMMAND_MARGIN;
}

/* ---- rows of the box ---- */

/* `line` may be NULL: the titles. */
static void print_row(struct page *page, const struct one_shot_table *table,
                      const struct one_shot_line *line)
{
    const struct edges box = {{0, page->width - 1}, 2};
    if (!page_begin(page, page->width, 1))
        return;
    draw_edges(&page->pen, 0, &box);
    int x = 1;
    for (size_t i = 0; i < table->count; i++) {
        const struct one_shot_column *column = &table->columns[i];
        char text[WORDS_COMMAND];
        bool last = i + 1 == table->count;
        int width = column_width(table, column);
        if (width == 0 && !last)
            continue;
        struct canvas_field field = {.x = x + column->gap,
                                     .columns = last ? page->width - BORDER - x - column->gap
                                                     : width,
                                     .right = !column->left};
        if (line == NULL)
            (void)snprintf(text, sizeof text, "%s", column->title);
        else
            column_words(page, column, line, field.columns, text);
        if (line != NULL && column->what == GPU)
            field.style = device_style(&page->options->look, line->gpu);
        else if (line != NULL && last && line->process == NULL)
            field.style = STYLE_YELLOW;
        canvas_field(&page->canvas, &field, text);
        x = field.x + field.columns;
    }
    page_end(page);
}

static void print_text(struct page *page, const char *text)
{
    const struct edges box = {{0, page->width - 1}, 2};
    if (!page_begin(page, page->width, 1))
        return;
    (void)canvas_text(&page->canvas, 1, 0, STYLE_PLAIN, text);
    draw_edges(&page->pen, 0, &box);
    page_end(page);
}

static void print_rule(struct page *page, bool strong, bool above, bool below)
{
    const struct edges box = {{0, page->width - 1}, 2}, none = {.count = 0};
    if (!page_begin(page, page->width, 1))
        return;
    draw_rule(&page->pen, 0, strong, above ? &box : &none, below ? &box : &none);
    page_end(page);
}

static void print_processes(struct page *page)
{
    bool devices = vitals_snapshot_count(page->now, VITALS_TABLE_GPU) > 0;
    size_t count, shown;
    if (!vitals_snapshot_has_table(page->now, VITALS_TABLE_PROCESS))
        return;
    struct one_shot_line *lines = gather(page, devices, &count);
    if (lines == NULL) {
        page->code = VITALS_EMEMORY;
        return;
    }
    const struct one_shot_table table = table_of(page, lines, count);
    print_rule(page, true, false, true);
    /* The title, with user and host at the right. */
    const char *user = page->options->user;
    const vitals_text_form form = page->options->look.ascii ? VITALS_TEXT_ASCII
                                                            : VITALS_TEXT_TERMINAL;
    char host[WORDS], name[WORDS] = "", owner[2 * WORDS];
    vitals_text_format(vitals_snapshot_host(page->now), form, host, sizeof host);
    if (user != NULL)
        vitals_text_format(vitals_text_of(user), form, name, sizeof name);
    (void)snprintf(owner, sizeof owner, "%s%s%s", name, user != NULL ? "@" : "", host);
    if (page_begin(page, page->width, 1)) {
        const struct edges box = {{0, page->width - 1}, 2};
        const struct canvas_field field = {.x = TITLE,
                                           .columns = page->width - BORDER - TITLE,
                                           .right = true,
                                           .style = STYLE_BOLD};
        (void)canvas_text(&page->canvas, 1, 0, STYLE_BOLD, " Processes:");
        canvas_field(&page->canvas, &field, owner);
        draw_edges(&page->pen, 0, &box);
        page_end(page);
    }
    print_row(page, &table, NULL);
    print_rule(page, true, true, true);

    shown = devices || count < HOST_ROWS ? count : HOST_ROWS;
    for (size_t i = 0; i < shown; i++) {
        if (i > 0 && lines[i].gpu != lines[i - 1].gpu)
            print_rule(page, false, true, true);
        print_row(page, &table, &lines[i]);
    }
    if (count > shown) {
        char more[WORDS];
        (void)snprintf(more, sizeof more, "  and %zu more; vitals ps lists them all",
                       count - shown);
        print_text(page, more);
    }
    if (vitals_snapshot_state(page->now, VITALS_TABLE_PROCESS) == VITALS_LOWER_BOUND)
        print_text(page, "  and more: /proc hides others' processes (hidepid; vitals doctor)");
    if (count == 0) {
        char line[WORDS * 2];
        const char *why = devices ? trouble_users(page->now) : "No processes found";
        (void)snprintf(line, sizeof line, "  %s", why != NULL ? why : "No running processes found");
        print_text(page, line);
    }
    print_rule(page, true, true, false);
    free(lines);
}

/* ---- the whole ---- */

int report_one_shot(const vitals_snapshot *snapshot, const vitals_snapshot *older,
                    const struct one_shot_options *options, vitals_write_fn *write, void *data)
{
    struct page page = {
        .options = options, .now = snapshot, .older = older, .write = write, .data = data};
    page.pen = (struct pen){&page.canvas, &options->look};

    /* Below NARROW columns the report keeps that width: a terminal folds it. */
    int columns = options->width;
    page.width = columns < NARROW ? NARROW : columns;
    if (columns >= WIDE) {
        int widest = processes_width(&page);
        int wanted = columns < widest ? columns : widest;
        int least = columns < COMFORTABLE ? columns : COMFORTABLE;
        page.width = wanted > least ? wanted : least;
    }

    static const char DEMO[] = "   DEMO: these devices are invented";
    char time[WORDS];
    if (cell_time(page.now, time) && page_begin(&page, WORDS + (int)sizeof DEMO, 1)) {
        int x = canvas_text(&page.canvas, 0, 0, STYLE_PLAIN, time);
        if (device_panel_is_demo(page.now))
            (void)canvas_text(&page.canvas, x, 0, STYLE_YELLOW, DEMO);
        page_end(&page);
    }
    print_devices(&page);
    print_host(&page);
    print_line(&page, STYLE_PLAIN, "");
    print_processes(&page);
    canvas_done(&page.canvas);
    return page.code;
}

size_t report_missing_devices(const vitals_snapshot *snapshot, const struct selection *selection,
                              uint64_t *missing)
{
    size_t count = 0;
    for (size_t i = 0; i < selection->device_count; i++) {
        const vitals_row *gpu = NULL;
        while ((gpu = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, gpu)) != NULL &&
               selection_device_index(gpu) != selection->devices[i])
            ;
        if (gpu == NULL)
            missing[count++] = selection->devices[i];
    }
    return count;
}

/* ---- what back ends say of themselves, where there are no devices to be shown ---- */

bool report_is_back_end(const vitals_row *source)
{
    return vitals_row_key(source) >= VITALS_SOURCE_BACK_ENDS;
}

const vitals_row *report_next_back_end(const vitals_snapshot *snapshot, const vitals_row *after)
{
    const vitals_row *row = after;
    do
        row = vitals_snapshot_next(snapshot, VITALS_TABLE_SOURCE, row);
    while (row != NULL && !report_is_back_end(row));
    return row;
}

bool report_was_kept(const vitals_row *back_end)
{
    char state[WORDS];
    (void)cell_text(back_end, VITALS_SOURCE_STATE, true, state, sizeof state);
    return strcmp(state, "N/A") != 0 && strcmp(state, "have") != 0 &&
           strcmp(state, "unsupported") != 0;
}

/* ---- the work that a process belongs to, in a few words: the most specific one. Sessions and
 * scopes, which every process is in, are left out. ---- */

const vitals_metric REPORT_WORK_METRICS[] = {
    VITALS_PROCESS_SLURM_JOB,     VITALS_PROCESS_SLURM_STEP, VITALS_PROCESS_POD,
    VITALS_PROCESS_POD_NAME,      VITALS_PROCESS_CONTAINER,  VITALS_PROCESS_CONTAINER_NAME,
    VITALS_PROCESS_POD_NAMESPACE, VITALS_PROCESS_UNIT,
};
const size_t REPORT_WORK_METRIC_COUNT = sizeof(REPORT_WORK_METRICS) /
                                        sizeof(REPORT_WORK_METRICS[0]);

enum { WORK_WORDS = 256, SHORT_ID = 12 };

/* Safe; returns false, and "", if there is none. */
static bool word_of(const vitals_row *process, vitals_metric metric, bool ascii,
                    char out[static WORK_WORDS])
{
    vitals_text text;
    out[0] = '\0';
    if (vitals_row_text(process, metric, &text) <= 0 || text.size == 0)
        return false;
    vitals_text_format(text, ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out, WORK_WORDS);
    return true;
}

bool report_work(const vitals_row *process, bool ascii, char *out, size_t capacity)
{
    char first[WORK_WORDS], second[WORK_WORDS];
    out[0] = '\0';
    if (process == NULL)
        return false;
    if (word_of(process, VITALS_PROCESS_SLURM_JOB, ascii, first)) {
        bool step = word_of(process, VITALS_PROCESS_SLURM_STEP, ascii, second);
        (void)snprintf(out, capacity, "job %s%s%s", first, step ? "." : "", second);
    } else if (word_of(process, VITALS_PROCESS_POD_NAME, ascii, first) ||
               word_of(process, VITALS_PROCESS_POD, ascii, first)) {
        (void)snprintf(out, capacity, "pod %s", first);
    } else if (word_of(process, VITALS_PROCESS_CONTAINER_NAME, ascii, first) ||
               word_of(process, VITALS_PROCESS_CONTAINER, ascii, first)) {
        /* Runtimes show so much of an id of 64 digits; names stay whole. */
        if (strlen(first) == 64 && strspn(first, "0123456789abcdef") == 64)
            first[SHORT_ID] = '\0';
        (void)snprintf(out, capacity, "container %s", first);
    } else if (word_of(process, VITALS_PROCESS_UNIT, ascii, first)) {
        /* A user's own systemd is a service too, and is in every session. */
        size_t size = strlen(first), suffix = strlen(".service");
        if (size >= suffix && strcmp(first + size - suffix, ".service") == 0 &&
            strncmp(first, "user@", 5) != 0)
            (void)snprintf(out, capacity, "%s", first);
    }
    return out[0] != '\0';
}
