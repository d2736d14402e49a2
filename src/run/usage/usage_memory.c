/* usage_memory.c: how much memory the tree held at one moment: a lower bound, and an estimate.
 * See usage_data.h. Pure, but for one question to the kernel: which processes share a memory map.
 *
 * A page that several processes map must count once, and no file of the kernel says so of a group
 * of processes. Sizes of processes are read one after the other, up to a second apart, while pages
 * become shared (fork, shared mappings) and private again, so that neither a sum of PSS nor one of
 * private pages (USS) is a lower bound by itself: a parent that was read before a fork and its
 * child that was read after it count the same pages 1.5 times.
 *
 * Lower bound: the larger of two figures.
 *   - The largest resident size of one process (held_peak). VmHWM counts only if the process was
 *     born in the run, or has grown above the VmHWM of the first reading: else it may be older.
 *   - The sum of the PSS of processes that stood still around one moment. A process stands still
 *     from one tick to another if neither its page faults nor its resident size have changed: it
 *     maps the same pages all the while. If each of them was read within a time in which all stood
 *     still, every page that k of them map counts in k of them, each time at most 1/k.
 * PSS divides by memory maps. Processes that share one map (a child of vfork before its exec,
 * clone(CLONE_VM)) have all of it in each PSS, so that one of them alone counts: see "shared maps".
 * Both figures are exact to within the kernel's own counters of resident pages, which lag by some
 * pages for each CPU. Page faults are counted for each process: what another that shares the map
 * gives back and faults in again between two ticks goes unseen if the resident size comes out the
 * same, and the second figure then takes the process to have stood still.
 *
 * Estimate (memory_both_bytes): private anonymous pages of each process, what grew since they were
 * counted, and once the most that one process holds beside them. Never above the sum of resident
 * sizes. Different groups that share different pages are underestimated so; the sum of PSS knows
 * them, and is taken if it is the larger and nothing became shared after its first reading. Of
 * processes that are known to share a map one counts. */
#include "run/usage/usage_data.h"

#include "os/os.h"
#include "util/buffer.h"
#include "util/memory.h"

#include <errno.h>
#include <stdlib.h>

/* Further apart the resident size and the private pages of a process are not of one moment. */
static const uint64_t MOMENT_NS = 100 * NS_PER_MS;

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* ---- what is read of one process ---- */

/* The newest resident size, and since when the process maps the same pages. */
static void note_resident(struct usage_process *process, const vitals_row *row)
{
    struct usage_memory *memory = &process->memory;
    double resident = 0, shared = 0, minor = 0, major = 0;
    uint64_t read_ns = vitals_row_read_ns(row, VITALS_PROCESS_RESIDENT_BYTES);
    bool first = memory->first_ns == 0;
    bool known = vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES, &resident) > 0 &&
                 vitals_row_number(row, VITALS_PROCESS_MINOR_FAULTS, &minor) > 0 &&
                 vitals_row_number(row, VITALS_PROCESS_MAJOR_FAULTS, &major) > 0;
    /* Resident pages may be read where shared ones are not: nothing is known of those that came. */
    bool split = vitals_row_number(row, VITALS_PROCESS_SHARED_BYTES, &shared) > 0;
    if (!split)
        shared = memory->shared;
    bool still = known && !first && memory->resident == resident && memory->faults == minor + major;
    if (!still)
        memory->still_ns = known ? read_ns : UINT64_MAX;
    if (first || shared > memory->shared)
        memory->grown_shared_ns = read_ns;
    if (first)
        memory->first_ns = read_ns;
    memory->before = memory->resident;
    memory->before_ns = memory->resident_ns;
    memory->resident = resident;
    memory->resident_ns = resident > 0 ? read_ns : 0;
    memory->faults = minor + major;
    memory->shared = shared;
    memory->shared_ns = split ? read_ns : memory->shared_ns;
    if (vitals_row_number(row, VITALS_PROCESS_RESIDENT_SHMEM_BYTES, &memory->shared_memory) > 0)
        memory->shared_memory_ns = vitals_row_read_ns(row, VITALS_PROCESS_RESIDENT_SHMEM_BYTES);
    if (split || !memory->split)
        memory->anonymous = f64_max(0, resident - shared);
    if (first || !memory->split)
        memory->anonymous_then = memory->anonymous;
    memory->split |= split;
}

