/* activity.c: what a tick must look at: which processes there are, and which of them have run, or
 * may have, since they were read.
 *
 * The answer comes from the cheapest means that can give it: what is known of the users of devices
 * or of a tree, the kernel's iterator over tasks, a cgroup that holds all of a tree,
 * and the CPU clock of each process. No other file knows them. Thread rule: the tick thread. */
#include "process/entry.h"

#include "util/search.h"

#include <errno.h>
#include <string.h>

/* An idle process is read again this often all the same: others can change it, as reclaim does its
 * memory. That is looked at more often: it costs one call, of a file that is open. */
static const uint64_t LOOK_NS = 60 * NS_PER_SECOND, MEASURE_NS = 10 * NS_PER_SECOND;

/* ---- a cgroup that holds all of a tree ---- */

/* A run that counts its tree with a cgroup of its own can read how much CPU time all processes in
 * it have used. As long as that stays the same, none of them has run, started or ended a process:
 * none of their clocks is read. The root is not in the cgroup, nor is a dead process that may be
 * waited for. A process that was moved out of the group runs unseen: so the group is trusted only
 * if it holds exactly the processes that are known. No sleeping process leaves it by itself, so its
 * members are listed when all have just become idle, and then every HOLD_NS: the list costs by the
 * pid. Every CHECK_NS all clocks are read all the same: if one has gone on, the group is not
 * trusted any more. */
static const uint64_t CHECK_NS = 10 * NS_PER_SECOND, HOLD_NS = 5 * NS_PER_SECOND;

/* Whether the text is what it was; it is kept. */
static bool is_same(struct activity_cgroup *activity)
{
    char text[ACTIVITY_TEXT];
    int64_t size = os_read_kept(activity->file, text, sizeof text);
    bool whole = size > 0 && size < (int64_t)sizeof text;
    bool same = whole && (size_t)size == activity->size &&
                memcmp(text, activity->text, activity->size) == 0;
    activity->size = whole ? (size_t)size : 0;
    memcpy(activity->text, text, activity->size);
    return same;
}

/* Whether the group should hold it. */
static bool is_member(const struct process *process)
{
    char state = (process->stat.has & OS_STAT_STATE) != 0 ? process->stat.state : 'Z';
    return process->in_tree && !process->root && process->state == VITALS_HAVE && state != 'Z' &&
           state != 'X';
}

/* Whether it holds the processes that are known and no others. One that left it, or was started
 * outside, is missing. Both lists are in the order of pids. */
static bool holds_all(struct process_table *table)
{
    struct os_pids *members = &table->cgroup.members;
    members->count = 0;
    if (table->cgroup.folder <= 0 || os_list_group(table->cgroup.folder, members) < 0)
        return false;
    size_t next = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct process *process = table->by_pid[i];
        if (!is_member(process))
            continue;
        if (next == members->count || members->items[next] != process->files.pid)
            return false;
        next++;
    }
    return next == members->count;
}

/* The group has held all known processes since one ran last: none was started unseen. */
bool process_table_is_idle(const struct process_table *table)
{
    return table->cgroup.rests || table->cgroup.checking;
}

/* Whether the group answers for it. */
static bool is_held(const struct process *process)
{
    return is_member(process) && process->activity.clock.mark != 0;
}

/* The clock of a process that cannot have run, as it was read last, by a cgroup that holds it; 0:
 * it may have. */
static uint64_t cgroup_clock(const struct process_table *table, const struct process *process)
{
    return table->cgroup.rests && is_held(process) ? process->activity.clock.mark : 0;
}

/* ---- the kernel's iterator over tasks (BPF) ---- */

/* If the kernel can tell a digest of every process in one reading, a tick of many processes costs
 * that and some files for each that has changed. The iterator is opened once a sampler has lived
 * for some ticks and sees many processes: opening it costs as much as some ticks save, 10 to 20 ms,
 * at 4 us for a process and tick. Its list also replaces listing /proc. */
