/* count_scope.c: a cgroup of version 2 that the caller asks a service manager for (vitals/run.h,
 * make_scope). Used if the launcher's own cgroup is not writable.
 *
 * The command's process is held before its exec while it is moved. If anything fails, the command
 * runs in the cgroup that it was born in, and other methods count it. */
#include "os/linux/accounting/count.h"
#include "os/linux/cgroup/cgroup_own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t TIMEOUT_NS = 50 * NS_PER_MS, STEP_NS = 500 * 1000;

struct count_scope_state {
    const struct os_count_options *options; /* valid until the child exists */
    const struct os *os;
    struct cgroup_place place; /* the launcher's cgroup, for the mount */
    struct own_group group;
    os_quantities wanted, counts;

    /* systemd removes a scope when its last process ends. A process of ours keeps it until its
     * counters have been read. */
    int64_t placeholder;
    int placeholder_pidfd;
    int64_t maker; /* a fork of this process must not end the placeholder */
};

static void keep(void *data UNUSED)
{
    for (;;)
        (void)pause();
}

static int open_scope(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct count_scope_state *state = data;
    state->options = options;
    state->os = options->os;
    state->group.parent = state->group.folder = -1;
    if (!options->os->live || options->make_scope == NULL)
        return -ENOENT;
    const struct cgroup_found *found = count_cgroup(options, CGROUP_SECOND);
    if (found->version != 2)
        return -ENOENT;
    state->place = found->place;
    state->wanted = options->wanted;
    *counts = os_quantity(COUNTED_CPU_SECONDS);
    const struct os_helper helper = {.main = keep, .channel = -1};
    state->maker = os_self();
    return os_fork_helper(&helper, &state->placeholder, &state->placeholder_pidfd);
}

/* Writes the path below /sys of the process's cgroup; returns false if the last part of that path
 * is not the name of the scope. */
static bool find_scope(const struct count_scope_state *state, int64_t pid, const char *name,
                       char *out, size_t capacity)
{
    char text[COUNT_TEXT];
    struct span place;
    size_t size = strlen(name);
    if (!count_membership(state->os, pid, text, &place) || place.size <= size ||
        place.bytes[place.size - size - 1] != '/' ||
        memcmp(place.bytes + place.size - size, name, size) != 0)
        return false;
    int written = snprintf(out, capacity, "%.*s%.*s", (int)state->place.mount_size,
                           state->place.path.bytes, (int)place.size, place.bytes);
    return written > 0 && (size_t)written < capacity;
}

static int child_scope(void *data, int64_t pid, os_quantities *counts)
{
    struct count_scope_state *state = data;
    const struct os_count_options *options = state->options;
    const uint64_t memory = options->limit_memory_bytes, processes = options->limit_processes;
    const vitals_clock *clock = os_clock();
    char name[64], path[CGROUP_PATH_MAX + COUNT_TEXT];
    uint64_t timeout_ns = options->timeout_ns != 0 ? options->timeout_ns : TIMEOUT_NS;
    uint64_t deadline = clock->monotonic_ns(clock->data) + timeout_ns;
    (void)snprintf(name, sizeof name, "vitals-%lld.scope", (long long)pid);
    int code = options->make_scope(options->scope_data, name, (int64_t[]){pid, state->placeholder},
                                   2, memory != 0 ? own_hard_memory(memory) : 0,
                                   processes != 0 ? own_hard_tasks(processes) : 0);

    /* A manager answers with a job, which moves the processes slightly later. */
    code = code < 0 ? -EIO : 0;
    while (code == 0 && !find_scope(state, pid, name, path, sizeof path)) {
        uint64_t now = clock->monotonic_ns(clock->data);
        if (now >= deadline)
            code = -ETIMEDOUT;
        else
            (void)clock->wait_until(clock->data, -1, now + STEP_NS);
    }
    if (code == 0)
        code = own_group_open(state->os, path, &state->group);
    if (code < 0) {
        linux_trace(state->os, "a scope of the service manager", -code);
        return code;
    }
    state->counts = own_figures_found_v2(state->os, &state->group) & state->wanted;
    *counts = state->counts;
    return 0;
}

static void read_scope(void *data, struct counted *out)
{
    const struct count_scope_state *state = data;
    if (state->group.folder >= 0)
        own_figures_read(state->os, &state->group, own_figures_v2, state->counts, out);
    struct value *peak = &out[COUNTED_TASKS_PEAK].value;
    if (peak->state > 0 && peak->as.f64 >= 1)
        peak->as.f64 -= 1; /* the placeholder, which is always in the scope */
}

static bool held_scope(const void *data, uint64_t *bytes)
{
    const struct count_scope_state *state = data;
    return state->group.folder >= 0 && own_group_held(state->os, &state->group, bytes);
}

static bool kill_scope(void *data)
{
    const struct count_scope_state *state = data;
    return state->group.folder >= 0 && own_group_kill(state->os, &state->group);
}

static void close_scope(void *data)
{
    struct count_scope_state *state = data;
    if (state->maker == os_self()) {
        (void)os_child_signal(state->placeholder, state->placeholder_pidfd, OS_SIGNAL_KILL);
        (void)waitpid((pid_t)state->placeholder, NULL, 0);
    }
    os_close_descriptor(state->placeholder_pidfd);
    own_group_remove(state->os, &state->group);
}

const struct os_counter count_scope = {
    .name = "systemd",
    .size = sizeof(struct count_scope_state),
    .worth = 1u << COUNTED_CPU_SECONDS,
    .open = open_scope,
    .child = child_scope,
    .held = held_scope,
    .read = read_scope,
    .kill = kill_scope,
    .close = close_scope,
};
