/* exporter_options.h: the options of <vitals/record/exporter.h>, in builds with and without
 * exporters. */
#pragma once

#include <vitals/record/exporter.h>

/* Errors: EARGUMENT (its size). */
int exporter_options_take(const vitals_exporter_options *given, vitals_exporter_options *out,
                          vitals_error *error);
