/* exporter_options.h: the options of <vitals/record/exporter.h>, in builds with and without
 * exporters. */
#ifndef VITALS_RECORD_LIBRARY_EXPORTER_OPTIONS_H
#define VITALS_RECORD_LIBRARY_EXPORTER_OPTIONS_H

#include <vitals/record/exporter.h>

/* Errors: EARGUMENT (its size). */
int exporter_options_take(const vitals_exporter_options *given, vitals_exporter_options *out,
                          vitals_error *error);

#endif
