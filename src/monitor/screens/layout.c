/* layout.c: where everything on the main screen stands. */
#include <stdio.h>

#include "monitor/screens/pane.h"
#include "util/base.h"

enum { FRAME = 5, LINES_LEAST = 6 };

static bool note_idle(const void *data, const vitals_row *gpu, char out[static TROUBLE_WORDS])
{
    char words[IDLE_WORDS];
    double seconds;
    if (!model_idle(data, gpu, &seconds))
        return false;
    (void)snprintf(out, TROUBLE_WORDS, "%s", idle_words(seconds, words));
    return true;
}

struct device_panel pane_devices(const struct model *model, enum form form)
{
    struct device_panel panel = {.now = model->machine.now,
                                 .look = &model->options->look,
                                 .selection = model_selection(model),
                                 .width = model->width,
                                 .form = form,
                                 .note = note_idle,
                                 .data = model};
    if (model->has_device)
        panel.chosen = model->device;
    if (model->has_selected)
        panel.selected = model->selected.gpu;
    return panel;
}

/* True if a line begins another device than the one above it. */
bool pane_begins_device(const struct model *model, size_t place)
{
    const struct item *items = model->list.items;
    return place > 0 && items[place].order != items[place - 1].order;
}

static int devices_rows(const struct model *model, enum form form)
{
    const struct device_panel panel = pane_devices(model, form);
    return model->arranged.hidden & PANEL_DEVICES ? 0 : device_panel_rows(&panel);
}

/* The rule above the machine is that below the devices, where these are seen. */
static int host_rule(const struct model *model, bool full)
{
    return full && (model->arranged.hidden & PANEL_DEVICES) && model_device_count(model) > 0;
}

static int host_rows(const struct model *model, bool full, bool traffic)
{
    return model->arranged.hidden & PANEL_HOST
               ? 0
               : pane_host_rows(model, full, traffic) + host_rule(model, full);
}

/* The first of these that fits, as the machine's graphs tell more than a second line of a device.
 * `list`: rows that the list needs. */
static void choose_forms(const struct model *model, struct layout *layout, int list)
{
    static const struct {
        enum form devices;
        bool host_full;
    } FORMS[] = {
        {FORM_FULL, true}, {FORM_COMPACT, true}, {FORM_FULL, false}, {FORM_COMPACT, false}};
    const struct arrangement *arranged = &model->arranged;
    bool graphs = !(arranged->hidden & PANEL_GRAPHS) && !arranged->plain;
    layout->devices = model->mode == MONITOR_COMPACT ? FORM_COMPACT : FORM_FULL;
    layout->host_full = model->mode == MONITOR_FULL && graphs;
    if (model->mode != MONITOR_AUTO)
        return;
    layout->devices = FORM_DENSE;
    for (size_t i = 0; i < ARRAY_COUNT(FORMS); i++) {
        bool traffic = arranged->traffic == TRAFFIC_ALWAYS, host_full = FORMS[i].host_full;
        int rows = 1 + devices_rows(model, FORMS[i].devices) + host_rows(model, host_full, traffic);
        if ((host_full && !graphs) || model->height < rows + FRAME + list)
            continue;
        layout->devices = FORMS[i].devices;
        layout->host_full = host_full;
        return;
    }
}

/* The main screen: what has room follows from the size, the devices and keys alone, so that
 * nothing moves while processes come and go. The list has two fifths of the height at least, and
 * more if charts have nothing to gain: of a higher screen devices get half of what it is higher. */
enum { OWN_FRAME = 2, CHART_LEAST = 2, CHART_MOST = 12, HIGH = 60 };

static int own_rows(const struct model *model, int machine, int devices)
{
    const struct arrangement *arranged = &model->arranged;
    return (arranged->hidden & PANEL_HOST ? 0 : pane_machine_rows(machine)) +
           (arranged->hidden & PANEL_DEVICES ? 0 : pane_gpus_rows(model, devices));
}

/* The first of these that fits: charts of the machine and of its devices as high as they can be,
 * charts of devices alone, none. A low screen without devices leaves its rows to the list. */
static void choose_charts(const struct model *model, struct layout *layout, int room)
{
    enum { MACHINE_MOST = 4, LOW_ALONE = 30 };
    const struct arrangement *arranged = &model->arranged;
    bool devices = pane_gpus_count(model) > 0 && !(arranged->hidden & PANEL_DEVICES);
    int most = CHART_MOST + (devices && model->height > HIGH ? (model->height - HIGH) / 2 : 0);
    if ((arranged->hidden & PANEL_GRAPHS) || arranged->plain || model->mode == MONITOR_COMPACT ||
        (!devices && model->mode == MONITOR_AUTO && model->height < LOW_ALONE))
        return;
    for (int both = 1; both >= (devices ? 0 : 1); both--) {
        for (int rows = most; rows >= CHART_LEAST; rows--) {
            int machine = !both || model->width < NARROW   ? 0
                          : devices && rows > CHART_MOST   ? rows / 3
                          : devices && rows > MACHINE_MOST ? MACHINE_MOST
                                                           : rows;
            if (own_rows(model, machine, rows) > room)
                continue;
            layout->machine_charts = machine;
            layout->device_charts = devices ? rows : 0;
            return;
        }
    }
}

