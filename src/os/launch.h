/* launch.h: what a launcher asks of an operating system: children, their ends, their signals.
 *
 * Only src/run/ uses it. These functions change the process that calls them.
 * Thread rule: a process with one thread. */
#pragma once

#include "os/os.h"

/* Our own pid. */
int64_t os_self(void);

/* The largest that our own resident set ever was. */
uint64_t os_own_peak_bytes(void);

/* Orphans of our tree become our children. *before: whether they did already. */
int os_become_subreaper(bool *before);
void os_end_subreaper(void);

/* Whether this process has no other thread, as far as can be told. */
bool os_is_single_thread(void);

/* Two ends of a channel that keeps messages apart; close-on-exec. */
int os_channel(int ends[static 2]);
int os_channel_send(int end, const void *message, size_t size); /* never blocks: may drop */

/* The size of the message, 0 once the other side is closed, -EAGAIN where there is none now. */
int64_t os_channel_receive(int end, void *message, size_t capacity);

/* The signals that a launcher forwards (those that end, stop or wake a program, and all others
 * without a handler here), and SIGCHLD: blocked, and read from a descriptor instead. `before`
 * receives what the command gets back. */
struct os_signals {
    int descriptor;
    void *before;      /* the OS's own */
    bool told_to_stop; /* by job control, since we went on last */
    uint64_t missed;   /* by the command: a bit for each, from bit 0 for signal 1 */
};

int os_signals_take(struct os_signals *signals);

/* A signal that came meanwhile and was not read is dropped: it was meant for the command. */
void os_signals_restore(struct os_signals *signals);

/* Call this once the command exists: signals that wait to be read are older than it, so it has seen
 * none of them, and they are forwarded whatever their sender. */
void os_signals_missed(struct os_signals *signals);

/* The next signal; 0 where there is none. *forward: the command (its pid; 0: none) has not received
 * it from the terminal as we did. SIGCHLD is never given. */
int os_signals_next(struct os_signals *signals, int64_t command, bool *forward);

/* How a child is started. The child waits for the word to go, so that what counts it is in
 * place before its first instruction; where we die before, it never begins. */
struct os_command {
    const char *const *argv;
    const char *const *environment;   /* NULL at the end; NULL: ours */
    uint64_t descriptors;             /* soft limit; 0: as it is */
    const struct os_signals *signals; /* put back as they were; NULL: as they are */
    const struct os_places *places;   /* NULL: where we are */

    /* The child may use our memory until its exec, which spares a copy of it: argv and environment
     * stay until it has ended, and this process has one thread. */
    bool shares_memory;
};

/* Groups in which a child is counted from its birth on. Moving it there from outside would wait for
 * a grace period of the kernel, of 6 to 20 ms; that it is born there, or goes itself, does not. */
enum { OS_JOINS = 4 };
struct os_places {
    bool group_is;       /* there is a group that it is born in */
    int group;           /* a descriptor of its folder */
    int joins[OS_JOINS]; /* of files that the child writes "0" to before it becomes the command */
    size_t join_count;
};

struct os_child {
    int64_t pid;
    int pidfd;    /* -1 where the kernel has none */
    int go;       /* write: the child begins */
    int failure;  /* read: why exec failed */
    int end;      /* the other end of that, as the child has it until its exec */
    void *memory; /* that it shares with us; NULL: none, or none any more */
};

int os_spawn(const struct os_command *command, struct os_child *child);

/* Signals a child that was not reaped yet, and so has its pid still. */
int os_child_signal(int64_t pid, int pidfd, int signal);

/* Once it was reaped: closes what is left of it. */
void os_child_done(struct os_child *child);

/* Whether the signal only continues a child that has been continued already, with our whole group.
 */
bool os_child_goes_on(int64_t pid, int signal);

/* Lets it begin; returns 0, or the positive errno of its exec; ESRCH: it was killed before. A
 * process forked from this program that holds our descriptors delays it by no more than some ms. */