enum { WORTH_READINGS = 4000, WORTH_PROCESSES = 96 };

/* How often /proc is listed for processes that the iterator omits. */
static const uint64_t LIST_NS = 10 * NS_PER_SECOND;

static void give_up(struct process_table *table)
{
    os_task_iterator_close(table->iterator);
    table->iterator = NULL;
    table->resting_count = 0;
}

static const struct os_task_digest *find_digest(const struct process_table *table, int64_t pid)
{
    struct search_number number = {offsetof(struct os_task_digest, pid), (uint64_t)pid};
    return search_find(table->resting, table->resting_count, sizeof *table->resting, number);
}

/* Fills `pids` with all processes. False: the kernel does not tell them, and /proc must be listed.
 */
static bool list_by_iterator(struct process_table *table)
{
    enum { ENDED = 32 };
    uint64_t now_ns = reader_now(&table->reader);
    if (table->iterator == NULL || now_ns < table->told_again_ns)
        return false;
    int code = os_task_iterator_read(table->iterator, &table->resting, &table->resting_count);
    if (code < 0) {
        table->resting_count = 0;
        table->told_again_ns = saturating_add(now_ns, LIST_NS);
        if (code == -EPERM || code == -EACCES || code == -ENOTSUP)
            give_up(table);
        return false;
    }

    bool due = table->omitted_ns == 0 || now_ns >= saturating_add(table->omitted_ns, LIST_NS);
    bool listed = !due || os_list_processes(&table->reader.context->os, &table->pids) >= 0;
    if (due) {
        /* The list is that of /proc, which decides. Pids that the iterator omits were started in
         * between, and pid 1 on some machines. They are read at each tick. */
        table->omitted.count = 0;
        for (size_t i = 0; i < table->pids.count && listed; i++) {
            int64_t pid = table->pids.items[i];
            listed = find_digest(table, pid) != NULL || os_pids_append(&table->omitted, pid) == 0;
        }
        if (listed)
            table->omitted_ns = now_ns;
        /* /proc lists what the iterator tells, except processes that ended in between. If it hides
         * more than those, only what /proc shows may be seen. */
        size_t both = table->pids.count - table->omitted.count;
        if (listed && table->resting_count > both + ENDED + both / 8)
            give_up(table);
    } else {
        /* A process that the iterator omits is there as long as it was in the tick before. */
        table->pids.count = 0;
        for (size_t i = 0, j = 0;
             listed && (i < table->omitted.count || j < table->resting_count);) {
            int64_t other = i < table->omitted.count ? table->omitted.items[i] : INT64_MAX;
            int64_t pid = j < table->resting_count ? table->resting[j].pid : INT64_MAX;
            i += other <= pid;
            j += pid <= other;
            if (pid <= other || process_by_pid(table, other) != NULL)
                listed = os_pids_append(&table->pids, pid < other ? pid : other) == 0;
        }
    }
    if (!listed)
        table->resting_count = 0;
    return listed;
}

void activity_done(struct process_table *table)
{
    give_up(table);
    os_pids_done(&table->omitted);
    os_pids_done(&table->cgroup.members);
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

/* A value of newest_pid that is neither a pid nor an errno. */
enum { UNREAD = INT32_MIN };

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
        uint64_t ns = cgroup_clock(table, process);
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

/* Fills `pids` with the tree as it is known and the processes that it started since. False if that
 * cannot be told: then all must be listed. */
static bool list_tree(struct process_table *table)
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
    for (size_t i = 0; i < ARRAY_COUNT(MOMENTARY); i++)
        if (metric_set_has(due, MOMENTARY[i]))
            return false;
    return true;
}

