/* pane_processes.c: the list of processes, and where everything on the main screen stands.
 *
 *     | GPU     PID      USER  GPU-MEM %SM %GMBW  %CPU  %MEM     TIME  COMMAND                |
 *
 * Columns that do not fit are left out; those of the host move sideways. */
#include <stdio.h>
#include <string.h>

#include "monitor/pane.h"

enum { FRAME = 5, LINES_LEAST = 6, LINE = WORDS_COMMAND + 128 };

/* ---- where ---- */

static bool has_rules(const struct model *model)
{
    return model->view == VIEW_DEVICES && model->sort == 0 && !model->reversed;
}

/* Whether a line begins another device than the one above it. */
static bool begins_device(const struct model *model, size_t place)
{
    const struct item *items = model->list.items;
    return place > 0 && items[place].order != items[place - 1].order;
}

/* Lines that the whole list would take. */
static int lines_wanted(const struct model *model, bool rules)
{
    int lines = (int)model->list.count;
    for (size_t i = 0; rules && i < model->list.count; i++)
        lines += begins_device(model, i);
    return lines > 0 ? lines : 1;
}

/* Whether panels of these forms leave the list what it needs. */
static bool fits(const struct model *model, enum form devices, bool host_full, int list)
{
    return model->height >=
           1 + pane_devices_rows(model, devices) + pane_host_rows(model, host_full) + list;
}

/* The first of these that fits, as the machine's graphs tell more than a second line of a device.
 */
static void choose_forms(const struct model *model, struct layout *layout, int wanted)
{
    static const struct {
        enum form devices;
        bool host_full;
    } FORMS[] = {
        {FORM_FULL, true}, {FORM_COMPACT, true}, {FORM_FULL, false}, {FORM_COMPACT, false}};
    layout->devices = model->mode == MONITOR_COMPACT ? FORM_COMPACT : FORM_FULL;
    layout->host_full = model->mode == MONITOR_FULL;
    if (model->mode != MONITOR_AUTO)
        return;
    layout->devices = FORM_DENSE;
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++) {
        if (fits(model, FORMS[i].devices, FORMS[i].host_full, FRAME + wanted)) {
            layout->devices = FORMS[i].devices;
            layout->host_full = FORMS[i].host_full;
            return;
        }
    }
}

void layout_of(const struct model *model, struct layout *layout)
{
    int most = model->height / 3 > LINES_LEAST ? model->height / 3 : LINES_LEAST;
    int wanted = lines_wanted(model, has_rules(model));
    *layout = (struct layout){.rules = has_rules(model)};
    choose_forms(model, layout, wanted < most ? wanted : most);
    layout->devices_y = 1;
    layout->host_y = 1 + pane_devices_rows(model, layout->devices);
    int end = layout->host_y + pane_host_rows(model, layout->host_full);
    layout->list_y = end + 1;
    layout->lines_y = layout->list_y + 3;
    layout->lines = model->height - end - FRAME;
    if (layout->lines < wanted && layout->lines < LINES_LEAST) {
        int least = model->height - FRAME - 1 < LINES_LEAST ? model->height - FRAME - 1
                                                            : LINES_LEAST;
        layout->lines = wanted < least ? wanted : least;
    }
    if (layout->lines < 1)
        layout->lines = 1;
    if (layout->rules && model->mode == MONITOR_COMPACT)
        layout->rules = false;
    if (layout->rules && layout->lines < wanted && model->mode == MONITOR_AUTO)
        layout->rules = layout->lines >= (int)model->list.count + 2;
    layout->height = end + FRAME + layout->lines;
}

/* ---- a line ---- */

bool pane_command(const struct model *model, const struct item *item,
                  char out[static WORDS_COMMAND])
{
    if (item->process != NULL) {
        (void)cell_command(item->process, model->options->look.ascii, out);
        return true;
    }
    vitals_availability reason = vitals_row_availability(item->user, VITALS_GPU_PROCESS_PROCESS);
    (void)snprintf(out, WORDS_COMMAND, "%s",
                   reason == VITALS_OUTSIDE ? "(not in this pid namespace, or gone)"
                                            : "(not known)");
    return false;
}

