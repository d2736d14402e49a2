/* tree_scan.c: the tree of a few processes, tick by tick, without listing the machine.
 *
 * Between two scans of all of /proc the tree is what it was, and the children that it started: the
 * kernel lists the children of each thread. While the pid that was given last is the same, no
 * process was started and nothing is listed at all. All of /proc is scanned again after a while,
 * because such lists may have gaps and an orphan may have been started unseen: so seldom that it
 * costs little, and not while the cgroup tells that no process of the tree has run. Thread rule:
 * the tick thread. */
#include "process/entry.h"

#include <errno.h>

/* All are looked at no more often than this, and so that it takes at most one part in SHARE of the
 * wall; and no more seldom than that. */
static const uint64_t RESCAN_NS = NS_PER_SECOND;
static const uint64_t RESCAN_LATEST_NS = 30 * NS_PER_SECOND;
enum { SHARE = 20000 };

/* Listing children costs three calls for each thread, a look at a process of the machine one. */
enum { CALLS = 3 };

/* Of newest_pid, which is no pid and no errno. */
enum { UNREAD = INT32_MIN };

bool tree_scan_is_enough(const struct process_table *table)
{
    const unsigned others = ~(unsigned)VITALS_ROWS_TREE;
    if ((table->rows & others) != 0 || table->rows == 0 || table->chosen_anew ||
        table->state != VITALS_HAVE || table->tick < 3)
        return false;
    uint64_t now_ns = reader_now(&table->reader);
    uint64_t pause_ns = saturating_mul(table->scan_ns, SHARE);
    if (pause_ns < RESCAN_NS)
        pause_ns = RESCAN_NS;
    if (pause_ns > RESCAN_LATEST_NS || table->watcher != 0) /* orphans come to the root */
        pause_ns = RESCAN_LATEST_NS;
    return now_ns < saturating_add(table->scanned_ns, pause_ns) || process_table_is_idle(table);
}

static uint64_t threads_of(const struct process *process)
{
    return (process->stat.has & OS_STAT_THREADS) != 0 ? process->stat.threads : 1;
}

/* The known processes of the tree. `calls`: what it costs to list the children of those that may
 * have new ones; NULL: not asked. False: no memory. */
static bool list_known(struct process_table *table, uint64_t *calls)
{
    const struct os *os = &table->reader.context->os;
    table->pids.count = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct process *process = table->by_pid[i];
        struct process_activity *activity = &process->activity;
        if (!process->in_tree)
            continue;
        if (os_pids_append(&table->pids, process->files.pid) < 0)
            return false;
        activity->has_no_new_child = false;
        if (calls == NULL)
            continue;

        /* A process that has not run has started no child. A root is always asked: orphans come to
         * it while it sleeps; that is so rare for the others that the next scan is soon enough. */
        uint64_t ns = activity_cgroup_clock(table, process);
        activity->clock_ns = 0;
        if (table->may_skip_idle && !process->root &&
            (ns != 0 || os_process_cpu_ns(os, process->files.pid, &ns) >= 0)) {
            activity->clock_ns = ns;
            activity->clock_tick = table->tick;
            activity->has_no_new_child = ns != 0 && ns == activity->listed_ns &&
                                         threads_of(process) == activity->listed_threads;
        }
        if (!activity->has_no_new_child)
            *calls += CALLS * threads_of(process);
    }
    return true;
}

/* A child of a process that is known may be known itself: then it is listed already, and its own
 * children are looked for in its own turn. */
static bool list_children(struct process_table *table, size_t index, bool *any)
{
    const struct os *os = &table->reader.context->os;
    int64_t pid = table->pids.items[index];
    struct process *process = process_by_pid(table, pid);
    uint64_t threads = process != NULL ? threads_of(process) : 1;
    size_t before = table->pids.count, kept = before;
    if (process != NULL && process->activity.has_no_new_child) {
        *any = true;
        return true;
    }
    int code = os_list_children(os, pid, threads, &table->pids);
    *any = *any || code == 0;
    if (process != NULL) {
        process->activity.listed_ns = code == 0 ? process->activity.clock_ns : 0;
        process->activity.listed_threads = threads;
    }
    if (code == -ENOMEM)
        return false;
    for (size_t i = before; i < table->pids.count; i++) {
        const struct process *known = process_by_pid(table, table->pids.items[i]);
        bool passed_over = table->pids.items[i] == table->watcher;
        if (!passed_over && (known == NULL || !known->in_tree))
            table->pids.items[kept++] = table->pids.items[i];
    }
    table->pids.count = kept;
    return true;
}

static int64_t read_newest(struct process_table *table)
{
    return os_last_pid(&table->reader.context->os, &table->newest_pid_file);
}

bool tree_scan_list(struct process_table *table)
{
    bool rest = table->cgroup.rests; /* nothing has run: nothing was started or orphaned */
    int64_t last_pid = table->newest_pid != UNREAD ? table->newest_pid
                       : rest                      ? table->last_pid
                                                   : read_newest(table);
    bool nobody_new = rest ||
                      (last_pid >= 0 && last_pid == table->last_pid && !table->last_pid_lies);
    bool any = false;
    uint64_t calls = 0;
    if (!list_known(table, nobody_new ? NULL : &calls))
        return false;
    if (nobody_new)
        return true;
    if (calls > table->listed)
        return false; /* all of them are as cheap */
    for (size_t i = 0; i < table->pids.count; i++) {
        if (!list_children(table, i, &any))
            return false;
    }
    if (!any)
        return false; /* they have all ended, or the kernel has no such lists */
    table->last_pid = last_pid;
    os_pids_settle(&table->pids);
    return true;
}

/* A process whose threads were not known when its children were listed is asked again. A scan of
 * all counts as a list of the children of all. */
void tree_scan_settle(struct process_table *table)
{
    uint64_t threads = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct process *process = table->by_pid[i];
        threads += process->in_tree ? threads_of(process) : 0;
        if (table->scanning_tree)
            continue;
        process->activity.listed_ns = process->activity.clock_ns;
        process->activity.listed_threads = threads_of(process);
    }
    if (threads != table->tree_threads)
        table->last_pid = -1;
    table->tree_threads = threads;
}

bool tree_scan_begin_scan(struct process_table *table)
{
    bool rests = process_table_is_idle(table); /* then it is not needed */
    table->newest_pid = table->last_pid >= 0 && !rests ? read_newest(table) : UNREAD;
    return table->newest_pid >= 0 && table->newest_pid == table->last_pid;
}

void tree_scan_check_scan(struct process_table *table, uint64_t last_key)
{
    for (size_t i = table->key_count; i-- > 0 && table->by_key[i]->key > last_key;)
        table->last_pid_lies = table->last_pid_lies || table->by_key[i]->in_tree;
}
