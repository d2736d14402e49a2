/* count_cgroup2.c: a cgroup of version 2 for the run, below that of the launcher: every process
 * born in it stays in it, whichever process reaps it, threads and daemons included, until a process
 * with the right to do so moves it. CPU time is counted in every cgroup; memory, disks and tasks
 * only if the launcher's cgroup delegates their controllers. Its settings must not be changed here,
 * so often it does not. */
#include "os/linux/accounting/count.h"
#include "os/linux/cgroup/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct count_cgroup2_state {
    const struct os *os;
    struct own_group group;
    uint64_t id; /* the kernel's identifier of the group; 0: not known */
    os_quantities counts;
    bool escaped; /* a child ended outside the group */
};

static int open_cgroup2(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct count_cgroup2_state *state = data;
    if (!options->os->live)
        return -ENOTSUP;
    state->os = options->os;
    const struct cgroup_found *found = count_cgroup(options, CGROUP_SECOND);
    if (found->version != 2)
        return -ENOENT;
    int code = own_group_make(state->os, &found->place, &state->group);
    if (code < 0)
        return code;
    state->counts = own_figures_found_v2(state->os, &state->group);
    /* None in memory.high: it counts memory of the kernel too, which the launcher does not compare
     * with the limit. A job that is slowed down by that alone would never be asked to end. */
    const struct {
        const char *file;
        uint64_t asked, number;
    } LIMITS[] = {
        {"memory.max", options->limit_memory_bytes, own_hard_memory(options->limit_memory_bytes)},
        {"memory.oom.group", options->limit_memory_bytes, 1},
        {"pids.max", options->limit_processes, own_hard_tasks(options->limit_processes)},
    };
    for (size_t i = 0; i < ARRAY_COUNT(LIMITS); i++)
        if (LIMITS[i].asked != 0)
            (void)own_group_limit(state->os, &state->group, LIMITS[i].file, LIMITS[i].number);
    struct stat is;
    if (fstat(state->group.folder, &is) == 0)
        state->id = is.st_ino; /* the folder's inode number is the identifier of the group */
    *counts = state->counts;
    return 0;
}

static void place_cgroup2(void *data, struct os_places *places)
{
    const struct count_cgroup2_state *state = data;
    places->group_is = true;
    places->group = state->group.folder;
}

/* True if a process, even a zombie, is in the group or below it; also if that cannot be read. */
static bool is_inside(const struct count_cgroup2_state *state, int64_t pid)
{
    /* Uses a pidfd before /proc (Linux 6.13): the kernel frees a process faster if its /proc folder
     * was never looked up, and the run pays for that. */
    uint64_t id = 0;
    int pidfd = state->id != 0 ? os_pidfd_open(state->os, pid) : -1;
    bool known = pidfd >= 0 && linux_pidfd_cgroup(pidfd, &id) == 0;
    os_close_descriptor(pidfd);
    if (known && id == state->id)
        return true;

    char text[COUNT_TEXT];
    struct span place;
    size_t size = strlen(state->group.name);
    if (!count_membership(state->os, pid, text, &place))
        return true;
    for (size_t i = 1; i + size <= place.size; i++) {
        const char *end = place.bytes + i + size;
        bool whole = place.bytes[i - 1] == '/' &&
                     (i + size == place.size || *end == '/' || *end == ' ');
        if (whole && memcmp(place.bytes + i, state->group.name, size) == 0)
            return true;
    }
    return false;
}

static int child_cgroup2(void *data, int64_t pid, os_quantities *counts UNUSED)
{
    struct count_cgroup2_state *state = data;
    if (is_inside(state, pid))
        return 0;
    return own_group_limit(state->os, &state->group, "cgroup.procs", (uint64_t)pid);
}

static void ended_cgroup2(void *data, int64_t pid)
{
    struct count_cgroup2_state *state = data;
    state->escaped |= !is_inside(state, pid);
}

static void read_cgroup2(void *data, struct counted *out)
{
    const struct count_cgroup2_state *state = data;
    own_figures_read(state->os, &state->group, own_figures_v2, state->counts, out);
    for (int i = 0; i < COUNTED_COUNT && state->escaped; i++) {
        if (out[i].value.state == VITALS_HAVE || out[i].value.state == VITALS_ESTIMATE)
            out[i].value.state = VITALS_LOWER_BOUND;
    }
}

static int activity_cgroup2(const void *data, int *folder)
{
    const struct count_cgroup2_state *state = data;
    *folder = state->group.folder;
    int file = openat(state->group.folder, "cpu.stat", O_RDONLY | O_CLOEXEC);
    return file < 0 ? -errno : file;
}

static bool held_cgroup2(const void *data, uint64_t *bytes)
{
    const struct count_cgroup2_state *state = data;
    return own_group_held(state->os, &state->group, bytes);
}

static bool kill_cgroup2(void *data)
{
    const struct count_cgroup2_state *state = data;
    return own_group_kill(state->os, &state->group);
}

static void close_cgroup2(void *data)
{
    struct count_cgroup2_state *state = data;
    own_group_remove(state->os, &state->group);
}

const struct os_counter count_cgroup2 = {
    .name = "cgroup2",
    .size = sizeof(struct count_cgroup2_state),
    .worth = ~(os_quantities)0,
    .open = open_cgroup2,
    .place = place_cgroup2,
    .child = child_cgroup2,
    .ended = ended_cgroup2,
    .activity = activity_cgroup2,
    .held = held_cgroup2,
    .read = read_cgroup2,
    .kill = kill_cgroup2,
    .close = close_cgroup2,
};