static ink line_style(const struct model *model, const struct item *item, bool *chosen)
{
    struct identity identity = item_identity(item);
    bool tagged = model_tagged(model, &identity);
    *chosen = model->has_selected &&
              (model->view == VIEW_ALL ? identity.pid == model->selected.pid
                                       : identity_equal(&identity, &model->selected));
    if (*chosen)
        return STYLE_BOLD | STYLE_REVERSE | (tagged ? STYLE_YELLOW : STYLE_CYAN);
    if (tagged)
        return STYLE_BOLD | STYLE_YELLOW;
    return item_is_other(model, item) ? STYLE_DIM : STYLE_PLAIN;
}

/* What moves sideways, as one text. */
static void host_words(const struct model *model, const struct column_choice *choice,
                       const struct item *item, char out[static LINE], bool *known)
{
    char text[WORDS];
    size_t used = 0;
    for (size_t i = choice->fixed; i + 1 < choice->count; i++) {
        const struct column *column = choice->shown[i];
        if (item != NULL)
            column->words(model, item, text);
        else
            (void)snprintf(text, sizeof text, "%s", column->title);
        used += (size_t)snprintf(out + used, LINE - used, "%*s", column->width, text);
    }
    char command[WORDS_COMMAND] = "COMMAND";
    *known = item == NULL || pane_command(model, item, command);
    (void)snprintf(out + used, LINE - used, "  %s", command);
}

/* NULL: the titles. */
static void draw_line(struct pen *pen, const struct model *model,
                      const struct column_choice *choice, const struct item *item, int y)
{
    char text[LINE];
    bool chosen = false, known;
    ink style = item != NULL ? line_style(model, item, &chosen) : STYLE_PLAIN;
    const struct column *last = choice->shown[choice->fixed];
    for (size_t i = 0; i < choice->fixed; i++) {
        const struct column *column = choice->shown[i];
        struct canvas_field field = {
            .x = 1 + choice->x[i], .y = y, .columns = column->width, .right = true, .style = style};
        if (item == NULL)
            (void)snprintf(text, sizeof text, "%s", column->title);
        else
            column->words(model, item, text);
        if (i == 0 && item != NULL && item->gpu != NULL && !chosen)
            field.style = pane_device_style(model, item->gpu) | (style & ~(unsigned)STYLE_COLORS);
        canvas_field(pen->canvas, &field, text);
    }
    int x = 1 + choice->x[choice->fixed] - (last->width == 0 ? 2 : 0);
    struct canvas_field field = {
        .x = x, .y = y, .columns = model->width - 2 - x, .skip = model->shift, .style = style};
    host_words(model, choice, item, text, &known);
    if (!known && !chosen)
        field.style |= STYLE_YELLOW;
    canvas_field(pen->canvas, &field, text);
    if (chosen)
        canvas_repeat(pen->canvas, model->width - 2, y, 1, style, " ");
}

/* The same process on another device than the selected line's. */
static bool is_twin(const struct model *model, const struct item *item)
{
    struct identity own = item_identity(item), other = model->selected;
    if (!model->has_selected || own.gpu == other.gpu || model->view == VIEW_ALL)
        return false;
    own.gpu = other.gpu = 0;
    return identity_equal(&own, &other);
}

/* ---- the box ---- */

static void title_line(struct pen *pen, const struct model *model, int y)
{
    const struct monitor_options *options = model->options;
    char host[WORDS * 2] = "", text[WORDS * 4];
    if (model->machine.now != NULL)
        (void)vitals_text_format(vitals_snapshot_host(model->machine.now),
                                 options->look.ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL,
                                 host, sizeof host);
    (void)snprintf(text, sizeof text,
                   " %s:", model->view == VIEW_ALL ? "All processes" : "Processes");
    int x = 1 + canvas_text(pen->canvas, 1, y, STYLE_BOLD, text);
    if (model->filter[0] != '\0') {
        (void)snprintf(text, sizeof text, " filter \"%s\"", model->filter);
        x += canvas_text(pen->canvas, x, y, STYLE_BOLD | STYLE_YELLOW, text);
    }
    int wide = canvas_columns(host), room = model->width - 3 - x;
    const char *user = options->user != NULL ? options->user : "";
    int own = canvas_columns(user) + (user[0] != '\0');
    if (room < wide + own + 1)
        return;
    x = model->width - 2 - wide - own;
    x += canvas_text(pen->canvas, x, y, STYLE_BOLD | (options->root ? STYLE_YELLOW : STYLE_MAGENTA),
                     user);
    if (user[0] != '\0')
        x += canvas_text(pen->canvas, x, y, STYLE_BOLD, "@");
    (void)canvas_text(pen->canvas, x, y, STYLE_BOLD | STYLE_GREEN, host);
}

