/* count_cgroup1.c: cgroups of version 1 for the run, one in each hierarchy that counts something
 * which no better method counts.
 *
 * The child moves itself into them through "tasks": that is cheap, while moving it from outside
 * waits for a grace period of the kernel. In version 1 a zombie is shown at the root, so it is not
 * visible if it was elsewhere. */
#include "os/linux/accounting/count.h"
#include "os/linux/cgroup/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const struct {
    enum cgroup_controller controller;
    os_quantities counts;
    const char *limit;
} HIERARCHIES[] = {
    {CGROUP_CPUACCT, 1u << COUNTED_CPU_SECONDS, ""},
    {CGROUP_MEMORY, 1u << COUNTED_MEMORY_PEAK_BYTES | 1u << COUNTED_OOM_KILLS,
     "memory.limit_in_bytes"},
    {CGROUP_PIDS, 1u << COUNTED_TASKS_PEAK, "pids.max"},
    {CGROUP_IO, 1u << COUNTED_READ_BYTES | 1u << COUNTED_WRITTEN_BYTES, ""},
};

enum { HIERARCHY_COUNT = ARRAY_COUNT(HIERARCHIES) };
_Static_assert((int)HIERARCHY_COUNT <= (int)OS_JOINS, "a child can go into all of them");

struct cgroup1_part {
    bool is;
    struct own_group group;
    int tasks;
    os_quantities counts;
};

struct count_cgroup1_state {
    const struct os *os;
    struct cgroup1_part parts[HIERARCHY_COUNT];
};

static const os_quantities WORTH = 1u << COUNTED_CPU_SECONDS | 1u << COUNTED_MEMORY_PEAK_BYTES |
                                   1u << COUNTED_OOM_KILLS | 1u << COUNTED_TASKS_PEAK;

/* True if this kernel counts bytes in blkio: the top cgroup then shows some already. */
static bool counts_disks(const struct os *os, const struct cgroup_place *place)
{
    const struct own_figure *figure = own_figures_v1;
    char path[CGROUP_PATH_MAX + 64], text[4096];
    double bytes;
    while (figure->shape != OWN_READS)
        figure++;
    int length = snprintf(path, sizeof path, "%.*s/%s", (int)place->mount_size, place->path.bytes,
                          figure->file);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    int64_t size = linux_read_line(os, os->sys, path, text, sizeof text);
    return size > 0 && own_figure_parse(os, figure, text, (size_t)size, &bytes);
}

static uint64_t limit_of(size_t index, const struct os_count_options *options)
{
    switch (HIERARCHIES[index].controller) {
    case CGROUP_MEMORY:
        return options->limit_memory_bytes != 0 ? own_hard_memory(options->limit_memory_bytes) : 0;
    case CGROUP_PIDS:
        return options->limit_processes != 0 ? own_hard_tasks(options->limit_processes) : 0;
    default: return 0;
    }
}

static void close_part(const struct os *os, struct cgroup1_part *part)
{
    if (!part->is)
        return;
    os_close_descriptor(part->tasks);
    own_group_remove(os, &part->group);
    part->is = false;
}

static os_quantities open_part(struct count_cgroup1_state *state, size_t index,
                               const struct os_count_options *options)
{
    const struct cgroup_found *found = count_cgroup(options, HIERARCHIES[index].controller);
    struct cgroup1_part *part = &state->parts[index];
    bool disks = HIERARCHIES[index].controller == CGROUP_IO;
    if (found->version != 1 || (disks && !counts_disks(state->os, &found->place)) ||
        own_group_make(state->os, &found->place, &part->group) < 0)
        return 0;
    part->is = true;
    part->counts = options->wanted & HIERARCHIES[index].counts &
                   own_figures_found(&part->group, own_figures_v1,
                                     cgroup_names[HIERARCHIES[index].controller]);
    uint64_t limit = limit_of(index, options);
    bool held = limit != 0 &&
                own_group_limit(state->os, &part->group, HIERARCHIES[index].limit, limit) == 0;
    part->tasks = openat(part->group.folder, "tasks", O_WRONLY | O_CLOEXEC);
    if (part->tasks < 0 || (part->counts == 0 && !held)) {
        close_part(state->os, part);
        return 0;
    }
    return part->counts;
}

