/* select_shortage.h: why `vitals select` finds too few devices, where waiting does not help. Pure.
 */
#ifndef VITALS_COMMAND_DEVICES_SELECT_SHORTAGE_H
#define VITALS_COMMAND_DEVICES_SELECT_SHORTAGE_H

#include "command/command.h"

struct shortage {
    size_t known;   /* candidates that can be judged: once they are free they are taken */
    size_t unknown; /* lost, or of which nothing is known, or not what a limit asks for */
    size_t mute;    /* devices that no variable names, and so no candidates */
};

/* Counts the candidates of the options, which must be given. */
struct shortage shortage_of(const vitals_snapshot *snapshot, const vitals_select_options *options);

/* "; there is 1 that cannot be judged": each reason after a semicolon; "" if there is none. */
enum { SHORTAGE_REASONS = 200 };
void shortage_reasons(const struct shortage *shortage, char out[static SHORTAGE_REASONS]);

#endif
