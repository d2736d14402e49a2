/* pane_processes.c: the list of processes on the main screen.
 *
 *     | GPU     PID      USER  GPU-MEM %SM %GMBW  %CPU  %MEM     TIME  COMMAND                |
 *
 * Columns that do not fit are left out. Sideways the command moves alone; as in nvitop, all columns
 * of the host. */
#include <stdio.h>
#include <string.h>

#include "feed/trouble.h"
#include "monitor/list/group.h"
#include "monitor/list/match.h"
#include "monitor/screens/pane.h"

enum { LINE = 2 * WORDS_COMMAND + 128, POSITION = 96 };

bool pane_command(const struct model *model, const struct item *item,
                  char out[static WORDS_COMMAND])
{
    char words[IDLE_WORDS], command[WORDS_COMMAND];
    double seconds;
    int used = 0;
    if (item->head) {
        group_words(model, item->group, 0, out, WORDS_COMMAND);
        return true;
    }
    /* A process that holds memory of a device without using it. */
    if (model_idle(model, item->user, &seconds))
        used = snprintf(out, WORDS_COMMAND, "[%s] ", idle_words(seconds, words));
    bool known = item->process != NULL;
    (void)snprintf(
        out + used, WORDS_COMMAND - (size_t)used, "%s",
        known ? cell_command(item->process, model->options->look.ascii, command)
              : cell_stranger(vitals_row_availability(item->user, VITALS_GPU_PROCESS_PROCESS)));
    return known;
}

/* The text of a column for a line, or its title, padded to its columns; returns the bytes. A column
 * aligned at the left has its blank before it. */
static size_t cell(const struct model *model, const struct column *column, int width,
                   const struct item *item, char out[static WORDS * 2])
{
    char text[WORDS];
    if (item != NULL)
        column_words(column, model, item, text);
    else
        column_title(column, model, text);
    bool sum = item != NULL && item->head; /* may take the blank too */
    if (width > 1)
        cell_cut(text, sum ? width : width - 1, "+");
    width = width < WORDS ? width : WORDS - 1;
    if (!column->left || canvas_columns(text) >= width)
        return column_pad(text, width, false, out, WORDS * 2);
    out[0] = ' ';
    return 1 + column_pad(text, width - 1, true, out + 1, WORDS * 2 - 1);
}

/* Columns of the screen at the left that a group has no sum in. */
static int lead_columns(const struct column_choice *choice)
{
    size_t i = 0;
    while (i < choice->fixed && !choice->shown[i]->sum)
        i++;
    return i > 0 ? choice->x[i - 1] + choice->width[i - 1] : 0;
}

/* A group's words stand there where the last column has less room than they need. */
static bool is_led(const struct model *model, const struct column_choice *choice,
                   const struct item *item)
{
    char words[WORDS_COMMAND];
    if (item == NULL || !item->head || pane_shift(model) > 0 ||
        lead_columns(choice) <= choice->command)
        return false;
    group_words(model, item->group, 0, words, sizeof words);
    return canvas_columns(words) > choice->command;
}

/* The columns that move sideways, as one text. */
static void host_words(const struct model *model, const struct column_choice *choice,
                       const struct item *item, bool led, char out[static LINE], bool *known)
{
    char text[WORDS * 2];
    size_t used = 0;
    for (size_t i = choice->fixed; i + 1 < choice->count; i++) {
        size_t size = cell(model, choice->shown[i], choice->width[i], item, text);
        if (used + size + WORDS_COMMAND + 3 > LINE)
            break;
        memcpy(out + used, text, size + 1);
        used += size;
    }
    char command[WORDS_COMMAND] = "COMMAND";
    *known = item == NULL || pane_command(model, item, command);
    (void)snprintf(out + used, LINE - used, "  %s%s",
                   item != NULL && item->branch != NULL ? item->branch : "", led ? "" : command);
}

void pane_program(struct pen *pen, const struct canvas_field *field, char *command)
{
    char part[WORDS_COMMAND];
    size_t program = cell_program(command);
    canvas_field(pen->canvas, field, command);
    (void)snprintf(part, sizeof part, "%.*s", (int)program, command);
    int wide = canvas_columns(part) - field->skip;
    canvas_restyle(pen->canvas, field->x, field->y, wide < field->columns ? wide : field->columns,
                   STYLE_BOLD);
}

int pane_shift(const struct model *model)
{
    return model->arranged.nvitop ? model->shift : 0;
}