/* Pages that it shares are what is resident and not its own. They are exact if the process stood
 * still from before the walk until after it. Else the smaller of the sizes around the walk counts:
 * no more than was shared, if the process grew or shrank all the while. */
static void note_common(struct usage_memory *memory)
{
    bool after = memory->resident_ns > memory->walked_ns, both = after && memory->before_ns != 0;
    double resident = both ? smaller(memory->resident, memory->before) : memory->resident;
    bool still = both && memory->still_ns <= memory->walked_ns;
    memory->common = f64_max(0, resident - memory->unique);
    memory->common_state = memory->resident_ns == 0 ? VITALS_NOT_YET
                           : still                  ? VITALS_HAVE
                                                    : VITALS_ESTIMATE;
}

/* The processes that were walked through since the last tick. */
static void note_walked(const vitals_usage *usage, struct usage_process *process,
                        const vitals_row *row)
{
    struct usage_memory *memory = &process->memory;
    double proportional = 0, unique = 0, anonymous, shared;
    uint64_t read_ns = vitals_row_read_ns(row, VITALS_PROCESS_USS_BYTES);
    memory->state = (signed char)vitals_row_number(row, VITALS_PROCESS_USS_BYTES, &unique);
    if (memory->state <= 0 || read_ns == memory->walked_ns)
        return;
    if (vitals_row_number(row, VITALS_PROCESS_PSS_BYTES, &proportional) <= 0)
        proportional = unique; /* which is less */
    memory->walked_ns = read_ns;
    memory->proportional = proportional;
    memory->unique = unique;
    bool known = vitals_row_number(row, VITALS_PROCESS_PSS_ANON_BYTES, &anonymous) > 0 &&
                 vitals_row_read_ns(row, VITALS_PROCESS_PSS_ANON_BYTES) == read_ns;
    if (!usage->shared_is_held ||
        vitals_row_number(row, VITALS_PROCESS_PSS_SHMEM_BYTES, &shared) <= 0 ||
        vitals_row_read_ns(row, VITALS_PROCESS_PSS_SHMEM_BYTES) != read_ns)
        shared = 0;
    memory->firm = known ? anonymous + shared : -1;
    memory->anonymous_then = memory->anonymous;
    note_common(memory);
}

/* ---- shared maps ---- */

/* The kernel puts memory maps in an order (kcmp), and says that two are the same. Processes come to
 * share a map by a birth alone, and no longer do after an exec, which faults pages in: two that had
 * different maps once have so ever after, and two that stand still have what they had between. So
 * all are put in order when one is new, or while some share. */
struct usage_memory_place {
    const struct os *os;
    bool *failed; /* one has ended meanwhile: there is no order */
    int64_t pid;
    struct usage_process *process;
};

static int compare_maps(const struct usage_memory_place *a, const struct usage_memory_place *b)
{
    int order = os_compare_maps(a->os, a->pid, b->pid);
    *a->failed |= order < 0;
    return order == 1 ? -1 : order == 2;
}

/* Among processes that share a map a root comes first, then the one that was seen first. */
static int compare_places(const void *a, const void *b)
{
    const struct usage_memory_place *first = a, *second = b;
    const struct usage_process *left = first->process, *right = second->process;
    int order = first->pid != second->pid ? compare_maps(first, second) : 0;
    if (order != 0)
        return order;
    if (left->root != right->root)
        return left->root ? -1 : 1;
    if (left->memory.first_ns != right->memory.first_ns)
        return left->memory.first_ns < right->memory.first_ns ? -1 : 1;
    return (first->pid > second->pid) - (first->pid < second->pid);
}

/* Whether it has no memory any more, as one that has ended since its row was read: its map compares
 * as that of no other, though it was theirs. */
