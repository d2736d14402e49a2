/* layout.h: the layout of the monitor in its file: one JSON object, written when a person asks.
 *
 *     {"columns": {"devices": ["gpu", "pid", "user+4", "command"]}, "sort": ["gpumem", "-pid"],
 *      "group": "user", "hidden": ["graphs"], "memory": "percent", "filter": "gpu:0"} */
#ifndef VITALS_COMMAND_LOOK_LAYOUT_H
#define VITALS_COMMAND_LOOK_LAYOUT_H

#include "command/command.h"
#include "monitor/monitor.h"

enum { LAYOUT_MESSAGE = 256 };

/* Reads the layout that the settings name, or that of its usual place, and has the monitor begin
 * with it and write it there. A file that cannot be read leaves the usual layout, and a notice. */
void layout_begin(const struct view_settings *view, struct monitor_options *options);

/* Understands a file's bytes; `path` is for messages. 0, or -1 and `message` says where and what;
 * then the layout is the usual one. */
int layout_parse(const char *path, const char *bytes, size_t size, struct arrangement *out,
                 char message[static LAYOUT_MESSAGE]);

/* Replaces the file in one step, and makes its folder. 0, or -1; the message says which. */
int layout_write(const char *path, const struct arrangement *arrangement,
                 char message[static LAYOUT_MESSAGE]);

#endif