/* Words before a command, in a field that then begins behind them. */
static void draw_before(struct pen *pen, struct canvas_field *field, ink style, const char *words)
{
    struct canvas_field own = *field;
    int wide = canvas_columns(words);
    own.columns = wide < field->columns ? wide : field->columns;
    own.style = style;
    canvas_field(pen->canvas, &own, words);
    field->x += own.columns;
    field->columns -= own.columns;
}

/* The mark of a process that holds memory without using it, as long as leaves the command its
 * room. */
static void idle_mark(double seconds, int room, bool ascii, char out[static IDLE_WORDS + 4])
{
    enum { ROOM_SPAN = 64, ROOM_WORD = 24 };
    char words[IDLE_WORDS];
    if (room >= ROOM_SPAN)
        (void)snprintf(out, IDLE_WORDS + 4, "[%s] ", idle_words(seconds, words));
    else
        (void)snprintf(out, IDLE_WORDS + 4, "%s",
                       room >= ROOM_WORD ? "held "
                       : ascii           ? "o "
                                         : "○ ");
}

/* "GPU 0,1  ", the devices that a process of a tree uses. */
static void devices_words(const struct model *model, const struct item *item,
                          char out[static WORDS_COMMAND])
{
    uint64_t bit = 1;
    out[0] = '\0';
    for (const vitals_row *gpu = NULL;
         (gpu = row_next(model->machine.now, VITALS_TABLE_GPU, gpu)) != NULL; bit <<= 1) {
        if ((item->use.devices & bit) && strlen(out) < WORDS)
            cell_add(out, WORDS_COMMAND, "%s%.20s", out[0] != '\0' ? "," : "GPU ",
                     vitals_row_label(gpu));
    }
    if (out[0] != '\0')
        cell_add(out, WORDS_COMMAND, "  ");
}

/* The command of a line: what it holds, its work, its program, and its arguments. */
static void draw_command(struct pen *pen, const struct model *model, const struct item *item,
                         const struct canvas_field *place, bool is_marked)
{
    char text[WORDS_COMMAND], work[WORDS_COMMAND], mark[IDLE_WORDS + 4];
    struct canvas_field field = *place;
    bool known = pane_command(model, item, text);
    char *command = text;
    double seconds;
    if (item->branch != NULL) {
        char devices[WORDS_COMMAND];
        devices_words(model, item, devices);
        draw_before(pen, &field, is_marked ? place->style : INK_FRAME, item->branch);
        draw_before(pen, &field, is_marked ? place->style : STYLE_BOLD | theme_step(INK_LOAD, 0.9),
                    devices);
    }
    item_work(model, item, work, WORDS);
    if (work[0] != '\0')
        (void)strcat(work, "  ");
    if (canvas_columns(work) * 2 >= field.columns)
        work[0] = '\0';
    if (!item->head && model_idle(model, item->user, &seconds)) {
        command = strchr(text, ']') + 2;
        idle_mark(seconds, field.columns - canvas_columns(work), pen->look->ascii, mark);
        draw_before(pen, &field, is_marked ? place->style : INK_NOTICE, mark);
    }
    if (work[0] != '\0')
        draw_before(pen, &field, place->style, work);
    field.skip = model->shift;
    if (!known && !is_marked)
        field.style = INK_SOFT;
    if (item->ended) /* it is soon gone: no part of it stands out */
        (void)cell_program(command);
    if (known && !item->head && !item->ended)
        pane_program(pen, &field, command);
    else
        canvas_field(pen->canvas, &field, command);
}

/* How much of a whole a value is, as a color: nothing stands out that is little, and the terminal
 * is sent no color of a figure that changes with every reading. */
static ink shade_of(const struct model *model, const struct column *column, const struct item *item)
{
    static const double LITTLE = 0.2;
    double value, whole = 1;
    ink ramp = INK_LOAD;
    if (!column->falling || item->head || !column_value(column, model, item, &value))
        return STYLE_PLAIN;
    switch (column->show) {
    case SHOW_CPU:
    case SHOW_SHARE: break;
    case SHOW_PERCENT: ramp = INK_HELD; break;
    case SHOW_RATE:
        ramp = INK_IN;
        whole = 64 << 20;
        break;
    case SHOW_BYTES:
        ramp = INK_HELD;
        if (column->whole == WHOLE_DEVICES)
            (void)!model_devices_total(model, item_devices(item), &whole);
        else
            (void)!cell_value(model_host(model), VITALS_HOST_MEMORY_TOTAL_BYTES, &whole);
        if (whole <= 1 && !cell_value(item->gpu, VITALS_GPU_MEMORY_TOTAL_BYTES, &whole))
            return STYLE_PLAIN;
        break;
    default: return STYLE_PLAIN;
    }
    double ratio = value / whole;
    return ratio < LITTLE ? STYLE_PLAIN : theme_step(ramp, 0.5 + ratio / 2);
}

