/* track_child.c: see track_child.h. */
#include "run/track_child.h"

#include "os/launch.h"
#include "run/methods.h"
#include "util/error.h"
#include "util/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127, SIGNAL_EXIT = 128, METHODS_TEXT = 96 };

/* Methods that need no subreaper and no more than one look a second. */
static const char METHODS[] = "cgroup2 systemd perf cgroup1 wait4";

struct track_child {
    const vitals_run_options *options;
    struct os_child child;
    struct accounting *accounting;
    bool went, ended, known; /* known: how it ended was for us to learn */
    int64_t maker;           /* a fork of it frees its copies and touches no process */
    struct os_reaped reaped;
    struct run_outcome failed; /* why it could not be started */
    struct counted counted[COUNTED_COUNT];
    char methods[METHODS_TEXT];
};

void track_child_failure(const char *argument, int failed, struct run_outcome *outcome)
{
    char name[64];
    vitals_error error;
    vitals_text_format(vitals_text_of(argument), VITALS_TEXT_TERMINAL, name, sizeof(name));
    (void)error_system(&error, failed, "%s", name);
    const char *why = NULL;
    if (failed == ESRCH)
        why = ": could not be started: its process was killed before";
    else if (failed == ENOENT)
        why = strchr(argument, '/') != NULL ? ": no such file, or its interpreter is missing"
                                            : ": command not found";
    outcome->exit_code = failed == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
    (void)snprintf(outcome->failure, sizeof(outcome->failure), "%.100s%s",
                   why != NULL ? name : error.message, why != NULL ? why : "");
}

int track_child_new(const struct os *os, const vitals_run_options *options,
                    struct track_child **out, vitals_error *error)
{
    struct os_places places;
    bool limited = options->limit_memory_bytes != 0 || options->limit_gpu_memory_bytes != 0 ||
                   options->limit_processes != 0 || options->limit_ns != 0;
    if (options->argv[0] == NULL)
        return error_set(error, VITALS_EARGUMENT, 0, "no command to run");
    if (options->usage != NULL && options->usage->pid_count > 0)
        return error_set(error, VITALS_EARGUMENT, 0, "give pids or a command, not both");
    if (limited || options->kill_tree != 0)
        return error_set(error, VITALS_EUNSUPPORTED, 0,
                         "limits need a launcher; use vitals_run_command");
    struct track_child *tracked = memory_alloc(sizeof(*tracked));
    if (tracked == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    const struct accounting_options asked = {.count.os = os,
                                             .methods = options->methods != NULL ? options->methods
                                                                                 : METHODS,
                                             .count.make_scope = options->make_scope,
                                             .count.scope_data = options->scope_data,
                                             .orphans_lost = true};
    tracked->options = options;
    tracked->maker = os_self();
    tracked->accounting = accounting_open(&asked);
    accounting_places(tracked->accounting, &places);
    const struct os_command command = {.argv = (const char *const *)options->argv,
                                       .environment = (const char *const *)options->environment,
                                       .descriptors = options->child_descriptors,
                                       .places = &places};
    int code = os_spawn(&command, &tracked->child);
    if (code < 0) {
        accounting_close(tracked->accounting);
        memory_free(tracked);
        return error_system(error, -code, "cannot start a process for the command");
    }
    accounting_child(tracked->accounting, tracked->child.pid);
    *out = tracked;
    return 0;
}

void track_child_free(struct track_child *tracked)
{
    if (tracked == NULL)
        return;
    const vitals_clock *clock = vitals_clock_system();
    const struct os_child *child = &tracked->child;
    uint64_t deadline = saturating_add(clock->monotonic_ns(clock->data), NS_PER_SECOND);
    bool waits = !tracked->went && tracked->maker == os_self();
    /* A child that waits for its start would end when the pipe closes, but a process that was
     * forked meanwhile may hold the other end open. */
    if (waits)
        (void)os_child_signal(child->pid, child->pidfd, OS_SIGNAL_KILL);
    os_close_descriptor(child->go);
    os_close_descriptor(child->failure);
    if (waits && child->pidfd >= 0)
        (void)clock->wait_until(clock->data, child->pidfd, deadline);
    if (waits)
        os_reap_one(child->pid);
    os_close_descriptor(child->pidfd);
    accounting_close(tracked->accounting);
    memory_free(tracked);
}

int64_t track_child_pid(const struct track_child *tracked)
{
    return tracked->child.pid;
}

int track_child_go(struct track_child *tracked)
{
    tracked->went = true;
    return os_spawn_go(&tracked->child);
}

void track_child_failed(struct track_child *tracked, int failed)
{
    track_child_failure(tracked->options->argv[0], failed, &tracked->failed);
}

void track_child_tick(struct track_child *tracked)
{
    if (!tracked->ended)
        accounting_tick(tracked->accounting);
}

void track_child_reap(struct track_child *tracked)
{
    if (tracked->ended)
        return;
    accounting_reaping(tracked->accounting, tracked->child.pid);
    /* Another thread may have reaped it, and its pid may belong to another child by now. */
    enum os_child_change change = os_child_is_unreaped(tracked->child.pidfd)
                                      ? os_reap(tracked->child.pid, &tracked->reaped)
                                      : OS_CHILD_NONE;
    if (change == OS_CHILD_STOPPED)
        return;
    tracked->ended = true;
    tracked->known = change == OS_CHILD_ENDED;
    if (tracked->known)
        accounting_reaped(tracked->accounting, &tracked->reaped);
}

void track_child_metrics(struct track_child *tracked, bool left, struct run_outcome *outcome)
{
    const struct accounting_left rest = {.any = left || !tracked->ended};
    accounting_read(tracked->accounting, &rest, tracked->counted);
    accounting_names(tracked->accounting, tracked->methods, sizeof(tracked->methods));
    outcome->counted = tracked->counted;
    outcome->methods = tracked->methods;
    outcome->reaped = tracked->known;
    outcome->end_unknown = !tracked->known;
    outcome->signal = tracked->known ? tracked->reaped.signal : 0;
    outcome->exit_code = outcome->signal != 0 ? SIGNAL_EXIT + outcome->signal
                                              : tracked->reaped.exit_code;
    if (tracked->failed.failure[0] == '\0')
        return;
    outcome->exit_code = tracked->failed.exit_code;
    memcpy(outcome->failure, tracked->failed.failure, sizeof(outcome->failure));
}
