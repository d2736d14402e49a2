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

/* To the devices, at that of the selected process, and back to the processes. */
static void turn_to_devices(struct monitor *monitor)
{
    struct model *model = &monitor->model;
    const vitals_row *gpu = NULL;
    int count;
    if (model->has_device) {
        choose_device(model, NULL);
        return;
    }
    if (model->has_selected && model->selected.gpu != 0)
        gpu = vitals_snapshot_find(model->machine.now, VITALS_GPU, model->selected.gpu);
    choose_device(model, gpu != NULL ? gpu : device_at(model, 0, &count));
    model->arranged.hidden &= ~(unsigned)PANEL_DEVICES;
    if (!model->has_device)
        monitor_say(monitor, "there is no device to look at");
    else
        monitor_say(monitor, "Up and Down choose a device, Enter shows it, d goes back");
    model->lift = 0;
}

/* By its number, which its label says. */
static void open_numbered(struct monitor *monitor, int number)
{
    struct model *model = &monitor->model;
    char label[16];
    (void)snprintf(label, sizeof label, "%d", number);
    for (const vitals_row *gpu = NULL; (gpu = model_next_device(model, gpu)) != NULL;) {
        if (strcmp(vitals_row_label(gpu), label) == 0) {
            choose_device(model, gpu);
            (void)monitor_open(monitor, &screen_device);
            return;
        }
    }
    monitor_say(monitor, "there is no device %d", number);
}

/* Keys that are about processes otherwise. */
static bool act_on_chosen(struct monitor *monitor, enum action action, int argument)
{
    struct model *model = &monitor->model;
    int count, place = chosen_place(model);
    (void)device_at(model, 0, &count);
    switch ((int)action) {
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

bool device_choice_act(struct monitor *monitor, enum action action, int argument)
{
    if (monitor->model.has_device && act_on_chosen(monitor, action, argument))
        return true;
    if (action != ACTION_DEVICE)
        return false;
    if (argument < 0)
        turn_to_devices(monitor);
    else
        open_numbered(monitor, argument);
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
