/* groups.c: the counters of other processes' cgroups, on version 1, version 2 and both at once.
 *
 * A path is given as /proc/PID/cgroup shows it to us, and one path holds for all hierarchies: a
 * program that makes cgroups for a workload gives them one name in each. A hierarchy without such a
 * cgroup has no figures. The mounts tell which hierarchy counts what. Figures hold for a cgroup and
 * those below it; one that does not is a lower bound. Thread rule: workers only; only os_groups_new
 * asks for memory. */
#include "os/linux/cgroup/cgroup.h"
#include "os/linux/lines.h"

#include "util/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 4096 };

static const char *const NAMES[GROUP_CONTROLLERS] = {
    [GROUP_MEMORY] = "memory", [GROUP_CPUACCT] = "cpuacct", [GROUP_PIDS] = "pids"};

struct os_groups *os_groups_new(void)
{
    return memory_alloc(sizeof(struct os_groups));
}

void os_groups_free(struct os_groups *groups)
{
    memory_free(groups);
}

void groups_take_mount(struct span line, void *data)
{
    struct os_groups *groups = data;
    static const char SYS[] = "/sys";
    struct cgroup_mount mount;
    unsigned controllers = 0;
    if (!host_parse_cgroup_mount(line, &mount))
        return;
    for (unsigned i = 0; i < GROUP_CONTROLLERS; i++)
        controllers |= (unsigned)host_mount_has(&mount, mount.version, NAMES[i]) << i;

    // Below our own root of /sys, which another one's mount may be: then as if that were at /sys.
    struct cgroup_path *point = &mount.point;
    size_t size = groups->prefix_size, head = sizeof SYS - 1;
    bool ours = size != 0 && point->size > size &&
                memcmp(point->bytes, groups->prefix, size) == 0 && point->bytes[size] == '/' &&
                point->size - size + head < sizeof point->bytes;
    if (ours) {
        memmove(point->bytes + head, point->bytes + size, point->size - size + 1);
        memcpy(point->bytes, SYS, head);
        point->size = point->size - size + head;
    }
    if (controllers == 0 || (groups->foreign && !ours))
        return;
    if (ours && !groups->foreign)
        groups->count = 0;
    groups->foreign |= ours;
    if (groups->count == GROUP_MOUNTS)
        return;
    mount.options = (struct span){"", 0};
    groups->mounts[groups->count++] = (struct group_mount){mount, controllers};
}

void os_groups_find(struct os_groups *groups, const struct os *os)
{
    groups->count = 0;
    groups->foreign = false;

    // Where our root of /sys is, where it is not there itself.
    char link[32];
    snprintf(link, sizeof link, "self/fd/%d", os->sys);
    ssize_t size = os->sys < 0 ? -1
                               : readlinkat(os->proc, link, groups->prefix, sizeof groups->prefix);
    bool elsewhere = size > 1 && (size_t)size < sizeof groups->prefix && groups->prefix[0] == '/' &&
                     !(size == 4 && memcmp(groups->prefix, "/sys", 4) == 0);
    groups->prefix_size = elsewhere ? (size_t)size : 0;
    (void)lines_each(os, os->proc, "self/mountinfo", groups_take_mount, groups);
}

unsigned groups_place(const struct os_groups *groups, unsigned controller, struct span path,
                      struct cgroup_place *out)
{
    unsigned version = 0;
    out->found = false;
    for (size_t i = 0; i < groups->count; i++) {
        unsigned other = groups->mounts[i].mount.version;
        if ((groups->mounts[i].controllers >> controller & 1) != 0)
            version = version == 1 ? 1 : other;
    }
    for (size_t i = 0; i < groups->count; i++) {
        const struct group_mount *mount = &groups->mounts[i];
        if ((mount->controllers >> controller & 1) != 0 && mount->mount.version == version)
            host_place_cgroup(&mount->mount, path, out);
    }
    if (!out->found || out->outer)
        return 0;
    // No cgroup has a path with "/..": it tries to lead outside of the hierarchy.
    for (size_t at = out->mount_size; at + 3 <= out->path.size; at++)
        if (memcmp(out->path.bytes + at, "/..", 3) == 0 &&
            (at + 3 == out->path.size || out->path.bytes[at + 3] == '/'))
            return 0;
    return version;
}

