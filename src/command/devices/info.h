/* info.h: what `vitals info` says of one process. */
#ifndef VITALS_COMMAND_DEVICES_INFO_H
#define VITALS_COMMAND_DEVICES_INFO_H

#include "command/command.h"
#include "view/paint.h"

/* Paints the answer about a process, in sections. `width`: columns to keep to; 0: as long as lines
 * are. 0, or -1: out of memory. */
int info_paint(const vitals_snapshot *answer, const struct settings *settings, size_t width,
               struct paint *paint);

#endif
