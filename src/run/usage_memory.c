/* usage_memory.c: how much memory the tree held at one moment: a lower bound, and an estimate.
 * See usage_data.h. Pure.
 *
 * A page that several processes map must count once, and no file of the kernel says so of a group
 * of processes. Sizes of processes are read one after the other, up to a second apart, while pages
 * become shared (fork, shared mappings) and private again, so that neither a sum of PSS nor one of
 * private pages (USS) is a lower bound by itself: a parent that was read before a fork and its
 * child that was read after it count the same pages 1.5 times.
 *
 * Lower bound: the larger of two figures that hold without any assumption.
 *   - The largest resident size of one process (held_peak). VmHWM counts only if the process was
 *     born in the run, or has grown above the VmHWM of the first reading: else it may be older.
 *   - The sum of the PSS of processes that stood still around one moment. A process stands still
 *     from one tick to another if neither its page faults nor its resident size have changed: it
 *     maps the same pages all the while. If each of them was read within a time in which all stood
 *     still, every page that k of them map counts in k of them, each time at most 1/k.
 * Both are exact to within the kernel's own counters of resident pages, which lag by some pages
 * for each CPU.
 *
 * Estimate (memory_both_bytes): private anonymous pages of each process, what grew since they were
 * counted, and once the most that one process holds beside them. Never above the sum of resident
 * sizes. Different groups that share different pages are underestimated so; the sum of PSS knows
 * them, and is taken if it is the larger and nothing became shared after its first reading. */
#include "run/usage_data.h"

#include "core/memory.h"

#include <stdlib.h>

/* Further apart the resident size and the private pages of a process are not of one moment. */
static const uint64_t MOMENT_NS = 100 * NS_PER_MS;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

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
    if (vitals_row_number(row, VITALS_PROCESS_SHARED_BYTES, &shared) <= 0)
        shared = 0; /* all of it may be its own */
    bool still = known && !first && memory->resident == resident && memory->faults == minor + major;
    if (!still)
        memory->still_ns = known ? read_ns : UINT64_MAX;
    if (first || shared > memory->shared)
        memory->grown_shared_ns = read_ns;
    if (first)
        memory->first_ns = read_ns;
    memory->resident = resident;
    memory->faults = minor + major;
    memory->shared = shared;
    memory->anonymous = larger(0, resident - shared);
    if (first)
        memory->anonymous_then = memory->anonymous;
}

/* What was walked through since the last tick. */
static void note_walked(struct usage_process *process, const vitals_row *row)
{
    struct usage_memory *memory = &process->memory;
    double proportional = 0, unique = 0;
    uint64_t read_ns = vitals_row_read_ns(row, VITALS_PROCESS_USS_BYTES);
    memory->state = (signed char)vitals_row_number(row, VITALS_PROCESS_USS_BYTES, &unique);
    if (memory->state <= 0 || read_ns == memory->walked_ns)
        return;
    if (vitals_row_number(row, VITALS_PROCESS_PSS_BYTES, &proportional) <= 0)
        proportional = unique; /* which is less */
    memory->walked_ns = read_ns;
    memory->proportional = proportional;
    memory->unique = unique;
    memory->anonymous_then = memory->anonymous;
}

/* ---- the lower bound ---- */

struct edge {
    uint64_t ns;
    double change;
};

/* Beginnings before ends. */
static int compare_edges(const void *a, const void *b)
{
    const struct edge *first = a, *second = b;
    if (first->ns != second->ns)
        return first->ns < second->ns ? -1 : 1;
    return (first->change < second->change) - (first->change > second->change);
}

/* A child between vfork and exec has its parent's memory, and smaps counts it in both. */
static bool borrows(const vitals_usage *usage, const struct usage_process *process)
{
    const struct usage_process *parent = usage_parent(usage, process);
    return parent != NULL && parent->memory.resident == process->memory.resident;
}

/* Each process that has stood still since before its PSS was read is good for any moment between
 * the two: the largest sum over those that are good for the same moment. What this tick reads has
 * shown that they stood still; what it has walked through itself is for the next. */
static void bound(vitals_usage *usage)
{
    size_t count = 0;
    double sum = 0;
    struct edge *edges = usage->living > 1 ? memory_array(usage->living * 2, sizeof(*edges)) : NULL;
    for (size_t i = 0; edges != NULL && i < usage->entry_count; i++) {
        const struct usage_process *process = usage->entries[i];
        const struct usage_memory *memory = &process->memory;
        bool good = process->member && process->seen == usage->fold && memory->walked_ns != 0 &&
                    memory->still_ns <= memory->walked_ns && !borrows(usage, process);
        if (!good || count + 2 > usage->living * 2)
            continue;
        edges[count++] = (struct edge){memory->still_ns, memory->proportional};
        edges[count++] = (struct edge){memory->walked_ns, -memory->proportional};
    }
    if (count > 2)
        qsort(edges, count, sizeof(*edges), compare_edges);
    for (size_t i = 0; i < count; i++) {
        sum += edges[i].change;
        usage->together = larger(usage->together, sum);
    }
    memory_free(edges);
}

/* ---- the estimate ---- */

/* Pages that were private until a child was born, which has them too. */
static void note_forks(const vitals_usage *usage)
{
    for (size_t i = 0; i < usage->entry_count; i++)
        usage->entries[i]->memory.forked = 0;
    for (size_t i = 0; i < usage->entry_count; i++) {
        const struct usage_process *process = usage->entries[i];
        const struct usage_memory *memory = &process->memory;
        struct usage_process *parent = usage_parent(usage, process);
        double own = memory->walked_ns != 0 ? memory->unique : 0;
        if (process->seen == usage->fold && parent != NULL &&
            memory->first_ns > parent->memory.walked_ns)
            parent->memory.forked = larger(parent->memory.forked, memory->resident - own);
    }
}

