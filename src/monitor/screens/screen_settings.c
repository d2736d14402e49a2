/* screen_settings.c: every setting with its present value and its key. Arrow keys change it as its
 * keys do on the main screen; only W stores it. */
#include <stdio.h>
#include <string.h>

#include "monitor/screens/screen.h"
#include "util/base.h"

enum { HEAD = 2, FOOT = 1 };

enum setting_kind {
    SETTING_THEME,
    SETTING_SPAN,
    SETTING_SECOND,
    SETTING_MODE,
    SETTING_DEVICES,
    SETTING_HOST,
    SETTING_GRAPHS,
    SETTING_LIST,
    SETTING_MEMORY,
    SETTING_SORT,
    SETTING_ORDER,
    SETTING_GROUP,
    SETTING_PLAIN,
    SETTING_COLUMNS,
    SETTINGS
};

/* `more`, `less`: what to type on the main screen. With `letters` that is `more` and the letter
 * behind that of the present value, or before it. */
static const struct setting {
    const char *name, *keys;
    const char *more, *less;
    const char *letters;
} ROWS[SETTINGS] = {
    [SETTING_THEME] = {"Theme", "v c", "vc", "vc", NULL},
    [SETTING_SPAN] = {"Time base of charts", "z", "z", "z", NULL},
    [SETTING_SECOND] = {"2nd chart of a device", "y", "y", "y", NULL},
    [SETTING_MODE] = {"Panels", "a f c", "", "", "afc"},
    [SETTING_DEVICES] = {"Devices", "v d", "vd", "vd", NULL},
    [SETTING_HOST] = {"Machine", "v h", "vh", "vh", NULL},
    [SETTING_GRAPHS] = {"Charts", "v g", "vg", "vg", NULL},
    [SETTING_LIST] = {"List", "g", "g", "g", NULL},
    [SETTING_MEMORY] = {"Memory of processes", "M", "M", "M", NULL},
    [SETTING_SORT] = {"Sort", "o , .", ".", ",", NULL},
    [SETTING_ORDER] = {"Its order", "o /", "o/", "o/", NULL},
    [SETTING_GROUP] = {"Groups", "G", "G", "G", group_letters},
    [SETTING_PLAIN] = {"Plain text", "P", "P", "P", NULL},
    [SETTING_COLUMNS] = {"Columns", "C", "C", "C", NULL},
};

struct settings_dialog {
    int at, top;
};

static const struct hint HINTS[] = {
    {INPUT_LEFT, "Left", "less"}, {INPUT_RIGHT, "Right", "more"},
    {'W', "W", "write"},          {'h', "h", "help"},
    {'q', "q", "back"},
};

/* The value of a setting in words; returns its place among the letters. */
static size_t setting_value(const struct monitor *monitor, enum setting_kind kind,
                            char out[static WORDS])
{
    static const char *const MODES[] = {"as high as fits", "full", "compact"};
    static const enum panel PANELS[] = {PANEL_DEVICES, PANEL_HOST, PANEL_GRAPHS};
    const struct model *model = &monitor->model;
    const struct arrangement *arranged = &model->arranged;
    const struct column *column = columns_sorted(model->sort);
    struct arranged_columns columns;
    const char *words = "";
    size_t place = 0;
    switch (kind) {
    case SETTING_THEME: words = theme_names[monitor_theme(monitor)]; break;
    case SETTING_SPAN:
        (void)snprintf(out, WORDS, "%d s a column", chart_seconds[arranged->span]);
        return 0;
    case SETTING_SECOND: words = second_names[arranged->second]; break;
    case SETTING_MODE:
        place = (size_t)model->mode;
        words = MODES[place];
        break;
    case SETTING_DEVICES:
    case SETTING_HOST:
    case SETTING_GRAPHS:
        words = arranged->hidden & PANELS[kind - SETTING_DEVICES] ? "hidden" : "shown";
        break;
    case SETTING_LIST:
        words = model->view == VIEW_ALL ? "all processes" : "processes on devices";
        break;
    case SETTING_MEMORY: words = arranged->percent ? "share" : "bytes"; break;
    case SETTING_SORT: words = column != NULL ? column->name : "as it comes"; break;
    case SETTING_ORDER: words = model->reversed ? "reversed" : "usual"; break;
    case SETTING_GROUP:
        place = (size_t)arranged->group;
        words = group_names[place];
        break;
    case SETTING_PLAIN: words = arranged->plain ? "yes" : "no"; break;
    default:
        columns_of(arranged, model->view, &columns);
        (void)snprintf(out, WORDS, "%zu of %zu", columns.count, list_column_count);
        return 0;
    }
    (void)snprintf(out, WORDS, "%s", words);
    return place;
}