static int open_cgroup1(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct count_cgroup1_state *state = data;
    if (!options->os->live)
        return -ENOTSUP;
    state->os = options->os;
    unsigned wanted = 0;
    for (size_t i = 0; i < HIERARCHY_COUNT; i++) {
        if ((options->wanted & HIERARCHIES[i].counts) != 0 || limit_of(i, options) != 0)
            wanted |= 1u << HIERARCHIES[i].controller;
    }
    bool any = false;
    *counts = 0;
    for (size_t i = 0; i < HIERARCHY_COUNT; i++) {
        if ((wanted >> HIERARCHIES[i].controller & 1) != 0)
            *counts |= open_part(state, i, options);
        any |= state->parts[i].is;
    }
    return any ? 0 : -ENOENT;
}

static void place_cgroup1(void *data, struct os_places *places)
{
    const struct count_cgroup1_state *state = data;
    for (size_t i = 0; i < HIERARCHY_COUNT; i++) {
        if (state->parts[i].is && places->join_count < OS_JOINS)
            places->joins[places->join_count++] = state->parts[i].tasks;
    }
}

/* A group without CPU time or memory is one that the child could not join. */
static void read_cgroup1(void *data, struct counted *out)
{
    const struct count_cgroup1_state *state = data;
    static const enum quantity NEVER_ZERO[] = {COUNTED_CPU_SECONDS, COUNTED_MEMORY_PEAK_BYTES,
                                               COUNTED_TASKS_PEAK};
    for (size_t i = 0; i < HIERARCHY_COUNT; i++) {
        const struct cgroup1_part *part = &state->parts[i];
        if (part->is)
            own_figures_read(state->os, &part->group, own_figures_v1, part->counts, out);
    }
    for (size_t i = 0; i < ARRAY_COUNT(NEVER_ZERO); i++) {
        struct counted *figure = &out[NEVER_ZERO[i]];
        if (figure->value.state > 0 && figure->value.as.f64 <= 0)
            figure->value.state = VITALS_UNSET;
    }
}

static bool held_cgroup1(const void *data, uint64_t *bytes)
{
    const struct count_cgroup1_state *state = data;
    for (size_t i = 0; i < HIERARCHY_COUNT; i++) {
        const struct cgroup1_part *part = &state->parts[i];
        if (part->is && HIERARCHIES[i].controller == CGROUP_MEMORY)
            return own_group_held(state->os, &part->group, bytes);
    }
    return false;
}

static bool kill_cgroup1(void *data)
{
    const struct count_cgroup1_state *state = data;
    for (size_t i = 0; i < HIERARCHY_COUNT; i++) {
        if (state->parts[i].is)
            return own_group_kill(state->os, &state->parts[i].group);
    }
    return false;
}

static void close_cgroup1(void *data)
{
    struct count_cgroup1_state *state = data;
    for (size_t i = 0; i < HIERARCHY_COUNT; i++)
        close_part(state->os, &state->parts[i]);
}

static int activity_cgroup1(const void *data, int *folder)
{
    const struct count_cgroup1_state *state = data;
    for (size_t i = 0; i < HIERARCHY_COUNT; i++) {
        const struct cgroup1_part *part = &state->parts[i];
        if (!part->is || HIERARCHIES[i].controller != CGROUP_CPUACCT)
            continue;
        *folder = part->group.folder;
        int file = openat(part->group.folder, "cpuacct.usage", O_RDONLY | O_CLOEXEC);
        return file < 0 ? -errno : file;
    }
    return -ENOENT;
}

const struct os_counter count_cgroup1 = {
    .name = "cgroup1",
    .size = sizeof(struct count_cgroup1_state),
    .worth = WORTH,
    .open = open_cgroup1,
    .place = place_cgroup1,
    .activity = activity_cgroup1,
    .held = held_cgroup1,
    .read = read_cgroup1,
    .kill = kill_cgroup1,
    .close = close_cgroup1,
};
