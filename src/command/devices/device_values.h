/* device_values.h: what `vitals device` and `vitals topo` call a device's values, and how they
 * write them for people. Nothing is read here. */
#ifndef VITALS_COMMAND_DEVICES_DEVICE_VALUES_H
#define VITALS_COMMAND_DEVICES_DEVICE_VALUES_H

#include "command/command.h"

enum { DEVICE_LABEL = 64, DEVICE_VALUE = 512 };

/* "power limit" of power_limit_watts. */
void device_label(vitals_metric metric, char out[static DEVICE_LABEL]);

/* A number of a row. A share that the driver does not give is what the row was busy since `older`
 * (which may be NULL). */
vitals_availability device_print_number(const vitals_row *row, const vitals_snapshot *older,
                                        vitals_metric metric, double *out);

/* Safe text: "28.45GiB", "41 °C", "on", "nvidia"; "N/A" where there is none, which the result says.
 */
vitals_availability device_value(const vitals_row *row, const vitals_snapshot *older,
                                 vitals_metric metric, const struct settings *settings,
                                 char out[static DEVICE_VALUE]);

/* Whether numbers stand in it, and so to the right. */
bool device_is_number(vitals_metric metric);

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

/* Whether a row is of one of these devices: the device, its partition, or what belongs to either.
 */
bool device_list_has(const struct device_list *list, const vitals_row *row);

#endif
