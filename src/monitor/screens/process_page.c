/* process_page.c: see process_page.h. */
#include "monitor/screens/process_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/rows.h"
#include "monitor/screens/process_summary.h"
#include "util/base.h"
#include "util/memory.h"

enum { LINE = 512, GAP = 2, TABS_Y = 1, RULE_Y = 2, BODY_Y = 3, LABEL_COLUMNS = 32 };

static const struct {
    const char *title;
    const char *key; /* of `--screen 120x40:process-KEY` */
} TABS[PROCESS_PARTS] = {
    {"Overview", "overview"}, {"Threads", "threads"}, {"Files", "files"},
    {"Sockets", "sockets"},   {"Limits", "limits"},   {"Environment", "environ"},
    {"cgroup", "cgroup"},
};

int process_part_find(const char *key)
{
    for (int i = 0; i < PROCESS_PARTS; i++) {
        if (strcmp(TABS[i].key, key) == 0)
            return i;
    }
    return -1;
}

static const struct hint HINTS[] = {
    {INPUT_TAB, "Tab", "next"}, {'/', "/", "filter"}, {'T', "T", "end it"}, {'n', "n", "nice"},
    {'i', "i", "I/O"},          {'a', "a", "CPUs"},   {'y', "y", "copy"},   {'z', "z", "time"},
    {'s', "s", "strace"},       {'d', "d", "device"}, {'r', "r", "reread"}, {'h', "h", "help"},
    {'q', "q", "back"},
};

/* ---- the process, asked ---- */

static struct process_page *page_of(void *state)
{
    return &((struct screen_process *)state)->page;
}

void process_page_close(void *state)
{
    struct process_page *page = page_of(state);
    process_query_free(page->query);
    vitals_process_close(page->process);
    for (size_t i = 0; i < PROCESS_PARTS; i++)
        vitals_snapshot_unref(page->answers[i]);
    vitals_snapshot_unref(page->threads_before);
    canvas_done(&page->sheet);
    memory_free(page->shown);
}

/* Why the process is not asked; NULL: it is. */
static const char *silence_of(const struct monitor *monitor)
{
    const struct monitor_options *options = monitor->options;
    return monitor->model.away ? "This is the past; E goes to now, where the process is asked"
           : options->part_ops == NULL ? "A recording has no more of a process"
           : options->context == NULL  ? "This is of a living process; a recording has none"
                                       : NULL;
}

static void open_handles(struct monitor *monitor, struct process_page *page, const vitals_row *row)
{
    vitals_error error;
    vitals_process *process = NULL;
    page->tried = true;
    error.code = 0;
    if (vitals_process_of(monitor->options->context, row, &page->process, &error) == 0 &&
        vitals_process_of(monitor->options->context, row, &process, &error) == 0)
        page->query = process_query_new(process);
    page->ended = error.code == VITALS_EGONE;
    if (page->query == NULL)
        (void)snprintf(page->problem, sizeof page->problem, "%s",
                       page->process == NULL || process == NULL ? error.message : "out of memory");
}

static void ask(struct monitor *monitor, struct process_page *page)
{
    vitals_request *request = NULL;
    vitals_error error;
    page->asked = page->part;
    page->asked_ns = page->now_ns;
    if (monitor->options->part_ops->request(page->part, &request, &error) < 0)
        vitals_request_free(request);
    else
        page->asks = process_query_ask(page->query, request);
    if (!page->asks) {
        (void)snprintf(page->problem, sizeof page->problem, "it cannot be asked now");
        page->due_ns[page->part] = page->now_ns + 2 * NS_PER_SECOND;
    }
}

/* The row of the process in the newest answer about all of it, or NULL. */
static const vitals_row *answered(const struct process_page *page)
{
    return row_next(page->answers[PROCESS_OVERVIEW], VITALS_TABLE_PROCESS, NULL);
}

/* Values of an answer: bytes a second, where the list has no such column, and of a process that has
 * left its device also those that no reading has any more. */
static void add_values(const struct model *model, struct screen_process *process,
                       const vitals_snapshot *older)
{
    static const struct {
        vitals_metric metric;
        enum process_chart chart;
    } RATES[] = {{VITALS_PROCESS_READ_BYTES, CHART_READ},
                 {VITALS_PROCESS_WRITTEN_BYTES, CHART_WRITTEN},
                 {VITALS_PROCESS_CPU_SECONDS, CHART_CPU}};
    const vitals_row *row = answered(&process->page);
    bool read = model_process(model, &process->identity) != NULL;
    double value;
    if (model->machine.now == NULL)
        return;
    uint64_t now_ns = vitals_snapshot_monotonic_ns(model->machine.now);
    for (size_t i = 0; i < ARRAY_COUNT(RATES) - read; i++) {
        if (vitals_row_rate(row, older, RATES[i].metric, &value) > 0)
            history_add(&process->histories[RATES[i].chart], now_ns, value);
    }
    if (!read && cell_value(row, VITALS_PROCESS_RESIDENT_BYTES, &value))
        history_add(&process->histories[CHART_MEMORY], now_ns, value);
}