static void layout_usual(const struct model *model, struct layout *layout)
{
    enum { HINTS = 12, LOW = 20, LOWEST = 8, CPU_STEP = 12, FULL_LIST = 6 };
    const struct arrangement *arranged = &model->arranged;
    int height = model->height, y = 1;
    bool devices = !(arranged->hidden & PANEL_DEVICES), host = !(arranged->hidden & PANEL_HOST);
    layout->usual = true;
    /* In the past the last row has keys of its own. */
    layout->hints = height >= HINTS && !arranged->plain && !model->away;
    layout->attention_y = height >= LOWEST ? y++ : -1;
    int list = model->mode == MONITOR_FULL ? FULL_LIST : height * 2 / 5;
    int room = height - y - layout->hints - (list > FULL_LIST ? list : FULL_LIST);
    if (host && height >= LOW)
        layout->cpu_rows = pane_cpus_strip_rows(model, model->width - 2,
                                                1 + (height - LOW) / CPU_STEP);
    choose_charts(model, layout, room - layout->cpu_rows);
    layout->host_y = y;
    y += host && model_host(model) != NULL && height >= LOWEST
             ? pane_machine_rows(layout->machine_charts)
             : 0;
    layout->cpus_y = layout->cpu_rows > 0 ? y : -1;
    y += layout->cpu_rows;
    layout->devices_y = y;
    layout->device_rows = devices ? pane_gpus_rows(model, layout->device_charts) : 0;
    int most = height - y - layout->hints - FULL_LIST;
    if (layout->device_charts == 0 && layout->device_rows > most)
        layout->device_rows = most > 1 ? most : 0;
    if (!devices || pane_gpus_count(model) == 0)
        layout->device_rows = 0;
    y += layout->device_rows;
    layout->list_y = y;
    layout->lines_y = y + OWN_FRAME;
    layout->lines = height - layout->lines_y - layout->hints;
    layout->lines = layout->lines > 1 ? layout->lines : 1;
}

void layout_of(const struct model *model, struct layout *layout)
{
    const struct arrangement *arranged = &model->arranged;
    if (!arranged->nvitop) {
        *layout = (struct layout){.rules = false};
        layout_usual(model, layout);
        return;
    }
    int height = model->height, wanted = (int)model->list.count;
    *layout = (struct layout){.rules = model->view == VIEW_DEVICES && model->sort == 0 &&
                                       !model->reversed && arranged->group == GROUP_NONE &&
                                       arranged->sort_count < 2};
    for (size_t i = 0; layout->rules && i < model->list.count; i++)
        wanted += pane_begins_device(model, i);
    wanted = wanted > 0 ? wanted : 1;
    int most = height / 3 > LINES_LEAST ? height / 3 : LINES_LEAST;
    choose_forms(model, layout, wanted < most ? wanted : most);

    /* Disks and networks where a person wants them, or where the list leaves that much empty. */
    int devices = devices_rows(model, layout->devices);
    if (arranged->traffic != TRAFFIC_NEVER && !(arranged->hidden & PANEL_HOST) &&
        pane_host_has_traffic(model)) {
        int rows = 1 + devices + host_rows(model, layout->host_full, true);
        layout->traffic_fits = height >= rows + FRAME + wanted;
        layout->traffic = layout->traffic_fits || model->traffic_left > 0 ||
                          arranged->traffic == TRAFFIC_ALWAYS;
    }
    layout->devices_y = 1;
    layout->host_y = 1 + devices;
    int end = layout->host_y + host_rows(model, layout->host_full, layout->traffic);
    layout->host_y += host_rule(model, layout->host_full);
    layout->list_y = end + 1;
    layout->lines_y = layout->list_y + 3;
    layout->lines = height - end - FRAME;
    if (layout->lines < wanted && layout->lines < LINES_LEAST) {
        int least = height - FRAME - 1 < LINES_LEAST ? height - FRAME - 1 : LINES_LEAST;
        layout->lines = wanted < least ? wanted : least;
    }
    if (layout->lines < 1)
        layout->lines = 1;

    /* Panels that have moved out of sight make room for more lines. */
    int over = end + FRAME + layout->lines - height, more = wanted - layout->lines;
    over = over > 0 ? over : 0;
    more = more < 0 ? 0 : more > end ? end : more;
    int room = model->lift - over;
    layout->lift_most = over + more;
    layout->lines += room < 0 ? 0 : room > more ? more : room;
    if (layout->rules && model->mode == MONITOR_COMPACT)
        layout->rules = false;
    if (layout->rules && layout->lines < wanted && model->mode == MONITOR_AUTO)
        layout->rules = layout->lines >= (int)model->list.count + 2;
}
