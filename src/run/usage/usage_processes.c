/* usage_processes.c: the usage of the processes of the tree, and of those that no snapshot saw.
 *
 * A process counts by its own clock from its birth. What it did after its last reading, and
 * children that lived between two snapshots, stand in the counter of the process that waited for
 * them. So of each process there are three sums: its own, what the kernel counted of children that
 * it waited for, and what we saw of its children that are gone. The last two tell of the same
 * processes: the larger holds, never both, and none twice, in whichever order the counters were
 * read. A child that is gone takes with it all that it stood for. One whose parent ignores SIGCHLD
 * is in no process's counter: then ours is the larger by more than the kernel's rounding, and is
 * passed on to no ancestor's.
 *
 * /proc/PID/io is one sum of a process and of all that it waited for: what it grew by beyond the
 * children that were seen is its own or theirs, which is not known; the same rule holds. */
#include "run/usage/usage_data.h"

#include "util/memory.h"

/* The kernel tells user and system time of children in steps of 10 ms, each cut. */
static const double ROUNDING_SECONDS = 0.03;

/* A share of a CPU over less is noise of those steps: ten steps, less the tenth by which a snapshot
 * may come early, as in vitals_row_rate. */
static const uint64_t CORES_WINDOW_NS = 90 * NS_PER_MS;

enum usage_process_kind { KIND_PLAIN, KIND_CHILDREN, KIND_ABSORBS };

/* The metric of each flow, in the order of the flows. */
static const struct {
    enum measure_place place;
    enum usage_process_kind kind;
    vitals_metric own;
} FLOWS[FLOW_COUNT] = {
    {MEASURE_AT_cpu_seconds, KIND_CHILDREN, VITALS_PROCESS_CPU_SECONDS},
    {MEASURE_AT_cpu_user_seconds, KIND_CHILDREN, VITALS_PROCESS_CPU_USER_SECONDS},
    {MEASURE_AT_cpu_system_seconds, KIND_CHILDREN, VITALS_PROCESS_CPU_SYSTEM_SECONDS},
    {MEASURE_AT_disk_read_bytes, KIND_ABSORBS, VITALS_PROCESS_READ_BYTES},
    {MEASURE_AT_disk_written_bytes, KIND_ABSORBS, VITALS_PROCESS_WRITTEN_BYTES},
    {MEASURE_AT_call_read_bytes, KIND_ABSORBS, VITALS_PROCESS_CALL_READ_BYTES},
    {MEASURE_AT_call_written_bytes, KIND_ABSORBS, VITALS_PROCESS_CALL_WRITTEN_BYTES},
    {MEASURE_AT_minor_faults, KIND_PLAIN, VITALS_PROCESS_MINOR_FAULTS},
    {MEASURE_AT_major_faults, KIND_PLAIN, VITALS_PROCESS_MAJOR_FAULTS},
    {MEASURE_AT_voluntary_switches, KIND_PLAIN, VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES},
    {MEASURE_AT_involuntary_switches, KIND_PLAIN, VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES},
    {MEASURE_AT_run_delay_seconds, KIND_PLAIN, VITALS_PROCESS_RUN_DELAY_SECONDS},
    {MEASURE_AT_block_delay_seconds, KIND_PLAIN, VITALS_PROCESS_BLOCK_DELAY_SECONDS},
};

/* The values that are summed over living processes. */
static const struct {
    enum measure_place place;
    vitals_metric metric;
} GAUGES[] = {
    {MEASURE_AT_memory_resident_bytes, VITALS_PROCESS_RESIDENT_BYTES},
    {MEASURE_AT_memory_virtual_bytes, VITALS_PROCESS_VIRTUAL_BYTES},
    {MEASURE_AT_memory_pss_bytes, VITALS_PROCESS_PSS_BYTES},
    {MEASURE_AT_memory_private_bytes, VITALS_PROCESS_USS_BYTES},
    {MEASURE_AT_memory_swapped_bytes, VITALS_PROCESS_SWAPPED_BYTES},
    {MEASURE_AT_threads, VITALS_PROCESS_THREADS},
    {MEASURE_AT_descriptors, VITALS_PROCESS_DESCRIPTORS},
};