static void take(struct monitor *monitor, struct screen_process *process)
{
    enum { SHARE = 50 };
    struct process_page *page = &process->page;
    vitals_snapshot *answer = NULL;
    vitals_error error;
    if (page->query == NULL || !process_query_take(page->query, &answer, &error))
        return;
    /* %CPU of threads needs a second answer soon. */
    bool soon = page->asked == PROCESS_THREADS && page->answers[page->asked] == NULL;
    uint64_t rest_ns = (page->now_ns - page->asked_ns) * SHARE;
    uint64_t least_ns = soon ? NS_PER_SECOND / 2 : 2 * NS_PER_SECOND;
    rest_ns = rest_ns > least_ns ? rest_ns : least_ns;
    page->asks = false;
    /* Its environment is that of its start. */
    page->due_ns[page->asked] = page->asked == PROCESS_ENVIRONMENT && answer != NULL
                                    ? UINT64_MAX
                                    : page->now_ns + rest_ns;
    if (answer == NULL && error.code == VITALS_EGONE) {
        page->due_ns[page->asked] = UINT64_MAX;
        page->ended = true;
    }
    if (answer == NULL) {
        (void)snprintf(page->problem, sizeof page->problem, "%s", error.message);
        return;
    }
    page->lives = page->asked_ns >= page->unseen_ns;
    if (!page->lives) /* it was asked before */
        page->due_ns[page->asked] = 0;
    vitals_snapshot *older = page->answers[page->asked];
    page->answers[page->asked] = answer;
    if (page->asked == PROCESS_OVERVIEW)
        add_values(&monitor->model, process, older);
    if (page->asked == PROCESS_THREADS) {
        vitals_snapshot_unref(page->threads_before);
        page->threads_before = older;
        older = NULL;
    }
    vitals_snapshot_unref(older);
    page->painted = page->painted && page->asked != page->part;
    page->problem[0] = '\0';
}

int process_page_descriptor(const void *state)
{
    const struct process_page *page = &((const struct screen_process *)state)->page;
    return page->query != NULL ? process_query_descriptor(page->query) : -1;
}

uint64_t process_page_patience_ns(const void *state)
{
    const struct process_page *page = &((const struct screen_process *)state)->page;
    uint64_t due_ns = page->due_ns[page->part];
    if (page->query == NULL || page->silent || page->asks || due_ns == UINT64_MAX)
        return 0;
    return due_ns > page->now_ns ? due_ns - page->now_ns : NS_PER_MS;
}

/* ---- its lines ---- */

/* Text that is painted, on its way to a canvas, or only counted. */
struct sheet_sink {
    struct canvas *canvas; /* NULL: it is counted */
    int label;             /* what stands before this column is a label */
    int x, y;
};

static void take_piece(void *data, enum color color, const char *bytes, size_t size)
{
    static const ink INKS[] = {
        [COLOR_PLAIN] = STYLE_PLAIN, [COLOR_GREEN] = INK_WELL, [COLOR_YELLOW] = INK_NOTICE,
        [COLOR_RED] = INK_TROUBLE,   [COLOR_CYAN] = INK_KEY,   [COLOR_MAGENTA] = INK_NOTICE,
        [COLOR_DIM] = INK_SOFT,      [COLOR_BOLD] = INK_TITLE,
    };
    struct sheet_sink *sink = data;
    while (size > 0) {
        char text[LINE];
        const char *end = memchr(bytes, '\n', size);
        size_t part = end != NULL ? (size_t)(end - bytes) : size;
        if (part >= sizeof text) { /* whole characters */
            part = sizeof text - 1;
            while (part > 0 && ((unsigned char)bytes[part] & 0xc0) == 0x80)
                part--;
        }
        memcpy(text, bytes, part);
        text[part] = '\0';
        ink style = INKS[color];
        if (color == COLOR_PLAIN && sink->x < sink->label)
            style = INK_SOFT;
        if (sink->canvas != NULL)
            sink->x += canvas_text(sink->canvas, sink->x, sink->y, style, text);
        bool ends = end == bytes + part;
        sink->y += ends;
        sink->x = ends ? 0 : sink->x;
        bytes += part + ends;
        size -= part + ends;
    }
}

static int sheet_columns(const struct monitor *monitor, const struct process_page *page)
{
    enum { WIDE_ENOUGH = 74, MOST = 3 };
    int columns = (monitor->model.width - 2 + GAP) / (WIDE_ENOUGH + GAP);
    columns = columns > MOST ? MOST : columns;
    return page->part == PROCESS_OVERVIEW && columns > 1 ? columns : 1;
}

static int sheet_width(const struct monitor *monitor, const struct process_page *page)
{
    int columns = sheet_columns(monitor, page);
    return (monitor->model.width - 2 - (columns - 1) * GAP) / columns;
}

