/* metric_selection.h: which metrics have to be sampled for Prometheus to be told of them. */
#ifndef VITALS_EXPORT_METRIC_SELECTION_H
#define VITALS_EXPORT_METRIC_SELECTION_H

#include <stdbool.h>

#include <vitals/vitals.h>

/* What is shown of processes. */
enum selection_level { SELECT_NO_PROCESSES, SELECT_WORKLOADS, SELECT_PROCESSES };

/* Adds every metric that the families read, and those of compatible names where they are wanted;
 * says nothing of which processes. Errors: EARGUMENT, EMEMORY. */
int metric_selection_add(vitals_request *request, enum selection_level level, bool nvitop,
                         vitals_error *error);

#endif
