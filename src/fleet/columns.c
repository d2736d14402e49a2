/* columns.c: see table.h: the columns, and how they are drawn and printed. */
#include "fleet/table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "feed/trouble.h"
#include "report/json_form.h"
#include "util/base.h"
#include "view/cell_text.h"

enum {
    GPU = 1 << FLEET_BY_GPU,
    NODE = 1 << FLEET_BY_NODE,
    USER = 1 << FLEET_BY_USER,
    JOB = 1 << FLEET_BY_JOB,
    ALL = GPU | NODE | USER | JOB
};
#define AT(member) offsetof(struct fleet_row, member)

// clang-format off
const struct fleet_column fleet_columns[] = {
    {"host",  "host",                16, false, GPU | NODE,        FLEET_HOST,    0},
    {"gpu",   "gpu",                  4, false, GPU,               FLEET_LABEL,   0},
    {"name",  "name",                16, false, GPU,               FLEET_DEVICE,  0},
    {"user",  "user",                14, false, USER,              FLEET_TEXT,    AT(user)},
    {"job",   "job",                 28, false, JOB,               FLEET_TEXT,    AT(job)},
    {"hosts", "hosts",                5, true,  USER | JOB,        FLEET_COUNT,   AT(hosts)},
    {"gpus",  "gpus",                 5, true,  NODE | USER | JOB, FLEET_COUNT,   AT(gpus)},
    {"free",  "free",                 4, true,  GPU | NODE,        FLEET_COUNT,   AT(free)},
    {"util",  "utilization_ratio",    5, true,  ALL,               FLEET_PERCENT, AT(busy)},
    {"used",  "memory_used_bytes",    9, true,  ALL,               FLEET_BYTES,   AT(used)},
    {"total", "memory_total_bytes",   8, true,  GPU | NODE,        FLEET_BYTES,   AT(total)},
    {"users", "users",               10, false, GPU | NODE | JOB,  FLEET_LISTED,  AT(users)},
    {"power", "power_watts",          6, true,  GPU | NODE,        FLEET_WATTS,   AT(power)},
    {"temp",  "temperature_celsius",  4, true,  GPU | NODE,        FLEET_CELSIUS, AT(heat)},
    {"load",  "load_1m",              6, true,  NODE,              FLEET_NUMBER,  AT(load)},
    {"idle",  "idle_seconds",         7, true,  ALL,               FLEET_SPAN,    AT(idle)},
    {"age",   "age_seconds",          6, true,  GPU | NODE,        FLEET_AGE,     AT(age)},
    {"jobs",  "jobs",                 0, false, GPU | NODE | USER, FLEET_LISTED,  AT(jobs)},
    {.name = NULL},
};
// clang-format on

const struct fleet_figure *fleet_figure(const struct fleet_column *column,
                                        const struct fleet_row *row)
{
    return column->kind >= FLEET_PERCENT
               ? (const struct fleet_figure *)(const void *)((const char *)row + column->offset)
               : NULL;
}

bool fleet_is_mean(const struct fleet_column *column, const struct fleet_row *row)
{
    return column->kind == FLEET_PERCENT && row->host != NULL;
}

double fleet_value(const struct fleet_column *column, const struct fleet_row *row)
{
    const struct fleet_figure *figure = fleet_figure(column, row);
    unsigned over = fleet_is_mean(column, row)      ? figure->known
                    : column->kind == FLEET_PERCENT ? row->gpus
                                                    : 1;
    return figure->value / over;
}

/* ---- cells ---- */

/* What is missing altogether is blank for a machine that does not answer; a sum of which a part is
 * missing is marked, and a mean of some devices. */
static void figure_text(const struct fleet_column *column, const struct fleet_row *row, bool ascii,
                        char out[static FLEET_CELL])
{
    static const double BYTES_MOST = 9007199254740992.0; /* that a liar's sum cannot pass */
    static const double FRESH_SECONDS = 3;               /* such an age says nothing */
    const struct fleet_figure *figure = fleet_figure(column, row);
    char words[WORDS] = "";
    bool optional = column->kind >= FLEET_NUMBER;
    if (figure->known == 0) {
        bool silent = row->host != NULL && row->gpus == 0;
        (void)snprintf(out, FLEET_CELL, "%s", silent || optional ? "" : "N/A");
        return;
    }
    double value = fleet_value(column, row);
    if (column->kind == FLEET_AGE && value < FRESH_SECONDS)
        words[0] = '\0';
    else if (column->kind == FLEET_BYTES)
        (void)vitals_human_bytes((uint64_t)(value < BYTES_MOST ? value : BYTES_MOST), words);
    else if (column->kind == FLEET_SPAN || column->kind == FLEET_AGE)
        (void)span_words(value, words);
    else if (column->kind == FLEET_PERCENT)
        (void)snprintf(words, sizeof words, "%.0f%%", value * 100);
    else
        (void)snprintf(words, sizeof words, column->kind == FLEET_NUMBER ? "%.1f" : "%.0f", value);
    (void)snprintf(out, FLEET_CELL, "%s%s%s",
                   figure->missing == 0         ? ""
                   : fleet_is_mean(column, row) ? "~"
                   : ascii                      ? ">"
                                                : "≥",
                   words,
                   column->kind == FLEET_WATTS     ? "W"
                   : column->kind == FLEET_CELSIUS ? "C"
                                                   : "");
}

