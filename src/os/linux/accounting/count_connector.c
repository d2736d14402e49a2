/* count_connector.c: a lower bound of the number of processes, by the kernel's event of each birth
 * (the process connector). From Linux 6.6 on an ordinary user may listen; before it needs
 * CAP_NET_ADMIN.
 *
 * Listening does not begin for a job that ends at once. Processes alive when it begins are found by
 * their parents; those that had ended before are not found, and the kernel does not report every
 * event that it could not deliver. So it is never exact. */
#include "os/linux/accounting/connector.h"
#include "os/linux/accounting/count.h"

#include <errno.h>

/* Shorter jobs are not worth the cost. */
static const uint64_t AFTER_NS = 4 * NS_PER_MS;

struct count_connector_state {
    const struct os *os;
    int64_t root;
    uint64_t begin_ns;
    bool tried, listened;
    struct connector connector;
};

static const os_quantities WORTH = 1u << COUNTED_PROCESSES;

static int open_connector(void *data, const struct os_count_options *options, os_quantities *counts)
{
    struct count_connector_state *state = data;
    connector_init(&state->connector);
    if (!options->os->live)
        return -ENOTSUP;
    state->os = options->os;
    *counts = 0; /* it is not known yet if listening is permitted */
    return 0;
}

static int child_connector(void *data, int64_t pid, os_quantities *counts UNUSED)
{
    struct count_connector_state *state = data;
    state->root = pid;
    state->begin_ns = os_now_ns(state->os);
    return 0;
}

static void tick_connector(void *data)
{
    struct count_connector_state *state = data;
    connector_drain(&state->connector);
    if (state->tried || state->root == 0 || os_now_ns(state->os) < state->begin_ns + AFTER_NS)
        return;
    state->tried = true;
    const struct os_trees tree = {.roots = &state->root, .root_count = 1};
    state->listened = connector_open(&state->connector, state->os, &tree) == 0;
}

/* A reaped child without a birth event belongs to the run too; it is added if all pids are
 * remembered. */
static void reaped_connector(void *data, const struct os_reaped *child)
{
    struct count_connector_state *state = data;
    struct connector *connector = &state->connector;
    state->tried = true; /* too late to begin */
    connector_drain(connector);
    if (connector_is_open(connector) && !connector->births.cut)
        births_add(&connector->births, (uint32_t)child->pid);
}

static void read_connector(void *data, struct counted *out)
{
    struct count_connector_state *state = data;
    if (!state->listened)
        return;
    connector_drain(&state->connector);
    connector_read(&state->connector, out);
}

static bool is_idle_connector(const void *data)
{
    const struct count_connector_state *state = data;
    return !state->listened;
}

static void close_connector(void *data)
{
    struct count_connector_state *state = data;
    connector_close(&state->connector);
}

const struct os_counter count_connector = {
    .name = "connector",
    .size = sizeof(struct count_connector_state),
    .worth = WORTH,
    .open = open_connector,
    .child = child_connector,
    .tick = tick_connector,
    .reaped = reaped_connector,
    .is_idle = is_idle_connector,
    .read = read_connector,
    .close = close_connector,
};
