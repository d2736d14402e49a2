/* device_check.h: whether the devices that --devices names are there, before anything begins.
 *
 * Who looks for devices loads drivers and starts threads; who launches a command must have neither.
 * So a child of ours looks, which is ended where a driver does not answer it. One thread. */
#ifndef VITALS_COMMAND_DEVICES_DEVICE_CHECK_H
#define VITALS_COMMAND_DEVICES_DEVICE_CHECK_H

#include "command/command.h"

/* 0, also where no driver answers in time: nothing waits for one; or EXIT_USAGE after what is wrong
 * was said. */
int device_check(const struct machine_settings *machine, const struct measure_settings *measure);

#endif
