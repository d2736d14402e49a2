/* usage_members.c: who belongs to the tree: those that were named, and who descends from them.
 *
 * Who once was in the tree stays in it, whichever reaper becomes its parent. Identity is the row's
 * key: a pid means a process only when it is looked for first. */
#include "run/usage/usage_data.h"

#include "util/memory.h"

static struct usage_process *find_entry(const vitals_usage *usage, uint64_t key)
{
    const uintptr_t *found = hash_find(&usage->processes, key);
    return found != NULL ? (struct usage_process *)*found : NULL;
}

bool usage_is_member(const vitals_usage *usage, uint64_t key)
{
    const struct usage_process *process = find_entry(usage, key);
    return process != NULL && process->member;
}

double usage_age(const vitals_usage *usage, uint64_t key, uint64_t boottime_ns)
{
    const struct usage_process *process = find_entry(usage, key);
    if (process == NULL || !process->born || process->start_seconds <= 0)
        return 0;
    double age = (double)boottime_ns / (double)NS_PER_SECOND - process->start_seconds;
    return age > 0 ? age : 0;
}

bool usage_is_root(const vitals_usage *usage, uint64_t key)
{
    const struct usage_process *process = find_entry(usage, key);
    return process != NULL && process->root;
}

bool usage_has_descendants(const vitals_usage *usage)
{
    for (size_t i = 0; i < usage->entry_count; i++) {
        const struct usage_process *process = usage->entries[i];
        if (process->member && !process->root && process->seen == usage->fold)
            return true;
    }
    return false;
}

static struct usage_process *add_entry(vitals_usage *usage, uint64_t key)
{
    struct usage_process *process = memory_alloc(sizeof(*process));
    if (process == NULL ||
        memory_grow((void **)&usage->entries, &usage->entry_capacity, usage->entry_count,
                    sizeof(*usage->entries)) < 0 ||
        hash_set(&usage->processes, key, (uintptr_t)process) < 0) {
        memory_free(process);
        usage->failed = true;
        return NULL;
    }
    process->key = key;
    usage->entries[usage->entry_count++] = process;
    return process;
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

/* False for a later process that got the pid of an excluded one. */
static bool is_excluded(const vitals_usage *usage, const vitals_row *row, int64_t pid)
{
    double start;
    if (!usage_excludes(usage, pid))
        return false;
    return vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &start) <= 0 ||
           start * 1e9 <= (double)usage->first_boot_ns;
}

/* Whether it is one of those that were named: then nobody above it matters. */
static bool is_named(const vitals_usage *usage, const vitals_row *row, int64_t pid)
{
    const vitals_usage_options *options = &usage->options;
    uint64_t parent;
    if (options->launcher != 0)
        return vitals_row_u64(row, VITALS_PROCESS_PARENT_PID, &parent) > 0 &&
               (int64_t)parent == options->launcher;
    return usage->count == 0 && is_among(options->pids, options->pid_count, pid);
}

/* A launcher's first child is the command; those that it adopts later are not. */
static void choose_root(vitals_usage *usage, struct usage_process *process)
{
    if (usage->options.launcher == 0) {
        process->root = true;
        return;
    }
    if (usage->root_key != 0)
        return;
    usage->root_key = process->key;
    process->root = true;
}

static void meet(vitals_usage *usage, const vitals_row *row, struct usage_process *process)
{
    uint64_t pid;
    process->born = usage->count > 0 || usage->options.launcher != 0;
    if (vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &process->start_seconds) <= 0)
        process->start_seconds = 0;
    if (vitals_row_u64(row, VITALS_PROCESS_PID, &pid) <= 0)
        return;
    process->excluded = is_excluded(usage, row, (int64_t)pid);
    process->member = !process->excluded && is_named(usage, row, (int64_t)pid);
    if (process->member)
        choose_root(usage, process);
}

static void note_row(vitals_usage *usage, const vitals_row *row)
{
    struct usage_process *process = find_entry(usage, vitals_row_key(row));
    bool is_new = process == NULL;
    if (is_new)
        process = add_entry(usage, vitals_row_key(row));
    if (process == NULL)
        return;
    process->seen = usage->fold;
    process->parent = vitals_row_parent(row);
    if (is_new)
        meet(usage, row, process);
}

/* Walks up to the first that is known to be in the tree, or not to be, and marks the way. Each is
 * looked at once per fold: rows that are each other's parents end it too. */
static void judge(vitals_usage *usage, struct usage_process *process)
{
    struct usage_process *at = process;
    while (at != NULL && !at->member && !at->excluded && at->judged != usage->fold) {
        at->judged = usage->fold;
        at = at->parent != 0 ? find_entry(usage, at->parent) : NULL;
    }
    if (at == NULL || !at->member)
        return;
    for (struct usage_process *up = process; up != at; up = find_entry(usage, up->parent))
        up->member = true;
}

static void count_member(vitals_usage *usage, const struct usage_process *process, bool was)
{
    if (!process->member)
        return;
    usage->seen_processes += !was;
    usage->living += process->seen == usage->fold;
}

void usage_members(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    size_t known = usage->entry_count;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_PROCESS, row)) != NULL;)
        note_row(usage, row);
    usage->living = 0;
    for (size_t i = 0; i < usage->entry_count; i++) {
        struct usage_process *process = usage->entries[i];
        bool was = process->member && i < known;
        if (usage->options.no_children == 0)
            judge(usage, process);
        else
            process->member = process->root;
        count_member(usage, process, was);
    }
}

struct usage_process *usage_member(const vitals_usage *usage, const vitals_row *row)
{
    const uintptr_t *found = hash_find(&usage->processes, vitals_row_key(row));
    struct usage_process *process = found != NULL ? (struct usage_process *)*found : NULL;
    return process != NULL && process->member ? process : NULL;
}

struct usage_process *usage_parent(const vitals_usage *usage, const struct usage_process *process)
{
    const uintptr_t *found = process->parent != 0 ? hash_find(&usage->processes, process->parent)
                                                  : NULL;
    struct usage_process *parent = found != NULL ? (struct usage_process *)*found : NULL;
    return parent != NULL && parent != process && parent->member ? parent : NULL;
}
