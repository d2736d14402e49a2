/* usage_members.c: which processes belong to the tree: those that were named and all below them.
 *
 * A process that once was in the tree stays in it, whichever reaper becomes its parent. Identity is
 * the row's key: a pid means a process only when it is looked for first. */
#include "run/usage/usage_data.h"

struct usage_process *usage_member_of(const vitals_usage *usage, uint64_t key)
{
    struct usage_process *process = usage_index_find(&usage->processes, key);
    return process != NULL && process->member ? process : NULL;
}

bool usage_has_descendants(const vitals_usage *usage)
{
    for (size_t i = 0; i < usage->processes.count; i++) {
        const struct usage_process *process = usage->processes.items[i];
        if (process->member && !process->root && process->seen == usage->pass)
            return true;
    }
    return false;
}

static bool is_among(const int64_t *pids, size_t count, int64_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (pids[i] == pid)
            return true;
    }
    return false;
}

bool usage_excludes(const vitals_usage *usage, int64_t pid)
{
    return is_among(usage->options.excluded_pids, usage->options.excluded_count, pid);
}

/* The identity of a process, from its first row. */
static void meet(vitals_usage *usage, const vitals_row *row, struct usage_process *process)
{
    const vitals_usage_options *options = &usage->options;
    uint64_t pid, parent;
    process->born = usage->count > 0 || options->launcher != 0;
    bool started = vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &process->start_seconds) > 0;
    if (!started)
        process->start_seconds = 0;
    if (vitals_row_u64(row, VITALS_PROCESS_PID, &pid) <= 0)
        return;
    /* A later process may get the pid of an excluded one. */
    process->excluded = usage_excludes(usage, (int64_t)pid) &&
                        (!started || process->start_seconds * 1e9 <= (double)usage->first_boot_ns);
    if (process->excluded)
        return;

    /* A launcher's first child is the command; those that it adopts later are not. */
    if (options->launcher != 0) {
        process->member = vitals_row_u64(row, VITALS_PROCESS_PARENT_PID, &parent) > 0 &&
                          (int64_t)parent == options->launcher;
        process->root = process->member && usage->root_key == 0;
        if (process->root)
            usage->root_key = process->key;
    } else
        process->root = process->member = usage->count == 0 &&
                                          is_among(options->pids, options->pid_count, (int64_t)pid);
}

void usage_members(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    size_t known = usage->processes.count;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL;) {
        uint64_t key = vitals_row_key(row);
        struct usage_process *process = usage_index_find(&usage->processes, key);
        bool is_new = process == NULL;
        if (is_new)
            process = usage_index_add(&usage->processes, key, sizeof(*process));
        if (process == NULL) {
            usage->failed = true;
            continue;
        }
        process->key = key;
        process->seen = usage->pass;
        process->parent = vitals_row_parent(row);
        if (is_new)
            meet(usage, row, process);
    }

    usage->living = 0;
    for (size_t i = 0; i < usage->processes.count; i++) {
        struct usage_process *process = usage->processes.items[i], *at = process;
        bool was = process->member && i < known;
        if (usage->options.no_children != 0)
            process->member = process->root;
        /* Walks up to the first that is known to be in the tree, or not to be, and marks the way.
         * Each is looked at once per pass: rows that are each other's parents end it too. */
        while (usage->options.no_children == 0 && at != NULL && !at->member && !at->excluded &&
               at->judged != usage->pass) {
            at->judged = usage->pass;
            at = at->parent != 0 ? usage_index_find(&usage->processes, at->parent) : NULL;
        }
        for (struct usage_process *up = process; at != NULL && at->member && up != at;
             up = usage_index_find(&usage->processes, up->parent))
            up->member = true;
        usage->seen_processes += process->member && !was;
        usage->living += process->member && process->seen == usage->pass;
    }
}

struct usage_process *usage_next_member(const vitals_usage *usage, const vitals_snapshot *snapshot,
                                        const vitals_row **row)
{
    struct usage_process *process = NULL;
    while (process == NULL &&
           (*row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, *row)) != NULL)
        process = usage_member_of(usage, vitals_row_key(*row));
    return process;
}

struct usage_process *usage_parent(const vitals_usage *usage, const struct usage_process *process)
{
    struct usage_process *parent = process->parent != 0 ? usage_member_of(usage, process->parent)
                                                        : NULL;
    return parent != process ? parent : NULL;
}
