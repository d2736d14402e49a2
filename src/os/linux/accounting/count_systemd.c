/* count_systemd.c: a scope of the user's own systemd, where that runs and our cgroup is not ours to
 * write to: as `systemd-run --user --scope -p Delegate=yes`, but the child is handed over by its
 * pid, so that it is started, fails and ends as ever (org.freedesktop.systemd1(5),
 * StartTransientUnit).
 *
 * systemd is asked by busctl, which comes with it; that takes 10 to 20 ms and is given up after 50.
 * A scope gone wrong is no harm: the child runs on wherever it is, and is not counted by this. */
#include "os/linux/accounting/count.h"
#include "os/linux/cgroup/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { TEXT_BYTES = 4096, ARGUMENTS_MAX = 48, NUMBER_MAX = 12 };

static const uint64_t PATIENCE_NS = 50 * NS_PER_MS;
static const long STEP_NS = 500 * 1000;

struct state {
    const struct os *os;
    struct cgroup_place place; /* our own cgroup's, for the mount */
    uint64_t limit_memory_bytes, limit_processes, patience_ns;
    struct own_group group;
    os_quantities wanted, counts;
    int64_t
        keeper; /* systemd removes a scope with the last that lives in it: so one of ours does */
    int keeper_pidfd;
    int64_t maker; /* a fork of it ends nobody */
};

/* Whether the user has a manager to talk to. */
static bool has_manager(void)
{
    char path[TEXT_BYTES];
    const char *folder = getenv("XDG_RUNTIME_DIR");
    if (folder == NULL || folder[0] != '/')
        return false;
    int size = snprintf(path, sizeof path, "%s/systemd", folder);
    return size > 0 && (size_t)size < sizeof path && access(path, F_OK) == 0;
}

/* The first program of that name on PATH; false where there is none. Looking costs less than a
 * process that fails. */
static bool find_program(const char *name, char *out, size_t capacity)
{
    const char *folders = getenv("PATH");
    struct cursor at = cursor_over(folders, folders != NULL ? strlen(folders) : 0);
    while (!cursor_done(&at)) {
        struct span folder;
        if (!cursor_until(&at, ':', &folder)) {
            folder = (struct span){at.at, (size_t)(at.end - at.at)};
            at.at = at.end;
        }
        int size = snprintf(out, capacity, "%.*s/%s", (int)size_min(folder.size, capacity),
                            folder.bytes, name);
        if (folder.size > 0 && folder.bytes[0] == '/' && size > 0 && (size_t)size < capacity &&
            access(out, X_OK) == 0)
            return true;
    }
    return false;
}

static void keep(void *data)
{
    (void)data;
    for (;;)
        (void)pause();
}

static int open_systemd(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct state *state = data;
    char program[TEXT_BYTES];
    state->os = options->os;
    state->group.parent = state->group.folder = -1;
    if (!options->os->live || !has_manager() || !find_program("busctl", program, sizeof program))
        return -ENOENT;
    const struct cgroup_found *found = count_cgroup(options, CGROUP_SECOND);
    if (found->version != 2)
        return -ENOENT;
    state->place = found->place;
    state->limit_memory_bytes = options->limit_memory_bytes;
    state->limit_processes = options->limit_processes;
    state->patience_ns = options->patience_ns != 0 ? options->patience_ns : PATIENCE_NS;
    state->wanted = options->wanted;
    *counts = os_quantity(COUNTED_CPU_SECONDS);
    const struct os_helper helper = {.main = keep, .channel = -1};
    state->maker = os_self();
    return os_fork_helper(&helper, &state->keeper, &state->keeper_pidfd);
}

/* ---- asking ---- */

struct arguments {
    const char *items[ARGUMENTS_MAX + 1];
    size_t count;
};

static void push(struct arguments *arguments, const char *item)
{
    if (arguments->count < ARGUMENTS_MAX)
        arguments->items[arguments->count++] = item;
}

static void push_all(struct arguments *arguments, const char *const *items)
{
    for (; *items != NULL; items++)
        push(arguments, *items);
}

static uint64_t now_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void wait_step(void)
{
    const struct timespec step = {.tv_nsec = STEP_NS};
    (void)nanosleep(&step, NULL);
}

/* Runs it without a word; 0 where it ended well before the deadline. */
static int run_silently(const char *program, const struct arguments *arguments, uint64_t deadline)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    int status = -1;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files) != 0)
        return -ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return -ENOMEM;
    }
    for (int i = 0; i < 3; i++)
        (void)posix_spawn_file_actions_addopen(&files, i, "/dev/null", O_RDWR, 0);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int failed = posix_spawn(&pid, program, &files, &attributes,
                             (char *const *)(uintptr_t)arguments->items, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0)
        return -failed;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (now_ns() < deadline) {
            wait_step();
            continue;
        }
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, &status, 0);
        return -ETIMEDOUT;
    }
    return status == 0 ? 0 : -EIO;
}

