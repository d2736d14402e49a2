/* whole.c: see whole.h. Compiled twice: into the command's archive with VITALS_WHOLE 1, and into
 * the small program with 0. */
#include "command/whole.h"

bool whole_is_linked(void)
{
    return VITALS_WHOLE;
}

bool whole_is_needed(const struct settings *settings)
{
    return (settings->command->flags & COMMAND_WHOLE) || settings->machine.from != NULL ||
           settings->recording.path != NULL || command_is_monitor(settings) ||
           command_is_live_top(settings);
}