/* A key as on the main screen. */
static void type_key(struct monitor *monitor, char key)
{
    const struct binding *binding = binding_find(ON_MAIN, (unsigned char)key);
    if (monitor->prefix != NULL)
        arranging_press(monitor, (unsigned char)key);
    else if (binding != NULL && !screen_main.act(monitor, NULL, binding->action, binding->argument))
        (void)arranging_act(monitor, binding->action, binding->argument);
}

static void change_setting(struct monitor *monitor, const struct settings_dialog *dialog, bool less)
{
    const struct setting *row = &ROWS[dialog->at];
    char words[WORDS];
    size_t place = setting_value(monitor, (enum setting_kind)dialog->at, words);
    for (const char *key = less ? row->less : row->more; *key != '\0'; key++)
        type_key(monitor, *key);
    if (row->letters != NULL) {
        size_t count = strlen(row->letters);
        type_key(monitor, row->letters[(place + (less ? count - 1 : 1)) % count]);
    }
}

static bool press_settings(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct settings_dialog *dialog = state;
    int by = input_lines(event, SETTINGS, SETTINGS);
    dialog->at = place_within(dialog->at + by, SETTINGS - 1);
    switch (event->code) {
    case INPUT_LEFT:
    case '-': change_setting(monitor, dialog, true); break;
    case INPUT_RIGHT:
    case INPUT_SPACE:
    case INPUT_ENTER:
    case '\r':
    case '+': change_setting(monitor, dialog, false); break;
    case 'W': (void)arranging_act(monitor, ACTION_SAVE, 0); break;
    case 'h': (void)monitor_open(monitor, &screen_help); break;
    case 'S':
    case 'q':
    case 'Q':
    case INPUT_F2:
    case INPUT_F10:
    case INPUT_ESCAPE: monitor_close(monitor); break;
    default: return by != 0;
    }
    return true;
}

static void settle(struct monitor *monitor, void *state)
{
    struct settings_dialog *dialog = state;
    dialog->top = scroll_to(dialog->top, dialog->at, screen_lines(monitor), SETTINGS);
}

static bool click(struct monitor *monitor, void *state, const struct input_event *event)
{
    struct settings_dialog *dialog = state;
    int at = dialog->top + event->y - HEAD;
    if (event->code != INPUT_CLICK)
        return press_settings(monitor, state, event);
    if (hints_click(monitor, event, HINTS, ARRAY_COUNT(HINTS)) || event->y < HEAD || at >= SETTINGS)
        return true;
    if (at == dialog->at)
        change_setting(monitor, dialog, false);
    dialog->at = at;
    return true;
}

static void draw(const struct monitor *monitor, const void *state, struct pen *pen)
{
    const struct settings_dialog *dialog = state;
    const struct model *model = &monitor->model;
    char line[WORDS * 4], value[WORDS];
    (void)canvas_text(pen->canvas, 1, 0, INK_TITLE, "Settings");
    (void)canvas_text(pen->canvas, 11, 0, INK_SOFT, "W writes them to the layout's file");
    (void)snprintf(line, sizeof line, " %-22s %-24s %s", "what", "now", "key");
    canvas_words(pen->canvas, 0, 1, model->width, INK_SOFT, line);
    for (int y = HEAD; y < model->height - FOOT; y++) {
        int at = dialog->top + y - HEAD;
        if (at >= SETTINGS)
            break;
        (void)setting_value(monitor, (enum setting_kind)at, value);
        (void)snprintf(line, sizeof line, " %-22s %-24s %s", ROWS[at].name, value, ROWS[at].keys);
        canvas_words(pen->canvas, 0, y, model->width,
                     at == dialog->at ? STYLE_BOLD | STYLE_REVERSE | STYLE_CYAN : STYLE_PLAIN,
                     line);
    }
    hints_draw(pen, model, HINTS, ARRAY_COUNT(HINTS));
}

const struct screen screen_settings = {
    .name = "settings",
    .bit = ON_SETTINGS,
    .size = sizeof(struct settings_dialog),
    .draw = draw,
    .click = click,
    .input = press_settings,
    .settle = settle,
};