static bool has_no_memory(const struct os *os, int64_t pid)
{
    struct buffer text = {.bytes = NULL};
    struct os_statm statm;
    uint64_t bytes;
    bool cut;
    int result = os_process_file(os, pid, "statm", 256, &text, &cut);
    bool none = result == -ESRCH || result == -ENOENT ||
                (result == 0 && text.size != 0 && text.bytes[0] == '0');
    buffer_done(&text);
    return none && os_process_memory(os, pid, &bytes, &statm) < 0;
}

/* Puts those about which the kernel answers in order, and says which share a map; those that have
 * ended by then count no more. False if one ended meanwhile. */
static bool order_maps(vitals_usage *usage, const vitals_snapshot *snapshot,
                       struct usage_memory_place *places)
{
    bool failed = false;
    size_t count = 0;
    struct usage_process *process;
    const vitals_row *row = NULL;
    while ((process = usage_next_member(usage, snapshot, &row)) != NULL) {
        uint64_t pid;
        if (count >= usage->living || vitals_row_u64(row, VITALS_PROCESS_PID, &pid) <= 0)
            continue;
        process->memory.compared = true;
        int order = os_compare_maps(usage->os, (int64_t)pid, (int64_t)pid);
        process->memory.ended = order == -ESRCH;
        if (order == 0)
            places[count++] = (struct usage_memory_place){usage->os, &failed, (int64_t)pid,
                                                          process};
    }
    if (count > 1)
        qsort(places, count, sizeof(*places), compare_places);
    for (size_t i = 0; i < count; i++) {
        struct usage_memory *memory = &places[i].process->memory;
        memory->twin = i > 0 && compare_maps(&places[i - 1], &places[i]) == 0;
        memory->map_known = true;
    }
    for (size_t i = 0; i < count; i++) {
        struct usage_memory *memory = &places[i].process->memory;
        memory->ended = has_no_memory(usage->os, places[i].pid);
        if (failed)
            memory->twin = memory->map_known = memory->compared = false;
    }
    return !failed;
}

static void find_twins(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    enum { TRIES = 3 };
    /* Whether one is new, or may no longer share. */
    bool due = false;
    for (size_t i = 0; i < usage->processes.count; i++) {
        struct usage_process *process = usage->processes.items[i];
        process->memory.ended = false;
        due |= process->member && process->seen == usage->pass &&
               (!process->memory.compared || process->memory.twin);
    }
    struct usage_memory_place *places = usage->os != NULL && due
                                            ? memory_array(usage->living, sizeof(*places))
                                            : NULL;
    for (int i = 0; places != NULL && i < TRIES && !order_maps(usage, snapshot, places); i++)
        continue;
    memory_free(places);
}

/* ---- the lower bound ---- */

struct edge {
    uint64_t ns;
    double change, firm; /* firm: less pages of files */
};

/* Beginnings before ends. */
static int compare_edges(const void *a, const void *b)
{
    const struct edge *first = a, *second = b;
    if (first->ns != second->ns)
        return first->ns < second->ns ? -1 : 1;
    return (first->change < second->change) - (first->change > second->change);
}

/* By resident size; those whose map is known to be their own first. */
static int compare_sizes(const void *a, const void *b)
{
    const struct usage_memory *first = &(*(const struct usage_process *const *)a)->memory;
    const struct usage_memory *second = &(*(const struct usage_process *const *)b)->memory;
    if (first->resident != second->resident)
        return first->resident < second->resident ? -1 : 1;
    return second->map_known - first->map_known;
}

/* Its part of pages that are of no file. Before Linux 5.3: PSS less all its pages of files, of
 * which PSS has only a part. */
static double firm_part(const vitals_usage *usage, const struct usage_memory *memory)
{
    if (memory->firm >= 0)
        return memory->firm;
    if (memory->shared_ns < memory->still_ns)
        return 0;
    bool known = usage->shared_is_held && memory->shared_memory_ns >= memory->still_ns;
    double files = memory->shared - (known ? memory->shared_memory : 0);
    return f64_max(0, memory->proportional - f64_max(0, files));
}

/* The most PSS at one moment of processes that stood still around it. The readings of this tick
 * show that they stood still; PSS that it read itself is for the next one. */