/* The newest answer on a canvas of its own, as high as it needs. */
static void paint_sheet(struct monitor *monitor, struct process_page *page,
                        const struct identity *identity)
{
    const vitals_snapshot *answer = page->answers[page->part];
    const struct monitor_options *options = monitor->options;
    struct sheet_sink sink = {.canvas = NULL};
    int width = sheet_width(monitor, page);
    bool labelled = width > 2 * LABEL_COLUMNS &&
                    (page->part == PROCESS_OVERVIEW || page->part == PROCESS_CGROUP);
    page->painted = true;
    page->chosen = false;
    page->rows = 0;
    for (int pass = 0; pass < 2 && answer != NULL && width > 0; pass++) {
        struct paint paint = {.piece = take_piece, .data = &sink};
        if (pass > 0 && canvas_resize(&page->sheet, width, sink.y > 0 ? sink.y : 1) < 0)
            return;
        page->rows = pass > 0 ? (sink.y < page->sheet.height ? sink.y : page->sheet.height) : 0;
        sink = (struct sheet_sink){.canvas = pass > 0 ? &page->sheet : NULL,
                                   .label = labelled ? LABEL_COLUMNS : 0};
        if (page->part == PROCESS_OVERVIEW)
            process_summary_paint(&(struct process_summary){.model = &monitor->model,
                                                            .identity = identity,
                                                            .answered = answered(page),
                                                            .absence = page->absence,
                                                            .width = (size_t)width},
                                  &paint);
        (void)options->part_ops->paint(answer,
                                       page->part == PROCESS_THREADS ? page->threads_before : NULL,
                                       page->part, options->look.ascii, (size_t)width, &paint);
    }
}

/* The text of a row, blanks at its end left out. */
static void row_text(const struct canvas *sheet, int row, char out[static LINE * 4])
{
    size_t used = 0, end = 0;
    for (int x = 0; x < sheet->width && used + CELL_TEXT < LINE * 4; x++) {
        const char *text = canvas_at(sheet, x, row)->text;
        used += (size_t)snprintf(out + used, LINE * 4 - used, "%s", text);
        end = strcmp(text, " ") != 0 ? used : end;
    }
    out[end] = '\0';
}

/* Those that hold the words, anew where the sheet or the words are others. */
static void choose_rows(const struct monitor *monitor, struct process_page *page)
{
    char text[LINE * 4];
    if (page->chosen && strcmp(page->words, monitor->lines) == 0)
        return;
    page->chosen = true;
    memcpy(page->words, monitor->lines, sizeof page->words);
    page->shown_count = 0;
    for (int row = 0; row < page->rows; row++) {
        row_text(&page->sheet, row, text);
        if ((text[0] == '\0' && (row == 0 || monitor->lines[0] != '\0')) ||
            !cell_hold(text, monitor->lines))
            continue;
        if (MEMORY_GROW(page->shown, page->shown_capacity, (size_t)page->shown_count) < 0)
            return;
        page->shown[page->shown_count++] = row;
    }
}

/* Rows of charts in a tile of the overview; 0: none. */
static int chart_rows(const struct model *model)
{
    enum { LOW = 16, MOST = 10, SHARE = 4 };
    int rows = (model->height - LOW) / SHARE + 2;
    return model->height < LOW || model->arranged.plain ? 0 : rows > MOST ? MOST : rows;
}

static int body_y(const struct model *model, const struct process_page *page)
{
    int rows = page->part == PROCESS_OVERVIEW ? chart_rows(model) : 0;
    return BODY_Y + (rows > 0 ? rows + 2 : 0);
}

static int body_rows(const struct model *model, const struct process_page *page)
{
    int rows = model->height - 1 - body_y(model, page);
    return rows > 1 ? rows : 1;
}

/* Where a line goes, at `place` or behind it, column by column: no heading is the last of one. */
static int line_place(const struct process_page *page, int line, int place, int rows, int columns)
{
    const struct cell *first = canvas_at(&page->sheet, 0, page->shown[line]);
    bool last = place % rows == rows - 1 && place / rows + 1 < columns;
    return place + (last && columns > 1 && strcmp(first->text, " ") != 0);
}

/* The overview begins with what the newest reading says. */
static void settle_summary(const struct model *model, struct process_page *page,
                           const struct identity *identity)
{
    const vitals_snapshot *now = model->machine.now;
    uint64_t reading = now != NULL ? vitals_snapshot_sequence(now) : 0;
    bool seen = model_process(model, identity) != NULL;
    const char *absence = page->ended                           ? "ended"
                          : seen || page->silent || page->lives ? NULL
                                                                : "not seen";
    if (page->part == PROCESS_OVERVIEW && (page->painted_of != reading || page->absence != absence))
        page->painted = false;
    page->painted_of = reading;
    page->absence = absence;
}

