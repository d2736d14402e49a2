/* arranging.c: see screen.h. */
#include "monitor/screens/screen.h"

#include <string.h>

#include "monitor/list/group.h"
#include "monitor/list/match.h"
#include "util/base.h"

/* A column has one place among the sorts. */
void monitor_sort(struct monitor *monitor, unsigned sort, bool reversed, bool behind)
{
    struct model *model = &monitor->model;
    struct arrangement *arranged = &model->arranged;
    if (!behind || sort == 0)
        arranged->sort_count = 0;
    if (!behind || (sort != 0 && (model->sort == 0 || sort == model->sort))) {
        model->sort = sort;
        model->reversed = reversed;
    } else if (sort != 0) {
        size_t used = 1;
        for (size_t i = 1; i < arranged->sort_count; i++) {
            if (arranged->sorts[i].sort != sort)
                arranged->sorts[used++] = arranged->sorts[i];
        }
        used -= used == ARRANGED_SORTS;
        arranged->sorts[used++] = (struct arranged_sort){sort, reversed};
        arranged->sort_count = used;
    }
    model->top = 0;
    (void)model_list(model);
}

/* `o` or `O`, and a letter. */
static void press_sort(struct monitor *monitor, uint32_t code)
{
    bool capital = code >= 'A' && code <= 'Z',
         behind = monitor->prefix->action == ACTION_SORT_BEHIND;
    char letter = code < 0x80 ? (char)(capital ? code + 32 : code) : 0;
    unsigned sort = columns_sort(monitor->model.view, letter);
    if (code == '/') {
        monitor->model.reversed = !monitor->model.reversed;
        (void)model_list(&monitor->model);
    } else if (sort == 0 && letter != 'n')
        model_say(&monitor->model, "no column has that key; h lists the keys");
    else
        monitor_sort(monitor, sort, capital, behind);
}

static void press_group(struct monitor *monitor, uint32_t code)
{
    struct model *model = &monitor->model;
    const char *found = code > 0 && code < 0x80 ? strchr(group_letters, (int)code) : NULL;
    if (found == NULL) {
        model_say(&monitor->model, "no grouping has that key; h lists the keys");
        return;
    }
    model->arranged.group = (enum group_by)(found - group_letters);
    model->folds.count = 0;
    model->folds.all = false;
    model->top = 0;
    (void)model_list(model);
}

/* The next theme, of those that the terminal has colors for. */
static void next_theme(struct monitor *monitor)
{
    const struct look *look = &monitor->options->look;
    enum theme theme = monitor_theme(monitor);
    if (look->colorless) {
        model_say(&monitor->model, "the terminal is not to have colors (NO_COLOR, --color)");
        return;
    }
    do
        theme = (enum theme)((theme + 1) % THEME_COUNT);
    while (look->few_colors && theme < THEME_CONTRAST);
    monitor->model.arranged.theme = (char)(theme + 1);
    model_say(&monitor->model, "colors: %s (W keeps them)", theme_names[theme]);
}

static void press_hide(struct monitor *monitor, uint32_t code)
{
    static const char LETTERS[] = "dhg"; /* by bits of enum panel */
    const char *found = code > 0 && code < 0x80 ? strchr(LETTERS, (int)code) : NULL;
    struct model *model = &monitor->model;
    struct layout layout;
    layout_of(model, &layout);
    if (code == 'c')
        next_theme(monitor);
    else if (found != NULL)
        model->arranged.hidden ^= 1u << (found - LETTERS);
    else if (code != 't')
        model_say(&monitor->model, "nothing is hidden by that key: " ARRANGING_PANELS);
    else if (layout.usual)
        model_say(&monitor->model, "disks and networks are shown with the host: h hides it");
    else if (model_device_count(model) == 0)
        model_say(&monitor->model,
                  "without a device, disks and networks are shown with the host: h hides it");
    else if (!layout.traffic && !pane_host_has_traffic(model))
        model_say(&monitor->model, "there are no figures of disks and networks");
    else if (!layout.traffic && (model->arranged.hidden & PANEL_HOST))
        model_say(&monitor->model, "they are shown with the host, which is hidden: v h shows it");
    else {
        /* Toggles what is visible now, until changed again; automatic changes are not stored. */
        bool wanted = !layout.traffic;
        model->arranged.traffic = TRAFFIC_AUTO;
        layout_of(model, &layout);
        if (layout.traffic != wanted)
            model->arranged.traffic = wanted ? TRAFFIC_ALWAYS : TRAFFIC_NEVER;
    }
}

