/* screen.c: see screen.h. */
#include "fleet/screen.h"

#include <stdio.h>
#include <string.h>

#include "monitor/keys.h"
#include "util/base.h"

static void reset(struct fleet_screen *screen)
{
    const char *filter = screen->first.filter;
    screen->order = screen->first;
    (void)snprintf(screen->filter, sizeof screen->filter, "%s", filter != NULL ? filter : "");
    screen->order.filter = screen->filter;
    (void)fleet_hold(screen->fleet, false);
}

int fleet_screen_init(struct fleet_screen *screen, struct fleet *fleet, const struct look *look,
                      const struct fleet_order *order)
{
    *screen = (struct fleet_screen){.fleet = fleet, .look = *look, .first = *order};
    reset(screen);
    return fleet_screen_update(screen);
}

void fleet_screen_done(struct fleet_screen *screen)
{
    fleet_table_done(&screen->table);
}

int fleet_screen_update(struct fleet_screen *screen)
{
    return fleet_table_build(&screen->table, screen->fleet, &screen->order);
}

const struct fleet_host *fleet_screen_host(const struct fleet_screen *screen)
{
    return screen->selected < screen->table.count ? screen->table.rows[screen->selected].host
                                                  : NULL;
}

/* ---- keys ---- */

static void build(struct fleet_screen *screen)
{
    if (fleet_screen_update(screen) < 0)
        (void)snprintf(screen->message, sizeof screen->message, "out of memory");
}

/* Sorts by the next column of the table, or the one before. */
static void step_sort(struct fleet_screen *screen, int step)
{
    enum { COLUMNS_MOST = 32 };
    const char *names[COLUMNS_MOST], *sort = screen->order.sort;
    int count = 0, at = 0;
    for (const struct fleet_column *column = fleet_columns; column->name != NULL; column++) {
        if ((column->bys & 1u << screen->order.by) && count < COLUMNS_MOST)
            names[count++] = column->name;
    }
    while (at < count && (sort == NULL || strcmp(names[at], sort) != 0))
        at++;
    bool none = at == count;
    at = none ? (step > 0 ? 0 : count - 1) : (at + step + count) % count;
    screen->order.sort = names[at];
}

/* Sorts by the first column that begins with a letter; n: as it comes. A capital turns it round. */
static void name_sort(struct fleet_screen *screen, uint32_t code)
{
    char letter = (char)(code < 128 ? code | 0x20 : 0);
    screen->sorting = false;
    if (letter == 'n')
        screen->order.sort = NULL;
    for (const struct fleet_column *column = fleet_columns; letter != 'n' && column->name != NULL;
         column++) {
        if ((column->bys & 1u << screen->order.by) && column->name[0] == letter) {
            screen->order.sort = column->name;
            break;
        }
    }
    screen->order.reversed = code < 'a';
}

static void edit(struct fleet_screen *screen, uint32_t code)
{
    size_t size = strlen(screen->filter);
    if (code == INPUT_ENTER || code == '\r')
        screen->editing = false;
    else if (code == INPUT_ESCAPE) {
        screen->editing = false;
        screen->filter[0] = '\0';
    } else if ((code == INPUT_BACKSPACE || code == 8) && size > 0)
        screen->filter[size - 1] = '\0';
    else if (code >= ' ' && code < 127 && size + 1 < sizeof screen->filter) {
        screen->filter[size] = (char)code;
        screen->filter[size + 1] = '\0';
    }
    build(screen);
}

static void move(struct fleet_screen *screen, long lines)
{
    long last = screen->table.count > 0 ? (long)screen->table.count - 1 : 0;
    long to = (long)screen->selected + lines;
    screen->selected = (size_t)(to < 0 ? 0 : to > last ? last : to);
}

static void turn_by(struct fleet_screen *screen)
{
    screen->order.by = (screen->order.by + 1) % FLEET_BYS;
    if (screen->order.sort != NULL &&
        fleet_column_find(screen->order.sort, screen->order.by) == NULL)
        screen->order.sort = NULL;
    screen->selected = screen->top = 0;
}

