/* layout.h: the layout of the monitor in its file: one JSON object, written when a person asks.
 *
 *     {"columns": {"devices": ["gpu", "pid", "user+4", "command"]}, "sort": ["gpumem", "-pid"],
 *      "group": "user", "hidden": ["graphs"], "memory": "percent", "filter": "gpu:0"} */
#pragma once

#include "command/command.h"
#include "monitor/monitor.h"

enum { LAYOUT_MESSAGE = 256 };

/* Reads the layout file that the settings name, or the one at its usual place; the monitor begins
 * with it and saves to it. If the file cannot be read, the monitor has the default layout and shows
 * a notice. */
void layout_begin(const struct view_settings *view, struct monitor_options *options);

/* Parses a file's bytes; `path` is for messages. Returns 0, or -1 with `message` naming the place
 * and the error; the layout is then the default one. */
int layout_parse(const char *path, const char *bytes, size_t size, struct arrangement *out,
                 char message[static LAYOUT_MESSAGE]);