void process_page_settle(struct monitor *monitor, struct screen_process *process)
{
    const struct model *model = &monitor->model;
    const struct identity *identity = &process->identity;
    struct process_page *page = &process->page;
    page->now_ns = monitor_now_ns(monitor);
    take(monitor, process);
    page->silent = silence_of(monitor) != NULL;
    if (!page->silent) {
        const vitals_row *row = identity->start >= 0 ? model_process(model, identity) : NULL;
        if (row == NULL && page->unseen_ns == 0) { /* asked at once whether it lives */
            page->unseen_ns = page->now_ns;
            page->due_ns[page->part] = page->ended ? UINT64_MAX : 0;
            page->lives = false;
        } else if (row != NULL)
            page->unseen_ns = 0;
        if (!page->tried && row != NULL)
            open_handles(monitor, page, row);
        if (page->query != NULL && !page->asks && !monitor->reads_on &&
            page->now_ns >= page->due_ns[page->part])
            ask(monitor, page);
    }
    settle_summary(model, page, identity);
    if (!page->painted || page->sheet.width != sheet_width(monitor, page))
        paint_sheet(monitor, page, identity);
    choose_rows(monitor, page);
    int columns = sheet_columns(monitor, page);
    int most = page->shown_count - body_rows(model, page) * columns + columns - 1;
    page->top = place_within(page->top, most);
}

/* ---- what is seen ---- */

/* The place of a tab; of those that have no room the number alone. */
static int tab_at(const struct model *model, const struct process_page *page, int tab, int *wide)
{
    int whole = 1, x = 1;
    for (int i = 0; i < PROCESS_PARTS; i++)
        whole += (int)strlen(TABS[i].title) + 4;
    for (int i = 0; i <= tab; i++) {
        bool named = whole <= model->width || i == (int)page->part;
        x += i > 0 ? *wide + 1 : 0;
        *wide = (named ? (int)strlen(TABS[i].title) + 1 : 0) + 2;
    }
    return x;
}

static void draw_tabs(struct pen *pen, const struct monitor *monitor,
                      const struct process_page *page)
{
    const struct model *model = &monitor->model;
    char text[LINE];
    for (int i = 0; i < PROCESS_PARTS; i++) {
        int wide = 0, x = tab_at(model, page, i, &wide);
        bool named = wide > 2, chosen = i == (int)page->part;
        (void)snprintf(text, sizeof text, " %d%s%s", i + 1, named ? " " : "",
                       named ? TABS[i].title : "");
        canvas_words(pen->canvas, x, TABS_Y, wide + 1, chosen ? STYLE_REVERSE : INK_SOFT, text);
        if (!chosen)
            canvas_restyle(pen->canvas, x + 1, TABS_Y, 1, INK_KEY);
    }
    if (!pen->look->plain)
        canvas_repeat(pen->canvas, 1, RULE_Y, model->width - 2, INK_FRAME,
                      pen->look->ascii ? "-" : "─");
    int x = 1;
    if (monitor->lines[0] != '\0') {
        (void)snprintf(text, sizeof text, "filter \"%s\" ", monitor->lines);
        x += canvas_text(pen->canvas, x, RULE_Y, INK_NOTICE, text);
    }
    int rows = body_rows(model, page), columns = sheet_columns(monitor, page), seen = page->top;
    for (int at = 0; seen < page->shown_count; seen++, at++) {
        at = line_place(page, seen, at, rows, columns);
        if (at >= rows * columns)
            break;
    }
    if (page->shown_count == 0 || (page->top == 0 && seen == page->shown_count))
        return;
    (void)snprintf(text, sizeof text, " %d-%d of %d", page->top + 1, seen, page->shown_count);
    int wide = canvas_columns(text);
    if (x + wide < model->width)
        (void)canvas_text(pen->canvas, model->width - 1 - wide, RULE_Y, INK_SOFT, text);
}

/* "4242 python3 train.py", and at the right that it has ended, or is in no reading any more: one
 * that uses no device has left the readings of these, and lives. */
static void draw_head(struct pen *pen, const struct monitor *monitor,
                      const struct process_page *page, const struct item *item, uint64_t pid)
{
    const struct model *model = &monitor->model;
    char number[WORDS], command[WORDS_COMMAND], state[WORDS] = "";
    bool seen = item->process != NULL;
    const vitals_row *known = seen ? item->process : answered(page);
    int x = 1, end = model->width - 1;
    if (seen)
        (void)cell_text(known, VITALS_PROCESS_STATE, pen->look->ascii, state, sizeof state);
    else
        (void)snprintf(state, sizeof state, "%s",
                       page->ended                    ? "ended"
                       : page->lives && !page->silent ? "on no device"
                                                      : "not seen");
    if (!seen || strcmp(state, "zombie") == 0) {
        int wide = (int)strlen(state) + 2;
        (void)snprintf(number, sizeof number, " %.30s ", state);
        end -= wide + 1;
        (void)canvas_text(pen->canvas, end + 1, 0, INK_NOTICE | STYLE_REVERSE, number);
    }
    (void)snprintf(number, sizeof number, "%llu  ", (unsigned long long)pid);
    x += canvas_text(pen->canvas, x, 0, INK_TITLE, number);
    struct canvas_field field = {.x = x, .y = 0, .columns = end - x, .style = INK_NOTICE};
    if (known == NULL || (page->ended && !seen)) {
        canvas_field(pen->canvas, &field,
                     page->ended ? "this process has ended" : "no reading has this process now");
        return;
    }
    (void)cell_command(known, pen->look->ascii, command);
    field.style = STYLE_PLAIN;
    pane_program(pen, &field, command);
}

