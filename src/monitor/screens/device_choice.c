/* device_choice.c: see device_choice.h. */
#include "monitor/screens/device_choice.h"

#include <stdio.h>
#include <string.h>

/* The devices that are shown, as places of a list; `*count` of them. */
static const vitals_row *device_at(const struct model *model, int place, int *count)
{
    const vitals_row *found = NULL;
    int at = 0;
    for (const vitals_row *gpu = NULL; (gpu = model_next_device(model, gpu)) != NULL; at++)
        found = at == place ? gpu : found;
    *count = at;
    return found;
}

static int chosen_place(const struct model *model)
{
    int at = 0;
    for (const vitals_row *gpu = NULL; (gpu = model_next_device(model, gpu)) != NULL; at++) {
        if (vitals_row_key(gpu) == model->device)
            return at;
    }
    return -1;
}

static void choose_device(struct model *model, const vitals_row *gpu)
{
    model->has_device = gpu != NULL;
    model->device = gpu != NULL ? vitals_row_key(gpu) : 0;
}

bool device_choice_act(struct monitor *monitor, enum action action, int argument)
{
    struct model *model = &monitor->model;
    int count, place = chosen_place(model);
    const vitals_row *gpu = device_at(model, 0, &count);
    if (action == ACTION_DEVICE && argument >= 0) { /* by its number, which its label says */
        char label[16];
        (void)snprintf(label, sizeof label, "%d", argument);
        while (gpu != NULL && strcmp(vitals_row_label(gpu), label) != 0)
            gpu = model_next_device(model, gpu);
        if (gpu == NULL) {
            monitor_say(monitor, "there is no device %d", argument);
            return true;
        }
        choose_device(model, gpu);
        (void)monitor_open(monitor, &screen_device);
        return true;
    }
    if (action == ACTION_DEVICE && model->has_device) {
        choose_device(model, NULL);
        return true;
    }
    if (action == ACTION_DEVICE) { /* at that of the selected process */
        const vitals_row *own = model->has_selected && model->selected.gpu != 0
                                    ? vitals_snapshot_find(model->machine.now, VITALS_GPU,
                                                           model->selected.gpu)
                                    : NULL;
        choose_device(model, own != NULL ? own : gpu);
        model->arranged.hidden &= ~(unsigned)PANEL_DEVICES;
        model->lift = 0;
        monitor_say(monitor, "%s",
                    model->has_device ? "Up and Down choose a device, Enter shows it, d goes back"
                                      : "there is no device to look at");
        return true;
    }
    if (!model->has_device)
        return false;
    switch ((int)action) { /* keys that are about processes otherwise */
    case ACTION_UP: place--; break;
    case ACTION_DOWN: place++; break;
    case ACTION_SIDEWAYS: place += argument; break;
    case ACTION_FIRST: place = 0; break;
    case ACTION_LAST: place = count - 1; break;
    case ACTION_PROCESS: (void)monitor_open(monitor, &screen_device); return true;
    case ACTION_CLEAR: choose_device(model, NULL); return true;
    default: return false;
    }
    place = place < 0 ? 0 : place >= count ? count - 1 : place;
    choose_device(model, device_at(model, place, &count));
    return true;
}

bool device_choice_click(struct monitor *monitor, const struct layout *layout,
                         const struct input_event *event)
{
    struct model *model = &monitor->model;
    int row = event->y - (layout->devices_y - model->lift);
    const struct device_panel panel = pane_devices(model, layout->devices);
    const vitals_row *gpu = row >= 0 ? device_panel_at(&panel, row) : NULL;
    if (gpu == NULL || event->y >= layout->host_y - model->lift) {
        choose_device(model, NULL);
        return false;
    }
    if (model->has_device && model->device == vitals_row_key(gpu))
        (void)monitor_open(monitor, &screen_device);
    else
        choose_device(model, gpu);
    return true;
}

void device_choice_settle(struct model *model)
{
    bool hidden = (model->arranged.hidden & PANEL_DEVICES) != 0; /* the device could not be seen */
    if (model->has_device && (hidden || chosen_place(model) < 0))
        choose_device(model, NULL);
}
