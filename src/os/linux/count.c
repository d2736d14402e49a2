/* count.c: the ways of counting that Linux has, best first. See os/count.h.
 *
 * Thread rule: constant. */
#include "os/linux/count.h"

const struct os_counter *const os_counters[] = {
    &count_cgroup2, &count_systemd,   &count_perf, &count_taskstats,
    &count_cgroup1, &count_connector, &count_wait, NULL};

const size_t os_count_shared_bytes = sizeof(struct count_shared);

const struct cgroups *count_cgroups(const struct os_count_options *options)
{
    static const unsigned WANTED = 1u << CGROUP_CPUACCT | 1u << CGROUP_MEMORY | 1u << CGROUP_PIDS |
                                   1u << CGROUP_IO | 1u << CGROUP_SECOND;
    struct count_shared *shared = options->shared;
    if (!shared->looked)
        cgroups_find(&shared->cgroups, options->os, WANTED);
    shared->looked = true;
    return &shared->cgroups;
}
