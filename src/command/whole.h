/* whole.h: the two programs of the command.
 *
 * `vitals` is linked without SQLite, zlib and ncurses, which take 0.4 ms to load: an eighth of the
 * cost of `vitals run`. Commands that need them are the same code in `vitals-full`, which is linked
 * with all libraries; it is executed before anything is read, written or started. */
#pragma once

#include "command/command.h"

/* True in a program that is linked with all libraries that were found when it was built. */
bool whole_is_linked(void);

/* True if the request needs SQLite or ncurses: a recording is read or written, or the monitor is
 * shown. */
bool whole_is_needed(const struct settings *settings);
