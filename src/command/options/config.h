/* config.h: the configuration file: one JSON object, whose keys are names of options.
 *
 *     {"interval": 1, "ascii": true, "gpu-util-thresh": [20, 80], "backends": "nvidia"} */
#ifndef VITALS_COMMAND_OPTIONS_CONFIG_H
#define VITALS_COMMAND_OPTIONS_CONFIG_H

#include "command/options/option.h"

/* Reads the file into the settings, below flags and environment. A file that is not there is no
 * mistake unless it was named. 0, or -1 and the error names the file, the line and the column; then
 * nothing of the file holds. Read once by main(), before there are threads. */
int config_read(struct settings *settings, const char *path, bool named,
                struct option_error *error);

/* The same of bytes that are read already; `path` is for messages. */
int config_parse(struct settings *settings, const char *path, const char *bytes, size_t size,
                 struct option_error *error);

#endif