/* Files by version, and in them a key (NULL: the number stands alone). */
static const struct groups_figure {
    vitals_metric metric;
    unsigned controller;
    const char *file1, *file2, *key1, *key2;
    double scale1, scale2; /* of seconds; 0: a count */
} FIGURES[] = {
    {VITALS_WORKLOAD_TASKS, GROUP_PIDS, "pids.current", "pids.current", NULL, NULL, 0, 0},
    {VITALS_WORKLOAD_MEMORY_USED_BYTES, GROUP_MEMORY, "memory.usage_in_bytes", "memory.current",
     NULL, NULL, 0, 0},
    {VITALS_WORKLOAD_MEMORY_PEAK_BYTES, GROUP_MEMORY, "memory.max_usage_in_bytes", "memory.peak",
     NULL, NULL, 0, 0},
    {VITALS_WORKLOAD_CPU_SECONDS, GROUP_CPUACCT, "cpuacct.usage", "cpu.stat", NULL, "usage_usec",
     1e9, 1e6},
    {VITALS_WORKLOAD_OOM_KILLS, GROUP_MEMORY, "memory.oom_control", "memory.events", "oom_kill",
     "oom_kill", 0, 0},
};

struct place_of_group {
    const struct os_groups *groups;
    const struct os *os;
    struct span cgroup; /* as /proc/PID/cgroup has it */
    unsigned version;
    struct cgroup_place place;
};

static bool file_path(const struct place_of_group *group, const char *file, char *out,
                      size_t capacity)
{
    int size = snprintf(out, capacity, "%.*s/%s", (int)group->place.path.size,
                        group->place.path.bytes, file);
    return size > 0 && (size_t)size < capacity;
}

static bool is_there(const struct place_of_group *group)
{
    char path[CGROUP_PATH_MAX + 8];
    return file_path(group, ".", path, sizeof path) &&
           faccessat(group->os->sys, path, F_OK, 0) == 0;
}

static struct value read_figure(const struct place_of_group *group,
                                const struct groups_figure *figure)
{
    char path[CGROUP_PATH_MAX + 64], text[FILE_BYTES];
    uint64_t number;
    bool first = group->version == 1;
    const char *key = first ? figure->key1 : figure->key2;
    if (!file_path(group, first ? figure->file1 : figure->file2, path, sizeof path))
        return value_missing(VITALS_FAILED);
    int64_t size = linux_read_line(group->os, group->os->sys, path, text, sizeof text);
    if (size == -ENODEV) // it vanished after it was opened
        return value_missing(VITALS_GONE);
    if (size < 0 && size != -ENOENT)
        return value_missing(os_availability((int)size));
    if (size < 0) {
        // The kernel has no such file here, or the cgroup is in other hierarchies alone, or it has
        // vanished.
        struct place_of_group other = {.os = group->os};
        bool there = is_there(group);
        for (unsigned i = 0; i < GROUP_CONTROLLERS && !there; i++) {
            other.version = groups_place(group->groups, i, group->cgroup, &other.place);
            there = other.version != 0 && is_there(&other);
        }
        return value_missing(there ? VITALS_UNSUPPORTED : VITALS_GONE);
    }
    struct cursor at = cursor_over(text, (size_t)size);
    bool found = key == NULL ? cursor_u64(&at, &number)
                             : cgroup_parse_field(text, (size_t)size,
                                                  (struct span){key, strlen(key)}, &number);
    if (!found) // old kernels do not have every key
        return value_missing(key != NULL && size > 0 ? VITALS_UNSUPPORTED : VITALS_FAILED);
    double scale = first ? figure->scale1 : figure->scale2;
    return scale > 0 ? value_f64((double)number / scale) : value_u64(number);
}

void os_groups_metrics(const struct os_groups *groups, const struct os *os, struct span path,
                       struct row_batch *out)
{
    struct place_of_group group = {.groups = groups, .os = os, .cgroup = path};
    unsigned controller = GROUP_CONTROLLERS;
    bool flat = false;
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
        const struct groups_figure *figure = &FIGURES[i];
        if (!batch_wants(out, figure->metric))
            continue;
        if (controller != figure->controller) {
            // Before Linux 5.11 a cgroup of version 1 may be charged for itself alone.
            char file[CGROUP_PATH_MAX + 64];
            uint64_t hierarchy;
            controller = figure->controller;
            group.version = groups_place(groups, controller, path, &group.place);
            flat = controller == GROUP_MEMORY && group.version == 1 &&
                   file_path(&group, "memory.use_hierarchy", file, sizeof file) &&
                   lines_u64(os, os->sys, file, &hierarchy, NULL) && hierarchy == 0;
        }
        struct value value = value_missing(VITALS_UNSUPPORTED);
        if (group.version != 0)
            value = read_figure(&group, figure);
        // Version 1 counts an OOM kill only in the cgroup of the killed process, not in those
        // above.
        bool alone = group.version == 1 && figure->metric == VITALS_WORKLOAD_OOM_KILLS;
        if (value.state == VITALS_HAVE && (flat || alone))
            value.state = VITALS_LOWER_BOUND;
        batch_set_value(out, figure->metric, value);
    }
}
