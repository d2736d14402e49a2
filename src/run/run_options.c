/* run_options.c: see <vitals/run.h>: options of a run, launched or tracked. Pure. */
#include "run/run_options.h"

#include <string.h>

/* Of version 0.1.0. It stays what it is when the struct grows. */
enum { OPTIONS_FIRST = offsetof(vitals_run_options, child_descriptors) + sizeof(uint64_t) };
_Static_assert(sizeof(void *) != 8 || OPTIONS_FIRST == 48, "options grow at their end only");

static const vitals_run_options DEFAULTS = {.interval_ns = NS_PER_SECOND,
                                            .limit_grace_ns = 10 * NS_PER_SECOND};

const struct options_form run_options_form = {.name = "vitals_run_options",
                                              .defaults = &DEFAULTS,
                                              .size = sizeof(vitals_run_options),
                                              .first = OPTIONS_FIRST};

void vitals_run_options_init(vitals_run_options *options, size_t size)
{
    options_init(&run_options_form, options, size);
}

bool run_options_are_invented(const vitals_run_options *options)
{
    const vitals_options *world = options->world;
    return world != NULL && world->backends != NULL && strcmp(world->backends, "demo") == 0;
}