/* The full height of a chart of CPU, in cores. */
static double cores_of(double most)
{
    double cores = 1;
    while (cores < most)
        cores *= 2;
    return cores;
}

static const struct {
    ink ramp;
    bool share, rate; /* else bytes */
    const char *words;
} CHARTS[PROCESS_CHARTS] = {
    [CHART_CPU] = {INK_LOAD, true, false, ""},
    [CHART_MEMORY] = {INK_HELD, false, false, "mem "},
    [CHART_GPU_BUSY] = {INK_LOAD, true, false, ""},
    [CHART_GPU_MEMORY] = {INK_HELD, false, false, "mem "},
    [CHART_READ] = {INK_IN, false, true, "read "},
    [CHART_WRITTEN] = {INK_OUT, false, true, "written "},
};

static char *chart_words(enum process_chart chart, double value, int decimals,
                         char out[static WORDS])
{
    static const double MOST = 2e18;
    if (CHARTS[chart].rate)
        return cell_rate(true, value, out);
    if (!CHARTS[chart].share)
        return vitals_human_bytes(value > 0 && value < MOST ? (uint64_t)value : 0, out);
    (void)snprintf(out, WORDS, "%.*f%%", decimals, value * 100);
    return out;
}

/* A tile of two of the charts. */
static void draw_chart(struct pen *pen, const struct model *model, const struct history *charts,
                       enum process_chart up, enum process_chart down, struct tile *tile,
                       const struct box *box)
{
    const enum process_chart BOTH[] = {up, down};
    char words[2][WORDS * 2] = {"", ""}, full[2][WORDS], amount[WORDS], line[WORDS * 3];
    struct graph graphs[2];
    double mosts[2] = {0, 0};
    size_t seconds = (size_t)(box->columns * pane_seconds(model));
    for (size_t i = 0; i < 2; i++)
        (void)history_most(&charts[BOTH[i]], 0, seconds, &mosts[i]);
    if (CHARTS[up].rate) /* one scale for both */
        mosts[0] = mosts[1] = mosts[0] > mosts[1] ? mosts[0] : mosts[1];
    for (size_t i = 0; i < 2; i++) {
        const struct history *history = &charts[BOTH[i]];
        double value, most = CHARTS[BOTH[i]].share ? cores_of(mosts[i]) : pane_scale(mosts[i]);
        graphs[i] = pane_chart(model, history, most, CHARTS[BOTH[i]].ramp, i > 0);
        graphs[i].ago = graphs[i].mark = 0; /* it ends with what is shown */
        if (history_mean(history, 0, 1, &value))
            (void)snprintf(words[i], sizeof words[i], "%s%s", CHARTS[BOTH[i]].words,
                           chart_words(BOTH[i], value, 1, amount));
        (void)chart_words(BOTH[i], most, 0, full[i]);
    }
    (void)snprintf(line, sizeof line, "full: %s%s%s", full[0], CHARTS[up].rate ? "" : ", ",
                   CHARTS[up].rate ? "" : full[1]);
    tile->value = words[0];
    tile->left = words[1];
    tile->right = words[0][0] != '\0' || words[1][0] != '\0' ? line : "";
    pane_pair(pen, box, tile, &graphs[0], &graphs[1]);
}

static void draw_charts(struct pen *pen, const struct model *model, const struct item *item,
                        const struct history *charts)
{
    enum { TILES = 3, TILE_LEAST = 34 };
    static const enum process_chart PAIRS[TILES][2] = {
        {CHART_CPU, CHART_MEMORY}, {CHART_GPU_BUSY, CHART_GPU_MEMORY}, {CHART_READ, CHART_WRITTEN}};
    char gpu[WORDS] = "GPU", begin[WORDS];
    int room = (model->width - 2 + GAP) / (TILE_LEAST + GAP), count = 0, rows = chart_rows(model);
    bool has_gpu = item->user != NULL;
    if (rows == 0)
        return;
    if (item->gpu != NULL)
        (void)snprintf(gpu, sizeof gpu, "GPU %.50s", vitals_row_label(item->gpu));
    const char *const LABELS[TILES] = {"CPU", gpu, "Disk"};
    for (int i = 0; i < TILES; i++)
        count += i != 1 || has_gpu;
    count = count > room ? room : count;
    count = count > 0 ? count : 1;
    for (int i = 0, place = 0; i < TILES && place < count; i++) {
        int inside = model->width - 2 + GAP;
        if (i == 1 && !has_gpu)
            continue;
        int x = inside * place / count, end = inside * (place + 1) / count - GAP;
        struct box box = {1 + x, BODY_Y, end - x, rows + 2};
        struct tile tile = {.label = LABELS[i], .name = "", .note = ""};
        tile.begin = place == 0 ? pane_begin(model, box.columns, begin) : NULL;
        draw_chart(pen, model, charts, PAIRS[i][0], PAIRS[i][1], &tile, &box);
        place++;
    }
}

