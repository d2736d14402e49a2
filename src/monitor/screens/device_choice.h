/* device_choice.h: choosing a device on the main screen, by keys or by the mouse.
 *
 * While one is chosen the keys that move are about devices, and Enter opens the screen of one; a
 * process may stay selected meanwhile. One thread. */
#ifndef VITALS_MONITOR_SCREENS_DEVICE_CHOICE_H
#define VITALS_MONITOR_SCREENS_DEVICE_CHOICE_H

#include "monitor/screens/screen.h"

/* false: the key is about processes. */
bool device_choice_act(struct monitor *monitor, enum action action, int argument);

/* A click chooses a device, another one opens it; false: it was none, and no device is chosen. */
bool device_choice_click(struct monitor *monitor, const struct layout *layout,
                         const struct input_event *event);

/* A device that has left is not chosen any more. */
void device_choice_settle(struct model *model);

#endif