/* "0B/s" and "N/A" step back, so that what there is stands out. */
static bool is_nothing(const char *cell)
{
    const char *word = cell + strspn(cell, " ");
    size_t size = strcspn(word, " ");
    return (size == 4 && memcmp(word, "0B/s", size) == 0) ||
           (size == 3 && memcmp(word, "N/A", size) == 0);
}

/* The CPU of the last readings, two levels in a column, which moves with every other one. */
static void draw_trend(struct pen *pen, const struct model *model, const struct item *item, int x,
                       int y, int columns, ink style)
{
    const struct trend *trend = item_trend(model, item);
    const struct trends *trends =
        &model->trends[trend != NULL && vitals_row_snapshot(item->process) != model->machine.now];
    for (int i = 0; trend != NULL && i < columns; i++) {
        /* the newest column has one level, or two */
        int right = 2 * i - (int)(trends->steps % 2), left = right + 1;
        int steps[2] = {left < TREND_ROOM ? trend->levels[left] : 0,
                        right >= 0 && right < TREND_ROOM ? trend->levels[right] : 0};
        draw_steps(pen, x + columns - 1 - i, y, steps, style);
    }
}

/* A line of the main screen, each column in a color of its own. */
static void draw_shaded(struct pen *pen, const struct model *model,
                        const struct column_choice *choice, const struct item *item, int y,
                        ink style, bool is_marked)
{
    static const double NEW_SECONDS = 3;
    char text[WORDS * 2];
    double start;
    for (size_t i = 0; i + 1 < choice->count; i++) {
        struct canvas_field field = {
            .x = 1 + choice->x[i], .y = y, .columns = choice->width[i], .style = style};
        (void)cell(model, choice->shown[i], choice->width[i], item, text);
        if (!is_marked && choice->shown[i] == list_columns && item->gpu != NULL)
            field.style = pane_device_style(item->gpu) | style;
        else if (!is_marked)
            field.style = (is_nothing(text) ? INK_SOFT : shade_of(model, choice->shown[i], item)) |
                          style;
        canvas_field(pen->canvas, &field, text);
        if (choice->trend > 0 && choice->shown[i]->show == SHOW_CPU && !pen->look->plain)
            draw_trend(pen, model, item, field.x + 1, y, choice->trend - 1,
                       is_marked ? style : theme_step(INK_LOAD, 0.5) | style);
    }
    int x = 1 + choice->x[choice->count - 1];
    struct canvas_field field = {.x = x, .y = y, .columns = model->width - 1 - x, .style = style};
    draw_command(pen, model, item, &field, is_marked);
    if (item->ended)
        (void)canvas_text(pen->canvas, 0, y, style, "-");
    else if (cell_value(item->process, VITALS_PROCESS_START_SECONDS, &start) &&
             (double)vitals_snapshot_boottime_ns(vitals_row_snapshot(item->process)) / 1e9 - start <
                 NEW_SECONDS)
        (void)canvas_text(pen->canvas, 0, y, style, "+");
}

