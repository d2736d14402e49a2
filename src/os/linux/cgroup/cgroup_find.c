/* cgroup_find.c: where our own cgroup is: by the list of mounts, or by the usual mount points of
 * hierarchies. See cgroup.h. Thread rule: workers only; no memory is asked for. */
#include "os/linux/cgroup/cgroup.h"
#include "os/linux/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

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

int cgroups_find_paths(struct cgroups *cgroups, const struct os *os, int64_t pid, unsigned wanted)
{
    char path[PROCESS_PATH] = "self/cgroup";
    if (pid != 0 && !linux_process_path(path, pid, "cgroup"))
        return -EINVAL;
    cgroups->os = os;
    cgroups->wanted = wanted;
    cgroups->first = cgroups->second = false;
    for (unsigned i = 0; i < CGROUP_CONTROLLERS; i++) {
        cgroups->found[i].version = 0;
        cgroups->found[i].cgroup.size = 0;
        cgroups->found[i].place.found = false;
    }
    return lines_each(os, os->proc, path, take_membership, cgroups);
}

void cgroups_find(struct cgroups *cgroups, const struct os *os, int64_t pid, unsigned wanted)
{
    (void)cgroups_find_paths(cgroups, os, pid, wanted);
    (void)lines_each(os, os->proc, "self/mountinfo", take_mount, cgroups);
    for (unsigned i = 0; i < CGROUP_CONTROLLERS; i++)
        if (os->sys < 0 || !cgroups->found[i].place.found)
            cgroups->found[i].version = 0;
}

/* ---- by the usual places ----
 *
 * The kernel generates the list of mounts for each reader, and on a machine with containers it is
 * long. A process in the first cgroup namespace needs it only if a hierarchy is mounted elsewhere,
 * or is not shown from its own root downwards: that root is inode 1, which a part of a hierarchy,
 * bound or mounted from within a namespace, never is. Then the path in /proc/self/cgroup is simply
 * below it. */

/* The inode of the first namespace of cgroups, in every kernel that has them. */
static const ino_t FIRST_NAMESPACE = 0xeffffffb;

/* The inode of the root of each mounted hierarchy. */
static const ino_t ROOT_INODE = 1;

size_t cgroup_usual_read(const struct os *os, char *out, size_t capacity)
{
    struct stat is;
    if (os->sys < 0 || fstatat(os->proc, "self/ns/cgroup", &is, 0) != 0 ||
        is.st_ino != FIRST_NAMESPACE)
        return 0;
    int64_t size = linux_read_line(os, os->proc, "self/cgroup", out, capacity);
    return size > 0 && (size_t)size + 2 < capacity ? (size_t)size : 0;
}

/* Whether a hierarchy of that version is mounted there, from its own root downwards. */
static bool shows_all(const struct os *os, const char *point, unsigned version)
{
    const long kind = version == 2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC;
    struct statfs mounted;
    struct stat is;
    int folder = openat(os->sys, point, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool all = folder >= 0 && fstatfs(folder, &mounted) == 0 && (long)mounted.f_type == kind &&
               fstat(folder, &is) == 0 && is.st_ino == ROOT_INODE;
    os_close_descriptor(folder);
    return all;
}

bool cgroup_usual_find(const struct os *os, struct span memberships,
                       enum cgroup_controller controller, struct cgroup_found *out)
{
    const char *name = cgroup_names[controller];
    char point[sizeof "fs/cgroup/unified" + CGROUP_NAME];
    struct cgroup_place *place = &out->place;
    struct span path = {"", 0}, line, one;
    struct cursor at = cursor_over(memberships.bytes, memberships.size);
    unsigned version;
    place->found = place->outer = false;
    out->version = 0; // 1 before 2, as that has all the rest
    while (out->version != 1 && cursor_line(&at, &line)) {
        if (!host_parse_membership(line, name, &version, &one))
            continue;
        out->version = version;
        path = one;
    }
    if (out->version == 0)
        return true;

    // The only hierarchy of version 2, or the one beside those of version 1; or that of a
    // controller, which one that it shares is linked to.
    bool second = out->version == 2;
    (void)snprintf(point, sizeof point, "fs/cgroup%s%.*s", second ? "" : "/", CGROUP_NAME,
                   second ? "" : name);
    bool shown = shows_all(os, point, out->version);
    if (!shown && second) {
        strcpy(point, "fs/cgroup/unified");
        shown = shows_all(os, point, 2);
    }
    size_t above = strlen(point), below = path.size > 1 ? path.size : 0; /* "/" is nothing more */
    if (!shown || path.size > sizeof out->cgroup.bytes || above + below >= CGROUP_PATH_MAX)
        return false;
    out->cgroup.size = path.size;
    memcpy(out->cgroup.bytes, path.bytes, path.size);
    memcpy(place->path.bytes, point, above);
    memcpy(place->path.bytes + above, path.bytes, below);
    place->path.size = above + below;
    place->path.bytes[place->path.size] = '\0';
    place->mount_size = above;
    place->found = true;
    return true;
}
