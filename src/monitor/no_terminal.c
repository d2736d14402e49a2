/* no_terminal.c: `monitor_run` in a build without ncurses: screens are only printed. */
#include <stdio.h>

#include "feed/built_without.h"
#include "monitor/monitor.h"
#include "util/base.h"

int monitor_run(const struct monitor_options *options UNUSED, struct monitor_end *end UNUSED,
                vitals_error *error)
{
    *error = (vitals_error){.code = VITALS_EUNSUPPORTED};
    (void)snprintf(error->message, sizeof error->message, BUILT_WITHOUT_MONITOR);
    return VITALS_EUNSUPPORTED;
}
