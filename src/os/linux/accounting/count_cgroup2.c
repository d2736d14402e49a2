/* count_cgroup2.c: a cgroup of version 2 for the run, below our own: every process born in it stays
 * in it, whichever process reaps it, threads and daemons included, until a process with the right
 * to do so moves it.
 *
 * CPU time is counted in every cgroup; memory, disks and tasks only if our own cgroup delegates
 * their controllers. Its settings are not ours to change, so often it does not. */
#include "os/linux/accounting/count.h"
#include "os/linux/cgroup/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT_BYTES = 4096 };

struct count_cgroup2_state {
    const struct os *os;
    struct own_group group;
    uint64_t id; /* the kernel's, of the group; 0: not known */
    os_quantities counts;
    bool escaped; /* a child ended elsewhere */
};

static void set_limits(const struct count_cgroup2_state *state,
                       const struct os_count_options *options)
{
    const struct {
        const char *file;
        uint64_t number;
    } LIMITS[] = {
        {"memory.high", options->limit_memory_bytes},
        {"memory.max", own_hard_memory(options->limit_memory_bytes)},
        {"memory.oom.group", 1},
        {"pids.max", own_hard_tasks(options->limit_processes)},
    };
    size_t from = options->limit_memory_bytes != 0 ? 0 : 3;
    size_t to = options->limit_processes != 0 ? 4 : 3;
    for (size_t i = from; i < to; i++)
        (void)own_group_limit(state->os, &state->group, LIMITS[i].file, LIMITS[i].number);
}

static int open_cgroup2(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct count_cgroup2_state *state = data;
    char controllers[TEXT_BYTES];
    if (!options->os->live)
        return -ENOTSUP;
    state->os = options->os;
    const struct cgroup_found *found = count_cgroup(options, CGROUP_SECOND);
    if (found->version != 2)
        return -ENOENT;
    int code = own_group_make(state->os, &found->place, &state->group);
    if (code < 0)
        return code;
    (void)own_group_read(state->os, &state->group, "cgroup.controllers", controllers,
                         sizeof controllers);
    state->counts = own_figures_found(&state->group, own_figures_v2, controllers);
    set_limits(state, options);
    struct stat is;
    if (fstat(state->group.folder, &is) == 0)
        state->id = is.st_ino; /* the number of its folder is that of the group */
    *counts = state->counts;
    return 0;
}

static void place_cgroup2(void *data, struct os_places *places)
{
    const struct count_cgroup2_state *state = data;
    places->group_is = true;
    places->group = state->group.folder;
}

/* Does not look into /proc: the kernel frees a process faster if its /proc folder was never looked
 * up, and the run pays for that. Linux 6.13; false says nothing. */
static bool is_in_group(const struct count_cgroup2_state *state, int64_t pid)
{
    uint64_t id = 0;
    int pidfd = state->id != 0 ? os_pidfd_open(state->os, pid) : -1;
    bool known = pidfd >= 0 && linux_pidfd_cgroup(pidfd, &id) == 0;
    if (pidfd >= 0)
        os_close_descriptor(pidfd);
    return known && id == state->id;
}

/* Whether a process, a zombie too, is in the group or below it. Where that cannot be read nothing
 * speaks against it. */
static bool is_below(const struct os *os, const struct own_group *group, int64_t pid)
{
    char path[PROCESS_PATH], text[TEXT_BYTES];
    struct span line, place;
    unsigned version;
    size_t size = strlen(group->name);
    if (!linux_process_path(path, pid, "cgroup"))
        return true;
    int64_t read = linux_read_line(os, os->proc, path, text, sizeof text);
    struct cursor at = cursor_over(text, read > 0 ? (size_t)read : 0);
    while (cursor_line(&at, &line)) {
        if (!host_parse_membership(line, "", &version, &place) || version != 2)
            continue;
        for (size_t i = 0; i + size <= place.size; i++) {
            const char *end = place.bytes + i + size;
            bool whole = i > 0 && place.bytes[i - 1] == '/' &&
                         (i + size == place.size || *end == '/' || *end == ' ');
            if (whole && memcmp(place.bytes + i, group->name, size) == 0)
                return true;
        }
        return false;
    }
    return true;
}

static bool is_inside(const struct count_cgroup2_state *state, int64_t pid)
{
    return is_in_group(state, pid) || is_below(state->os, &state->group, pid);
}

static int child_cgroup2(void *data, int64_t pid, os_quantities *counts)
{
    struct count_cgroup2_state *state = data;
    (void)counts;
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
    .read = read_cgroup2,
    .kill = kill_cgroup2,
    .close = close_cgroup2,
};
