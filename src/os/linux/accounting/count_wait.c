/* count_wait.c: the usage that wait4 returns for every child that is reaped, orphans of the tree
 * included.
 *
 * Each reports its own usage and that of all children that it has waited for. A process that
 * ignores SIGCHLD waits for no child, and their usage is lost: the signal mask of a zombie still
 * shows that. Its blocks are the bytes of /proc/PID/io in another unit, so that file is not opened:
 * nothing is read of the command while it runs.
 *
 * ru_maxrss includes the image from before an exec, so it is no process's peak. But that image
 * began as a copy of its parent's, which held as much: for the command that is ours, for all others
 * a process of the tree. A value above our own peak was therefore held by some process of the tree
 * at one moment, which makes it a lower bound of the peak of the tree, and no more than that. */
#include "os/linux/accounting/count.h"

#include <signal.h>

enum { TEXT_BYTES = 4096 };

struct count_wait_state {
    const struct os *os;
    int64_t root;
    bool lossy; /* a process ignored SIGCHLD */
    bool alone; /* no process was born between the command and its end */
    int64_t last_born;
    uint64_t reaped;
    struct os_usage usage;
    uint64_t own_bytes; /* this process's image, which the command had until its exec */
};

static const os_quantities COUNTS = 1u << COUNTED_CPU_SECONDS | 1u << COUNTED_CPU_USER_SECONDS |
                                    1u << COUNTED_CPU_SYSTEM_SECONDS | 1u << COUNTED_READ_BYTES |
                                    1u << COUNTED_WRITTEN_BYTES | 1u << COUNTED_PROCESSES |
                                    1u << COUNTED_MINOR_FAULTS | 1u << COUNTED_MAJOR_FAULTS |
                                    1u << COUNTED_VOLUNTARY_SWITCHES |
                                    1u << COUNTED_INVOLUNTARY_SWITCHES |
                                    1u << COUNTED_MEMORY_LARGEST_BYTES;

static int open_wait(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct count_wait_state *state = data;
    state->os = options->os;
    *counts = COUNTS;
    return 0;
}

/* The last pid or thread identifier that was assigned; negative: not known. While it is unchanged,
 * no process was born. */
static int64_t last_born(const struct os *os)
{
    int file = -1;
    int64_t pid = os->live ? os_last_pid(os, &file) : -1;
    os_close_descriptor(file);
    return pid;
}

static int child_wait(void *data, int64_t pid, os_quantities *counts UNUSED)
{
    struct count_wait_state *state = data;
    state->root = pid;
    state->own_bytes = os_own_peak_bytes();
    state->last_born = last_born(state->os);
    return 0;
}

/* True if a process, which may be a zombie, ignores SIGCHLD. */
static bool ignores_children(const struct os *os, int64_t pid)
{
    char text[TEXT_BYTES];
    struct os_status status;
    int64_t size = os->live ? linux_process_line(os, pid, "status", text, sizeof text) : 0;
    return size > 0 && os_parse_status(text, (size_t)size, OS_STATUS_IGNORED, &status) &&
           (status.has & OS_STATUS_IGNORED) != 0 && (status.ignored >> (SIGCHLD - 1) & 1) != 0;
}

static void ended_wait(void *data, int64_t pid)
{
    struct count_wait_state *state = data;
    if (pid == state->root)
        state->alone = state->last_born >= pid && last_born(state->os) == state->last_born;
    if (pid != state->root || !state->alone) /* without children nothing can be lost */
        state->lossy |= ignores_children(state->os, pid);
}

static void reaped_wait(void *data, const struct os_reaped *child)
{
    struct count_wait_state *state = data;
    state->reaped++;
    os_usage_add(&state->usage, &child->usage);
}

/* True if no process can have been missed. Processes that were never waited for are not known, so
 * this holds only if the command had no child at all. */
static bool whole_wait(const void *data)
{
    const struct count_wait_state *state = data;
    return state->alone && state->reaped == 1 && !state->lossy;
}

static void read_wait(void *data, struct counted *out)
{
    const struct count_wait_state *state = data;
    const struct os_usage *usage = &state->usage;
    const struct {
        enum quantity quantity;
        double value;
        bool split; /* split as measured by ticks, scaled to the exact sum */
    } FIGURES[] = {
        {COUNTED_CPU_SECONDS, usage->user_seconds + usage->system_seconds, false},
        {COUNTED_CPU_USER_SECONDS, usage->user_seconds, true},
        {COUNTED_CPU_SYSTEM_SECONDS, usage->system_seconds, true},
        {COUNTED_READ_BYTES, (double)usage->read_bytes, false},
        {COUNTED_WRITTEN_BYTES, (double)usage->written_bytes, false},
        {COUNTED_MINOR_FAULTS, (double)usage->minor_faults, false},
        {COUNTED_MAJOR_FAULTS, (double)usage->major_faults, false},
        {COUNTED_VOLUNTARY_SWITCHES, (double)usage->voluntary_switches, false},
        {COUNTED_INVOLUNTARY_SWITCHES, (double)usage->involuntary_switches, false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
        const char *source =
            state->lossy ? "wait4; children of a process that ignores SIGCHLD are not in it"
            : FIGURES[i].quantity == COUNTED_WRITTEN_BYTES
                ? "wait4, before write-back: with what was removed before it reached a disk"
                : "wait4";
        os_count(out, FIGURES[i].quantity, FIGURES[i].value,
                 state->lossy       ? VITALS_LOWER_BOUND
                 : FIGURES[i].split ? VITALS_ESTIMATE
                                    : VITALS_HAVE,
                 source);
    }
    if (usage->largest_bytes > state->own_bytes && !state->lossy)
        os_count(out, COUNTED_MEMORY_LARGEST_BYTES, (double)usage->largest_bytes,
                 VITALS_LOWER_BOUND, "wait4: one process, or the one that forked it, held so much");
    os_count(out, COUNTED_PROCESSES, (double)state->reaped,
             whole_wait(data) ? VITALS_HAVE : VITALS_LOWER_BOUND, "reaped by vitals itself");
}

static void close_wait(void *data UNUSED)
{
}

const struct os_counter count_wait = {
    .name = "wait4",
    .size = sizeof(struct count_wait_state),
    .worth = ~(os_quantities)0,
    .ended_only = true,
    .open = open_wait,
    .child = child_wait,
    .ended = ended_wait,
    .reaped = reaped_wait,
    .whole = whole_wait,
    .read = read_wait,
    .close = close_wait,
};
