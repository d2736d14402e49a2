/* tree.c: which processes have a row (all, those given, those given and their descendants, or those
 * that a device names), and how a tree of a few is followed without listing the machine.
 *
 * A pid that is given means the first process that has it, and no later one. A process that once
 * was in the tree stays in it, whichever reaper becomes its parent. Thread rule: the tick thread.
 */
#include "process/entry.h"

#include <errno.h>

int tree_prepare(struct process_table *table)
{
    if (!table->chosen_anew)
        return 0;
    hash_reset(&table->roots);
    bool has_roots = (table->rows & VITALS_ROWS_TREE) != 0;
    for (size_t i = 0; has_roots && i < table->chosen_count; i++)
        if (hash_set(&table->roots, (uint64_t)table->chosen[i], 0) < 0)
            return -1;
    table->chosen_anew = false;
    for (size_t i = 0; i < table->count; i++) {
        struct process *process = table->by_pid[i];
        process->root = process->in_tree = false;
        tree_meet(table, process);
    }
    return 0;
}

void tree_meet(struct process_table *table, struct process *process)
{
    uintptr_t *first = hash_find(&table->roots, (uint64_t)process->files.pid);
    if (first == NULL || *first != 0)
        return;
    *first = (uintptr_t)process->key;
    process->root = process->in_tree = true;
}

/* A process that could never be read has no proven identity: the pid is free again for the one that
 * is meant. */
void tree_leave(struct process_table *table, struct process *process)
{
    if (!process->root || (process->stat.has & OS_STAT_START) != 0)
        return;
    uintptr_t *first = hash_find(&table->roots, (uint64_t)process->files.pid);
    if (first != NULL && *first == (uintptr_t)process->key)
        *first = 0;
}

struct process *tree_parent(const struct process_table *table, const struct process *process)
{
    if ((process->stat.has & OS_STAT_PARENT) == 0 || process->stat.parent_pid < 1)
        return NULL;
    struct process *parent = process_by_pid(table, process->stat.parent_pid);
    if (parent == NULL || (parent->stat.has & process->stat.has & OS_STAT_START) == 0)
        return parent;
    // No parent is younger than its child: a younger one only has the pid.
    return parent->stat.start_ticks <= process->stat.start_ticks ? parent : NULL;
}

/* The choices that do not depend on this tick's devices. */
static bool is_chosen(const struct process_table *table, const struct process *process)
{
    return (table->rows & VITALS_ROWS_ALL) != 0 ||
           ((table->rows & VITALS_ROWS_LISTED) != 0 && process->root) ||
           ((table->rows & VITALS_ROWS_DESCENDANTS) != 0 && process->in_tree && !process->root);
}

void tree_grow(struct process_table *table)
{
    if ((table->rows & VITALS_ROWS_DESCENDANTS) == 0)
        return;
    /* Walks up to the first that is known to be in the tree or not to be in it, and marks the way.
     * Each is judged once per tick, so all walks together are as long as there are processes. */
    for (size_t i = 0; i < table->count; i++) {
        struct process *process = table->by_pid[i], *at = process;
        while (at != NULL && !at->in_tree && at->judged != table->tick) {
            at->judged = table->tick;
            at = tree_parent(table, at);
        }
        bool joins = at != NULL && at->in_tree;
        for (struct process *up = process; joins && up != at; up = tree_parent(table, up))
            up->in_tree = true;
    }
    for (size_t i = 0; i < table->count; i++) {
        struct process *process = table->by_pid[i];
        if (is_chosen(table, process) && process->extras_tick != table->tick)
            process_refresh(table, process, true); // one that ended meanwhile says so in its extras
    }
}

bool tree_expects_row(const struct process_table *table, const struct process *process)
{
    // A process that was on a device is likely to be on it still.
    return is_chosen(table, process) ||
           ((table->rows & VITALS_ROWS_GPU_USERS) != 0 && process->marked != 0 &&
            process->marked + 1 >= table->tick);
}

bool tree_has_row(const struct process_table *table, const struct process *process)
{
    return is_chosen(table, process) ||
           ((table->rows & VITALS_ROWS_GPU_USERS) != 0 && process->marked == table->tick);
}

/* ---- following a tree ---- */

/* Between two scans of all of /proc the tree is what it was, and the children that it started: the
 * kernel lists the children of each thread. While the pid that was given last is the same, no
 * process was started and nothing is listed at all. All of /proc is scanned again after a while,
 * because such lists may have gaps and an orphan may have been started unseen: so seldom that it
 * costs little, and not while the cgroup tells that no process of the tree has run. */

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
    for (size_t i = 0; i < table->pids.count; i++)
        if (!list_children(table, i, &any))
            return false;
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
