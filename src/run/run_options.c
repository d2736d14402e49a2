/* run_options.c: see <vitals/run.h>: options of a run, launched or tracked. Pure. */
#include "run/run_options.h"

#include <string.h>

OPTIONS_FIRST_RELEASE(OPTIONS_FIRST, vitals_run_options, child_descriptors, 48);

static const vitals_run_options DEFAULTS = {.interval_ns = NS_PER_SECOND,
                                            .limit_grace_ns = 10 * NS_PER_SECOND};

static const struct options_form OPTIONS_FORM = {.name = "vitals_run_options",
                                                 .defaults = &DEFAULTS,
                                                 .size = sizeof(vitals_run_options),
                                                 .first = OPTIONS_FIRST};

static const vitals_run_observer NO_OBSERVER = {0};

OPTIONS_FIRST_RELEASE(OBSERVER_FIRST, vitals_run_observer, other_descriptor, 64);

static const struct options_form OBSERVER_FORM = {.name = "vitals_run_observer",
                                                  .defaults = &NO_OBSERVER,
                                                  .size = sizeof(vitals_run_observer),
                                                  .first = OBSERVER_FIRST};

void vitals_run_options_init(vitals_run_options *options, size_t size)
{
    options_init(&OPTIONS_FORM, options, size);
}

void vitals_run_observer_init(vitals_run_observer *observer, size_t size)
{
    options_init(&OBSERVER_FORM, observer, size);
}

int run_options_take(const vitals_run_options *given, vitals_run_options *out,
                     vitals_run_observer *observer, vitals_error *error)
{
    vitals_run_options taken;
    int code = options_take(&OPTIONS_FORM, given, &taken, error);
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