int os_spawn_go(struct os_child *child);

/* A second process of our own that runs `main` and ends; it takes no signal. It dies with us: at
 * once, or, if it has a channel (not below 0) that tells it, within some seconds. Its standard
 * streams lead nowhere, and of other descriptors it holds only `channel` and those in `kept`: a
 * helper that hangs must not keep open a descriptor whose end another process waits for. */
enum { OS_HELPER_KEEPS = 4 };
struct os_helper {
    void (*main)(void *data);
    void *data;
    int channel;
    int kept[OS_HELPER_KEEPS]; /* other descriptors; 0: none */
};

int os_fork_helper(const struct os_helper *helper, int64_t *pid, int *pidfd);

/* A child's usage, as the kernel counted it when it ended, its own reaped children included. */
struct os_usage {
    double user_seconds, system_seconds;
    uint64_t read_bytes, written_bytes;
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t
        largest_bytes; /* of any image, that before an exec included: no peak, but above each */
};

static inline void os_usage_add(struct os_usage *sum, const struct os_usage *more)
{
    sum->user_seconds += more->user_seconds;
    sum->system_seconds += more->system_seconds;
    sum->read_bytes = saturating_add(sum->read_bytes, more->read_bytes);
    sum->written_bytes = saturating_add(sum->written_bytes, more->written_bytes);
    sum->minor_faults = saturating_add(sum->minor_faults, more->minor_faults);
    sum->major_faults = saturating_add(sum->major_faults, more->major_faults);
    sum->voluntary_switches = saturating_add(sum->voluntary_switches, more->voluntary_switches);
    sum->involuntary_switches = saturating_add(sum->involuntary_switches,
                                               more->involuntary_switches);
    sum->largest_bytes = uint64_max(sum->largest_bytes, more->largest_bytes);
}

enum os_child_change { OS_CHILD_NONE, OS_CHILD_ENDED, OS_CHILD_STOPPED, OS_CHILD_LAST };

struct os_reaped {
    int64_t pid;
    int exit_code; /* where signal is 0 */
    int signal;    /* that ended or stopped it, or 0 */
    bool dumped;   /* it left a core dump */
    struct os_usage usage;
};

/* The next change of any child, without waiting, and whose it is: ENDED (a zombie yet, whose files
 * can be read), STOPPED by the terminal, NONE, or LAST where there is no child at all. */
enum os_child_change os_child_next(int64_t *pid);

/* Whether we have no child at all, dead or alive. */
bool os_child_is_none(void);

/* Whether a child that was started is still to be reaped: its pid is its own until then. Where the
 * kernel has no pidfd it counts as such. */
bool os_child_is_unreaped(int pidfd);

/* Takes note of it, and reaps it if it has ended. NONE: other code reaped it. */
enum os_child_change os_reap(int64_t pid, struct os_reaped *out);

/* Reaps a child that is not counted, if it has ended. */
void os_reap_one(int64_t pid);

/* Our children; the number there are, of which at most `capacity` are written. Negative errno where
 * the kernel does not tell. */
int64_t os_children(const struct os *os, int64_t *pids, size_t capacity);

enum { OS_SIGNAL_KILL = 9, OS_SIGNAL_TERM = 15 };
extern const int os_signal_continue;

/* Whether we stop with a child that the signal stopped: by job control, or by a stop of its own
 * making that follows (top and others tidy up first) or is an inner shell's that was told to
 * suspend. A child that was stopped otherwise stops alone: its sender continues it alone. */
bool os_child_stops_us(const struct os_signals *signals, int64_t pid, int signal);

/* Whether it asks a process to end. */
bool os_signal_is_end(int signal);

/* Stops ourselves by the signal that stopped the command, until we are continued; between
 * os_signals_take and os_signals_restore. Does nothing if no process could continue us. */
void os_stop_self(struct os_signals *signals, int signal);
