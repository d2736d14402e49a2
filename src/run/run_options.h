/* run_options.h: options of a run as both kinds of run take them. Thread rule: pure. */
#ifndef VITALS_RUN_RUN_OPTIONS_H
#define VITALS_RUN_RUN_OPTIONS_H

#include "util/options.h"
#include <vitals/run.h>

extern const struct options_form run_options_form;

/* True if the devices are the demo's. */
bool run_options_are_invented(const vitals_run_options *options);

/* Errors: EARGUMENT. */
int run_options_check_interval(uint64_t interval_ns, vitals_error *error);

#endif
