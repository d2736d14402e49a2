/* count.c: the accounting methods that Linux has, best first. See os/count.h.
 * Thread rule: constant. */
#include "os/linux/accounting/count.h"

const struct os_counter *const os_counters[] = {
    &count_cgroup2, &count_scope,     &count_perf, &count_taskstats,
    &count_cgroup1, &count_connector, &count_wait, NULL};
