/* activity.c: what a tick must look at: which processes there are, and which of them have run, or
 * may have, since they were read.
 *
 * The answer comes from the cheapest means that can give it: what is known of the users of devices
 * (gpu_users.c) or of a tree (tree_scan.c), the kernel's iterator over tasks (activity_iterator.c),
 * a cgroup that holds all of a tree (activity_cgroup.c), and the CPU clock of each process. No
 * other file knows them. Thread rule: the tick thread. */
#include "process/entry.h"

#include <errno.h>

/* An idle process is read again this often all the same: others can change it, as reclaim does its
 * memory. That is looked at more often: it costs one call, of a file that is open. */
static const uint64_t LOOK_NS = 60 * NS_PER_SECOND, MEASURE_NS = 10 * NS_PER_SECOND;

/* ---- which processes there are ---- */

/* Whether an idle process need not be read: if a tree is measured, or if the state of processes is
 * due less often than at each tick. Not if any metric is due that others can change at any time. */
static bool may_skip_idle(const struct process_table *table, const struct metric_set *due)
{
    static const vitals_metric MOMENTARY[] = {VITALS_PROCESS_STATE,
                                              VITALS_PROCESS_CPU,
                                              VITALS_PROCESS_NICE,
                                              VITALS_PROCESS_PRIORITY,
                                              VITALS_PROCESS_REALTIME_PRIORITY,
                                              VITALS_PROCESS_SCHEDULING_POLICY,
                                              VITALS_PROCESS_PROCESS_GROUP,
                                              VITALS_PROCESS_SESSION,
                                              VITALS_PROCESS_FOREGROUND_GROUP};
    if ((table->rows & VITALS_ROWS_ALL) != 0 && !table->state_ever)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(MOMENTARY); i++) {
        if (metric_set_has(due, MOMENTARY[i]))
            return false;
    }
    return true;
}

void activity_begin(struct process_table *table, const struct metric_set *due)
{
    table->may_skip_idle = may_skip_idle(table, due);
    if (!gpu_users_only(table)) /* those are few, and are read one by one */
        activity_iterator_begin(table);
    activity_cgroup_begin(table);
    table->no_new_pid = tree_scan_begin_scan(table);
}

int activity_list(struct process_table *table, const struct metric_set *due)
{
    const struct os *os = &table->reader.context->os;
    bool enough = tree_scan_is_enough(table);
    table->scanning_tree = false;
    if (gpu_users_list(table, due))
        return 0;
    if (!enough || metric_set_has(due, VITALS_HOST_PROCESSES)) {
        int result = activity_iterator_list(table) ? 0 : os_list_processes(os, &table->pids);
        table->listed = result < 0 ? 0 : table->pids.count;
        if (result < 0 || !enough)
            return result;
    }
    table->scanning_tree = tree_scan_list(table);
    if (table->scanning_tree)
        return 0;
    int result = os_list_processes(os, &table->pids);
    table->listed = result < 0 ? 0 : table->pids.count;
    return result;
}

void activity_end(struct process_table *table, uint64_t last_key)
{
    activity_cgroup_end(table);
    tree_scan_settle(table);
    if (!table->scanning_tree && table->no_new_pid)
        tree_scan_check_scan(table, last_key);
}

/* ---- which have run ---- */

/* Whether what was read at the mark holds: the mark is the same, and everything that is asked for
 * now was read then. If not, the process is about to be read, and the mark is set to now. */
static bool mark_holds(struct activity_mark *known, uint64_t mark, bool runs,
                       const struct process *process, unsigned extras, uint64_t now_ns)
{
    bool same = mark != 0 && known->mark == mark && !runs;
    if (same && process->state == VITALS_HAVE && !process->statm_due &&
        (extras & ~known->extras) == 0 && now_ns < saturating_add(known->read_ns, LOOK_NS))
        return true;

    *known = (struct activity_mark){mark, now_ns, same ? known->extras | extras : extras};
    return false;
}

/* By its CPU clock, which costs one call, unless that was read in this tick or cannot have gone on.
 */
static bool clock_holds(struct process_table *table, struct process *process, unsigned extras,
                        uint64_t now_ns)
{
    struct process_activity *known = &process->activity;
    uint64_t before_ns = known->clock.mark;
    if (!table->may_skip_idle) {
        known->clock.mark = 0; /* it is not looked at in this tick: what was seen says nothing */
        return false;
    }

    uint64_t ns = known->clock_tick == table->tick ? known->clock_ns
                                                   : activity_cgroup_clock(table, process);
    if (ns == 0 && os_process_cpu_ns(&table->reader.context->os, process->files.pid, &ns) < 0)
        ns = 0;
    bool holds = mark_holds(&known->clock, ns, false, process, extras, now_ns);
    activity_cgroup_check(table, process, before_ns);
    return holds;
}

enum activity activity_of(struct process_table *table, struct process *process, unsigned extras)
{
    /* The launcher has no row, and is read only to be known: not while its run is idle. */
    if (table->merging && table->watcher != 0 && table->cgroup.rests && process->root &&
        process->state == VITALS_HAVE && !tree_expects_row(table, process))
        return ACTIVITY_IDLE;

    uint64_t now_ns = reader_now(&table->reader);
    const struct os_task_digest *digest = NULL;
    if (table->merging) /* it holds only while the list of this tick is read */
        digest = activity_iterator_find(table, process->files.pid);
    if (digest != NULL) {
        if (mark_holds(&process->activity.digest, digest->digest, digest->runs, process, extras,
                       now_ns)) {
            reader_stamp(process, extras, now_ns);
            return ACTIVITY_IDLE;
        }
        process->activity.clock.mark = 0; /* what has changed may not be its own doing: read it */
    }
    if (!clock_holds(table, process, extras, now_ns))
        return ACTIVITY_ACTIVE;

    reader_stamp(process, extras, now_ns);
    bool due = now_ns >= saturating_add(process->measured_ns, MEASURE_NS);
    if ((extras & EXTRA_STATM) != 0 && due && process->files.statm >= 0)
        (void)reader_statm(&table->reader, process);
    return ACTIVITY_IDLE;
}
