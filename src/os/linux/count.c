/* count.c: the ways of counting that Linux has, best first. See os/count.h.
 *
 * Thread rule: constant. */
#include "os/linux/count.h"

const struct os_counter *const os_counters[] = {
    &count_cgroup2, &count_systemd, &count_perf, &count_taskstats,
    &count_cgroup1, &count_wait,    NULL};