void process_page_draw(const struct monitor *monitor, const struct screen_process *process,
                       const struct item *item, struct pen *pen)
{
    const struct model *model = &monitor->model;
    const struct process_page *page = &process->page;
    int y = body_y(model, page), rows = body_rows(model, page);
    int columns = sheet_columns(monitor, page), wide = page->sheet.width + GAP;
    draw_head(pen, monitor, page, item, process->identity.pid);
    draw_tabs(pen, monitor, page);
    if (page->part == PROCESS_OVERVIEW)
        draw_charts(pen, model, item, process->histories);

    const char *why = silence_of(monitor);
    for (int i = page->top, at = 0; why == NULL && i < page->shown_count; i++, at++) {
        int row = page->shown[i];
        at = line_place(page, i, at, rows, columns);
        for (int x = 0; x < page->sheet.width && at < rows * columns; x++) {
            struct cell *to = canvas_at(pen->canvas, 1 + at / rows * wide + x, y + at % rows);
            if (to != NULL)
                *to = *canvas_at(&page->sheet, x, row);
        }
    }
    pen->canvas->wide |= page->sheet.wide;
    if (why == NULL && page->answers[page->part] == NULL)
        why = page->problem[0] != '\0' ? page->problem
              : page->query == NULL    ? "It cannot be asked any more"
                                       : "Reading...";
    else if (why == NULL && page->shown_count == 0)
        why = "No line passes the filter";
    if (why != NULL)
        canvas_words(pen->canvas, 1, y, model->width - 2, INK_SOFT, why);
    hints_draw(pen, model, HINTS, ARRAY_COUNT(HINTS));
}

/* ---- keys ---- */

static void go_to(struct monitor *monitor, struct process_page *page, int part)
{
    page->part = (enum process_part)((part + PROCESS_PARTS) % PROCESS_PARTS);
    page->top = 0;
    page->painted = false;
    monitor->lines[0] = '\0';
}

/* As a shell reads it, whole. */
static void copy_command(struct monitor *monitor, const struct process_page *page)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char BEGIN[] = "\033]52;c;";
    struct identity identity;
    vitals_text arguments;
    const vitals_row *row = answered(page);
    if (row == NULL && monitor_target(monitor, &identity))
        row = model_process(&monitor->model, &identity);
    if (vitals_row_text(row, VITALS_PROCESS_COMMAND_LINE, &arguments) <= 0 || arguments.size == 0) {
        model_say(&monitor->model, "its command line is not known");
        return;
    }
    size_t size = vitals_text_command_strict(arguments, NULL, 0);
    char *command = malloc(size + 1), *out = malloc(sizeof BEGIN + (size + 2) / 3 * 4 + 1);
    free(monitor->copied);
    monitor->copied = out;
    if (command == NULL || out == NULL) {
        free(command);
        free(out);
        monitor->copied = NULL;
        return;
    }
    (void)vitals_text_command_strict(arguments, command, size + 1);
    memcpy(out, BEGIN, sizeof BEGIN);
    out += sizeof BEGIN - 1;
    for (size_t i = 0; i < size; i += 3) {
        unsigned bits = 0;
        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (i + j < size ? (unsigned char)command[i + j] : 0u);
        for (size_t j = 0; j < 4; j++)
            *out++ = i + j > size ? '=' : DIGITS[bits >> (18 - 6 * j) & 63];
    }
    memcpy(out, "\a", 2);
    free(command);
    bool cut = vitals_row_availability(row, VITALS_PROCESS_COMMAND_LINE) == VITALS_LOWER_BOUND;
    model_say(&monitor->model, "its command line, %s%zu bytes, was sent to the clipboard (OSC 52)",
              cut ? "the first " : "", size);
}

static void begin_trace(struct monitor *monitor, const struct process_page *page)
{
    const char *readonly = monitor_readonly(monitor);
    struct identity identity;
    if (readonly != NULL)
        model_say(&monitor->model, "%s: strace is not started", readonly);
    else if (page->process == NULL || vitals_process_is_running(page->process) != 1)
        model_say(&monitor->model, "it has ended, or cannot be asked: strace is not started");
    else if (monitor_target(monitor, &identity))
        monitor->traced = identity.pid;
}

static const struct {
    enum action action;
    enum prompt prompt;
    const char *subject, *form;
} QUESTIONS[] = {
    {ACTION_FILTER, PROMPT_LINES, "Filter", ""},
    {ACTION_NICE, PROMPT_NICE, "Nice", "-20 (first) to 19"},
    {ACTION_IO_PRIORITY, PROMPT_IO, "I/O priority", "idle, none, best-effort 0-7, realtime 0-7"},
    {ACTION_AFFINITY, PROMPT_CPUS, "CPUs", "as in 0-3,8; all"},
};

/* " of 34 threads" */
static void threads_words(unsigned long long threads, char out[static WORDS])
{
    out[0] = '\0';
    if (threads > 1)
        (void)snprintf(out, WORDS, " of %llu threads", threads);
}

