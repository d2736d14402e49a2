/* screen_columns.c: which columns a list has, in which order and how wide: chosen by hand.
 *
 * The shown ones stand first, in their order; the command is always the last of them. A choice
 * applies at once; only W stores it. */
#include <stdio.h>
#include <string.h>

#include "monitor/list/columns.h"
#include "monitor/screens/screen.h"

enum { HEAD = 2, FOOT = 1, LINE = 320, SORTED = 5 };

struct column_dialog {
    enum view view;
    struct arranged_columns shown; /* without the command */
    unsigned others[ARRANGED_COLUMNS];
    size_t other_count;
    size_t at; /* the line that is selected */
    int top;
};

static unsigned command_place(void)
{
    return (unsigned)column_find("command", 7);
}

static void list_others(struct column_dialog *choice)
{
    choice->other_count = 0;
    for (unsigned i = 0; i < list_column_count; i++) {
        bool shown = i == command_place() || !(list_columns[i].views & choice->view);
        for (size_t j = 0; j < choice->shown.count && !shown; j++)
            shown = choice->shown.items[j].column == i;
        if (!shown)
            choice->others[choice->other_count++] = i;
    }
}

static void begin_view(struct column_dialog *choice, const struct model *model, enum view view)
{
    columns_of(&model->arranged, view, &choice->shown);
    choice->view = view;
    choice->shown.count--; /* the command */
    choice->at = 0;
    choice->top = 0;
    list_others(choice);
}

static size_t line_count(const struct column_dialog *choice)
{
    return choice->shown.count + choice->other_count;
}

static int open_columns(struct monitor *monitor, void *state)
{
    begin_view(state, &monitor->model, monitor->model.view);
    return 0;
}

/* The chosen columns become those of the model; the default ones are stored as none. */
static void apply(struct column_dialog *choice, struct model *model)
{
    struct arranged_columns *own = &model->arranged.views[choice->view == VIEW_ALL], usual;
    *own = choice->shown;
    own->items[own->count++] = (struct arranged_column){.column = command_place()};
    columns_usual(choice->view, model->arranged.wide, &usual);
    if (usual.count == own->count &&
        memcmp(usual.items, own->items, own->count * sizeof own->items[0]) == 0)
        own->count = 0;
    list_others(choice);
    (void)model_list(model);
}

/* The column of a line. */
static unsigned column_at(const struct column_dialog *choice, size_t at)
{
    const struct arranged_columns *shown = &choice->shown;
    return at < shown->count ? shown->items[at].column : choice->others[at - shown->count];
}

static void toggle(struct column_dialog *choice)
{
    struct arranged_columns *shown = &choice->shown;
    if (choice->at < shown->count) {
        memmove(&shown->items[choice->at], &shown->items[choice->at + 1],
                (shown->count - choice->at - 1) * sizeof shown->items[0]);
        shown->count--;
    } else if (choice->at < line_count(choice)) {
        unsigned column = column_at(choice, choice->at);
        shown->items[shown->count] = (struct arranged_column){.column = column};
        choice->at = shown->count++;
    }
}

static void move(struct column_dialog *choice, int step)
{
    struct arranged_columns *shown = &choice->shown;
    size_t to = choice->at + (size_t)step;
    if (choice->at >= shown->count || (step < 0 && choice->at == 0) || to >= shown->count)
        return;
    struct arranged_column kept = shown->items[choice->at];
    shown->items[choice->at] = shown->items[to];
    shown->items[to] = kept;
    choice->at = to;
}

static void widen(struct column_dialog *choice, int step)
{
    if (choice->at >= choice->shown.count)
        return;
    struct arranged_column *own = &choice->shown.items[choice->at];
    if (column_may_be(&list_columns[own->column], own->wider + step))
        own->wider += step;
}

static void sort(struct monitor *monitor, const struct column_dialog *choice, bool behind)
{
    unsigned number = column_at(choice, choice->at) + 1;
    const struct column *column = &list_columns[number - 1];
    if (!column_sorts(column)) {
        model_say(&monitor->model, "nothing is sorted by %s", column->name);
        return;
    }
    bool again = !behind && monitor->model.sort == number;
    monitor_sort(monitor, number, again && !monitor->model.reversed, behind);
    model_say(&monitor->model, "sorted by %s%s", column->name, behind ? " too" : "");
}

static bool step(struct column_dialog *choice, const struct model *model,
                 const struct input_event *event)
{
    int count = (int)line_count(choice), page = model->height > 8 ? model->height - 5 : 3;
    int by = input_lines(event, page, count);
    if (by != 0)
        choice->at = (size_t)place_within((int)choice->at + by, count - 1);
    return by != 0;
}