/* The title of the column that the list is sorted by stands out, with an arrow behind it. */
static void mark_sort(struct pen *pen, const struct model *model,
                      const struct column_choice *choice, int y)
{
    const struct column *sorted = columns_sorted(model->sort);
    for (size_t i = 0; i < choice->count && sorted != NULL; i++) {
        if (choice->shown[i] != sorted)
            continue;
        int wide = canvas_columns(sorted->title), end = 1 + choice->x[i] + sorted->width;
        if (i >= choice->fixed)
            end -= model->shift;
        if (i >= choice->fixed && end - wide <= choice->x[choice->fixed])
            return;
        bool falling = sorted->falling != model->reversed;
        const char *arrow = pen->look->ascii ? (falling ? "v" : "^") : (falling ? "▼" : "▲");
        canvas_restyle(pen->canvas, end - wide, y, wide, STYLE_BOLD | STYLE_UNDERLINE);
        canvas_repeat(pen->canvas, end - wide - 1, y, 1, STYLE_BOLD, arrow);
    }
}

static void empty_line(struct pen *pen, const struct model *model, int y)
{
    const char *text = "No running processes found";
    if (model->machine.now == NULL ||
        (model->view == VIEW_ALL && !model->same && model->all.now == NULL))
        text = "Gathering process status...";
    else if (model->filter[0] != '\0')
        text = "No process passes the filter";
    struct canvas_field field = {.x = 3, .y = y, .columns = model->width - 5, .style = STYLE_DIM};
    canvas_field(pen->canvas, &field, text);
}

/* Which part of the list is seen, where that is not all of it. */
static void draw_position(struct pen *pen, const struct model *model, int y, size_t end)
{
    char text[WORDS];
    size_t count = model->list.count, top = (size_t)model->top;
    if (count == 0 || (top == 0 && end >= count))
        return;
    (void)snprintf(text, sizeof text, " %zu-%zu of %zu ", top + 1, end, count);
    int wide = canvas_columns(text);
    if (wide + 4 < model->width)
        (void)canvas_text(pen->canvas, model->width - wide - 2, y, STYLE_DIM, text);
}

void pane_processes(struct pen *pen, const struct model *model, const struct layout *layout,
                    int lift)
{
    struct edges box = {{0, model->width - 1}, 2}, none = {.count = 0};
    struct column_choice choice;
    int y = layout->list_y - lift, end = layout->lines_y - lift + layout->lines;
    columns_choose(model->view, model_device_count(model) > 0, model->width - 3, &choice);
    draw_rule(pen, y - 1, true, &none, &box);
    title_line(pen, model, y);
    draw_edges(pen, y, &box);
    draw_line(pen, model, &choice, NULL, y + 1);
    mark_sort(pen, model, &choice, y + 1);
    draw_edges(pen, y + 1, &box);
    draw_rule(pen, y + 2, true, &box, &box);
    size_t place = (size_t)model->top;
    int at = layout->lines_y - lift;
    for (; at < end && place < model->list.count; at++, place++) {
        const struct item *item = &model->list.items[place];
        if (layout->rules && place > (size_t)model->top && begins_device(model, place)) {
            draw_rule(pen, at++, false, &box, &box);
            if (at >= end)
                break;
        }
        draw_edges(pen, at, &box);
        draw_line(pen, model, &choice, item, at);
        if (is_twin(model, item))
            (void)canvas_text(pen->canvas, 1, at, STYLE_BOLD | STYLE_CYAN, "=");
    }
    if (model->list.count == 0)
        empty_line(pen, model, layout->lines_y - lift);
    for (; at < end; at++)
        draw_edges(pen, at, &box);
    if (model->list.count == 0)
        draw_edges(pen, layout->lines_y - lift, &box);
    draw_rule(pen, end, true, &box, &none);
    draw_position(pen, model, end, place);
}