/* ---- one counter ---- */

/* Whether it does not wait for its children: the kernel counted less of them than we saw. Only
 * a reading after their end tells: a parent that ends with them may have waited for them. */
static bool ignores_children(const struct usage_process *process)
{
    const struct usage_counter *cpu = &process->counters[FLOW_CPU];
    return cpu->children_base + process->gone_before > cpu->children + ROUNDING_SECONDS;
}

/* All that the process stands for, its children that are gone included. */
static double life(const struct usage_process *process, enum usage_flow flow)
{
    const struct usage_counter *counter = &process->counters[flow];
    if (FLOWS[flow].kind == KIND_CHILDREN)
        return counter->own + f64_max(counter->children, counter->children_base + counter->gone);
    if (FLOWS[flow].kind == KIND_PLAIN)
        return counter->own;
    return ignores_children(process) ? counter->own + counter->gone
                                     : f64_max(counter->own, counter->own_base + counter->gone);
}

static double base_of(const struct usage_counter *counter)
{
    return counter->own_base + counter->children_base + counter->gone_base;
}

/* Its own usage alone. The children's part of its reads and writes is not known, so these are upper
 * bounds. */
static double used_itself(const struct usage_process *process, enum usage_flow flow)
{
    const struct usage_counter *counter = &process->counters[flow];
    double own = counter->own - counter->own_base;
    if (FLOWS[flow].kind == KIND_ABSORBS && !ignores_children(process))
        own -= counter->gone - counter->gone_base;
    return f64_max(0, own);
}

/* ---- reading ---- */

/* Pages that the kernel cannot drop, as those of a mapped file: what statm tells at each tick, and
 * what is of shared memory in status, which is read more seldom. */
static void read_firm(const vitals_usage *usage, struct usage_process *process,
                      const vitals_row *row)
{
    double resident, files, anonymous, shared = 0;
    if (vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES, &resident) > 0 &&
        vitals_row_number(row, VITALS_PROCESS_SHARED_BYTES, &files) > 0)
        process->firm_peak = f64_max(process->firm_peak, resident - files);
    if (vitals_row_number(row, VITALS_PROCESS_RESIDENT_ANON_BYTES, &anonymous) <= 0)
        return;
    process->anonymous_peak = f64_max(process->anonymous_peak, anonymous);
    bool both = usage->shared_is_held &&
                vitals_row_number(row, VITALS_PROCESS_RESIDENT_SHMEM_BYTES, &shared) > 0 &&
                vitals_row_read_ns(row, VITALS_PROCESS_RESIDENT_SHMEM_BYTES) ==
                    vitals_row_read_ns(row, VITALS_PROCESS_RESIDENT_ANON_BYTES);
    process->firm_peak = f64_max(process->firm_peak, anonymous + (both ? shared : 0));
}