void fleet_cell(const struct fleet_column *column, const struct fleet_row *row, bool ascii,
                char out[static FLEET_CELL])
{
    enum { DEVICE_COLUMNS = 16 };
    const void *member = (const char *)row + column->offset;
    bool silent = row->host != NULL && row->host->newest == NULL;
    const char *text = "";
    out[0] = '\0';
    switch (column->kind) {
    case FLEET_HOST: text = row->host->place.name; break;
    case FLEET_LABEL: text = row->gpu != NULL ? vitals_row_label(row->gpu) : ""; break;
    case FLEET_DEVICE:
        text = row->gpu == NULL ? silent     ? ""
                                  : row->cut ? "too many to show"
                                             : "no GPU"
                                : cell_device(row->gpu, ascii, DEVICE_COLUMNS, out, FLEET_CELL);
        break;
    case FLEET_TEXT: text = member; break;
    case FLEET_LISTED:
        if (silent && column->width == 0)
            text = row->host->why;
        else
            (void)snprintf(out, FLEET_CELL, "%s%s", ((const struct fleet_list *)member)->words,
                           !((const struct fleet_list *)member)->cut ? ""
                           : ascii                                   ? " ..."
                                                                     : " …");
        break;
    case FLEET_COUNT:
        if (row->gpu != NULL)
            text = row->free > 0 ? "free" : "";
        else if (!silent && !row->cut)
            (void)snprintf(out, FLEET_CELL, "%u", *(const unsigned *)member);
        break;
    default: figure_text(column, row, ascii, out); break;
    }
    if (text != out && text[0] != '\0')
        (void)snprintf(out, FLEET_CELL, "%s", text);
}

const struct fleet_column *fleet_column_find(const char *name, enum fleet_by by)
{
    for (const struct fleet_column *column = fleet_columns; column->name != NULL; column++) {
        if ((column->bys & 1u << by) && strcmp(column->name, name) == 0)
            return column;
    }
    return NULL;
}

const char *fleet_column_word(size_t index)
{
    return fleet_columns[index].name;
}

/* ---- drawing ---- */

/* The machines that answer, where a device is free; and what does not answer. */
static void head_words(const struct fleet_view *view, char out[2][1024])
{
    const struct fleet *fleet = view->fleet;
    size_t answering = 0, waiting = 0, used;
    for (size_t i = 0; i < fleet->count; i++) {
        answering += fleet->hosts[i].state == FLEET_ANSWERS;
        waiting += fleet->hosts[i].state == FLEET_WAITING;
    }
    (void)snprintf(out[0], 1024, "%zu of %zu machines answer  %zu GPUs, %zu free%s%s", answering,
                   fleet->count, view->table->gpus, view->table->free,
                   view->table->where[0] != '\0' ? ": " : "", view->table->where);
    used = fleet->trouble[0] != '\0' ? (size_t)snprintf(out[1], 1024, "%s", fleet->trouble)
           : waiting > 0             ? (size_t)snprintf(out[1], 1024, "%zu not heard yet", waiting)
                                     : 0;
    out[1][used] = '\0';
    for (size_t i = 0; i < fleet->count; i++) {
        const struct fleet_host *host = &fleet->hosts[i];
        if (host->failing_ns == 0 || used >= 900)
            continue;
        char span[SPAN_WORDS];
        const char *since = span_words((double)(view->now_ns - host->failing_ns) / 1e9, span);
        used += (size_t)snprintf(out[1] + used, 1024 - used, "%s%.40s (%s, %s)",
                                 used > 0 ? "  " : "no answer: ", host->place.name,
                                 fleet_state_names[host->state],
                                 host->answered_ns > 0 ? since : "never");
    }
    bool first = true;
    for (size_t i = 0; i < fleet->count && used < 900; i++) {
        if (!fleet_is_cut(fleet, &fleet->hosts[i]))
            continue;
        used += (size_t)snprintf(out[1] + used, 1024 - used, "%s%s%.40s", used > 0 ? "  " : "",
                                 first ? "sent too much: " : "", fleet->hosts[i].place.name);
        first = false;
    }
}

