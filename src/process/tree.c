/* tree.c: which processes have a row: all, those given, those given and their descendants, or those
 * that a device names.
 *
 * A pid that is given means the first process that has it, and no later one. A process that once
 * was in the tree stays in it, whichever reaper becomes its parent. Thread rule: the tick thread.
 */
#include "process/entry.h"

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