/* Where it may not be counted, all that is anonymous. Where it was not counted yet, what it has
 * come to since it was seen first: before, it had its parent's. */
static double own_pages(const struct usage_memory *memory)
{
    double grown = larger(0, memory->anonymous - memory->anonymous_then);
    if (memory->walked_ns != 0)
        return larger(0, smaller(memory->unique, memory->anonymous) + grown - memory->forked);
    bool denied = memory->state < 0 && memory->state != VITALS_NOT_YET &&
                  memory->state != VITALS_TIMED_OUT;
    return denied ? memory->anonymous : grown;
}

struct estimate {
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
    sum->beside = larger(sum->beside, memory->resident - own);
    sum->resident += memory->resident;
    sum->proportional += memory->proportional;
    sum->walked_ns = sum->known == 0 || memory->walked_ns < sum->walked_ns ? memory->walked_ns
                                                                           : sum->walked_ns;
    sum->shared_ns = uint64_max(sum->shared_ns,
                                uint64_max(memory->first_ns, memory->grown_shared_ns));
    sum->state = sum->known == 0 ? state : VITALS_ESTIMATE;
    sum->known++;
}

static void set_both(vitals_usage *usage, size_t scope, const struct estimate *sum, uint64_t now_ns)
{
    struct usage_cell *cell = usage_cell(usage, scope, MEASURE_AT_memory_both_bytes);
    double both = sum->own + sum->beside;
    if (sum->known == 0) {
        cell_missing(cell, sum->reason != 0 ? sum->reason : VITALS_GONE);
        return;
    }
    if (sum->walked_ns >= sum->shared_ns)
        both = larger(both, sum->proportional);
    cell_gauge(cell, now_ns, smaller(both, sum->resident), sum->state);
}

/* Where no process tells its private pages nothing is estimated; where some do, the others count
 * with what is known of them. */
static void estimate(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    struct estimate sums[SUBJECT_SYSTEM] = {0};
    uint64_t now_ns = vitals_snapshot_monotonic_ns(snapshot);
    bool any = false;
    for (size_t i = 0; i < usage->entry_count; i++)
        any |= usage->entries[i]->member && usage->entries[i]->memory.state > 0;
    note_forks(usage);
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        const struct usage_process *process = usage_member(usage, row);
        double resident;
        if (process == NULL)
            continue;
        vitals_availability state = vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES,
                                                      &resident);
        if (state == VITALS_GONE || process->memory.state == VITALS_GONE)
            continue; /* it holds nothing */
        state = state <= 0 ? state : any ? state : (vitals_availability)process->memory.state;
        add_estimate(&sums[SUBJECT_TREE], process, state, row);
        add_estimate(&sums[process->root ? SUBJECT_ROOT : SUBJECT_DESCENDANTS], process, state,
                     row);
    }
    for (size_t scope = 0; scope < ARRAY_COUNT(sums); scope++)
        set_both(usage, scope, &sums[scope], now_ns);
}

/* Pages that several map. Of one process that is what is resident and not its own. Of several
 * nothing tells which share with which: about the most that one of them shares. */
static void set_shared(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    struct usage_sum shared[SUBJECT_SYSTEM] = {0};
    double largest[SUBJECT_SYSTEM] = {0};
    uint64_t newest_ns = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        const struct usage_process *process = usage_member(usage, row);
        double resident = 0, unique = 0;
        if (process == NULL)
            continue;
        vitals_availability state = vitals_row_number(row, VITALS_PROCESS_USS_BYTES, &unique);
        vitals_availability whole = vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES,
                                                      &resident);
        uint64_t unique_ns = vitals_row_read_ns(row, VITALS_PROCESS_USS_BYTES);
        uint64_t resident_ns = vitals_row_read_ns(row, VITALS_PROCESS_RESIDENT_BYTES);
        state = state > 0 && whole > 0 ? state_worse(state, whole) : state <= 0 ? state : whole;
        if (state > 0 && resident_ns > saturating_add(unique_ns, MOMENT_NS))
            state = VITALS_ESTIMATE;
        newest_ns = uint64_max(newest_ns, unique_ns);
        double part = larger(0, resident - unique);
        usage_add_reading(shared, process->root, state, part);
        size_t scope = process->root ? SUBJECT_ROOT : SUBJECT_DESCENDANTS;
        if (state > 0) {
            largest[SUBJECT_TREE] = larger(largest[SUBJECT_TREE], part);
            largest[scope] = larger(largest[scope], part);
        }
    }
    for (size_t scope = 0; scope < ARRAY_COUNT(shared); scope++) {
        shared[scope].total = largest[scope];
        if (shared[scope].known > 1)
            shared[scope].state = VITALS_ESTIMATE;
        usage_set_gauge(usage, newest_ns, MEASURE_AT_memory_shared_bytes, scope, &shared[scope]);
    }
}

void usage_memory(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        struct usage_process *process = usage_member(usage, row);
        if (process != NULL)
            note_resident(process, row);
    }
    bound(usage);
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;) {
        struct usage_process *process = usage_member(usage, row);
        if (process != NULL)
            note_walked(process, row);
    }
    estimate(usage, snapshot);
    set_shared(usage, snapshot);
}