static void bound(vitals_usage *usage)
{
    double sum = 0, firm = 0;
    bool several = usage->living > 1;
    size_t count = 0, kept = 0;
    struct edge *edges = several ? memory_array(usage->living * 2, sizeof(*edges)) : NULL;
    const struct usage_process **still = several ? memory_array(usage->living, sizeof(*still))
                                                 : NULL;
    bool room = edges != NULL && still != NULL;
    for (size_t i = 0; room && i < usage->processes.count && count < usage->living; i++) {
        const struct usage_process *process = usage->processes.items[i];
        const struct usage_memory *memory = &process->memory;
        if (process->member && process->seen == usage->pass && memory->walked_ns != 0 &&
            memory->still_ns <= memory->walked_ns && !memory->twin)
            still[count++] = process;
    }
    if (count > 1)
        qsort(still, count, sizeof(*still), compare_sizes);

    /* Each is good for any moment between the beginning of its standing still and the reading of
     * its PSS. Among processes that may share a map one counts: if the kernel does not tell,
     * processes of one resident size may. */
    for (size_t i = 0; i < count; i++) {
        const struct usage_memory *memory = &still[i]->memory;
        if (kept > 0 && !memory->map_known && still[kept - 1]->memory.resident == memory->resident)
            continue;
        double part = firm_part(usage, memory);
        edges[2 * kept] = (struct edge){memory->still_ns, memory->proportional, part};
        edges[2 * kept + 1] = (struct edge){memory->walked_ns, -memory->proportional, -part};
        still[kept++] = still[i];
    }
    if (kept > 1)
        qsort(edges, 2 * kept, sizeof(*edges), compare_edges);
    for (size_t i = 0; i < 2 * kept; i++) {
        sum += edges[i].change;
        firm += edges[i].firm;
        usage->together = f64_max(usage->together, sum);
        usage->firm_together = f64_max(usage->firm_together, firm);
    }
    memory_free(edges);
    memory_free(still);
}

double usage_memory_held(const vitals_usage *usage)
{
    double most = f64_max(usage->held_gone, usage->together);
    for (size_t i = 0; i < usage->processes.count; i++) {
        const struct usage_process *process = usage->processes.items[i];
        if (process->member)
            most = f64_max(most, process->held_peak);
    }
    return most;
}

double usage_memory_firm(const vitals_usage *usage)
{
    double most = f64_max(usage->firm_gone, usage->firm_together);
    for (size_t i = 0; i < usage->processes.count; i++) {
        const struct usage_process *process = usage->processes.items[i];
        if (process->member)
            most = f64_max(most, process->firm_peak);
    }
    return most;
}

/* ---- the estimate ---- */

/* Where it may not be counted, all that is anonymous. Where it was not counted yet, what it has
 * come to since it was seen first: before, it had its parent's. */
static double own_pages(const struct usage_memory *memory)
{
    double grown = f64_max(0, memory->anonymous - memory->anonymous_then);
    if (memory->walked_ns != 0)
        return f64_max(0, smaller(memory->unique, memory->anonymous) + grown - memory->forked);
    bool denied = memory->state < 0 && memory->state != VITALS_NOT_YET &&
                  memory->state != VITALS_TIMED_OUT;
    return denied ? memory->anonymous : grown;
}

struct estimate {
    struct usage_sum shared; /* of its total the largest part: `common` */
    double common;
    double own, beside, resident, proportional;
    uint64_t walked_ns, shared_ns; /* the oldest walk; when something became shared last */
    size_t known;
    vitals_availability state, reason;
};

static void add_estimate(struct estimate *sum, const struct usage_process *process,
                         vitals_availability state, const vitals_row *row)
{
    const struct usage_memory *memory = &process->memory;
    if (state <= 0) {
        sum->reason = state;
        return;
    }
    double own = smaller(own_pages(memory), memory->resident);
    uint64_t resident_ns = vitals_row_read_ns(row, VITALS_PROCESS_RESIDENT_BYTES);
    if (resident_ns > saturating_add(memory->walked_ns, MOMENT_NS))
        state = VITALS_ESTIMATE;
    sum->own += own;
    sum->beside = f64_max(sum->beside, memory->resident - own);
    sum->resident += memory->resident;
    sum->proportional += memory->proportional;
    if (sum->known == 0 || memory->walked_ns < sum->walked_ns)
        sum->walked_ns = memory->walked_ns;
    sum->shared_ns = uint64_max(sum->shared_ns,
                                uint64_max(memory->first_ns, memory->grown_shared_ns));
    sum->state = sum->known == 0 ? state : VITALS_ESTIMATE;
    sum->known++;
}

