/* count.c: the ways of counting that Linux has, best first. See os/count.h.
 *
 * Thread rule: constant. */
#include "os/linux/accounting/count.h"

#include "util/memory.h"

const struct os_counter *const os_counters[] = {
    &count_cgroup2, &count_scope,     &count_perf, &count_taskstats,
    &count_cgroup1, &count_connector, &count_wait, NULL};

/* Not cleared: most of it is never touched. */
void *os_count_shared_new(void)
{
    struct count_shared *shared = memory_resize(NULL, 1, sizeof(*shared));
    if (shared != NULL)
        shared->looked = shared->elsewhere = false;
    return shared;
}

static bool find_usual(struct count_shared *shared, const struct os *os,
                       enum cgroup_controller controller)
{
    if (!shared->looked)
        shared->size = cgroup_usual_read(os, shared->memberships, sizeof shared->memberships);
    shared->looked = true;
    const struct span memberships = {shared->memberships, shared->size};
    return shared->size > 0 && cgroup_usual_find(os, memberships, controller, &shared->last_asked);
}

const struct cgroup_found *count_cgroup(const struct os_count_options *options,
                                        enum cgroup_controller controller)
{
    static const unsigned WANTED = 1u << CGROUP_CPUACCT | 1u << CGROUP_MEMORY | 1u << CGROUP_PIDS |
                                   1u << CGROUP_IO | 1u << CGROUP_SECOND;
    struct count_shared *shared = options->shared;
    if (!shared->elsewhere && find_usual(shared, options->os, controller))
        return &shared->last_asked;
    if (!shared->elsewhere)
        cgroups_find(&shared->cgroups, options->os, WANTED);
    shared->elsewhere = true;
    return &shared->cgroups.found[controller];
}