static int ask(const struct state *state, const char *unit, int64_t pid, uint64_t deadline)
{
    static const char *const CALL[] = {"busctl",
                                       "--user",
                                       "--quiet",
                                       "--no-pager",
                                       "call",
                                       "org.freedesktop.systemd1",
                                       "/org/freedesktop/systemd1",
                                       "org.freedesktop.systemd1.Manager",
                                       "StartTransientUnit",
                                       "ssa(sv)a(sa(sv))",
                                       NULL};
    char program[TEXT_BYTES], number[24], keeper[24], memory[24], tasks[24];
    const bool memory_is = state->limit_memory_bytes != 0, tasks_is = state->limit_processes != 0;
    static const char *const COUNTS[] = {"6", "7", "8"};
    struct arguments arguments = {.count = 0};
    (void)snprintf(number, sizeof number, "%lld", (long long)pid);
    (void)snprintf(keeper, sizeof keeper, "%lld", (long long)state->keeper);
    (void)snprintf(memory, sizeof memory, "%llu",
                   (unsigned long long)own_hard_memory(state->limit_memory_bytes));
    (void)snprintf(tasks, sizeof tasks, "%llu",
                   (unsigned long long)own_hard_tasks(state->limit_processes));
    push_all(&arguments, CALL);
    push_all(&arguments, (const char *const[]){unit, "fail", COUNTS[memory_is + tasks_is], "PIDs",
                                               "au", "2", number, keeper, NULL});
    push_all(&arguments,
             (const char *const[]){"Delegate", "b", "true", "CPUAccounting", "b", "true",
                                   "MemoryAccounting", "b", "true", "TasksAccounting", "b", "true",
                                   "IOAccounting", "b", "true", NULL});
    if (memory_is)
        push_all(&arguments, (const char *const[]){"MemoryMax", "t", memory, NULL});
    if (tasks_is)
        push_all(&arguments, (const char *const[]){"TasksMax", "t", tasks, NULL});
    push(&arguments, "0");
    if (!find_program(CALL[0], program, sizeof program))
        return -ENOENT;
    return run_silently(program, &arguments, deadline);
}

/* ---- the scope ---- */

/* The path below /sys of the cgroup in which the child is, once that has the unit's name. */
static bool find_scope(const struct state *state, int64_t pid, const char *unit, char *out,
                       size_t capacity)
{
    char path[PROCESS_PATH], text[TEXT_BYTES];
    struct span line, place;
    unsigned version;
    size_t size = strlen(unit);
    if (!linux_process_path(path, pid, "cgroup"))
        return false;
    int64_t read = linux_read_line(state->os, state->os->proc, path, text, sizeof text);
    struct cursor at = cursor_over(text, read > 0 ? (size_t)read : 0);
    while (cursor_line(&at, &line)) {
        if (!host_parse_membership(line, "", &version, &place) || version != 2)
            continue;
        if (place.size <= size || place.bytes[place.size - size - 1] != '/' ||
            memcmp(place.bytes + place.size - size, unit, size) != 0)
            return false;
        int written = snprintf(out, capacity, "%.*s%.*s", (int)state->place.mount_size,
                               state->place.path.bytes, (int)place.size, place.bytes);
        return written > 0 && (size_t)written < capacity;
    }
    return false;
}

static int child_systemd(void *data, int64_t pid, os_quantities *counts)
{
    struct state *state = data;
    char unit[64], path[CGROUP_PATH_MAX + TEXT_BYTES], controllers[TEXT_BYTES];
    uint64_t deadline = now_ns() + state->patience_ns;
    (void)snprintf(unit, sizeof unit, "vitals-%lld.scope", (long long)pid);
    int code = ask(state, unit, pid, deadline);
    if (code == 0) {
        /* The answer names a job, which is done a little later. */
        while (!find_scope(state, pid, unit, path, sizeof path) && code == 0) {
            code = now_ns() < deadline ? 0 : -ETIMEDOUT;
            wait_step();
        }
    }
    if (code == 0)
        code = own_group_open(state->os, path, &state->group);
    if (code < 0) {
        linux_trace(state->os, "a scope of the user's systemd", -code);
        return code;
    }
    (void)own_group_read(state->os, &state->group, "cgroup.controllers", controllers,
                         sizeof controllers);
    state->counts = own_figures_found(&state->group, own_figures_v2, controllers) & state->wanted;
    *counts = state->counts;
    return 0;
}

static void read_systemd(void *data, struct counted *out)
{
    const struct state *state = data;
    if (state->group.folder >= 0)
        own_figures_read(state->os, &state->group, own_figures_v2, state->counts, out);
    struct value *peak = &out[COUNTED_TASKS_PEAK].value;
    if (peak->state > 0 && peak->as.f64 >= 1)
        peak->as.f64 -= 1; /* the keeper, which was there all the time */
}

static bool kill_systemd(void *data)
{
    const struct state *state = data;
    return state->group.folder >= 0 && own_group_kill(state->os, &state->group);
}

static void close_systemd(void *data)
{
    struct state *state = data;
    if (state->maker == os_self()) {
        (void)os_child_signal(state->keeper, state->keeper_pidfd, OS_SIGNAL_KILL);
        (void)waitpid((pid_t)state->keeper, NULL, 0);
    }
    os_close_descriptor(state->keeper_pidfd);
    own_group_remove(state->os, &state->group);
}

const struct os_counter count_systemd = {
    .name = "systemd",
    .size = sizeof(struct state),
    .worth = 1u << COUNTED_CPU_SECONDS,
    .open = open_systemd,
    .child = child_systemd,
    .read = read_systemd,
    .kill = kill_systemd,
    .close = close_systemd,
};
