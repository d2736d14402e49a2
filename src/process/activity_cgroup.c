/* activity_cgroup.c: whether anybody of a tree has run since the tick before, by one file for all
 * of them.
 *
 * What a run counts its tree with, a cgroup of its own, says how much CPU time all in it have used.
 * As long as that stays as it was nobody of them has run, started or ended anybody: none of their
 * clocks is looked at. Not so the root, which is not in it, and who is dead and may be waited for.
 * Who was moved out of the group runs unseen: it is trusted only where those whom it holds are
 * those who are known. Nobody who sleeps leaves it by himself, and so they are listed when all have
 * just come to rest, and then now and then only: it costs by the pid. As seldom all clocks are
 * looked at nevertheless: one that went on meanwhile ends all trust. Thread rule: the tick thread.
 */
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

/* Whom the group should hold. */
static bool is_member(const struct process *process)
{
    char state = (process->stat.has & OS_STAT_STATE) != 0 ? process->stat.state : 'Z';
    return process->in_tree && !process->root && process->state == VITALS_HAVE && state != 'Z' &&
           state != 'X';
}

/* Whether it holds those who are known and nobody else: who left it, or was born outside, is known
 * by his absence, and so is who ended out there. Both are in the order of pids. */
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

/* Whether nobody has run, by a group that speaks for all. */
static bool is_still(struct process_table *table, uint64_t now_ns)
{
    struct activity_cgroup *activity = &table->cgroup;
    bool same = is_same(activity), held = activity->held_ns != 0;
    if (same && table->may_skip_idle && held && now_ns < saturating_add(activity->held_ns, HOLD_NS))
        return true;
    held = same && table->may_skip_idle && holds_all(table);
    activity->held_ns = held ? now_ns : 0;
    return held;
}

void activity_cgroup_begin(struct process_table *table)
{
    struct activity_cgroup *activity = &table->cgroup;
    activity->rests = activity->checking = activity->wrong = false;
    if (activity->file <= 0)
        return;
    uint64_t now_ns = reader_now(&table->reader);
    bool still = is_still(table, now_ns);
    activity->checking = still && now_ns >= saturating_add(activity->checked_ns, CHECK_NS);
    activity->rests = still && !activity->checking;
    if (activity->checking)
        activity->checked_ns = now_ns;
}

/* The group held all who are known since anybody ran last: nobody was born unseen. */
bool activity_cgroup_is_idle(const struct process_table *table)
{
    return table->cgroup.rests || table->cgroup.checking;
}

/* Whom the group speaks for. */
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
