/* count_perf.c: an inherited perf event (perf_event_open(2)): the CPU time of the child and all its
 * descendants, in nanoseconds, whichever process reaps them; daemons and threads too.
 *
 * Permitted for one's own child up to perf_event_paranoid 2, without the kernel in it; the task
 * clock counts the kernel's part all the same, and in a guest the time that the hypervisor stole
 * from it, which wait4 leaves out. The time stolen from the whole machine meanwhile (/proc/stat) is
 * therefore subtracted: the rest is a lower bound. It is the only event: each costs every process
 * and thread of the tree its share at birth, at each switch and at its end, and wait4 knows what
 * others would tell. A program that changes its credentials by exec (setuid) is not counted from
 * there on. The first event of a machine takes 8 to 17 ms, so this comes after the cgroups. */
#include "os/linux/accounting/count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char SOURCE[] = "perf task-clock, inherited; ends of processes are not in it";

struct count_perf_state {
    const struct os *os;
    int event;
    bool stolen_known;
    uint64_t stolen_ticks; /* from all CPUs since the boot, when the child began */
    double seconds;        /* with what was stolen */
};

/* The eighth number of the first line of /proc/stat (proc_stat(5)); false if it is not there. */
static bool read_stolen(const struct os *os, uint64_t *ticks)
{
    enum { STEAL = 8, TEXT_BYTES = 512 };
    char text[TEXT_BYTES];
    struct span word;
    int64_t size = linux_read_line(os, os->proc, "stat", text, sizeof text);
    struct cursor at = cursor_over(text, size > 0 ? (size_t)size : 0);
    for (int i = 0; i < STEAL; i++) {
        if (!cursor_word(&at, &word))
            return false;
    }
    return cursor_u64(&at, ticks);
}

bool count_without_stolen(double seconds, uint64_t before, uint64_t now, double per_second,
                          double *out)
{
    if (now < before)
        return false;
    /* The kernel adds up nanoseconds and shows whole ticks. */
    double stolen = now > 0 ? (double)(now - before + 1) / per_second : 0;
    *out = seconds > stolen ? seconds - stolen : 0;
    return true;
}

static int open_event(int64_t pid, bool kernel)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .inherit = 1,
        .exclude_kernel = kernel ? 0 : 1,
        .exclude_hv = kernel ? 0 : 1,
    };
    long descriptor;
    do
        descriptor = syscall(SYS_perf_event_open, &attributes, (int)pid, -1, -1,
                             PERF_FLAG_FD_CLOEXEC);
    while (descriptor < 0 && errno == EINTR);
    return descriptor < 0 ? -errno : (int)descriptor;
}

/* Opens an event for a process (0: this one); includes the kernel if that is permitted. */
static int open_permitted(int64_t pid)
{
    int descriptor = open_event(pid, true);
    bool refused = descriptor == -EACCES || descriptor == -EPERM;
    return refused ? open_event(pid, false) : descriptor;
}

/* If the event is denied for this process, the method is not offered. */
static int open_perf(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct count_perf_state *state = data;
    state->event = -1;
    state->os = options->os;
    if (!options->os->live)
        return -ENOTSUP;
    *counts = os_quantity(COUNTED_CPU_SECONDS);
    int descriptor = open_permitted(0);
    os_close_descriptor(descriptor);
    return descriptor < 0 ? descriptor : 0;
}

static int child_perf(void *data, int64_t pid, os_quantities *counts)
{
    struct count_perf_state *state = data;
    int descriptor = open_permitted(pid);
    if (descriptor < 0)
        return descriptor;
    state->event = descriptor;
    state->stolen_known = read_stolen(state->os, &state->stolen_ticks);
    *counts = os_quantity(COUNTED_CPU_SECONDS);
    return 0;
}

static void read_perf(void *data, struct counted *out)
{
    struct count_perf_state *state = data;
    uint64_t ns, ticks;
    if (state->event < 0 || read(state->event, &ns, sizeof ns) != (ssize_t)sizeof ns)
        return;
    double own;
    state->seconds = (double)ns * 1e-9;
    if (state->stolen_known && read_stolen(state->os, &ticks) &&
        count_without_stolen(state->seconds, state->stolen_ticks, ticks,
                             state->os->ticks_per_second, &own))
        os_count(out, COUNTED_CPU_SECONDS, own, VITALS_LOWER_BOUND, SOURCE);
}

static double most_perf(const void *data)
{
    const struct count_perf_state *state = data;
    return state->seconds;
}

static void close_perf(void *data)
{
    struct count_perf_state *state = data;
    os_close_descriptor(state->event);
}

const struct os_counter count_perf = {
    .name = "perf",
    .size = sizeof(struct count_perf_state),
    .worth = 1u << COUNTED_CPU_SECONDS,
    .open = open_perf,
    .child = child_perf,
    .read = read_perf,
    .most_cpu_seconds = most_perf,
    .close = close_perf,
};
