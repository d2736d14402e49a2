/* cgroup_usual.c: finds our own cgroup by the usual mount points of hierarchies. See cgroup.h.
 *
 * The kernel generates the list of mounts for each reader, and on a machine with containers it is
 * long. A process in the first cgroup namespace needs it only if a hierarchy is mounted elsewhere,
 * or is not shown from its own root downwards: that root is inode 1, which a part of a hierarchy,
 * bound or mounted from within a namespace, never is. Then the path in /proc/self/cgroup is simply
 * below it. Thread rule: workers only; no memory is asked for. */
#include "os/linux/cgroup/cgroup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* The inode of the first namespace of cgroups, in every kernel that has them. */
static const ino_t FIRST_NAMESPACE = 0xeffffffb;

/* Of each hierarchy that is mounted, the root of all. */
static const ino_t ROOT_INODE = 1;

enum { POINT_BYTES = sizeof "fs/cgroup/unified" + CGROUP_NAME };

static bool is_first_namespace(const struct os *os)
{
    struct stat is;
    return fstatat(os->proc, "self/ns/cgroup", &is, 0) == 0 && is.st_ino == FIRST_NAMESPACE;
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

/* The only hierarchy of version 2, or the one beside those of version 1; or that of a controller,
 * which one that it shares is linked to. "" where it is elsewhere. */
static void find_point(const struct os *os, unsigned version, const char *name,
                       char out[static POINT_BYTES])
{
    static const char *const SECOND[] = {"", "/unified"};
    size_t count = version == 2 ? ARRAY_COUNT(SECOND) : 1;
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(out, POINT_BYTES, "fs/cgroup%s%.*s", version == 2 ? SECOND[i] : "/",
                       CGROUP_NAME, version == 2 ? "" : name);
        if (shows_all(os, out, version))
            return;
    }
    out[0] = '\0';
}

size_t cgroup_usual_read(const struct os *os, char *out, size_t capacity)
{
    if (os->sys < 0 || !is_first_namespace(os))
        return 0;
    int64_t size = linux_read_line(os, os->proc, "self/cgroup", out, capacity);
    return size > 0 && (size_t)size + 2 < capacity ? (size_t)size : 0;
}

/* 0: in none of its hierarchies. Version 1 before version 2, as that has all the rest. */
static unsigned find_membership(struct span memberships, const char *name, struct span *path)
{
    struct cursor at = cursor_over(memberships.bytes, memberships.size);
    struct span line, one;
    unsigned found = 0, version;
    while (found != 1 && cursor_line(&at, &line)) {
        if (!host_parse_membership(line, name, &version, &one))
            continue;
        found = version;
        *path = one;
    }
    return found;
}

bool cgroup_usual_find(const struct os *os, struct span memberships,
                       enum cgroup_controller controller, struct cgroup_found *out)
{
    char point[POINT_BYTES];
    struct cgroup_place *place = &out->place;
    struct span path = {"", 0};
    place->found = place->outer = false;
    out->version = find_membership(memberships, cgroup_names[controller], &path);
    if (out->version == 0)
        return true;
    find_point(os, out->version, cgroup_names[controller], point);
    size_t above = strlen(point), below = path.size > 1 ? path.size : 0; /* "/" is nothing more */
    if (above == 0 || path.size > sizeof out->cgroup.bytes || above + below >= CGROUP_PATH_MAX)
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
