/* run_options.h: options of a run as both kinds of run take them. Thread rule: pure. */
#ifndef VITALS_RUN_RUN_OPTIONS_H
#define VITALS_RUN_RUN_OPTIONS_H

#include "util/options.h"

extern const struct options_form run_options_form;

/* Errors: EARGUMENT. */
int run_options_check_interval(uint64_t interval_ns, vitals_error *error);

#endif