static const struct prefix PREFIXES[] = {
    {ACTION_SORT, press_sort, "Sort by (n p u g c m t r h, s b of devices; / turns it round):"},
    {ACTION_SORT_BEHIND, press_sort, "Then sort by (n nothing, p u g c m t r h, s b of devices):"},
    {ACTION_GROUP, press_group,
     "Group by (u user, c container, j job or pod, s service, p parent, n not):"},
    {ACTION_HIDE, press_hide, "Hide or show (" ARRANGING_PANELS "; c next colors):"},
};

void arranging_press(struct monitor *monitor, uint32_t code)
{
    if (code != INPUT_ESCAPE)
        monitor->prefix->input(monitor, code);
    monitor->prefix = NULL;
}

/* The group of the selected line, its own or that of a process; if a closed group holds the
 * selected process, its line is selected. */
static void unfold(struct monitor *monitor, int open)
{
    struct model *model = &monitor->model;
    int place = model_selected(model);
    const struct group *group = place >= 0 ? model->list.items[place].group : NULL;
    if (model->arranged.group == GROUP_NONE) {
        model_say(&monitor->model, "there are no groups; G makes some");
        return;
    }
    if (group != NULL)
        model->selected = (struct identity){.start = -1, .group = group->id};
    folds_turn(&model->folds, group != NULL ? group->id : 0, group != NULL ? open : 0);
    (void)model_list(model);
}

static void save(struct monitor *monitor)
{
    char text[200];
    struct arrangement arrangement;
    if (monitor->options->save == NULL) {
        model_say(&monitor->model, "there is no folder for a layout");
        return;
    }
    model_arrangement(&monitor->model, &arrangement);
    monitor->options->save(monitor->options->save_data, &arrangement, text, sizeof text);
    model_say(&monitor->model, "%s", text);
}

bool arranging_act(struct monitor *monitor, enum action action, int argument)
{
    struct arrangement *arranged = &monitor->model.arranged;
    switch ((int)action) {
    case ACTION_COLUMNS: (void)monitor_open(monitor, &screen_columns); return true;
    case ACTION_SETTINGS: (void)monitor_open(monitor, &screen_settings); return true;
    case ACTION_PERCENT: arranged->percent = !arranged->percent; return true;
    case ACTION_PLAIN: arranged->plain = !arranged->plain; return true;
    case ACTION_SAVE: save(monitor); return true;
    case ACTION_UNFOLD:
        if (argument != 0)
            unfold(monitor, argument);
        else
            folds_turn_all(&monitor->model.folds);
        (void)model_list(&monitor->model);
        return true;
    default: break;
    }
    for (size_t i = 0; i < ARRAY_COUNT(PREFIXES); i++) {
        if (PREFIXES[i].action == action)
            monitor->prefix = &PREFIXES[i];
    }
    return monitor->prefix != NULL;
}

bool arranging_on_group(struct monitor *monitor, enum action action)
{
    const struct model *model = &monitor->model;
    if (monitor->depth != 1 || !model->has_selected || model->selected.group == 0)
        return false;
    if (action == ACTION_PROCESS) {
        unfold(monitor, 0);
        return true;
    }
    if (action != ACTION_ENVIRONMENT && action != ACTION_TAG)
        return false;
    model_say(&monitor->model, "this is a group: choose one of its processes");
    return true;
}

void arranging_check(struct monitor *monitor, const char *words)
{
    char unknown[256];
    if (match_unknown(words, unknown, sizeof unknown))
        model_say(&monitor->model, "%s", unknown);
}
