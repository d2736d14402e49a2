/* attach.c: see os/attach.h.
 *
 * Where a cgroup is comes from /proc/PID/cgroup and our own mounts; a folder is held open by its
 * descriptor, so that one which is removed and made again is not taken for it. */
#include "os/attach.h"
#include "os/linux/cgroup/cgroup.h"
#include "os/linux/cgroup/cgroup_own.h"
#include "os/linux/lines.h"

#include "util/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { DEPTH_MAX = 16, PIDS_MAX = 1 << 16 };

/* Hierarchies that count something: that of version 2, and those of version 1, which may be mounted
 * together. */
static const enum cgroup_controller COUNTING[] = {CGROUP_SECOND, CGROUP_CPUACCT, CGROUP_MEMORY,
                                                  CGROUP_PIDS, CGROUP_IO};

struct attach_group {
    enum cgroup_controller controller;
    unsigned version;
    struct cgroup_path cgroup; /* as in /proc/PID/cgroup */
    const struct own_figure *figures;
    struct own_group own;
    os_quantities counts;
};

struct os_tracked_cgroup {
    const struct os *os;
    size_t count;
    struct attach_group groups[ARRAY_COUNT(COUNTING)];
    struct cgroups found; /* memory that is used again */
};

static bool find_group(struct os_tracked_cgroup *attached, int64_t pid,
                       enum cgroup_controller controller, struct attach_group *group)
{
    const struct os *os = attached->os;
    const struct cgroup_found *found = &attached->found.found[controller];
    const struct cgroup_place *place = &found->place;
    const unsigned version = controller == CGROUP_SECOND ? 2 : 1;
    cgroups_find(&attached->found, os, pid, 1u << controller);
    bool top = place->path.size <= place->mount_size;
    if (found->version != version || place->outer || top)
        return false;

    *group = (struct attach_group){.controller = controller,
                                   .version = version,
                                   .cgroup = found->cgroup,
                                   .figures = version == 2 ? own_figures_v2 : own_figures_v1,
                                   .own = {.parent = -1, .folder = -1}};
    if (own_group_open(os, place->path.bytes, &group->own) < 0)
        return false;
    group->counts = version == 2
                        ? own_figures_found_v2(os, &group->own)
                        : own_figures_found(&group->own, own_figures_v1, cgroup_names[controller]);
    if (group->counts == 0)
        os_close_descriptor(group->own.folder);
    return group->counts != 0;
}

int os_attach(const struct os *os, int64_t pid, struct os_tracked_cgroup **out)
{
    struct os_tracked_cgroup *attached = memory_alloc(sizeof *attached);
    if (attached == NULL)
        return -ENOMEM;
    attached->os = os;
    for (size_t i = 0; i < ARRAY_COUNT(COUNTING); i++)
        attached->count += find_group(attached, pid, COUNTING[i],
                                      &attached->groups[attached->count]);
    if (attached->count == 0) {
        memory_free(attached);
        attached = NULL;
    }
    *out = attached;
    return 0;
}

void os_tracked_cgroup_free(struct os_tracked_cgroup *attached)
{
    if (attached == NULL)
        return;
    for (size_t i = 0; i < attached->count; i++)
        os_close_descriptor(attached->groups[i].own.folder);
    memory_free(attached);
}

size_t os_tracked_cgroup_count(const struct os_tracked_cgroup *attached)
{
    return attached->count;
}

const char *os_tracked_cgroup_name(const struct os_tracked_cgroup *attached, size_t which)
{
    return attached->groups[which].version == 2 ? "cgroup2" : "cgroup1";
}

static void take_pid(struct span line, void *data)
{
    struct os_pids *pids = data;
    struct cursor at = cursor_over(line.bytes, line.size);
    uint64_t pid;
    /* 0: a process of another pid namespace; it is reported, so that it is not taken for one of
     * ours. */
    if (cursor_u64(&at, &pid) && pids->count < PIDS_MAX)
        (void)!os_pids_append(pids, pid <= INT32_MAX ? (int64_t)pid : 0);
}

static int list_below(const struct os *os, int folder, int depth, struct os_pids *pids)
{
    int code = lines_each(os, folder, "cgroup.procs", take_pid, pids);
    if (code < 0)
        return code;
    if (depth == DEPTH_MAX || pids->count >= PIDS_MAX)
        return -E2BIG;
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folders = again >= 0 ? fdopendir(again) : NULL;
    if (folders == NULL) {
        code = -errno;
        os_close_descriptor(again);
        return code;
    }
    for (const struct dirent *entry; code == 0 && (entry = readdir(folders)) != NULL;) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        int below = openat(again, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (below < 0)
            continue; /* it was removed, so it had no members */
        code = list_below(os, below, depth + 1, pids);
        os_close_descriptor(below);
    }
    closedir(folders);
    return code;
}

int os_tracked_cgroup_list(const struct os_tracked_cgroup *attached, size_t which,
                           struct os_pids *pids)
{
    return list_below(attached->os, attached->groups[which].own.folder, 0, pids);
}

int64_t os_parent_of(const struct os *os, int64_t pid)
{
    char text[OS_STAT_TEXT];
    struct os_stat stat;
    bool known = os_stat_of(os, pid, text, &stat) == 0 && (stat.has & OS_STAT_PARENT) != 0;
    return known ? stat.parent_pid : -1;
}

bool os_tracked_cgroup_holds(struct os_tracked_cgroup *attached, size_t which, int64_t pid)
{
    const struct os *os = attached->os;
    const struct attach_group *group = &attached->groups[which];
    const struct cgroup_path *ours = &group->cgroup;
    const struct cgroup_found *theirs = &attached->found.found[group->controller];
    if (cgroups_find_paths(&attached->found, os, pid, 1u << group->controller) < 0 ||
        theirs->version != group->version)
        return true;
    const char *bytes = theirs->cgroup.bytes;
    if (theirs->cgroup.size >= ours->size && memcmp(bytes, ours->bytes, ours->size) == 0 &&
        (theirs->cgroup.size == ours->size || bytes[ours->size] == '/'))
        return true;
    /* A process that has ended may be shown elsewhere until it is reaped; it has been counted. */
    char text[OS_STAT_TEXT];
    struct os_stat stat;
    return os_stat_of(os, pid, text, &stat) < 0 ||
           ((stat.has & OS_STAT_STATE) != 0 && (stat.state == 'Z' || stat.state == 'X'));
}

void os_tracked_cgroup_read(const struct os_tracked_cgroup *attached, size_t which,
                            struct counted *out)
{
    const struct attach_group *group = &attached->groups[which];
    own_figures_read(attached->os, &group->own, group->figures, group->counts, out);
}
