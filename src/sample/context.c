/* context.c: makes the world that everything else is handed.
 *
 * It stands in this room because it checks names that only the rooms below know (back ends).
 * Thread rule: the context is immutable; any thread. */
#include "sample/context.h"

#include "core/error.h"
#include "core/memory.h"
#include "gpu/backend.h"
#include <vitals/version.h>

#include <string.h>

static const char DEMO_DEFAULT[] = "default";

void vitals_options_init(vitals_options *options)
{
    *options = (vitals_options){.size = sizeof(*options)};
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
    size_t size = strlen(string) + 1;
    *out = memory_alloc(size);
    if (*out == NULL)
        return false;
    memcpy(*out, string, size);
    return true;
}

static int check_options(const vitals_options *options, vitals_error *error)
{
    if (options->size != sizeof(*options))
        return error_set(error, VITALS_EARGUMENT, 0,
                         "options have size %zu, not %zu: call vitals_options_init first",
                         options->size, sizeof(*options));
    struct span unknown;
    if (!gpu_backends_known(options->backends, &unknown))
        return error_set(error, VITALS_EARGUMENT, 0, "no device back end is called \"%.*s\"",
                         (int)size_min(unknown.size, 64), unknown.bytes);
    return 0;
}

static int fill_context(vitals_context *context, const vitals_options *options, vitals_error *error)
{
    int code = os_open(&context->os, options, error);
    if (code < 0)
        return code;
    os_read_origin(&context->os, &context->origin);
    context->seed = options->seed;
    context->max_descriptors = options->max_descriptors;
    if (copy_string(&context->nvml_path, options->nvml_path) &&
        copy_string(&context->backends, options->backends) &&
        copy_string(&context->demo, options->demo != NULL ? options->demo : DEMO_DEFAULT))
        return 0;
    return error_set(error, VITALS_EMEMORY, 0, "out of memory");
}

int vitals_context_new(const vitals_options *options, vitals_context **out, vitals_error *error)
{
    vitals_options defaults;
    if (options == NULL) {
        vitals_options_init(&defaults);
        options = &defaults;
    }
    int code = check_options(options, error);
    if (code < 0)
        return code;
    vitals_context *context = memory_alloc(sizeof(*context));
    if (context == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    atomic_init(&context->refs, 1);
    context->os.proc = context->os.sys = context->os.dev = -1;
    code = fill_context(context, options, error);
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
