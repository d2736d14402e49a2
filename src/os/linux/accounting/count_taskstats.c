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

/* Left to wait4, which knows better. */
static const os_quantities BY_TICKS = 1u << COUNTED_CPU_USER_SECONDS |
                                      1u << COUNTED_CPU_SYSTEM_SECONDS;

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
#define FIGURE(member, join, quantity, scale) {quantity, (double)sums->member * (scale)},
    const struct {
        enum quantity quantity;
        double value;
    } FIGURES[] = {EXIT_SUMS(FIGURE)};
#undef FIGURE
    bool lossy = state->lossy || state->listener.lossy || exit_tree_is_cut(state->tree);
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
        os_quantities quantity = os_quantity(FIGURES[i].quantity);
        if ((quantity & BY_TICKS) == 0)
            os_count(out, FIGURES[i].quantity, FIGURES[i].value,
                     (quantity & WORTH) != 0 && !lossy ? VITALS_HAVE : VITALS_LOWER_BOUND,
                     lossy ? "taskstats, record of each end; some were lost"
                           : "taskstats, record of each end");
    }
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