/* NULL: the titles. */
static void draw_line(struct pen *pen, const struct model *model,
                      const struct column_choice *choice, const struct item *item, int y)
{
    char text[LINE];
    bool chosen = false, known, led = is_led(model, choice, item);
    ink style = STYLE_PLAIN;
    if (item != NULL) {
        struct identity identity = item_identity(item);
        bool tagged = model_tagged(model, &identity);
        chosen = model->has_selected && identity.group == model->selected.group &&
                 (model->view == VIEW_ALL ? identity.pid == model->selected.pid
                                          : identity_equal(&identity, &model->selected));
        style = chosen       ? STYLE_BOLD | STYLE_REVERSE | (tagged ? STYLE_YELLOW : STYLE_CYAN)
                : tagged     ? STYLE_BOLD | STYLE_YELLOW
                : item->head ? STYLE_BOLD
                : item->ended || item_is_other(model, item) ? STYLE_DIM
                                                            : STYLE_PLAIN;
    }

    if (item != NULL && !model->arranged.nvitop && !led) {
        if (chosen)
            canvas_repeat(pen->canvas, 0, y, model->width, style, " ");
        draw_shaded(pen, model, choice, item, y, style, item->ended || (style & STYLE_COLORS) != 0);
        return;
    }

    /* The columns that stand still. */
    for (size_t i = 0; i < choice->fixed; i++) {
        struct canvas_field field = {.x = 1 + choice->x[i], .y = y, .columns = choice->width[i]};
        (void)cell(model, choice->shown[i], choice->width[i], item, text);
        bool device = choice->shown[i] == list_columns && item != NULL && item->gpu != NULL;
        field.style = style;
        if (device && !(style & STYLE_REVERSE))
            field.style = (model->arranged.nvitop ? device_style(&model->options->look, item->gpu)
                                                  : pane_device_style(item->gpu)) |
                          (style & ~(unsigned)STYLE_COLORS);
        canvas_field(pen->canvas, &field, text);
    }
    int lead = lead_columns(choice) - 2;
    if (led && lead > 0) {
        group_words(model, item->group, lead, text, WORDS_COMMAND);
        cell_cut(text, lead, "+");
        canvas_words(pen->canvas, 2, y, lead, style, text);
    }

    /* Those that move sideways, as one text. */
    int x = 1 + choice->x[choice->fixed] - (choice->shown[choice->fixed]->width == 0 ? 2 : 0);
    struct canvas_field field = {
        .x = x, .y = y, .columns = model->width - 2 - x, .skip = pane_shift(model), .style = style};
    host_words(model, choice, item, led, text, &known);
    if (!known && !chosen)
        field.style |= STYLE_YELLOW;
    canvas_field(pen->canvas, &field, text);
    if (chosen)
        canvas_repeat(pen->canvas, model->width - 2, y, 1, style, " ");
}

/* If there are several sorts, their names in order; the name of a sort whose column is not shown.
 * Returns the columns. */
static int sort_words(struct pen *pen, const struct model *model,
                      const struct column_choice *choice, int x, int y)
{
    char text[WORDS * 4] = "";
    size_t count = model->arranged.sort_count > 1 ? model->arranged.sort_count : 1;
    bool is_seen = model->sort == 0;
    for (size_t i = 0; i < choice->count; i++)
        is_seen = is_seen || choice->shown[i] == columns_sorted(model->sort);
    if (count == 1 && is_seen)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct column *column = columns_sorted(i == 0 ? model->sort
                                                            : model->arranged.sorts[i].sort);
        if (column != NULL)
            cell_add(text, sizeof text, "%s%s", text[0] != '\0' ? ", " : " sorted by ",
                     column->name);
    }
    if (x + canvas_columns(text) > model->width - 2)
        return 0;
    return canvas_text(pen->canvas, x, y, STYLE_PLAIN, text);
}

/* Lines of the list, by their places there: those that are on the screen. */
struct seen {
    size_t first, end;
};

/* " 1-5 of 6", where that is not all of it; empty otherwise. Gives the columns. */
static int position_words(const struct model *model, const struct seen *seen,
                          char out[static POSITION])
{
    size_t count = model->list.count;
    out[0] = '\0';
    if (count > 0 && seen->end > seen->first && (seen->first > 0 || seen->end < count))
        (void)snprintf(out, POSITION, " %zu-%zu of %zu", seen->first + 1, seen->end, count);
    return canvas_columns(out);
}

