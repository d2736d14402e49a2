/* device_list.h: the devices that a person names on the command line, and one of them as text. One
 * thread. */
#pragma once

#include "command/command.h"
#include "view/device_metrics.h"
#include "view/paint.h"

/* Finds the devices for words such as 0, GPU-1234 or 17:00.0, or all top-level devices if there are
 * no words. Fills a list of keys that the caller frees. Returns 0, or an exit code after a message
 * for each device that does not exist. */
struct device_list {
    uint64_t *keys; /* `count` of them; none where `all` */
    size_t count;
    bool all;
};
int device_list(const vitals_snapshot *snapshot, const struct settings_words *words,
                struct device_list *out);
void device_list_done(struct device_list *list);

/* True if a row belongs to one of these devices: the device, its partition, or a row of either. */
bool device_list_has(const struct device_list *list, const vitals_row *row);

/* Returns how values of devices are written, from the settings. */
struct device_form device_form_of(const struct settings *settings);

/* Prints a row of the table gpu in sections, with its partitions, sensors and processes. `older`
 * (may be NULL) is the snapshot that shares are computed against. `width`: columns to keep to; 0:
 * no limit. Returns 0, or -1 if memory is exhausted. device_paint.c */
struct device_view {
    const struct settings *settings;
    const vitals_snapshot *older;
    size_t width;
};
int device_paint(const vitals_row *device, const struct device_view *view, struct paint *paint);

/* Checks that the devices which --devices names exist, before anything begins.
 * Looking for devices loads drivers and starts threads, which the launcher of a command must not
 * have. So a child does it, and is killed if a driver does not answer. Returns 0, also if no driver
 * answers in time, or EXIT_USAGE after a message. */
int device_check(const struct machine_settings *machine, const struct measure_settings *measure);
