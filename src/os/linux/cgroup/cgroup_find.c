/* cgroup_find.c: where our own cgroup is. See cgroup.h.
 *
 * Thread rule: workers only; no memory is asked for. */
#include "os/linux/cgroup/cgroup.h"
#include "os/linux/lines.h"

#include <string.h>

const char cgroup_names[CGROUP_CONTROLLERS][CGROUP_NAME] = {
    [CGROUP_MEMORY] = "memory", [CGROUP_CPU] = "cpu",   [CGROUP_CPUACCT] = "cpuacct",
    [CGROUP_CPUSET] = "cpuset", [CGROUP_PIDS] = "pids", [CGROUP_IO] = "blkio",
    [CGROUP_SECOND] = "",
};

static void take_membership(struct span line, void *data)
{
    struct cgroups *cgroups = data;
    unsigned version;
    struct span path;
    for (unsigned i = 0; i < CGROUP_CONTROLLERS; i++) {
        struct cgroup_found *found = &cgroups->found[i];
        if ((cgroups->wanted >> i & 1) == 0 ||
            !host_parse_membership(line, cgroup_names[i], &version, &path) ||
            path.size > sizeof found->cgroup.bytes || (found->version == 1 && version == 2))
            continue;
        found->version = version;
        found->cgroup.size = path.size;
        memcpy(found->cgroup.bytes, path.bytes, path.size);
    }
}

static void take_mount(struct span line, void *data)
{
    struct cgroups *cgroups = data;
    struct cgroup_mount mount;
    if (!host_parse_cgroup_mount(line, &mount))
        return;
    cgroups->second |= mount.version == 2;
    for (unsigned i = 0; i < CGROUP_CONTROLLERS; i++) {
        struct cgroup_found *found = &cgroups->found[i];
        cgroups->first |= mount.version == 1 && host_mount_has(&mount, 1, cgroup_names[i]);
        if ((cgroups->wanted >> i & 1) != 0 &&
            host_mount_has(&mount, found->version, cgroup_names[i]))
            host_place_cgroup(&mount, (struct span){found->cgroup.bytes, found->cgroup.size},
                              &found->place);
    }
}

void cgroups_find(struct cgroups *cgroups, const struct os *os, unsigned wanted)
{
    cgroups->os = os;
    cgroups->wanted = wanted;
    cgroups->first = cgroups->second = false;
    for (unsigned i = 0; i < CGROUP_CONTROLLERS; i++) {
        cgroups->found[i].version = 0;
        cgroups->found[i].cgroup.size = 0;
        cgroups->found[i].place.found = false;
    }
    (void)lines_each(os, os->proc, "self/cgroup", take_membership, cgroups);
    (void)lines_each(os, os->proc, "self/mountinfo", take_mount, cgroups);
    for (unsigned i = 0; i < CGROUP_CONTROLLERS; i++)
        if (os->sys < 0 || !cgroups->found[i].place.found)
            cgroups->found[i].version = 0;
}
