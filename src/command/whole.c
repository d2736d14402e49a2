/* whole.c: the two programs of the command.
 *
 * `vitals` is linked without SQLite, zlib and ncurses, which take 0.4 ms to load: an eighth of the
 * cost of `vitals run`. Commands that need them are the same code in `vitals-full`, which is linked
 * with all libraries; it is executed before anything is read, written or started. This file is
 * compiled twice: into the command's archive with VITALS_WHOLE 1, and into the small program with
 * 0. */
#include "command/command.h"

bool command_is_whole_program(void)
{
    return VITALS_WHOLE;
}
