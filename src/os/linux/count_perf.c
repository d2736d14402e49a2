/* count_perf.c: an inherited perf event (perf_event_open(2)): the CPU time of the child and of all
 * that will come of it, in nanoseconds, whoever reaps them; daemons and threads too.
 *
 * Permitted for one's own child up to perf_event_paranoid 2, without the kernel in it; the task
 * clock counts the kernel's part all the same, faults in the kernel are then missing and so are not
 * told. A program that changes who it is by exec (setuid) is not counted from there on. The first
 * event of a machine takes 8 to 17 ms, so that this comes behind the cgroups. */
#include "os/linux/count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    enum quantity quantity;
    uint64_t config;
    double scale;
    bool whole; /* with exclude_kernel too */
    vitals_availability state;
    const char *source;
} EVENTS[] = {
    {COUNTED_CPU_SECONDS, PERF_COUNT_SW_TASK_CLOCK, 1e-9, true, VITALS_LOWER_BOUND,
     "perf task-clock, inherited; ends of processes are not in it"},
    {COUNTED_MINOR_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, false, VITALS_LOWER_BOUND,
     "perf minor-faults, inherited"},
    {COUNTED_MAJOR_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, false, VITALS_LOWER_BOUND,
     "perf major-faults, inherited"},
};

enum { EVENT_COUNT = ARRAY_COUNT(EVENTS) };

struct state {
    os_quantities wanted;
    int descriptors[EVENT_COUNT];
};

static int open_event(size_t index, int64_t pid, bool kernel)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = EVENTS[index].config,
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

static bool is_refused(int code)
{
    return code == -EACCES || code == -EPERM;
}

/* Whether we may count ourselves: what is refused already is not promised. */
static int try_perf(void)
{
    int descriptor = open_event(0, 0, true);
    if (is_refused(descriptor))
        descriptor = open_event(0, 0, false);
    os_close_descriptor(descriptor);
    return descriptor < 0 ? descriptor : 0;
}

static int open_perf(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct state *state = data;
    if (!options->os->live)
        return -ENOTSUP;
    state->wanted = options->wanted;
    for (size_t i = 0; i < EVENT_COUNT; i++)
        state->descriptors[i] = -1;
    *counts = os_quantity(COUNTED_CPU_SECONDS);
    return try_perf();
}

static int child_perf(void *data, int64_t pid, os_quantities *counts)
{
    struct state *state = data;
    bool kernel = true;
    *counts = 0;
    for (size_t i = 0; i < EVENT_COUNT; i++) {
        if ((state->wanted & os_quantity(EVENTS[i].quantity)) == 0 || (!kernel && !EVENTS[i].whole))
            continue;
        int descriptor = open_event(i, pid, kernel);
        if (is_refused(descriptor) && EVENTS[i].whole) {
            kernel = false;
            descriptor = open_event(i, pid, kernel);
        }
        if (descriptor < 0 && i == 0)
            return descriptor;
        state->descriptors[i] = descriptor < 0 ? -1 : descriptor;
        *counts |= descriptor < 0 ? 0 : os_quantity(EVENTS[i].quantity);
    }
    return *counts != 0 ? 0 : -ENOTSUP;
}

static void read_perf(void *data, struct counted *out)
{
    const struct state *state = data;
    for (size_t i = 0; i < EVENT_COUNT; i++) {
        uint64_t number;
        if (state->descriptors[i] >= 0 &&
            read(state->descriptors[i], &number, sizeof number) == (ssize_t)sizeof number)
            os_count(out, EVENTS[i].quantity, (double)number * EVENTS[i].scale, EVENTS[i].state,
                     EVENTS[i].source);
    }
}

static void close_perf(void *data)
{
    struct state *state = data;
    for (size_t i = 0; i < EVENT_COUNT; i++)
        os_close_descriptor(state->descriptors[i]);
}

const struct os_counter count_perf = {
    .name = "perf",
    .size = sizeof(struct state),
    .worth = 1u << COUNTED_CPU_SECONDS,
    .open = open_perf,
    .child = child_perf,
    .read = read_perf,
    .close = close_perf,
};
