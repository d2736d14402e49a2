/* device_paint.h: what `vitals device` says of one device. */
#ifndef VITALS_COMMAND_DEVICES_DEVICE_PAINT_H
#define VITALS_COMMAND_DEVICES_DEVICE_PAINT_H

#include "command/devices/device_list.h"
#include "view/device_metrics.h"
#include "view/paint.h"

/* A row of the table gpu in sections, with its partitions, sensors and processes. `older` (may be
 * NULL) is what shares are made against. `width`: columns to keep to; 0: as long as lines are.
 * 0, or -1: out of memory. */
struct device_view {
    const struct settings *settings;
    const vitals_snapshot *older;
    size_t width;
};
int device_paint(const vitals_row *device, const struct device_view *view, struct paint *paint);

#endif
