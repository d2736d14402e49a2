/* device_check.h: checks that the devices which --devices names exist, before anything begins.
 *
 * Looking for devices loads drivers and starts threads, which the launcher of a command must not
 * have. So a child does it, and is killed if a driver does not answer. One thread. */
#ifndef VITALS_COMMAND_DEVICES_DEVICE_CHECK_H
#define VITALS_COMMAND_DEVICES_DEVICE_CHECK_H

#include "command/command.h"

/* 0, also where no driver answers in time: nothing waits for one; or EXIT_USAGE after what is wrong
 * was said. */
int device_check(const struct machine_settings *machine, const struct measure_settings *measure);

#endif
