/* count_taskstats.c: the kernel's accounting record of each task that ends; those of the run are
 * selected (exit_records.h). Needs CAP_NET_ADMIN in the initial namespaces. Only this method has
 * the largest resident set of every single process at its end, and the number of processes,
 * including children that no process waited for. A record is written before the process frees its
 * memory, so the time for that is missing. */
#include "os/linux/accounting/count.h"
#include "os/linux/accounting/taskstats.h"

#include <errno.h>

struct count_taskstats_state {
    struct exit_listener listener;
    struct exit_tree *tree;
    struct exit_sums sums; /* of the run */
    bool lossy;
};

static const os_quantities WORTH = 1u << COUNTED_MEMORY_LARGEST_BYTES |
                                   1u << COUNTED_MEMORY_SUM_BYTES | 1u << COUNTED_PROCESSES;

static void close_taskstats(void *data)
{
    struct count_taskstats_state *state = data;
    exit_listener_close(&state->listener);
    exit_tree_free(state->tree);
}

static int open_taskstats(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct count_taskstats_state *state = data;
    int code = exit_listener_open(&state->listener, options->os);
    if (code < 0)
        return code;
    state->tree = exit_tree_new((uint32_t)os_self());
    if (state->tree == NULL) {
        close_taskstats(state);
        return -ENOMEM;
    }
    *counts = WORTH;
    return 0;
}

static void take_record(void *data, const struct exit_record *record)
{
    struct count_taskstats_state *state = data;
    exit_tree_add(state->tree, record);
}

static void drain(void *data)
{
    struct count_taskstats_state *state = data;
    exit_listener_drain(&state->listener, take_record, state);
}

static void reaped_taskstats(void *data, const struct os_reaped *child)
{
    struct count_taskstats_state *state = data;
    drain(state);
    if (!exit_tree_take(state->tree, (uint32_t)child->pid, &state->sums))
        state->lossy = true;
}

static void read_taskstats(void *data, struct counted *out)
{
    struct count_taskstats_state *state = data;
    const struct exit_sums *sums = &state->sums;
    if (sums->processes == 0)
        return;
    const struct {
        enum quantity quantity;
        double value;
        vitals_availability state;
    } FIGURES[] = {
        {COUNTED_CPU_SECONDS, (double)sums->cpu_ns * 1e-9, VITALS_LOWER_BOUND},
        {COUNTED_READ_BYTES, (double)sums->read_bytes, VITALS_LOWER_BOUND},
        {COUNTED_WRITTEN_BYTES, (double)sums->written_bytes, VITALS_LOWER_BOUND},
        {COUNTED_MINOR_FAULTS, (double)sums->minor_faults, VITALS_LOWER_BOUND},
        {COUNTED_MAJOR_FAULTS, (double)sums->major_faults, VITALS_LOWER_BOUND},
        {COUNTED_VOLUNTARY_SWITCHES, (double)sums->voluntary, VITALS_LOWER_BOUND},
        {COUNTED_INVOLUNTARY_SWITCHES, (double)sums->involuntary, VITALS_LOWER_BOUND},
        {COUNTED_PROCESSES, (double)sums->processes, VITALS_HAVE},
        {COUNTED_MEMORY_LARGEST_BYTES, (double)sums->largest_bytes, VITALS_HAVE},
        {COUNTED_MEMORY_SUM_BYTES, (double)sums->sum_bytes, VITALS_HAVE},
    };
    bool lossy = state->lossy || state->listener.lossy || exit_tree_is_cut(state->tree);
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++)
        os_count(out, FIGURES[i].quantity, FIGURES[i].value,
                 lossy && FIGURES[i].state == VITALS_HAVE ? VITALS_LOWER_BOUND : FIGURES[i].state,
                 lossy ? "taskstats, record of each end; some were lost"
                       : "taskstats, record of each end");
}

const struct os_counter count_taskstats = {
    .name = "taskstats",
    .size = sizeof(struct count_taskstats_state),
    .worth = WORTH,
    .ended_only = true,
    .open = open_taskstats,
    .reaped = reaped_taskstats,
    .tick = drain,
    .read = read_taskstats,
    .close = close_taskstats,
};
