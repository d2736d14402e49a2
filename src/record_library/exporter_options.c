/* exporter_options.c: the options of <vitals/record/exporter.h>. */
#include "record_library/library.h"

#include <stddef.h>

#include "util/options.h"

static const vitals_exporter_options DEFAULTS = {.program = TELL_PROGRAM,
                                                 .interval_ns = NS_PER_SECOND,
                                                 .patience_ns = 5 * NS_PER_SECOND,
                                                 .mlflow_prefix = "system/process/",
                                                 .mlflow_interval_ns = 10 * NS_PER_SECOND,
                                                 .mlflow_samples = 1,
                                                 .command_line = "off"};

OPTIONS_FORM(OPTIONS, vitals_exporter_options, DEFAULTS, command_line, 208);

void vitals_exporter_options_init(vitals_exporter_options *options, size_t size)
{
    options_init(&OPTIONS, options, size);
}

int exporter_options_take(const vitals_exporter_options *given, vitals_exporter_options *out,
                          vitals_error *error)
{
    int code = options_take(&OPTIONS, given, out, error);
    if (code < 0)
        return code;
    if (out->program == NULL)
        out->program = DEFAULTS.program;
    if (out->mlflow_prefix == NULL)
        out->mlflow_prefix = DEFAULTS.mlflow_prefix;
    if (out->command_line == NULL)
        out->command_line = DEFAULTS.command_line;
    return 0;
}
