/* monitor.h: what `vitals` on a terminal and `vitals replay` do alike. */
#ifndef VITALS_COMMAND_LOOK_MONITOR_H
#define VITALS_COMMAND_LOOK_MONITOR_H

#include "command/settings.h"
#include "monitor/monitor.h"

/* The settings as options of the screens; `user` must live on. */
void monitor_fill_options(const struct settings *settings, const char *const *user,
                          struct monitor_options *options);

/* Prints a screen of --screen from a feed (`most` snapshots, 0: all), or, if the options say so, of
 * a recording. `styles`: with colors, as on a terminal. Returns the exit code. */
int monitor_print_screen(const struct view_settings *view, bool styles,
                         const struct monitor_options *options, struct feed *feed, size_t most);

/* Where --screen is no size, the usage error; else 0. `screen` (may be NULL) gets the name, or
 * NULL.
 */
int monitor_check_screen(const struct view_settings *view, const char **screen);

/* The screens on the terminal until they are left, then the report of the last reading. The context
 * of the options is freed. Gives the exit code; where the screens cannot be shown the message ends
 * with `instead`. */
int monitor_on_terminal(const struct settings *settings, struct monitor_options *options,
                        const char *instead);

#endif
