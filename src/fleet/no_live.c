/* no_live.c: the screen of many machines in a program without ncurses: it is only printed. */
#include <stdio.h>

#include "feed/built_without.h"
#include "fleet/screen.h"
#include "util/base.h"

int fleet_live_run(const struct fleet_live *live UNUSED, vitals_error *error)
{
    *error = (vitals_error){.code = VITALS_EUNSUPPORTED};
    (void)snprintf(error->message, sizeof error->message, BUILT_WITHOUT_MONITOR);
    return VITALS_EUNSUPPORTED;
}