static void read_process(const vitals_usage *usage, struct usage_process *process,
                         const vitals_row *row)
{
    double user = 0, system = 0, own, peak, resident;
    bool user_known = vitals_row_number(row, VITALS_PROCESS_CHILDREN_USER_SECONDS, &user) > 0;
    bool system_known = vitals_row_number(row, VITALS_PROCESS_CHILDREN_SYSTEM_SECONDS, &system) > 0;
    for (enum usage_flow flow = 0; flow < FLOW_COUNT; flow++) {
        struct usage_counter *counter = &process->counters[flow];
        vitals_availability state = vitals_row_number(row, FLOWS[flow].own, &own);
        bool first = counter->state <= 0;
        if (state <= 0) {
            counter->state = first ? (signed char)state : counter->state;
            continue;
        }
        /* A counter that runs backwards is a reading between two others. */
        counter->own = first ? own : f64_max(counter->own, own);
        counter->read_ns = vitals_row_read_ns(row, FLOWS[flow].own);
        if (!first)
            state = state_worse((vitals_availability)counter->state, state);
        counter->state = (signed char)state;
        if (flow == FLOW_CPU && user_known && system_known)
            counter->children = f64_max(counter->children, user + system);
        else if (flow == FLOW_USER && user_known)
            counter->children = f64_max(counter->children, user);
        else if (flow == FLOW_SYSTEM && system_known)
            counter->children = f64_max(counter->children, system);
        if (first && !process->born) {
            counter->own_base = counter->own;
            counter->children_base = counter->children;
        }
    }
    process->gone_before = process->counters[FLOW_CPU].gone;

    /* The peak is read more seldom than what is resident now, which is a peak too. */
    if (vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES, &resident) > 0) {
        process->resident_peak = f64_max(process->resident_peak, resident);
        process->held_peak = f64_max(process->held_peak, resident);
    }
    read_firm(usage, process, row);
    if (vitals_row_number(row, VITALS_PROCESS_RESIDENT_PEAK_BYTES, &peak) <= 0)
        return;
    if (process->peak_first == 0)
        process->peak_first = peak;
    if (process->born || peak > process->peak_first)
        process->held_peak = f64_max(process->held_peak, peak);
    process->resident_peak = f64_max(process->resident_peak, peak);
}

/* ---- the gone ---- */

static void settle(vitals_usage *usage, struct usage_process *process)
{
    struct usage_process *parent = usage_parent(usage, process);
    for (enum usage_flow flow = 0; flow < FLOW_COUNT; flow++) {
        const struct usage_counter *counter = &process->counters[flow];
        double base = base_of(counter), whole = life(process, flow), passed = whole;
        if (counter->state <= 0) {
            usage->flow_cut[flow] = true;
            usage->finals[flow] += f64_max(0, counter->gone - counter->gone_base);
            continue;
        }
        usage->flow_gone[flow] = (signed char)state_worse(
            (vitals_availability)usage->flow_gone[flow], (vitals_availability)counter->state);
        if (process->root)
            usage->root_finals[flow] += used_itself(process, flow);
        if (parent == NULL || FLOWS[flow].kind == KIND_PLAIN) {
            usage->finals[flow] += f64_max(0, whole - base);
            continue;
        }
        if (ignores_children(process))
            passed = counter->own + (FLOWS[flow].kind == KIND_CHILDREN ? counter->children : 0);
        usage->finals[flow] += whole - passed;
        parent->counters[flow].gone += passed;
        parent->counters[flow].gone_base += base;
    }
    if (parent != NULL && parent->gone_children > 0)
        parent->gone_children--;
    usage->peaks_gone += process->resident_peak;
    usage->held_gone = f64_max(usage->held_gone, process->held_peak);
    usage->firm_gone = f64_max(usage->firm_gone, process->firm_peak);
    usage->anonymous_gone = f64_max(usage->anonymous_gone, process->anonymous_peak);
}

/* Settles those that are gone, children before their parents, so that what a whole family did is
 * handed up; a ring of parents, which no kernel makes, is cut anywhere. */
