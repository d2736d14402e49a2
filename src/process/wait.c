/* wait.c: signals to a process, and waiting until processes have ended, children or not: what needs
 * a pidfd.
 *
 * A pidfd becomes readable when its process ends, as a zombie too, and then tells how, if the
 * kernel does. No pid is polled, and nothing is waited for twice: what was learned stays in the
 * handle. What was not learned is asked again: of a zombie that we may not see the kernel tells
 * nothing, and after it is reaped it may. Thread rule: one thread at a time per handle. */
#include "process/live.h"

#include "util/error.h"
#include "util/memory.h"
#include "util/options.h"

#include <errno.h>

static int no_pidfd(const vitals_process *process, vitals_error *error)
{
    bool live = process->context->os.live;
    return error_set(error, VITALS_EUNSUPPORTED, live ? -process->pidfd : 0,
                     "process %lld cannot be signalled or waited for safely: %s",
                     (long long)process->files.pid,
                     live ? "no pidfd is to be had here" : "its pid is of another /proc");
}

int vitals_process_signal(vitals_process *process, int signal, vitals_error *error)
{
    if (process->pidfd < 0)
        return no_pidfd(process, error);
    int result = os_pidfd_signal(process->pidfd, signal);
    long long pid = process->files.pid;
    if (result == -ESRCH)
        return error_set(error, VITALS_EGONE, ESRCH, "process %lld has ended", pid);
    if (result == -EINVAL)
        return error_set(error, VITALS_EARGUMENT, EINVAL, "there is no signal %d", signal);
    return result < 0 ? error_system(error, -result, "signal %d to process %lld", signal, pid) : 0;
}

/* ---- waiting for one ---- */

static void learn(vitals_process *process)
{
    if (process->how.state != VITALS_HAVE)
        os_pidfd_exit(&process->context->os, process->pidfd, &process->files, &process->how);
}

/* 1 where it has ended, 0 while it lives, or an error. */
static int look(vitals_process *process, vitals_error *error)
{
    if (process->pidfd < 0)
        return no_pidfd(process, error);
    int ended = process->ended ? 1 : os_pidfd_ended(process->pidfd);
    if (ended < 0)
        return error_system(error, -ended, "process %lld", (long long)process->files.pid);
    if (ended == 0)
        return 0;
    process->ended = true;
    learn(process);
    return 1;
}

static uint64_t deadline_of(const vitals_clock *clock, uint64_t timeout_ns)
{
    if (timeout_ns == 0 || timeout_ns == VITALS_FOREVER)
        return timeout_ns;
    return saturating_add(clock->monotonic_ns(clock->data), timeout_ns);
}

/* 1: something may have ended; 0: the time is over; or an error. */
static int pause_until(const vitals_clock *clock, int descriptor, uint64_t deadline_ns,
                       vitals_error *error)
{
    if (deadline_ns == 0)
        return 0;
    int ready = clock->wait_until(clock->data, descriptor, deadline_ns);
    return ready < 0 ? error_system(error, -ready, "waiting for processes") : ready;
}

int vitals_process_wait(vitals_process *process, uint64_t timeout_ns, vitals_error *error)
{
    const vitals_clock *clock = &process->context->os.clock;
    uint64_t deadline_ns = deadline_of(clock, timeout_ns);
    int code;
    while ((code = look(process, error)) == 0) {
        int ready = pause_until(clock, process->pidfd, deadline_ns, error);
        if (ready < 0)
            return ready;
        if (ready == 0)
            return error_set(error, VITALS_ETIMEOUT, 0, "process %lld still lives",
                             (long long)process->files.pid);
    }
    return code < 0 ? code : 0;
}

vitals_availability vitals_process_exit_status(vitals_process *process, int *code, int *signal)
{
    if (process->pidfd < 0)
        return VITALS_UNSUPPORTED;
    if (!process->ended)
        return VITALS_NOT_YET;
    learn(process);
    if (process->how.state != VITALS_HAVE)
        return process->how.state;
    if (code != NULL)
        *code = process->how.code;
    if (signal != NULL)
        *signal = process->how.signal;
    return VITALS_HAVE;
}

vitals_availability live_how_ended(const vitals_process *process, struct os_exit *out)
{
    *out = (struct os_exit){.state = VITALS_UNSUPPORTED};
    if (process->pidfd < 0)
        return out->state;
    if (os_pidfd_ended(process->pidfd) > 0)
        os_pidfd_exit_seen(&process->context->os, process->pidfd, &process->files, out);
    else
        out->state = VITALS_NOT_YET;
    return out->state;
}

int vitals_process_descriptor(const vitals_process *process)
{
    return process->pidfd < 0 ? -1 : process->pidfd;
}

/* ---- several at once ---- */