/* `seen`: NULL where the lower frame says it. */
static void title_line(struct pen *pen, const struct model *model,
                       const struct column_choice *choice, int y, const struct seen *seen)
{
    const struct monitor_options *options = model->options;
    char host[WORDS * 2] = "", text[WORDS * 4];
    if (model->machine.now != NULL)
        (void)cell_safe(vitals_snapshot_host(model->machine.now), options->look.ascii, host,
                        sizeof host);
    (void)snprintf(text, sizeof text,
                   " %s:", model->view == VIEW_ALL ? "All processes" : "Processes");
    int x = 1 + canvas_text(pen->canvas, 1, y, STYLE_BOLD, text);
    if (model->filter[0] != '\0') {
        (void)snprintf(text, sizeof text, " filter \"%s\"", model->filter);
        x += canvas_text(pen->canvas, x, y, STYLE_BOLD | STYLE_YELLOW, text);
    }
    if (model->arranged.group != GROUP_NONE) {
        (void)snprintf(text, sizeof text, " by %s", group_names[model->arranged.group]);
        x += canvas_text(pen->canvas, x, y, STYLE_BOLD, text);
    }
    x += sort_words(pen, model, choice, x, y);
    if (seen != NULL && x + position_words(model, seen, text) <= model->width - 2)
        x += canvas_text(pen->canvas, x, y, STYLE_DIM, text);
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

/* The title of a column that the list is sorted by stands out, with an arrow before it; where there
 * are several sorts, with their order. */
static void mark_one(struct pen *pen, const struct model *model, const struct column_choice *choice,
                     size_t place, int y)
{
    struct arranged_sort first = {model->sort, model->reversed};
    const struct arranged_sort *sort = place == 0 ? &first : &model->arranged.sorts[place];
    size_t number = model->arranged.sort_count > 1 ? place + 1 : 0;
    static const char *const ARROWS[2][2] = {{"▲", "▼"}, {"^", "v"}};
    const struct column *sorted = columns_sorted(sort->sort);
    if (sorted == NULL && !model->arranged.nvitop && model->arranged.group == GROUP_NONE)
        sorted = column_titled(model->view == VIEW_ALL ? "%CPU" : "GPU"); /* as it comes */
    char title[WORDS], text[WORDS];
    for (size_t i = 0; i < choice->count && sorted != NULL; i++) {
        if (choice->shown[i] != sorted)
            continue;
        column_title(sorted, model, title);
        int wide = canvas_columns(title), end = 1 + choice->x[i] + choice->width[i];
        end = sorted->left ? 1 + choice->x[i] + 1 + wide : end;
        if (i >= choice->fixed)
            end -= pane_shift(model);
        if (wide == 0 || (i >= choice->fixed && end - wide <= 1 + choice->x[choice->fixed]))
            return;
        canvas_restyle(pen->canvas, end - wide, y, wide, STYLE_BOLD | STYLE_UNDERLINE);
        const char *arrow = ARROWS[pen->look->ascii][sorted->falling != sort->reversed];
        (void)snprintf(text, sizeof text, "%.0zu%s", number, arrow);
        int before = canvas_columns(text) < choice->width[i] - wide ? canvas_columns(text) : 1;
        (void)canvas_text(pen->canvas, end - wide - before, y, STYLE_BOLD,
                          before > 1 || number == 0 ? text : arrow);
        return;
    }
}

/* The title of the main screen, in the rule above the list. */
static void own_title(struct pen *pen, const struct model *model,
                      const struct column_choice *choice, int y, const struct seen *seen)
{
    char text[WORDS * 4];
    if (!pen->look->plain)
        canvas_repeat(pen->canvas, 1, y, model->width - 2, INK_FRAME, pen->look->ascii ? "-" : "─");
    int x = 1 + canvas_text(pen->canvas, 1, y, INK_TITLE,
                            model->list.tree != NULL  ? model->list.tree
                            : model->view == VIEW_ALL ? "Processes "
                                                      : "Processes on devices ");
    if (model->filter[0] != '\0') {
        static const char CLEARS[] = "(Esc clears) ";
        (void)snprintf(text, sizeof text, "filter \"%s\" ", model->filter);
        x += canvas_text(pen->canvas, x, y, INK_NOTICE, text);
        if (model->list.tree == NULL && !model->away && x + (int)strlen(CLEARS) < model->width)
            x += canvas_text(pen->canvas, x, y, INK_SOFT, CLEARS);
    }
    if (model->arranged.group != GROUP_NONE) {
        (void)snprintf(text, sizeof text, "by %s ", group_names[model->arranged.group]);
        x += canvas_text(pen->canvas, x, y, INK_TITLE, text);
    }
    x += sort_words(pen, model, choice, x > 1 ? x - 1 : x, y);
    int wide = position_words(model, seen, text);
    if (wide > 0 && x + wide + 1 < model->width)
        (void)canvas_text(pen->canvas, model->width - 1 - wide, y, INK_SOFT, text);
}

static void empty_line(struct pen *pen, const struct model *model, int y)
{
    const char *text = "No running processes found", *why = NULL;
    char words[ARRANGED_FILTER + WORDS];
    struct match match;
    struct wants wants = {.count = 0};
    match_parse(model->filter, &match);
    match_needs(&match, &wants);
    if (model->machine.now == NULL ||
        (model->view == VIEW_ALL && !model->same && model->all.now == NULL))
        text = model->away ? "Not every process was read then" : "Gathering process status...";
    else if (model->same && !vitals_snapshot_has_table(model->machine.now, VITALS_TABLE_PROCESS))
        text = "No process was recorded (vitals record --processes)";
    else if (wants.count > 0 && !model->same && !model->away && model->all.now == NULL)
        text = "Gathering process status..."; /* the filter needs what has not been read yet */
    else if (model->filter[0] != '\0') {
        bool on_devices = model->view != VIEW_ALL && model->list.tree == NULL;
        (void)snprintf(words, sizeof words, "No process%s has \"%s\"%s",
                       on_devices ? " on a device" : "", model->filter,
                       on_devices ? "; g shows every process" : "");
        text = words;
    } else if (model->view != VIEW_ALL && (why = trouble_users(model->machine.now)) != NULL)
        text = why;
    canvas_words(pen->canvas, 3, y, model->width - 5, STYLE_DIM, text);
}

/* From row `at` to before row `end`; some of them may be off the screen. */
static struct seen draw_lines(struct pen *pen, const struct model *model,
                              const struct column_choice *choice, const struct layout *layout,
                              const struct edges *box)
{
    bool rules = layout->rules;
    int at = layout->lines_y - (layout->usual ? 0 : model->lift), end = at + layout->lines;
    size_t place = (size_t)model->top;
    struct seen seen = {place, place};
    for (; at < end && place < model->list.count; at++, place++) {
        const struct item *item = &model->list.items[place];
        if (rules && place > (size_t)model->top && pane_begins_device(model, place)) {
            draw_rule(pen, at++, false, box, box);
            if (at >= end)
                break;
        }
        draw_edges(pen, at, box);
        draw_line(pen, model, choice, item, at);
        struct identity own = item_identity(item);
        if (model->has_selected && model->view != VIEW_ALL && own.gpu != model->selected.gpu &&
            identity_same_process(own, model->selected)) /* on another device */
            (void)canvas_text(pen->canvas, 1, at, STYLE_BOLD | STYLE_CYAN, "=");
        if (at < 0)
            seen.first = place + 1;
        if (at < model->height)
            seen.end = place + 1;
    }
    for (; at < end; at++)
        draw_edges(pen, at, box);
    return seen;
}

/* In a tree the commands have more room. */
static void choose_columns(const struct model *model, struct column_choice *choice)
{
    columns_choose(model, model->width - 3 - (model->list.tree != NULL ? model->width / 4 : 0),
                   choice);
}

int pane_command_x(const struct model *model)
{
    struct column_choice choice;
    choose_columns(model, &choice);
    return 1 + choice.x[choice.count - 1] - pane_shift(model);
}

void pane_processes(struct pen *pen, const struct model *model, const struct layout *layout,
                    int lift)
{
    struct edges box = {{0, model->width - 1}, layout->usual ? 0 : 2}, none = {.count = 0};
    struct column_choice choice;
    int y = layout->list_y - lift, first = layout->lines_y - lift, end = first + layout->lines;
    choose_columns(model, &choice);
    struct seen seen = draw_lines(pen, model, &choice, layout, &box);
    if (layout->usual)
        own_title(pen, model, &choice, y, &seen);
    else {
        draw_rule(pen, y - 1, true, &none, &box);
        title_line(pen, model, &choice, y, end < model->height ? NULL : &seen);
        draw_edges(pen, y, &box);
    }
    draw_line(pen, model, &choice, NULL, y + 1);
    if (layout->usual)
        canvas_restyle(pen->canvas, 0, y + 1, model->width, INK_SOFT);
    for (size_t i = 0; i < model->arranged.sort_count || i == 0; i++)
        mark_one(pen, model, &choice, i, y + 1);
    if (!layout->usual) {
        draw_edges(pen, y + 1, &box);
        draw_rule(pen, y + 2, true, &box, &box);
    }
    if (model->list.count == 0) {
        empty_line(pen, model, first);
        draw_edges(pen, first, &box);
    }
    if (layout->usual)
        return;
    draw_rule(pen, end, true, &box, &none);
    char text[POSITION];
    int wide = position_words(model, &seen, text), x = model->width - wide - 3;
    if (wide > 0 && x > 2) {
        x += canvas_text(pen->canvas, x, end, STYLE_DIM, text);
        (void)canvas_text(pen->canvas, x, end, STYLE_DIM, " ");
    }
}