/* ", now 5": what it has, asked now; nothing of it waits for a lock of the process. */
static void now_words(struct process_page *page, enum prompt prompt, char out[static LINE])
{
    static const vitals_metric METRICS[] = {VITALS_PROCESS_THREADS, VITALS_PROCESS_NICE,
                                            VITALS_PROCESS_IO_CLASS, VITALS_PROCESS_IO_LEVEL,
                                            VITALS_PROCESS_CPUS_ALLOWED_LIST};
    vitals_request *request = NULL;
    vitals_snapshot *answer = NULL;
    int code = vitals_request_new(0, &request, NULL);
    for (size_t i = 0; i < ARRAY_COUNT(METRICS) && code == 0; i++)
        code = vitals_request_add(request, METRICS[i], NULL);
    if (code == 0)
        code = vitals_process_ask(page->process, request, &answer, NULL);
    vitals_request_free(request);
    page->ended = page->ended || code == VITALS_EGONE;

    const vitals_row *row = row_next(answer, VITALS_TABLE_PROCESS, NULL);
    char words[WORDS_COMMAND] = "", level[WORDS] = "";
    if (vitals_row_u64(row, VITALS_PROCESS_THREADS, &page->threads) <= 0)
        page->threads = 0;
    if (prompt == PROMPT_NICE)
        (void)cell_number(row, VITALS_PROCESS_NICE, "", words);
    else if (prompt == PROMPT_IO) {
        (void)cell_text(row, VITALS_PROCESS_IO_CLASS, true, words, WORDS);
        if (vitals_row_availability(row, VITALS_PROCESS_IO_LEVEL) > 0)
            (void)cell_number(row, VITALS_PROCESS_IO_LEVEL, "", level);
    } else if (prompt == PROMPT_CPUS)
        (void)cell_text(row, VITALS_PROCESS_CPUS_ALLOWED_LIST, true, words, sizeof words);
    out[0] = '\0';
    if (row != NULL && words[0] != '\0')
        (void)snprintf(out, LINE, ", now %.300s%s%s", words, level[0] != '\0' ? " " : "", level);
    vitals_snapshot_unref(answer);
}

static void begin_question(struct monitor *monitor, struct process_page *page, enum action action)
{
    char now[LINE] = "", threads[WORDS] = "", words[LINE * 2];
    const char *readonly = monitor_readonly(monitor);
    for (size_t i = 0; i < ARRAY_COUNT(QUESTIONS); i++) {
        if (QUESTIONS[i].action != action)
            continue;
        if (action != ACTION_FILTER && readonly != NULL) {
            model_say(&monitor->model, "%s: nothing is changed", readonly);
            return;
        }
        if (action != ACTION_FILTER && page->process == NULL) {
            model_say(&monitor->model, "%s",
                      page->problem[0] != '\0' ? page->problem
                      : monitor->options->context == NULL
                          ? "this is a recording: nothing is changed"
                          : "it cannot be changed");
            return;
        }
        if (action != ACTION_FILTER) {
            now_words(page, QUESTIONS[i].prompt, now);
            threads_words(page->threads, threads);
        }
        (void)snprintf(words, sizeof words, "%s%s%s%s%s%s", QUESTIONS[i].subject, threads, now,
                       QUESTIONS[i].form[0] != '\0' ? " (" : "", QUESTIONS[i].form,
                       QUESTIONS[i].form[0] != '\0' ? ")" : "");
        monitor_ask(monitor, QUESTIONS[i].prompt, words);
    }
}

bool process_page_act(struct monitor *monitor, struct process_page *page, enum action action,
                      int argument)
{
    int by = action_lines(action, body_rows(&monitor->model, page), page->shown_count);
    switch ((int)action) {
    case ACTION_TAB: go_to(monitor, page, (int)page->part + argument); return true;
    case ACTION_PART: go_to(monitor, page, argument); return true;
    case ACTION_FILTER:
    case ACTION_NICE:
    case ACTION_IO_PRIORITY:
    case ACTION_AFFINITY: begin_question(monitor, page, action); return true;
    case ACTION_COPY: copy_command(monitor, page); return true;
    case ACTION_TRACE: begin_trace(monitor, page); return true;
    case ACTION_RESET: page->due_ns[page->part] = 0; return true;
    case ACTION_SPAN:
        monitor_span(monitor);
        if (monitor->player != NULL)
            player_fill_anew(monitor->player);
        return true;
    case ACTION_BACK:
        if (monitor->lines[0] == '\0')
            return false;
        monitor->lines[0] = '\0';
        return true;
    default: page->top += by; return by != 0;
    }
}

/* "best-effort 4", "idle"; false: that is none. */
static bool parse_io(const char *text, vitals_io_class *io_class, int *level)
{
    char name[32];
    int end = 0;
    *level = 0;
    if (sscanf(text, " %31[a-z_-] %n", name, &end) != 1)
        return false;
    for (char *at = name; *at != '\0'; at++)
        *at = *at == '-' ? '_' : *at;
    int found = vitals_io_class_find((vitals_text){name, strlen(name)});
    if (found < 0)
        return false;
    *io_class = (vitals_io_class)found;
    text += end;
    if (text[0] == '\0') { /* the middle, as ionice(1) has it */
        *level = found == VITALS_IO_REALTIME || found == VITALS_IO_BEST_EFFORT ? 4 : 0;
        return true;
    }
    *level = text[0] - '0';
    return text[0] >= '0' && text[0] <= '7' && text[1] == '\0';
}