/* Of version 0.1.0. It stays what it is when the struct grows. */
enum { WAIT_FIRST = offsetof(vitals_wait, data) + sizeof(void *) };
_Static_assert(sizeof(void *) != 8 || WAIT_FIRST == 32, "options grow at their end only");

static const vitals_wait DEFAULTS = {.timeout_ns = VITALS_FOREVER};

static const struct options_form FORM = {
    .name = "vitals_wait", .defaults = &DEFAULTS, .size = sizeof(vitals_wait), .first = WAIT_FIRST};

void vitals_wait_init(vitals_wait *how, size_t size)
{
    options_init(&FORM, how, size);
}

struct waiting {
    vitals_process *const *processes;
    size_t count;
    size_t left; /* not told of yet */
    bool *told;
    bool twins;   /* some process stands in the list twice */
    bool stopped; /* by the callback */
    int watch;
    vitals_wait how;
};

static void tell(struct waiting *waiting, size_t index)
{
    vitals_process *process = waiting->processes[index];
    if (waiting->told[index] || waiting->stopped)
        return;
    waiting->told[index] = true;
    waiting->left--;
    if (waiting->how.ended != NULL)
        waiting->stopped = waiting->how.ended(waiting->how.data, process) != 0;
}

/* Settles those that have ended by now, in that order. Returns how many there were: 0 if there are
 * no more, or the callback wants no more. */
static int settle_ready(struct waiting *waiting, vitals_error *error)
{
    uint64_t ready[32];
    int count = os_watch_ready(waiting->watch, ready, ARRAY_COUNT(ready));
    if (count < 0)
        return error_system(error, -count, "waiting for processes");
    for (int i = 0; i < count && !waiting->stopped; i++) {
        vitals_process *process = waiting->processes[ready[i]];
        int ended = look(process, error);
        if (ended < 0)
            return ended;
        if (ended == 0)
            continue;
        os_watch_remove(waiting->watch, process->pidfd);
        tell(waiting, (size_t)ready[i]);
        for (size_t j = 0; waiting->twins && j < waiting->count; j++)
            if (waiting->processes[j] == process)
                tell(waiting, j);
    }
    return waiting->stopped ? 0 : count;
}

/* Whether all is done that was asked for. */
static bool is_enough(const struct waiting *waiting)
{
    return waiting->left == 0 || waiting->stopped;
}

static int wait_for_all(struct waiting *waiting, vitals_error *error)
{
    const vitals_clock *clock = &waiting->processes[0]->context->os.clock;
    uint64_t deadline_ns = deadline_of(clock, waiting->how.timeout_ns);
    waiting->told = memory_array(waiting->count, sizeof(*waiting->told));
    if (waiting->told == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    waiting->watch = os_watch_new();
    if (waiting->watch < 0)
        return error_system(error, -waiting->watch, "waiting for %zu processes", waiting->count);

    /* All whose end is not known are watched before the callback is called for any. */
    for (size_t i = 0; i < waiting->count; i++) {
        vitals_process *process = waiting->processes[i];
        if (process->ended)
            continue;
        if (process->pidfd < 0)
            return no_pidfd(process, error);
        int result = os_watch_add(waiting->watch, process->pidfd, i);
        if (result == -EEXIST)
            waiting->twins = true;
        else if (result < 0)
            return error_system(error, -result, "waiting for process %lld",
                                (long long)process->files.pid);
    }
    for (size_t i = 0; i < waiting->count; i++)
        if (waiting->processes[i]->ended)
            tell(waiting, i);

    for (bool over = false; !is_enough(waiting);) {
        int code;
        while ((code = settle_ready(waiting, error)) > 0)
            ;
        if (code < 0 || over || is_enough(waiting))
            return code;
        int ready = pause_until(clock, waiting->watch, deadline_ns, error);
        if (ready < 0)
            return ready;
        over = ready == 0;
    }
    return 0;
}

int vitals_processes_wait(vitals_process *const *processes, size_t count, const vitals_wait *how,
                          size_t *remaining, vitals_error *error)
{
    struct waiting waiting = {
        .processes = processes, .count = count, .left = count, .watch = -1, .how = DEFAULTS};
    int code = how != NULL ? options_take(&FORM, how, &waiting.how, error) : 0;
    if (code == 0 && processes == NULL && count > 0)
        code = error_set(error, VITALS_EARGUMENT, 0, "%zu processes, and no list of them", count);
    for (size_t i = 0; i < count && code == 0; i++)
        if (processes[i] == NULL)
            code = error_set(error, VITALS_EARGUMENT, 0, "process %zu of %zu is NULL", i + 1,
                             count);
    if (code == 0 && count > 0)
        code = wait_for_all(&waiting, error);
    os_close_descriptor(waiting.watch);
    memory_free(waiting.told);
    if (code == 0 && remaining != NULL)
        *remaining = waiting.left;
    return code;
}
