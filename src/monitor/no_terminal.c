/* no_terminal.c: `monitor_run` in a build without ncurses: screens are only printed. */
#include <stdio.h>

#include "feed/built_without.h"
#include "monitor/monitor.h"

int monitor_run(const struct monitor_options *options, struct monitor_end *end, vitals_error *error)
{
    (void)options;
    (void)end;
    *error = (vitals_error){.code = VITALS_EUNSUPPORTED};
    (void)snprintf(error->message, sizeof error->message, BUILT_WITHOUT_MONITOR);
    return VITALS_EUNSUPPORTED;
}