/* Pages that several map. Of several processes nothing tells which share with which: about the most
 * that one of them shares. */
static void add_shared(struct estimate *sum, const struct usage_memory *memory)
{
    vitals_availability state = (vitals_availability)memory->state;
    if (state > 0)
        state = state_worse(state, (vitals_availability)memory->common_state);
    sum_add(&sum->shared, state, memory->common);
    if (state > 0)
        sum->common = f64_max(sum->common, memory->common);
}

/* Where no process tells its private pages nothing is estimated; where some do, the others count
 * with what is known of them. */
static void estimate(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    struct estimate sums[SUBJECT_SYSTEM] = {0};
    uint64_t newest_ns = 0;
    bool any = false;
    for (size_t i = 0; i < usage->processes.count; i++) {
        struct usage_process *process = usage->processes.items[i];
        any |= process->member && process->memory.state > 0;
        process->memory.forked = 0;
    }

    /* Pages that were private until a child was born, which has them too. */
    for (size_t i = 0; i < usage->processes.count; i++) {
        const struct usage_process *process = usage->processes.items[i];
        const struct usage_memory *memory = &process->memory;
        struct usage_process *parent = usage_parent(usage, process);
        double own = memory->walked_ns != 0 ? memory->unique : 0;
        if (process->seen == usage->pass && parent != NULL && !memory->twin &&
            memory->first_ns > parent->memory.walked_ns)
            parent->memory.forked = f64_max(parent->memory.forked, memory->resident - own);
    }

    const struct usage_process *process;
    const vitals_row *row = NULL;
    while ((process = usage_next_member(usage, snapshot, &row)) != NULL) {
        double resident;
        vitals_availability state = vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES,
                                                      &resident);
        const struct usage_memory *memory = &process->memory;
        struct estimate *part = &sums[process->root ? SUBJECT_ROOT : SUBJECT_DESCENDANTS];
        if (memory->twin || memory->ended)
            continue; /* its pages are another's, or gone */
        newest_ns = uint64_max(newest_ns, memory->walked_ns);
        add_shared(&sums[SUBJECT_TREE], memory);
        add_shared(part, memory);
        if (state == VITALS_GONE || memory->state == VITALS_GONE)
            continue; /* what is gone holds nothing */
        state = state <= 0 || any ? state : (vitals_availability)process->memory.state;
        add_estimate(&sums[SUBJECT_TREE], process, state, row);
        add_estimate(part, process, state, row);
    }

    for (size_t scope = 0; scope < ARRAY_COUNT(sums); scope++) {
        struct estimate *sum = &sums[scope];
        sum->shared.total = sum->common;
        if (sum->shared.known > 1)
            sum->shared.state = VITALS_ESTIMATE;
        usage_set_gauge(usage, newest_ns, MEASURE_AT_memory_shared_bytes, scope, &sum->shared);
        double both = sum->own + sum->beside;
        if (sum->walked_ns >= sum->shared_ns)
            both = f64_max(both, sum->proportional);
        vitals_availability missing = sum->reason != 0 ? sum->reason : VITALS_GONE;
        usage_cell_gauge(usage_cell(usage, scope, MEASURE_AT_memory_both_bytes),
                         vitals_snapshot_monotonic_ns(snapshot), smaller(both, sum->resident),
                         sum->known > 0 ? sum->state : missing);
    }
}

void usage_memory(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    struct usage_process *process;
    const vitals_row *row = NULL;
    while ((process = usage_next_member(usage, snapshot, &row)) != NULL)
        note_resident(process, row);
    bound(usage);
    while ((process = usage_next_member(usage, snapshot, &row)) != NULL)
        note_walked(usage, process, row);
    find_twins(usage, snapshot);
    estimate(usage, snapshot);
}
