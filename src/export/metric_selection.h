/* metric_selection.h: the metrics that must be sampled for the Prometheus families. */
#ifndef VITALS_EXPORT_METRIC_SELECTION_H
#define VITALS_EXPORT_METRIC_SELECTION_H

#include <stdbool.h>

#include <vitals/vitals.h>

/* Which rows of processes are exported. */
enum selection_level { SELECT_NO_PROCESSES, SELECT_WORKLOADS, SELECT_PROCESSES };

/* Adds every metric that the families read, and those of nvitop-exporter's names if `nvitop`. Does
 * not choose processes. Errors: EARGUMENT, EMEMORY. */
int metric_selection_add(vitals_request *request, enum selection_level level, bool nvitop,
                         vitals_error *error);

#endif