/* Lists get a part of what a wide screen has beyond the usual columns. */
static int width_of(const struct fleet_column *column, int width)
{
    enum { WIDE = 120, MORE = 24 };
    int more = column->kind == FLEET_LISTED && width > WIDE ? (width - WIDE) / 4 : 0;
    return column->width + (more < MORE ? more : MORE);
}

/* Draws the columns of the table that fit as a whole: of a row, or (NULL) their headings. Behind
 * the name of a machine that does not answer stands why. */
static void draw_cells(struct pen *pen, int y, const struct fleet_view *view,
                       const struct fleet_row *row)
{
    int x = 0, width = pen->canvas->width;
    for (const struct fleet_column *column = fleet_columns; column->name != NULL; column++) {
        char text[FLEET_CELL];
        bool why = row != NULL && row->host != NULL && row->host->newest == NULL && x > 0;
        int columns = column->width > 0 && !why ? width_of(column, width) : width - x;
        if (!(column->bys & 1u << view->table->by))
            continue;
        if (x >= width || x + columns > width)
            break;
        ink style = STYLE_PLAIN;
        if (row == NULL) {
            size_t i = 0;
            for (; column->name[i] != '\0'; i++)
                text[i] = (char)toupper((unsigned char)column->name[i]);
            text[i] = '\0';
            bool sorted = view->order->sort != NULL && strcmp(view->order->sort, column->name) == 0;
            style = sorted ? INK_KEY : INK_SOFT;
        } else {
            if (why)
                (void)snprintf(text, sizeof text, "%s",
                               row->host->why[0] != '\0'    ? row->host->why
                               : row->host->answered_ns > 0 ? "not heard of lately"
                                                            : "not heard yet");
            else
                fleet_cell(column, row, pen->look->ascii, text);
            bool silent = row->host != NULL && row->host->state != FLEET_ANSWERS;
            style = silent ? INK_NOTICE
                    : column->kind == FLEET_PERCENT && row->busy.known > 0
                        ? theme_step(INK_LOAD, fleet_value(column, row))
                    : column->kind == FLEET_COUNT && row->gpu != NULL ? INK_WELL
                    : column->kind == FLEET_SPAN                      ? INK_NOTICE
                                                                      : STYLE_PLAIN;
        }
        struct canvas_field field = {
            .x = x, .y = y, .columns = columns, .right = column->right && !why, .style = style};
        canvas_field(pen->canvas, &field, text);
        x += columns + 1;
    }
}

void fleet_draw_head(struct pen *pen, const struct fleet_view *view)
{
    char words[2][1024];
    head_words(view, words);
    for (int i = 0; i < 2; i++) {
        struct canvas_field field = {
            .y = i, .columns = pen->canvas->width, .style = i == 0 ? INK_TITLE : INK_NOTICE};
        canvas_field(pen->canvas, &field, words[i]);
    }
    draw_cells(pen, 2, view, NULL);
}

void fleet_draw_row(struct pen *pen, int y, const struct fleet_view *view, size_t index)
{
    draw_cells(pen, y, view, &view->table->rows[index]);
}

int fleet_print(const struct fleet_view *view, const struct look *look, int width, bool styles,
                vitals_write_fn *write, void *data)
{
    enum { AT_ONCE = 512 };
    struct canvas canvas = {.width = 0};
    struct pen pen = {.canvas = &canvas, .look = look};
    int code = 0;
    for (size_t begin = 0; code == 0 && (begin == 0 || begin < view->table->count);
         begin += AT_ONCE) {
        int head = begin == 0 ? FLEET_HEAD_ROWS : 0;
        size_t left = view->table->count - begin;
        size_t rows = left < AT_ONCE ? left : AT_ONCE;
        if (canvas_resize(&canvas, width, head + (int)rows) < 0)
            return VITALS_EMEMORY;
        if (head > 0)
            fleet_draw_head(&pen, view);
        for (size_t i = 0; i < rows; i++)
            fleet_draw_row(&pen, head + (int)i, view, begin + i);
        canvas_theme(&canvas, look_theme(look), false);
        code = canvas_print(&canvas, styles, write, data) != 0 ? VITALS_ESYSTEM : 0;
    }
    canvas_done(&canvas);
    return code;
}

/* ---- JSON ---- */

