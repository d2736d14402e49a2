/* usage_network.c: what went through the network namespaces that the tree is in. See usage_data.h.
 *
 * The kernel counts by interface, not by process. Of a namespace that is not ours the tree is given
 * what it counted while a process of the tree was in it, from the first reading on; who else is in
 * it is not known. Of ours, which the rest of the machine is in too, what the machine did meanwhile
 * is no less than what the tree did: an upper bound, of which a single reading says nothing. */
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

static struct usage_network *find_network(vitals_usage *usage, uint64_t inode)
{
    for (size_t i = 0; i < usage->network_count; i++) {
        if (usage->networks[i].inode == inode)
            return &usage->networks[i];
    }
    if (memory_grow((void **)&usage->networks, &usage->network_capacity, usage->network_count,
                    sizeof(*usage->networks)) < 0) {
        usage->failed = true;
        return NULL;
    }
    struct usage_network *network = &usage->networks[usage->network_count++];
    *network = (struct usage_network){.inode = inode};
    return network;
}

/* A counter that fell belongs to an interface that went: it is begun anew. */
static void read_network(struct usage_network *network, const vitals_row *row)
{
    double now[DIRECTIONS];
    uint64_t read_ns = vitals_row_read_ns(row, DIRECTION[0].process);
    for (size_t i = 0; i < DIRECTIONS; i++) {
        if (vitals_row_number(row, DIRECTION[i].process, &now[i]) <= 0)
            return;
    }
    if (network->based && read_ns <= network->read_ns)
        return;
    for (size_t i = 0; i < DIRECTIONS; i++) {
        if (!network->based || now[i] < network->last[i]) {
            network->before[i] += network->based ? network->last[i] - network->base[i] : 0;
            network->base[i] = now[i];
        }
        network->last[i] = now[i];
    }
    network->based = true;
    network->read_ns = read_ns;
}

/* What one fold finds. */
struct usage_network_found {
    bool ours, any;
    vitals_availability missing; /* why it is not known where a process is */
    uint64_t newest_ns;
};

static void add_process(vitals_usage *usage, uint64_t ours, const vitals_row *row,
                        struct usage_network_found *found)
{
    uint64_t inode;
    vitals_availability state = vitals_row_u64(row, VITALS_PROCESS_NETWORK_NAMESPACE, &inode);
    if (state == VITALS_NOT_YET || state == VITALS_GONE)
        return;
    if (state <= 0) {
        found->missing = state;
        return;
    }
    found->any = true;
    if (inode == ours) {
        found->ours = true;
        return;
    }
    struct usage_network *network = find_network(usage, inode);
    if (network == NULL)
        return;
    network->seen = usage->fold;
    read_network(network, row);
    found->newest_ns = uint64_max(found->newest_ns, network->read_ns);
}

/* Whether somebody else is where the tree is, as far as we may look: a pod's other containers. */
static void note_others(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    uint64_t inode;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        if (usage_is_member(usage, vitals_row_key(row)) ||
            vitals_row_u64(row, VITALS_PROCESS_NETWORK_NAMESPACE, &inode) <= 0)
            continue;
        for (size_t i = 0; i < usage->network_count; i++)
            usage->network_shared |= usage->networks[i].inode == inode;
    }
}

/* Those that nobody of the tree is in any more: somebody else may go on there. */
static void settle(vitals_usage *usage)
{
    size_t kept = 0;
    for (size_t i = 0; i < usage->network_count; i++) {
        const struct usage_network *network = &usage->networks[i];
        if (network->seen == usage->fold) {
            usage->networks[kept++] = *network;
            continue;
        }
        for (size_t k = 0; k < DIRECTIONS; k++)
            usage->network_gone[k] += network->before[k] + network->last[k] - network->base[k];
    }
    usage->network_count = kept;
}

/* What the machine did since the fold before. */
static void add_machine(vitals_usage *usage, const vitals_row *host,
                        struct usage_network_found *found)
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
    bool left = usage->network_ours && !found->any; /* all have ended: this is their last */
    if (found->ours || left)
        found->newest_ns = uint64_max(found->newest_ns, read_ns);
}

static double total_of(const vitals_usage *usage, size_t direction)
{
    double total = usage->network_gone[direction];
    total += usage->network_ours ? usage->network_machine[direction] : 0;
    for (size_t i = 0; i < usage->network_count; i++) {
        const struct usage_network *network = &usage->networks[i];
        total += network->before[direction] + network->last[direction] - network->base[direction];
    }
    return total;
}

static void set_missing(vitals_usage *usage, size_t scope, vitals_availability reason)
{
    for (size_t i = 0; i < DIRECTIONS; i++)
        usage_cell_missing(usage_cell(usage, scope, DIRECTION[i].place), reason);
}

/* Of the tree alone: root and descendants share what they are in. */
static void set_tree(vitals_usage *usage, const struct usage_network_found *found)
{
    bool others = usage->network_ours || usage->network_shared;
    vitals_availability state = others ? VITALS_UPPER_BOUND : VITALS_SAMPLED;
    if (found->missing != VITALS_UNSET)
        state = state_worse(state, VITALS_LOWER_BOUND);
    for (size_t i = 0; i < DIRECTIONS; i++)
        usage_cell_counter(usage_cell(usage, SUBJECT_TREE, DIRECTION[i].place), found->newest_ns,
                           total_of(usage, i), state);
}

void usage_network(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    uint64_t ours = 0, key;
    struct usage_network_found found = {.missing = VITALS_UNSET};
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_HOST, NULL);
    vitals_availability state = host != NULL
                                    ? vitals_row_u64(host, VITALS_HOST_NETWORK_NAMESPACE, &ours)
                                    : VITALS_NOT_REQUESTED;
    set_missing(usage, SUBJECT_ROOT, VITALS_UNSUPPORTED);
    set_missing(usage, SUBJECT_DESCENDANTS, VITALS_UNSUPPORTED);
    if (state <= 0) {
        set_missing(usage, SUBJECT_TREE, state);
        return;
    }
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        key = vitals_row_key(row);
        if (usage_is_member(usage, key))
            add_process(usage, ours, row, &found);
    }
    settle(usage);
    if (usage->network_count > 0 && !usage->network_shared)
        note_others(usage, snapshot);
    add_machine(usage, host, &found);
    usage->network_ours |= found.ours;
    usage->network_own |= usage->network_count > 0;
    bool measured = !usage->network_ours || usage->network_readings > 1;
    if (measured && (found.any || usage->network_ours || usage->network_own))
        set_tree(usage, &found);
    else
        set_missing(usage, SUBJECT_TREE,
                    found.missing != VITALS_UNSET ? found.missing : VITALS_NOT_YET);
}

void usage_network_end(vitals_usage *usage)
{
    usage->fold++; /* nobody of another stream is in any of them */
    settle(usage);
    usage->network_host_known = false;
}
