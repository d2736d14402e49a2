/* Cgroups on an operating system that has none. See null.c. Thread rule: constant. */
#include "os/attach.h"

int os_attach(const struct os *os, int64_t pid, struct os_tracked_cgroup **out)
{
    (void)os, (void)pid;
    *out = NULL;
    return 0;
}

void os_tracked_cgroup_free(struct os_tracked_cgroup *attached)
{
    (void)attached;
}

size_t os_tracked_cgroup_count(const struct os_tracked_cgroup *attached)
{
    (void)attached;
    return 0;
}

const char *os_tracked_cgroup_name(const struct os_tracked_cgroup *attached, size_t which)
{
    (void)attached, (void)which;
    return "";
}

int os_tracked_cgroup_list(const struct os_tracked_cgroup *attached, size_t which,
                           struct os_pids *pids)
{
    (void)attached, (void)which, (void)pids;
    return 0;
}

bool os_tracked_cgroup_holds(const struct os_tracked_cgroup *attached, size_t which, int64_t pid)
{
    (void)attached, (void)which, (void)pid;
    return false;
}

void os_tracked_cgroup_read(const struct os_tracked_cgroup *attached, size_t which,
                            struct counted *out)
{
    (void)attached, (void)which, (void)out;
}

int64_t os_parent_of(const struct os *os, int64_t pid)
{
    (void)os, (void)pid;
    return 0;
}
