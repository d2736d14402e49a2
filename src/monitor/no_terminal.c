/* no_terminal.c: `monitor_run` in a build without ncurses: screens are only printed. */
#include "feed/built_without.h"
#include "monitor/monitor.h"
#include "util/base.h"
#include "util/error.h"

int monitor_run(const struct monitor_options *options UNUSED, struct monitor_end *end UNUSED,
                vitals_error *error)
{
    return error_set(error, VITALS_EUNSUPPORTED, 0, BUILT_WITHOUT_MONITOR);
}