void activity_begin(struct process_table *table, const struct metric_set *due)
{
    table->may_skip_idle = may_skip_idle(table, due);
    if (table->rows != VITALS_ROWS_GPU_USERS) { /* those are few, and are read one by one */
        table->resting = NULL;
        table->resting_count = 0;
        table->readings += table->scanning_tree ? 0 : table->count;
        bool worth = table->listed >= WORTH_PROCESSES && table->readings >= WORTH_READINGS;
        if (worth && !table->iterator_tried &&
            os_task_iterator_open(&table->reader.context->os, &table->iterator) < 0)
            table->iterator = NULL;
        table->iterator_tried |= worth;
    }

    struct activity_cgroup *cgroup = &table->cgroup;
    cgroup->rests = cgroup->checking = cgroup->wrong = false;
    if (cgroup->file > 0) {
        uint64_t now_ns = reader_now(&table->reader);
        /* That it holds all is asked again only after a while. */
        bool same = is_same(cgroup) && table->may_skip_idle;
        bool still = same && cgroup->held_ns != 0 &&
                     now_ns < saturating_add(cgroup->held_ns, HOLD_NS);
        if (!still) {
            still = same && holds_all(table);
            cgroup->held_ns = still ? now_ns : 0;
        }
        cgroup->checking = still && now_ns >= saturating_add(cgroup->checked_ns, CHECK_NS);
        cgroup->rests = still && !cgroup->checking;
        if (cgroup->checking)
            cgroup->checked_ns = now_ns;
    }

    /* Whether the last pid tells that no process is new; not needed while the tree is idle. */
    bool needed = table->last_pid >= 0 && !process_table_is_idle(table);
    table->newest_pid = needed ? read_newest(table) : UNREAD;
    table->no_new_pid = table->newest_pid >= 0 && table->newest_pid == table->last_pid;
}

/* Only the listed processes. If no others have rows, nothing of them is opened. */
static void keep_given(struct process_table *table)
{
    enum { FEW = 64 };
    size_t kept = 0;
    if (table->chosen_count > FEW)
        return;
    for (size_t i = 0; i < table->pids.count; i++) {
        int64_t pid = table->pids.items[i];
        bool given = false;
        for (size_t j = 0; !given && j < table->chosen_count; j++)
            given = table->chosen[j] == pid;
        if (given)
            table->pids.items[kept++] = pid;
    }
    table->pids.count = kept;
}

/* Whether the number of processes, which is in `listed` then, is known without a listing, which is
 * four fifths of what the machine's own figures cost at a thousand processes. A driver might add a
 * folder to /proc later: so the folders are counted again now and then. In another pid namespace
 * the kernel counts more than /proc lists. */
static bool is_counted(struct process_table *table)
{
    static const uint64_t COUNT_NS = 10 * NS_PER_SECOND;
    const vitals_context *context = table->reader.context;
    return context->origin.pid_namespace == OS_FIRST_PID_NAMESPACE && !table->hides &&
           reader_now(&table->reader) < saturating_add(table->counted_ns, COUNT_NS) &&
           os_count_processes(&context->os, &table->process_count, &table->listed);
}

