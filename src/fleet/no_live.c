/* no_live.c: the screen of many machines in a program without ncurses: it is only printed. */
#include "feed/built_without.h"
#include "fleet/screen.h"
#include "util/base.h"
#include "util/error.h"

int fleet_live_run(const struct fleet_live *live UNUSED, vitals_error *error)
{
    return error_set(error, VITALS_EUNSUPPORTED, 0, BUILT_WITHOUT_MONITOR);
}