static void act(struct fleet_screen *screen, const struct binding *binding)
{
    long page = screen->height - FLEET_HEAD_ROWS - 1;
    switch (binding->action) {
    case ACTION_QUIT: screen->quit = true; break;
    case ACTION_HELP: screen->help = true; break;
    case ACTION_UP: move(screen, -1); break;
    case ACTION_DOWN: move(screen, 1); break;
    case ACTION_PAGE_UP: move(screen, -page); break;
    case ACTION_PAGE_DOWN: move(screen, page); break;
    case ACTION_SCROLL:
        move(screen, binding->argument == KEYS_PAGE    ? page
                     : binding->argument == -KEYS_PAGE ? -page
                                                       : binding->argument);
        break;
    case ACTION_FIRST: move(screen, -(long)screen->table.count); break;
    case ACTION_LAST: move(screen, (long)screen->table.count); break;
    case ACTION_SORT_STEP: step_sort(screen, binding->argument); break;
    case ACTION_SORT:
        screen->sorting = true;
        (void)snprintf(screen->message, sizeof screen->message,
                       "sort by the column that begins with ... (n: as it comes)");
        break;
    case ACTION_INVERT: screen->order.reversed = !screen->order.reversed; break;
    case ACTION_GROUP: turn_by(screen); break;
    case ACTION_FILTER:
    case ACTION_SEARCH: screen->editing = true; break;
    case ACTION_PAUSE:
        if (fleet_hold(screen->fleet, screen->fleet->later == NULL) < 0)
            (void)snprintf(screen->message, sizeof screen->message, "out of memory");
        break;
    case ACTION_RESET: reset(screen); break;
    case ACTION_PROCESS:
        screen->opened = fleet_screen_host(screen) != NULL;
        if (!screen->opened)
            (void)snprintf(screen->message, sizeof screen->message,
                           "Enter opens a machine: G for rows of machines");
        break;
    default: (void)snprintf(screen->message, sizeof screen->message, "h lists every key"); break;
    }
}

void fleet_screen_input(struct fleet_screen *screen, const struct input_event *event)
{
    uint32_t code = event->code;
    screen->message[0] = '\0';
    if (screen->help) {
        screen->help = false;
        return;
    }
    if (screen->editing) {
        edit(screen, code);
        return;
    }
    if (screen->sorting)
        name_sort(screen, code);
    else if (code == INPUT_WHEEL_UP || code == INPUT_WHEEL_DOWN)
        move(screen, code == INPUT_WHEEL_UP ? -input_times(event) : input_times(event));
    else if (code == INPUT_CLICK && event->y >= FLEET_HEAD_ROWS)
        move(screen, (long)screen->top + event->y - FLEET_HEAD_ROWS - (long)screen->selected);
    else if (code == INPUT_CONTROL('c'))
        screen->quit = true;
    else {
        const struct binding *binding = binding_find(ON_MAIN, code);
        if (binding != NULL)
            act(screen, binding);
    }
    build(screen);
    move(screen, 0);
}

/* ---- drawing ---- */