/* What a person has entered. */
struct process_change {
    enum prompt prompt;
    int nice, level, count;
    vitals_io_class io_class;
    unsigned cpus[4096];     /* `count` of them; 0: all */
    size_t changed, refused; /* threads, and why the first was refused: */
    vitals_error error;
};

static bool parse_change(const char *text, struct process_change *change)
{
    int end = 0, most = (int)ARRAY_COUNT(change->cpus);
    if (change->prompt == PROMPT_NICE)
        return sscanf(text, " %3d %n", &change->nice, &end) == 1 && text[end] == '\0';
    if (change->prompt == PROMPT_IO)
        return parse_io(text, &change->io_class, &change->level);
    if (strcmp(text, "all") != 0)
        change->count = vitals_cpus_parse((vitals_text){text, strlen(text)}, change->cpus,
                                          (size_t)most);
    return change->count >= 0 && change->count <= most;
}

static void change_thread(vitals_process *process, int64_t tid, struct process_change *change)
{
    vitals_process *thread = NULL;
    vitals_error error;
    int code = vitals_process_thread(process, tid, &thread, &error);
    if (code == 0 && change->prompt == PROMPT_NICE)
        code = vitals_process_set_nice(thread, change->nice, &error);
    else if (code == 0 && change->prompt == PROMPT_IO)
        code = vitals_process_set_io_priority(thread, change->io_class, change->level, &error);
    else if (code == 0)
        code = vitals_process_set_affinity(thread, change->cpus, (size_t)change->count, &error);
    vitals_process_close(thread);
    change->changed += code == 0;
    if (code == 0 || code == VITALS_EGONE) /* a thread that has ended needs no change */
        return;
    if (change->refused++ == 0)
        change->error = error;
}

/* Each thread once, until none is new: one that starts meanwhile may have been started by one that
 * was not changed yet. */
static void change_threads(vitals_process *process, struct process_change *change)
{
    enum { ROUNDS = 8 };
    vitals_request *request = NULL;
    vitals_snapshot *before = NULL, *now = NULL;
    bool found = vitals_request_new(0, &request, &change->error) == 0 &&
                 vitals_request_add(request, VITALS_THREAD_TID, &change->error) == 0;
    for (int round = 0; found && round < ROUNDS; round++) {
        uint64_t tid;
        if (vitals_process_ask(process, request, &now, &change->error) < 0)
            break;
        found = false;
        EACH_ROW(row, now, VITALS_TABLE_THREAD) {
            if (vitals_row_u64(row, VITALS_THREAD_TID, &tid) <= 0 ||
                (before != NULL &&
                 vitals_snapshot_find(before, VITALS_TABLE_THREAD, vitals_row_key(row)) != NULL))
                continue;
            change_thread(process, (int64_t)tid, change);
            found = true;
        }
        vitals_snapshot_unref(before);
        before = now;
    }
    vitals_snapshot_unref(before);
    vitals_request_free(request);
}

void process_page_answer(struct monitor *monitor, void *state, enum prompt prompt, const char *text)
{
    struct process_page *page = page_of(state);
    static const char *const WHAT[] = {"nice", "I/O priority", "CPUs"};
    const char *what = WHAT[prompt == PROMPT_LINES ? 0 : prompt - PROMPT_NICE];
    char threads[WORDS];
    struct process_change change = {.prompt = prompt};
    if (prompt == PROMPT_LINES || text[0] == '\0' || page->process == NULL)
        return;
    if (parse_change(text, &change))
        change_threads(page->process, &change);
    else
        (void)snprintf(change.error.message, sizeof change.error.message, "\"%.80s\" is none",
                       text);
    page->due_ns[page->part] = 0;
    threads_words(change.changed, threads);
    if (change.changed == 0)
        model_say(&monitor->model, "%s: not changed: %s", what, change.error.message);
    else if (change.refused == 0)
        model_say(&monitor->model, "%s%s: %s", what, threads, text);
    else
        model_say(&monitor->model, "%s of %zu threads: %s; of %zu not: %s", what, change.changed,
                  text, change.refused, change.error.message);
}

bool process_page_click(struct monitor *monitor, void *state, const struct input_event *event)
{
    enum { STEP = 3 };
    const struct model *model = &monitor->model;
    struct process_page *page = page_of(state);
    if (model->arranged.nvitop)
        return false;
    if (event->code != INPUT_CLICK) {
        page->top += STEP * input_lines(event, 0, 0);
        return true;
    }
    if (hints_click(monitor, event, HINTS, ARRAY_COUNT(HINTS)))
        return true;
    for (int i = 0; event->y == TABS_Y && i < PROCESS_PARTS; i++) {
        int wide = 0, x = tab_at(model, page, i, &wide);
        if (event->x >= x && event->x < x + wide) {
            go_to(monitor, page, i);
            break;
        }
    }
    return true;
}
