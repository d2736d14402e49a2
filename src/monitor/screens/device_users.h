/* device_users.h: the processes that use a device, a line each, for the screen of that device.
 * Pure. One thread. */
#ifndef VITALS_MONITOR_SCREENS_DEVICE_USERS_H
#define VITALS_MONITOR_SCREENS_DEVICE_USERS_H

#include "monitor/model.h"

/* Lines that the table takes, its titles included. */
int device_users_rows(const struct model *model, const vitals_row *gpu);

/* Draws its lines from `first` on into a box. */
void device_users_draw(struct pen *pen, const struct model *model, const vitals_row *gpu,
                       const struct box *box, int first);

#endif