static bool press_columns(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct column_dialog *choice = state;
    struct model *model = &monitor->model;
    if (step(choice, model, event))
        return true;
    switch (event->code) {
    case INPUT_SPACE:
    case INPUT_ENTER:
    case '\r': toggle(choice); break;
    case '[':
    case 'u': move(choice, -1); break;
    case ']':
    case 'd': move(choice, 1); break;
    case '+':
    case INPUT_RIGHT: widen(choice, 1); break;
    case '-':
    case INPUT_LEFT: widen(choice, -1); break;
    case 'r':
        columns_usual(choice->view, model->arranged.wide, &choice->shown);
        choice->shown.count--;
        break;
    case 'g':
        begin_view(choice, model, choice->view == VIEW_ALL ? VIEW_DEVICES : VIEW_ALL);
        return true;
    case 's': sort(monitor, choice, false); return true;
    case 'S': sort(monitor, choice, true); return true;
    case 'W': (void)arranging_act(monitor, ACTION_SAVE, 0); return true;
    case 'h': (void)monitor_open(monitor, &screen_help); return true;
    case 'C':
    case 'q':
    case 'Q':
    case INPUT_ESCAPE: monitor_close(monitor); return true;
    default: return false;
    }
    apply(choice, model);
    return true;
}

static void settle(struct monitor *monitor, void *state)
{
    struct column_dialog *choice = state;
    int count = (int)line_count(choice);
    choice->at = (size_t)place_within((int)choice->at, count - 1);
    choice->top = scroll_to(choice->top, (int)choice->at, screen_lines(monitor), count);
}

static bool click(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct column_dialog *choice = state;
    if (step(choice, &monitor->model, event))
        return true;
    size_t at = (size_t)(choice->top + event->y - HEAD);
    if (event->code != INPUT_CLICK || event->y < HEAD || at >= line_count(choice))
        return false;
    if (choice->at == at) {
        toggle(choice);
        apply(choice, &monitor->model);
    }
    choice->at = at;
    return true;
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    static const char *const ARROWS[2][2] = {{"▲", "▼"}, {"^", "v"}};
    const struct column_dialog *choice = state;
    const struct model *model = &monitor->model;
    const struct arranged_columns *shown = &choice->shown;
    char line[LINE];
    (void)snprintf(line, sizeof line, " Columns of the list of %s",
                   choice->view == VIEW_ALL ? "all processes" : "processes on devices");
    canvas_words(pen->canvas, 0, 0, model->width, STYLE_BOLD, line);
    canvas_words(pen->canvas, 0, 1, model->width, STYLE_CYAN,
                 "     sort name      title     wide  what it says");

    for (int y = HEAD; y < model->height - FOOT; y++) {
        size_t at = (size_t)(choice->top + y - HEAD);
        if (at >= line_count(choice))
            break;
        bool is_shown = at < shown->count;
        unsigned place = column_at(choice, at);
        const struct column *column = &list_columns[place];

        /* Its place among the sorts, and which way: "1▼". */
        char sorted[WORDS] = "";
        for (size_t i = 0; i < model->arranged.sort_count || i == 0; i++) {
            struct arranged_sort sort = {model->sort, model->reversed};
            sort = i > 0 ? model->arranged.sorts[i] : sort;
            if (sort.sort == place + 1)
                (void)snprintf(sorted, sizeof sorted, "%zu%s", i + 1,
                               ARROWS[pen->look->ascii][column->falling != sort.reversed]);
        }
        int blanks = SORTED - canvas_columns(sorted);
        (void)snprintf(line, sizeof line, " [%c] %s%*s%-10s%-10s%4d  %s%s", is_shown ? 'x' : ' ',
                       sorted, blanks > 0 ? blanks : 0, "", column->key,
                       column->title[0] != '\0' ? column->title : "-",
                       column->width + (is_shown ? shown->items[at].wider : 0), column->name,
                       column_is_dear(column) ? " (costs more: another file of every process)"
                                              : "");
        canvas_words(pen->canvas, 0, y, model->width,
                     at == choice->at ? STYLE_BOLD | STYLE_REVERSE | STYLE_CYAN
                     : is_shown       ? STYLE_PLAIN
                                      : STYLE_DIM,
                     line);
    }
    canvas_words(pen->canvas, 0, model->height - 1, model->width, STYLE_BOLD,
                 " Space shows, [ ] move, + - width, s sort, g list, r usual, W writes, q back");
}

const struct screen screen_columns = {
    .name = "columns",
    .bit = ON_COLUMNS,
    .size = sizeof(struct column_dialog),
    .open = open_columns,
    .draw = draw,
    .click = click,
    .input = press_columns,
    .settle = settle,
};
