/* count_shared.c: where the launcher's own cgroups are: read once for all accounting methods.
 * Thread rule: the launcher's thread. */
#include "os/linux/accounting/count.h"

#include "util/memory.h"

/* Not cleared: most of it is never touched, and a page that is not touched costs nothing. */
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
