/* usage_network.c: what went through the network namespaces that the tree is in. See usage_data.h.
 *
 * The kernel counts by interface, not by process. Of a namespace that is not ours the tree is given
 * what it counted while a process of the tree was in it, from the first reading on; which others
 * are in it is not known. Of ours, which the rest of the machine is in too, what the machine did
 * meanwhile is no less than what the tree did: an upper bound, of which a single reading says
 * nothing. */
#include "run/usage/usage_data.h"

#include "util/memory.h"

enum { DIRECTIONS = 2 };

static const struct {
    enum measure_place place;
    vitals_metric process, host;
} DIRECTION[DIRECTIONS] = {
    {MEASURE_AT_network_received_bytes, VITALS_PROCESS_NETWORK_RECEIVED_BYTES,
     VITALS_HOST_NETWORK_RECEIVED_BYTES},
    {MEASURE_AT_network_transmitted_bytes, VITALS_PROCESS_NETWORK_TRANSMITTED_BYTES,
     VITALS_HOST_NETWORK_TRANSMITTED_BYTES},
};

/* The counters of a process's namespace that is not ours. */
static struct usage_network *note_network(vitals_usage *usage, uint64_t inode,
                                          const vitals_row *row)
{
    struct usage_network *network = NULL;
    double now[DIRECTIONS];
    uint64_t read_ns = vitals_row_read_ns(row, DIRECTION[0].process);
    for (size_t i = 0; i < usage->network_count && network == NULL; i++) {
        if (usage->networks[i].inode == inode)
            network = &usage->networks[i];
    }
    if (network == NULL) {
        if (MEMORY_GROW(usage->networks, usage->network_capacity, usage->network_count) < 0) {
            usage->failed = true;
            return NULL;
        }
        network = &usage->networks[usage->network_count++];
        *network = (struct usage_network){.inode = inode};
    }
    network->seen = usage->pass;

    for (size_t i = 0; i < DIRECTIONS; i++) {
        if (vitals_row_number(row, DIRECTION[i].process, &now[i]) <= 0)
            return network;
    }
    if (network->based && read_ns <= network->read_ns)
        return network;
    for (size_t i = 0; i < DIRECTIONS; i++) {
        /* A counter that fell belongs to an interface that went: it is begun anew. */
        if (!network->based || now[i] < network->last[i]) {
            network->before[i] += network->based ? network->last[i] - network->base[i] : 0;
            network->base[i] = now[i];
        }
        network->last[i] = now[i];
    }
    network->based = true;
    network->read_ns = read_ns;
    return network;
}

static double done_in(const struct usage_network *network, size_t direction)
{
    return network->before[direction] + network->last[direction] - network->base[direction];
}

/* Those that no process of the tree is in any more: others may go on there. */
static void settle(vitals_usage *usage)
{
    size_t kept = 0;
    for (size_t i = 0; i < usage->network_count; i++) {
        const struct usage_network *network = &usage->networks[i];
        if (network->seen == usage->pass) {
            usage->networks[kept++] = *network;
            continue;
        }
        for (size_t k = 0; k < DIRECTIONS; k++)
            usage->network_gone[k] += done_in(network, k);
    }
    usage->network_count = kept;
}

/* The machine's traffic since the pass before. Returns the time of its reading. */
static uint64_t add_machine(vitals_usage *usage, const vitals_row *host)
{
    double now[DIRECTIONS];
    bool known = true;
    for (size_t i = 0; i < DIRECTIONS; i++)
        known = vitals_row_number(host, DIRECTION[i].host, &now[i]) > 0 && known;
    uint64_t read_ns = vitals_row_read_ns(host, DIRECTION[0].host);
    if (known && read_ns > usage->network_host_ns) {
        usage->network_host_ns = read_ns;
        usage->network_readings++;
    }
    for (size_t i = 0; i < DIRECTIONS && known; i++) {
        double grown = usage->network_host_known ? now[i] - usage->network_host[i] : 0;
        usage->network_machine[i] += grown > 0 ? grown : 0;
        usage->network_host[i] = now[i];
    }
    usage->network_host_known = known;
    return read_ns;
}

static void set_missing(vitals_usage *usage, size_t scope, vitals_availability reason)
{
    for (size_t i = 0; i < DIRECTIONS; i++)
        usage_cell_missing(usage_cell(usage, scope, DIRECTION[i].place), reason);
}

void usage_network(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    uint64_t ours = 0, inode, newest_ns = 0;
    bool in_ours = false, any = false;
    vitals_availability missing = VITALS_UNSET; /* why it is not known where a process is */
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL), *row = NULL;
    vitals_availability state = host != NULL
                                    ? vitals_row_u64(host, VITALS_HOST_NETWORK_NAMESPACE, &ours)
                                    : VITALS_NOT_REQUESTED;
    /* Of the tree as a whole: root and descendants share their namespaces. */
    set_missing(usage, SUBJECT_ROOT, VITALS_UNSUPPORTED);
    set_missing(usage, SUBJECT_DESCENDANTS, VITALS_UNSUPPORTED);
    if (state <= 0) {
        set_missing(usage, SUBJECT_TREE, state);
        return;
    }

    while (usage_next_member(usage, snapshot, &row) != NULL) {
        state = vitals_row_u64(row, VITALS_PROCESS_NETWORK_NAMESPACE, &inode);
        if (state <= 0) {
            missing = state == VITALS_NOT_YET || state == VITALS_GONE ? missing : state;
            continue;
        }
        any = true;
        in_ours |= inode == ours;
        const struct usage_network *network = inode != ours ? note_network(usage, inode, row)
                                                            : NULL;
        if (network != NULL)
            newest_ns = uint64_max(newest_ns, network->read_ns);
    }
    settle(usage);

    /* Whether others are where the tree is, as far as we may look: a pod's other containers. */
    while (usage->network_count > 0 && !usage->network_shared &&
           (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL) {
        if (usage_member_of(usage, vitals_row_key(row)) != NULL ||
            vitals_row_u64(row, VITALS_PROCESS_NETWORK_NAMESPACE, &inode) <= 0)
            continue;
        for (size_t i = 0; i < usage->network_count; i++)
            usage->network_shared |= usage->networks[i].inode == inode;
    }

    uint64_t machine_ns = add_machine(usage, host);
    bool left = usage->network_ours && !any; /* all have ended: this is their last */
    if (in_ours || left)
        newest_ns = uint64_max(newest_ns, machine_ns);
    usage->network_ours |= in_ours;
    usage->network_own |= usage->network_count > 0;
    bool measured = !usage->network_ours || usage->network_readings > 1;
    if (!measured || !(any || usage->network_ours || usage->network_own)) {
        set_missing(usage, SUBJECT_TREE, missing != VITALS_UNSET ? missing : VITALS_NOT_YET);
        return;
    }
    bool others = usage->network_ours || usage->network_shared;
    state = others ? VITALS_UPPER_BOUND : VITALS_SAMPLED;
    if (missing != VITALS_UNSET)
        state = state_worse(state, VITALS_LOWER_BOUND);
    for (size_t i = 0; i < DIRECTIONS; i++) {
        double total = usage->network_gone[i];
        total += usage->network_ours ? usage->network_machine[i] : 0;
        for (size_t k = 0; k < usage->network_count; k++)
            total += done_in(&usage->networks[k], i);
        usage_cell_counter(usage_cell(usage, SUBJECT_TREE, DIRECTION[i].place), newest_ns, total,
                           state);
    }
}

void usage_network_end(vitals_usage *usage)
{
    usage->pass++; /* no process of another stream is in any of them */
    settle(usage);
    usage->network_host_known = false;
}