static int list_processes(struct process_table *table, const struct metric_set *due)
{
    const struct os *os = &table->reader.context->os;
    const unsigned others = ~(unsigned)VITALS_ROWS_TREE;
    bool counted = metric_set_has(due, VITALS_HOST_PROCESSES), enough = false;
    if ((table->rows & others) == 0 && table->rows != 0 && !table->chosen_anew &&
        table->state == VITALS_HAVE && table->tick >= 3) {
        uint64_t pause_ns = uint64_max(saturating_mul(table->scan_ns, SHARE), RESCAN_NS);
        if (pause_ns > RESCAN_LATEST_NS || table->watcher != 0) /* orphans come to the root */
            pause_ns = RESCAN_LATEST_NS;
        enough = reader_now(&table->reader) < saturating_add(table->scanned_ns, pause_ns) ||
                 process_table_is_idle(table);
    }
    table->scanning_tree = false;
    table->complete = true;

    /* Known users of devices prove themselves one by one: their stat still reads, or it does not.
     * In a tree of files, descriptors of removed files can still be read. */
    if (table->rows == VITALS_ROWS_GPU_USERS && os->live && table->state == VITALS_HAVE &&
        (!counted || is_counted(table))) {
        bool all = true;
        table->pids.count = 0;
        for (size_t i = 0; i < table->count && all; i++)
            all = os_pids_append(&table->pids, table->by_pid[i]->files.pid) == 0;
        table->complete = !all;
        if (all)
            return 0;
    }
    if (!enough || counted) {
        bool learns = counted && table->rows == VITALS_ROWS_GPU_USERS; /* see is_counted */
        int result = list_by_iterator(table) ? 0
                     : learns ? os_list_and_learn(os, &table->pids, &table->process_count)
                              : os_list_processes(os, &table->pids);
        table->listed = result < 0 ? 0 : table->pids.count;
        table->counted_ns = reader_now(&table->reader);
        if (result < 0 || !enough)
            return result;
    }
    table->scanning_tree = list_tree(table);
    if (table->scanning_tree)
        return 0;
    int result = os_list_processes(os, &table->pids);
    table->listed = result < 0 ? 0 : table->pids.count;
    return result;
}

int activity_list(struct process_table *table, const struct metric_set *due)
{
    int result = list_processes(table, due);
    if (result == 0 && table->only_chosen && table->rows == VITALS_ROWS_LISTED &&
        !table->scanning_tree)
        keep_given(table);
    return result;
}

void activity_end(struct process_table *table, uint64_t last_key)
{
    if (table->cgroup.wrong && is_same(&table->cgroup)) /* else they began to run just now */
        table->cgroup.file = 0;

    /* A process whose threads were not known when its children were listed is asked again. A scan
     * of all counts as a list of the children of all. */
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

    /* One of the tree that is new all the same: the last pid is not trusted. */
    if (table->scanning_tree || !table->no_new_pid)
        return;
    for (size_t i = table->key_count; i-- > 0 && table->by_key[i]->key > last_key;)
        table->last_pid_lies = table->last_pid_lies || table->by_key[i]->in_tree;
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

    uint64_t ns = known->clock_tick == table->tick ? known->clock_ns : cgroup_clock(table, process);
    if (ns == 0 && os_process_cpu_ns(&table->reader.context->os, process->files.pid, &ns) < 0)
        ns = 0;
    bool holds = mark_holds(&known->clock, ns, false, process, extras, now_ns);
    if (table->cgroup.checking && before_ns != 0 && is_held(process))
        table->cgroup.wrong |= known->clock.mark != before_ns;
    return holds;
}

bool activity_is_idle(struct process_table *table, struct process *process, unsigned extras)
{
    /* The launcher has no row, and is read only to be known: not while its run is idle. */
    if (table->merging && table->watcher != 0 && table->cgroup.rests && process->root &&
        process->state == VITALS_HAVE && !tree_expects_row(table, process))
        return true;

    uint64_t now_ns = reader_now(&table->reader);
    const struct os_task_digest *digest = NULL;
    if (table->merging) /* it holds only while the list of this tick is read */
        digest = find_digest(table, process->files.pid);
    if (digest != NULL) {
        if (mark_holds(&process->activity.digest, digest->digest, digest->runs, process, extras,
                       now_ns)) {
            reader_stamp(process, extras, now_ns);
            return true;
        }
        process->activity.clock.mark = 0; /* what has changed may not be its own doing: read it */
    }
    if (!clock_holds(table, process, extras, now_ns))
        return false;

    reader_stamp(process, extras, now_ns);
    bool due = now_ns >= saturating_add(process->measured_ns, MEASURE_NS);
    if ((extras & EXTRA_STATM) != 0 && due && process->files.statm >= 0)
        (void)reader_statm(&table->reader, process);
    return true;
}
