/* context.c: makes the world that everything else is handed.
 *
 * It stands in this room because it checks names that only the rooms below know (back ends).
 * Thread rule: the context is immutable; any thread. */
#include "sampler/context.h"

#include "gpu/backend.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/options.h"
#include <vitals/version.h>

#include <string.h>

static const vitals_options DEFAULTS;
static const double DRIVER_SHARE = 0.1;
static const vitals_clock NO_CLOCK;

OPTIONS_FORM(FORM, vitals_options, DEFAULTS, trace_data, 96);
OPTIONS_FORM(CLOCK_FORM, vitals_clock, NO_CLOCK, wait_until, 48);

void vitals_options_init(vitals_options *options, size_t size)
{
    options_init(&FORM, options, size);
}

const vitals_clock *vitals_clock_system(void)
{
    return os_clock();
}

const vitals_clock *vitals_context_clock(const vitals_context *context)
{
    return &context->os.clock;
}

/* A copy; NULL for NULL. False when memory is out. */
static bool copy_string(char **out, const char *string)
{
    if (string == NULL)
        return true;
    *out = memory_string(string);
    return *out != NULL;
}

int vitals_context_new(const vitals_options *options, vitals_context **out, vitals_error *error)
{
    vitals_options taken;
    vitals_clock clock; /* what taken.clock points to; the context keeps a copy */
    int code = options_take(&FORM, options, &taken, error);
    if (code == 0 && taken.clock != NULL) {
        code = options_take(&CLOCK_FORM, taken.clock, &clock, error);
        if (code == 0 && (clock.monotonic_ns == NULL || clock.boottime_ns == NULL ||
                          clock.realtime_ns == NULL || clock.wait_until == NULL))
            code = error_set(error, VITALS_EARGUMENT, 0, "vitals_clock lacks a function");
        taken.clock = &clock;
    }
    if (code < 0)
        return code;

    struct span unknown;
    char names[128];
    if (!(taken.driver_share >= 0 && taken.driver_share <= 1))
        return error_set(error, VITALS_EARGUMENT, 0, "driver_share: give a number from 0 to 1");
    if (taken.demo != NULL && !gpu_demo_known(taken.demo)) {
        gpu_demo_names(names, sizeof(names));
        return error_set(error, VITALS_EARGUMENT, 0, "there is no demo \"%.40s\"; there are %s",
                         taken.demo, names);
    }
    if (taken.demo != NULL && taken.backends == NULL)
        taken.backends = gpu_backend_demo.name;
    if (!gpu_backends_known(taken.backends, &unknown)) {
        gpu_backends_names(names, sizeof(names));
        return error_set(error, VITALS_EARGUMENT, 0,
                         "there is no device back end \"%.*s\"; there are %s",
                         (int)size_min(unknown.size, 64), unknown.bytes, names);
    }
    if (taken.demo != NULL && !gpu_backend_enabled(&gpu_backend_demo, taken.backends))
        return error_set(error, VITALS_EARGUMENT, 0,
                         "demo \"%.40s\" needs the back end demo; backends is \"%.64s\"",
                         taken.demo, taken.backends);
    vitals_context *context = memory_alloc(sizeof(*context));
    if (context == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    atomic_init(&context->refs, 1);
    context->os.proc = context->os.sys = context->os.dev = -1;
    context->os.etc = context->os.run = -1;
    context->seed = taken.seed;
    context->driver_share = taken.driver_share > 0 ? taken.driver_share : DRIVER_SHARE;
    context->max_descriptors = taken.max_descriptors;
    code = os_open(&context->os, &taken, error);
    if (code == 0) {
        os_read_origin(&context->os, &context->origin);
        if (!copy_string(&context->nvml_path, taken.nvml_path) ||
            !copy_string(&context->backends, taken.backends) ||
            !copy_string(&context->demo, taken.demo != NULL ? taken.demo : "default") ||
            gpu_demo_processes(context) < 0)
            code = error_set(error, VITALS_EMEMORY, 0, "out of memory");
    }
    if (code < 0) {
        context_unref(context);
        return code;
    }
    *out = context;
    return 0;
}

vitals_context *context_ref(vitals_context *context)
{
    atomic_fetch_add_explicit(&context->refs, 1, memory_order_relaxed);
    return context;
}

void context_unref(vitals_context *context)
{
    if (context == NULL || atomic_fetch_sub_explicit(&context->refs, 1, memory_order_acq_rel) != 1)
        return;
    os_close(&context->os);
    memory_free(context->nvml_path);
    memory_free(context->backends);
    memory_free(context->demo);
    memory_free(context->players);
    memory_free(context);
}

void vitals_context_free(vitals_context *context)
{
    context_unref(context);
}

const char *vitals_version_text(void)
{
    return VITALS_VERSION;
}
