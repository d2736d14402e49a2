/* device_list.h: the devices that a person names on the command line. */
#ifndef VITALS_COMMAND_DEVICES_DEVICE_LIST_H
#define VITALS_COMMAND_DEVICES_DEVICE_LIST_H

#include "command/command.h"
#include "view/device_metrics.h"

/* The devices of words such as 0, GPU-1234 or 17:00.0, all top ones where there are none, into a
 * list of keys that the caller frees. 0, or an exit code after a message for each that is not
 * there. */
struct device_list {
    uint64_t *keys;
    size_t count;
    bool all;
};
int device_list(const vitals_snapshot *snapshot, const struct settings_words *words,
                struct device_list *out);
void device_list_done(struct device_list *list);

/* True if a row belongs to one of these devices: the device, its partition, or a row of either. */
bool device_list_has(const struct device_list *list, const vitals_row *row);

/* How values of devices are written, as the settings say. */
struct device_form device_form_of(const struct settings *settings);

#endif
