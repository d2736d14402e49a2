/* activity_cgroup.c: whether any process of a tree has run since the tick before, by one file for
 * all of them.
 *
 * A run that counts its tree with a cgroup of its own can read how much CPU time all processes in
 * it have used. As long as that stays the same, none of them has run, started or ended a process:
 * none of their clocks is read. The root is not in the cgroup, nor is a dead process that may be
 * waited for. A process that was moved out of the group runs unseen: so the group is trusted only
 * if it holds exactly the processes that are known. No sleeping process leaves it by itself, so its
 * members are listed when all have just become idle, and then every HOLD_NS: the list costs by the
 * pid. Every CHECK_NS all clocks are read all the same: if one has gone on, the group is not
 * trusted any more. Thread rule: the tick thread. */
#include "process/entry.h"

#include <string.h>

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

void activity_cgroup_begin(struct process_table *table)
{
    struct activity_cgroup *activity = &table->cgroup;
    activity->rests = activity->checking = activity->wrong = false;
    if (activity->file <= 0)
        return;
    uint64_t now_ns = reader_now(&table->reader);
    /* That it holds all is asked again only after a while. */
    bool same = is_same(activity) && table->may_skip_idle;
    bool still = same && activity->held_ns != 0 &&
                 now_ns < saturating_add(activity->held_ns, HOLD_NS);
    if (!still) {
        still = same && holds_all(table);
        activity->held_ns = still ? now_ns : 0;
    }
    activity->checking = still && now_ns >= saturating_add(activity->checked_ns, CHECK_NS);
    activity->rests = still && !activity->checking;
    if (activity->checking)
        activity->checked_ns = now_ns;
}

/* The group has held all known processes since one ran last: none was started unseen. */
bool activity_cgroup_is_idle(const struct process_table *table)
{
    return table->cgroup.rests || table->cgroup.checking;
}

/* Whether the group answers for it. */
static bool is_held(const struct process *process)
{
    return is_member(process) && process->activity.clock.mark != 0;
}

uint64_t activity_cgroup_clock(const struct process_table *table, const struct process *process)
{
    return table->cgroup.rests && is_held(process) ? process->activity.clock.mark : 0;
}

void activity_cgroup_check(struct process_table *table, const struct process *process,
                           uint64_t before_ns)
{
    if (table->cgroup.checking && before_ns != 0 && is_held(process))
        table->cgroup.wrong = table->cgroup.wrong || process->activity.clock.mark != before_ns;
}

void activity_cgroup_end(struct process_table *table)
{
    if (table->cgroup.wrong && is_same(&table->cgroup)) /* else they began to run just now */
        table->cgroup.file = 0;
}
