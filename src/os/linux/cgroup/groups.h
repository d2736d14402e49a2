/* groups.h: cgroups of others: where they are mounted, and what their files count. */
#ifndef VITALS_OS_LINUX_CGROUP_GROUPS_H
#define VITALS_OS_LINUX_CGROUP_GROUPS_H

#include "os/linux/machine/host_files.h"

enum { GROUP_MEMORY, GROUP_CPUACCT, GROUP_PIDS, GROUP_CONTROLLERS };

enum { GROUP_MOUNTS = 16 };

struct group_mount {
    struct cgroup_mount mount; /* without its options */
    unsigned controllers;      /* a bit for each; of version 2 all */
};

struct os_groups {
    size_t count;
    struct group_mount mounts[GROUP_MOUNTS];
    size_t prefix_size; /* of `prefix`, the path of our root of /sys; 0: it is /sys, or not known */
    bool foreign;       /* mounts below that root were found: no others count */
    char prefix[CGROUP_PATH_MAX];
};

/* Takes a line of mountinfo, where it mounts a hierarchy that counts something. Pure. */
void groups_take_mount(struct os_groups *groups, struct span line);

/* Where the cgroup with that path is for a controller, and of which version (0: nowhere). Pure. */
unsigned groups_place(const struct os_groups *groups, unsigned controller, struct span path,
                      struct cgroup_place *out);

#endif