static void put_words(struct json_form *form, const char *words)
{
    char word[FLEET_LIST];
    form_begin(form, '[');
    while (*(words += strspn(words, " ")) != '\0') {
        size_t size = strcspn(words, " ");
        (void)snprintf(word, sizeof word, "%.*s", (int)size, words);
        form_string(form, word);
        words += size;
    }
    form_end(form, ']');
}

static void put_row(struct json_form *form, const struct fleet_view *view,
                    const struct fleet_row *row)
{
    const unsigned by = 1u << view->table->by;
    char text[FLEET_CELL];
    /* Nothing is known of what it has, or of the rest of it. */
    bool is_unknown = row->cut || (row->host != NULL && row->host->newest == NULL);
    form_begin(form, '{');
    for (const struct fleet_column *column = fleet_columns; column->name != NULL; column++) {
        if (!(column->bys & by))
            continue;
        const void *member = (const char *)row + column->offset;
        const struct fleet_figure *figure = fleet_figure(column, row);
        form_key(form, column->key);
        if (figure != NULL && figure->known > 0) {
            form_number(form, fleet_value(column, row));
        } else if (figure != NULL || (column->kind == FLEET_COUNT && is_unknown)) {
            form_null(form);
        } else if (column->kind == FLEET_COUNT) {
            form_count(form, *(const unsigned *)member);
        } else if (column->kind == FLEET_LISTED) {
            put_words(form, ((const struct fleet_list *)member)->words);
        } else {
            fleet_cell(column, row, true, text);
            form_string(form, text);
        }
    }
    form_begin_member(form, "lower_bounds", '[');
    for (const struct fleet_column *column = fleet_columns; column->name != NULL; column++) {
        const struct fleet_figure *figure = fleet_figure(column, row);
        const struct fleet_list *list = column->kind == FLEET_LISTED && (column->bys & by)
                                            ? (const void *)((const char *)row + column->offset)
                                            : NULL;
        if (figure != NULL ? figure->known > 0 && figure->missing > 0 && !fleet_is_mean(column, row)
                           : list != NULL && list->cut)
            form_string(form, column->key);
    }
    form_end(form, ']');
    form_begin_member(form, "unknown", '{');
    for (const struct fleet_column *column = fleet_columns; column->name != NULL; column++) {
        const struct fleet_figure *figure = fleet_figure(column, row);
        if (figure != NULL && figure->missing > 0 && (column->bys & by))
            form_put_count(form, column->key, figure->missing);
    }
    form_end(form, '}');
    form_end(form, '}');
}

int fleet_print_json(const struct fleet_view *view, vitals_write_fn *write, void *data)
{
    const struct fleet *fleet = view->fleet;
    struct json_form form;
    json_form_init(&form, 0, write, data);
    form_begin(&form, '{');
    form_put_count(&form, "schema", 1);
    form_put_string(&form, "by", fleet_by_names[view->table->by]);
    form_put_count(&form, "gpus", view->table->gpus);
    form_put_count(&form, "free", view->table->free);
    form_put_bool(&form, "cut", fleet->full);
    form_put_string(&form, "why", fleet->trouble[0] != '\0' ? fleet->trouble : NULL);
    form_begin_member(&form, "machines", '[');
    for (size_t i = 0; i < fleet->count; i++) {
        const struct fleet_host *host = &fleet->hosts[i];
        form_begin(&form, '{');
        form_put_string(&form, "host", host->place.name);
        form_put_string(&form, "state", fleet_state_names[host->state]);
        form_put_string(&form, "why", host->why[0] != '\0' ? host->why : NULL);
        form_put_bool(&form, "cut", fleet_is_cut(fleet, host));
        const struct {
            const char *key;
            uint64_t then_ns;
        } times[] = {{"answered_seconds_ago", host->answered_ns},
                     {"failing_seconds", host->failing_ns}};
        for (size_t j = 0; j < ARRAY_COUNT(times); j++) {
            form_key(&form, times[j].key);
            if (times[j].then_ns > 0)
                form_number(&form, (double)(view->now_ns - times[j].then_ns) / 1e9);
            else
                form_null(&form);
        }
        form_end(&form, '}');
    }
    form_end(&form, ']');
    form_begin_member(&form, "rows", '[');
    for (size_t i = 0; i < view->table->count; i++)
        put_row(&form, view, &view->table->rows[i]);
    form_end(&form, ']');
    form_end(&form, '}');
    if (form.failed == 0)
        form.failed = write(data, "\n", 1);
    return form.failed != 0 ? VITALS_ESYSTEM : 0;
}
