/* device_traffic.h: what went through a device's PCIe and its links since its screen was opened.
 *
 * Only that screen asks for it, as some drivers take a second to say it: so there is no history of
 * before. A graph is shown from the second value on. One thread. */
#ifndef VITALS_MONITOR_SCREENS_DEVICE_TRAFFIC_H
#define VITALS_MONITOR_SCREENS_DEVICE_TRAFFIC_H

#include "monitor/screens/device_sheet.h"
#include "view/draw.h"

enum { TRAFFIC_WAYS = 2 };

/* One of zeros knows nothing. */
struct device_traffic {
    struct {
        struct history in, out; /* bytes a second */
    } ways[TRAFFIC_WAYS];
    uint64_t newest_ns;
};

void device_traffic_add(struct device_traffic *traffic, const struct sheet_view *view);

/* How many graphs there are to be seen, and each of them. */
int device_traffic_count(const struct device_traffic *traffic);
void device_traffic_draw(const struct device_traffic *traffic, int place, struct pen *pen,
                         const struct box *box);

#endif
