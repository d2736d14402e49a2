/* pod.h: which pod of Kubernetes the path of a cgroup belongs to. Thread rule: pure. */
#ifndef VITALS_WORKLOAD_POD_H
#define VITALS_WORKLOAD_POD_H

#include "util/cursor.h"

enum { POD_UID = 40 };

/* The uid of the innermost pod, as Kubernetes writes it (with "-", whatever the path has); static
 * pods have 32 digits without. False, and "", where there is none. */
bool pod_of_cgroup(struct span path, char out[static POD_UID]);

#endif
