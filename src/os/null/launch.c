/* Starting and waiting for commands on an operating system that can do neither: `vitals run` says
 * that it is not supported here, and starts nothing. See null.c.
 * Thread rule: as launch.h says. */
#include "os/launch.h"

#include <errno.h>

const int os_signal_continue = 0;

int64_t os_self(void)
{
    return 0;
}

uint64_t os_own_peak_bytes(void)
{
    return 0;
}

int os_become_subreaper(void)
{
    return -ENOTSUP;
}

/* ---- channels ---- */

int os_channel(int ends[static 2])
{
    (void)ends;
    return -ENOTSUP;
}

int os_channel_send(int end, const void *message, size_t size)
{
    (void)end;
    (void)message;
    (void)size;
    return -ENOTSUP;
}

int64_t os_channel_receive(int end, void *message, size_t capacity)
{
    (void)end;
    (void)message;
    (void)capacity;
    return -ENOTSUP;
}

/* ---- signals ---- */

int os_signals_take(struct os_signals *signals)
{
    (void)signals;
    return -ENOTSUP;
}

void os_signals_restore(struct os_signals *signals)
{
    (void)signals;
}

void os_signals_missed(struct os_signals *signals)
{
    (void)signals;
}

int os_signals_next(struct os_signals *signals, int64_t command, bool *forward)
{
    (void)command;
    (void)signals;
    (void)forward;
    return 0;
}

bool os_child_stops_us(const struct os_signals *signals, int64_t pid, int signal)
{
    (void)signals;
    (void)pid;
    (void)signal;
    return false;
}

bool os_signal_is_end(int signal)
{
    (void)signal;
    return false;
}

void os_stop_self(struct os_signals *signals, int signal)
{
    (void)signals;
    (void)signal;
}

/* ---- children: there never are any ---- */

int os_spawn(const struct os_command *command, struct os_child *child)
{
    (void)command;
    (void)child;
    return -ENOTSUP;
}

int os_spawn_go(struct os_child *child)
{
    (void)child;
    return ENOTSUP;
}

int os_fork_helper(const struct os_helper *helper, int64_t *pid, int *pidfd)
{
    (void)helper;
    (void)pid;
    (void)pidfd;
    return -ENOTSUP;
}

enum os_child_change os_child_next(int64_t *pid)
{
    (void)pid;
    return OS_CHILD_LAST;
}

bool os_child_is_none(void)
{
    return false;
}

bool os_child_is_unreaped(int pidfd)
{
    (void)pidfd;
    return false;
}

enum os_child_change os_reap(int64_t pid, struct os_reaped *out)
{
    (void)pid, (void)out;
    return OS_CHILD_NONE;
}

void os_reap_one(int64_t pid)
{
    (void)pid;
}

int64_t os_children(const struct os *os, int64_t *pids, size_t capacity)
{
    (void)os;
    (void)pids;
    (void)capacity;
    return 0;
}

void os_child_done(struct os_child *child)
{
    (void)child;
}

int os_child_signal(int64_t pid, int pidfd, int signal)
{
    (void)pid, (void)pidfd, (void)signal;
    return -ENOTSUP;
}

bool os_child_goes_on(int64_t pid, int signal)
{
    (void)pid, (void)signal;
    return false;
}