static void settle_gone(vitals_usage *usage)
{
    size_t left = 0, settled = 1;
    for (size_t i = 0; i < usage->processes.count; i++) {
        struct usage_process *process = usage->processes.items[i], *parent;
        if (process->seen == usage->pass || !process->member)
            continue;
        left++;
        if ((parent = usage_parent(usage, process)) != NULL)
            parent->gone_children++;
    }
    for (bool force = false; left > 0; force = settled == 0) {
        settled = 0;
        for (size_t i = 0; i < usage->processes.count && left > 0; i++) {
            struct usage_process *process = usage->processes.items[i];
            if (process->seen == usage->pass || !process->member ||
                (process->gone_children > 0 && !force))
                continue;
            settle(usage, process);
            process->member = force = false;
            settled++;
            left--;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < usage->processes.count; i++) {
        struct usage_process *process = usage->processes.items[i];
        if (process->seen == usage->pass) {
            usage->processes.items[kept++] = process;
            continue;
        }
        hash_remove(&usage->processes.of, process->key);
        memory_free(process);
    }
    usage->processes.count = kept;
}

void usage_processes_end(vitals_usage *usage)
{
    usage->pass++; /* no process was seen in it */
    settle_gone(usage);
    usage->root_key = 0;
}

/* ---- sums ---- */

static void set_flow(vitals_usage *usage, enum usage_flow flow, const struct usage_sum *of_tree,
                     const struct usage_sum *of_root, uint64_t read_ns)
{
    enum measure_place place = FLOWS[flow].place;
    vitals_availability gone = (vitals_availability)usage->flow_gone[flow];
    vitals_availability empty = gone > 0 ? gone : VITALS_NOT_YET;
    vitals_availability state = sum_state(of_tree, empty);
    if (state <= 0 && gone > 0)
        state = VITALS_LOWER_BOUND;
    if (state <= 0) {
        for (size_t scope = SUBJECT_TREE; scope <= SUBJECT_DESCENDANTS; scope++)
            usage_cell_missing(usage_cell(usage, scope, place), state);
        return;
    }
    bool cut = usage->flow_cut[flow];
    state = state_worse(state_worse(state, gone), cut ? VITALS_LOWER_BOUND : VITALS_SAMPLED);
    bool absorbs = FLOWS[flow].kind == KIND_ABSORBS;
    bool split = !absorbs || usage->seen_processes <= 1;
    if (absorbs && usage->options.no_children != 0)
        state = state_worse(state, VITALS_UPPER_BOUND); /* children that it waited for are in it */
    double tree = of_tree->total + usage->finals[flow];
    double root = of_root->total + usage->root_finals[flow];
    root = root < tree ? root : tree;
    usage_cell_counter(usage_cell(usage, SUBJECT_TREE, place), read_ns, tree, state);
    usage_cell_counter(usage_cell(usage, SUBJECT_ROOT, place), read_ns, root,
                       split ? state : state_worse(state, VITALS_UPPER_BOUND));
    usage_cell_counter(usage_cell(usage, SUBJECT_DESCENDANTS, place), read_ns, tree - root,
                       split ? state : state_worse(state, VITALS_LOWER_BOUND));
}

/* All usage of a tree that has ended is known from then on. */
static void add_flow(vitals_usage *usage, uint64_t now_ns, enum usage_flow flow)
{
    struct usage_sum tree = {0}, root = {0};
    uint64_t newest_ns = 0;
    for (size_t i = 0; i < usage->processes.count; i++) {
        const struct usage_process *process = usage->processes.items[i];
        const struct usage_counter *counter = &process->counters[flow];
        if (!process->member)
            continue;
        vitals_availability state = (vitals_availability)counter->state;
        newest_ns = uint64_max(newest_ns, counter->read_ns);
        double itself = used_itself(process, flow);
        bool alone = usage->options.no_children != 0;
        if (state <= 0 && counter->gone > 0)
            state = VITALS_LOWER_BOUND; /* its children could be read */
        sum_add(&tree, state, alone ? itself : f64_max(0, life(process, flow) - base_of(counter)));
        if (process->root)
            sum_add(&root, state, itself);
    }
    set_flow(usage, flow, &tree, &root, newest_ns != 0 ? newest_ns : now_ns);
}

static void add_gauges(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    struct usage_sum sums[ARRAY_COUNT(GAUGES)][SUBJECT_SYSTEM] = {0}, counts[SUBJECT_SYSTEM] = {0};
    uint64_t newest_ns[ARRAY_COUNT(GAUGES)] = {0};
    const struct usage_process *process;
    const vitals_row *row = NULL;
    while ((process = usage_next_member(usage, snapshot, &row)) != NULL) {
        usage_add_reading(counts, process->root, VITALS_HAVE, 1);
        for (size_t i = 0; i < ARRAY_COUNT(GAUGES); i++) {
            double value = 0;
            vitals_availability state = vitals_row_number(row, GAUGES[i].metric, &value);
            usage_add_reading(sums[i], process->root, state, value);
            newest_ns[i] = uint64_max(newest_ns[i], vitals_row_read_ns(row, GAUGES[i].metric));
        }
    }

    for (size_t scope = 0; scope < SUBJECT_SYSTEM; scope++) {
        usage_set_gauge(usage, vitals_snapshot_monotonic_ns(snapshot), MEASURE_AT_processes, scope,
                        &counts[scope]);
        for (size_t i = 0; i < ARRAY_COUNT(GAUGES); i++) {
            /* A process's share of pages depends on others, which were read at other moments: a sum
             * of several is neither exact nor a bound (usage_memory.c). */
            bool split = GAUGES[i].metric == VITALS_PROCESS_PSS_BYTES ||
                         GAUGES[i].metric == VITALS_PROCESS_USS_BYTES;
            if (split && sums[i][scope].known > 1)
                sums[i][scope].state = VITALS_ESTIMATE;
            usage_set_gauge(usage, newest_ns[i], GAUGES[i].place, scope, &sums[i][scope]);
        }
    }
    if (usage->options.no_children != 0) /* none was looked for */
        usage_cell_missing(usage_cell(usage, SUBJECT_DESCENDANTS, MEASURE_AT_processes),
                           VITALS_NOT_REQUESTED);
}

/* CPUs in use over the time since the last such figure. */
static void add_cores(vitals_usage *usage, uint64_t now_ns)
{
    bool soon = usage->cores_ns != 0 && now_ns - usage->cores_ns < CORES_WINDOW_NS;
    double seconds = (double)(now_ns - usage->cores_ns) / (double)NS_PER_SECOND;
    for (size_t scope = SUBJECT_TREE; scope < SUBJECT_SYSTEM; scope++) {
        const struct usage_cell *cpu = usage_cell(usage, scope, MEASURE_AT_cpu_seconds);
        struct usage_cell *cores = usage_cell(usage, scope, MEASURE_AT_cpu_cores);
        struct usage_cell *ratio = usage_cell(usage, scope, MEASURE_AT_cpu_ratio);
        if (soon) {
            usage_cell_repeat(cores);
            usage_cell_repeat(ratio);
            continue;
        }
        double rate = (cpu->value - usage->cores_before[scope]) / seconds;
        vitals_availability state = (vitals_availability)cpu->state;
        if (state > 0 && usage->cores_ns == 0)
            state = VITALS_NOT_YET;
        usage_cell_mean(cores, rate, seconds, state);
        usage_cell_mean(ratio, rate / usage->expected_cores, seconds,
                        state > 0 && usage->expected_cores <= 0 ? VITALS_NOT_YET : state);
        if (cpu->state > 0)
            usage->cores_before[scope] = cpu->value;
    }
    if (!soon)
        usage->cores_ns = now_ns;
}

void usage_processes(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    uint64_t now_ns = vitals_snapshot_monotonic_ns(snapshot);
    vitals_availability state = vitals_snapshot_state(snapshot, VITALS_TABLE_PROCESS);
    struct usage_process *process;
    const vitals_row *row = NULL;
    for (size_t place = 0; place < MEASURE_COUNT && state <= 0; place++) {
        if ((MEASURES[place].scopes & MEASURE_OF_TREE) == 0)
            continue;
        for (size_t scope = SUBJECT_TREE; scope < SUBJECT_SYSTEM; scope++)
            usage_cell_missing(usage_cell(usage, scope, (enum measure_place)place), state);
    }
    if (state <= 0)
        return;

    usage_members(usage, snapshot);
    while ((process = usage_next_member(usage, snapshot, &row)) != NULL)
        read_process(usage, process, row);
    settle_gone(usage);
    for (enum usage_flow flow = 0; flow < FLOW_COUNT; flow++)
        add_flow(usage, now_ns, flow);
    add_gauges(usage, snapshot);
    usage_memory(usage, snapshot);
    add_cores(usage, now_ns);
}
