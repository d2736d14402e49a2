/* run_options.c: see <vitals/run.h>: options of a run, launched or tracked. Pure. */
#include "run/run_options.h"

#include <string.h>

static const vitals_run_options DEFAULTS = {.interval_ns = NS_PER_SECOND,
                                            .limit_grace_ns = 10 * NS_PER_SECOND};

static const vitals_run_observer NO_OBSERVER = {0};

OPTIONS_FORM(FORM, vitals_run_options, DEFAULTS, child_descriptors, 48);
OPTIONS_FORM(OBSERVER_FORM, vitals_run_observer, NO_OBSERVER, other_descriptor, 64);

void vitals_run_options_init(vitals_run_options *options, size_t size)
{
    options_init(&FORM, options, size);
}

void vitals_run_observer_init(vitals_run_observer *observer, size_t size)
{
    options_init(&OBSERVER_FORM, observer, size);
}

int run_options_take(const vitals_run_options *given, vitals_run_options *out,
                     vitals_run_observer *observer, vitals_error *error)
{
    vitals_run_options taken;
    int code = options_take(&FORM, given, &taken, error);
    if (code == 0 && taken.observer != NULL)
        code = options_take(&OBSERVER_FORM, taken.observer, observer, error);
    if (code < 0)
        return code;
    if (taken.observer != NULL)
        taken.observer = observer;
    *out = taken;
    return 0;
}

bool run_options_are_invented(const vitals_run_options *options)
{
    const vitals_options *world = options->world;
    return world != NULL &&
           (world->backends != NULL ? strcmp(world->backends, "demo") == 0 : world->demo != NULL);
}