/* 80 columns. */
static void draw_help(struct pen *pen)
{
    static const struct {
        const char *keys, *ascii, *text; /* ascii: NULL: the same */
    } LINES[] = {
        {"G", NULL, "rows by device, machine, user, job"},
        {"Up Down PgUp End", NULL, "move"},
        {", < . >", NULL, "sort by the column before, the next one; / turns it round"},
        {"o", NULL, "then the first letter of the column to sort by, a capital:"},
        {"", NULL, "the other way round; n: as it comes"},
        {"& F4 \\", NULL, "only rows that hold the words; !word: that do not; Esc: all"},
        {"p", NULL, "hold still, and go on"},
        {"r", NULL, "everything as at the start"},
        {"Enter", NULL, "open that machine's own screen, over ssh"},
        {"q F10", NULL, "quit"},
        {"", NULL, ""},
        {"free", NULL, "nothing computes there, no job has it, its memory is free"},
        {"IDLE", NULL, "how long memory was held without work, as far as seen here"},
        {"AGE", NULL, "how old the figures are, from 3 s on"},
        {"≥ ~", "> ~", "a sum, a mean of which a part is not known"},
        {"…", "...", "there are more"},
    };
    (void)canvas_text(pen->canvas, 0, 0, INK_TITLE, "Keys of vitals top");
    for (size_t i = 0; i < ARRAY_COUNT(LINES); i++) {
        bool ascii = pen->look->ascii && LINES[i].ascii != NULL;
        (void)canvas_text(pen->canvas, 1, (int)i + 2, INK_KEY,
                          ascii ? LINES[i].ascii : LINES[i].keys);
        (void)canvas_text(pen->canvas, 19, (int)i + 2, STYLE_PLAIN, LINES[i].text);
    }
}

static void draw_foot(struct pen *pen, const struct fleet_screen *screen)
{
    static const struct {
        const char *key, *does;
    } HINTS[] = {{"h", "help"}, {"G", "rows by"},  {"o", "sort"}, {"&", "filter"},
                 {"p", "hold"}, {"Enter", "open"}, {"q", "quit"}};
    int y = screen->height - 1, x = 1;
    if (screen->editing || screen->message[0] != '\0') {
        if (screen->editing)
            x += canvas_text(pen->canvas, x, y, INK_KEY, "filter: ");
        (void)canvas_text(pen->canvas, x, y, STYLE_PLAIN,
                          screen->editing ? screen->filter : screen->message);
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(HINTS); i++) {
        x += canvas_text(pen->canvas, x, y, INK_KEY, HINTS[i].key) + 1;
        x += canvas_text(pen->canvas, x, y, INK_SOFT, HINTS[i].does) + 2;
    }
    char state[FLEET_FILTER + 64];
    (void)snprintf(state, sizeof state, "%sby %s%s%s%s%s",
                   screen->fleet->later != NULL ? "held, " : "", fleet_by_names[screen->order.by],
                   screen->order.sort != NULL ? ", sorted by " : "",
                   screen->order.sort != NULL ? screen->order.sort : "",
                   screen->filter[0] != '\0' ? ", filter " : "", screen->filter);
    (void)canvas_text(pen->canvas, x, y, INK_NOTICE, state);
}

void fleet_screen_draw(struct fleet_screen *screen, struct canvas *canvas, uint64_t now_ns)
{
    struct pen pen = {.canvas = canvas, .look = &screen->look};
    const struct fleet_view view = {screen->fleet, &screen->table, &screen->order, now_ns};
    size_t room = canvas->height > FLEET_HEAD_ROWS + 1
                      ? (size_t)(canvas->height - FLEET_HEAD_ROWS - 1)
                      : 1;
    screen->width = canvas->width;
    screen->height = canvas->height;
    canvas_clear(canvas);
    if (screen->selected < screen->top)
        screen->top = screen->selected;
    if (screen->selected >= screen->top + room)
        screen->top = screen->selected - room + 1;
    if (screen->help)
        draw_help(&pen);
    else {
        fleet_draw_head(&pen, &view);
        for (size_t i = 0; i < room && screen->top + i < screen->table.count; i++) {
            int y = FLEET_HEAD_ROWS + (int)i;
            fleet_draw_row(&pen, y, &view, screen->top + i);
            if (screen->top + i == screen->selected)
                canvas_restyle(canvas, 0, y, canvas->width,
                               STYLE_BOLD | STYLE_REVERSE | STYLE_CYAN);
        }
        draw_foot(&pen, screen);
    }
    const struct look *look = &screen->look;
    canvas_theme(canvas, look_theme(look), false);
    if (look->colorless)
        canvas_keep(canvas, ~(ink)STYLE_COLORS);
}
