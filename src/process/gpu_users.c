/* gpu_users.c: processes that have a row only because a device names them, met without listing
 * /proc.
 *
 * Those that are known prove themselves one by one: their stat still reads, or it does not. /proc
 * is listed if a device names a new pid, once in a tick; a pid that is not in it then (of another
 * namespace, of a thread, of a process that has ended) is not looked for again for a while. Thread
 * rule: the tick thread. */
#include "process/entry.h"

#include "util/search.h"

static const uint64_t ABSENT_NS = 2 * NS_PER_SECOND;

bool gpu_users_only(const struct process_table *table)
{
    return table->rows == VITALS_ROWS_GPU_USERS;
}

bool gpu_users_list(struct process_table *table, const struct metric_set *due)
{
    table->complete = true;
    // Of a tree of files what was removed still reads.
    if (!gpu_users_only(table) || !table->reader.context->os.live || table->state != VITALS_HAVE ||
        metric_set_has(due, VITALS_HOST_PROCESSES))
        return false;
    table->pids.count = 0;
    for (size_t i = 0; i < table->count; i++)
        if (os_pids_append(&table->pids, table->by_pid[i]->files.pid) < 0)
            return false;
    table->complete = false;
    return true;
}

static struct missing_pid *absent_of(struct process_table *table, int64_t pid)
{
    for (size_t i = 0; i < ARRAY_COUNT(table->absent); i++)
        if (table->absent[i].pid == pid)
            return &table->absent[i];
    return NULL;
}

/* In the place of the one that was looked for longest ago. */
static void remember(struct process_table *table, int64_t pid, uint64_t now_ns)
{
    struct missing_pid *place = absent_of(table, pid);
    for (size_t i = 0; i < ARRAY_COUNT(table->absent) && place == NULL; i++)
        if (table->absent[i].pid == 0)
            place = &table->absent[i];
    if (place == NULL) {
        place = &table->absent[0];
        for (size_t i = 1; i < ARRAY_COUNT(table->absent); i++)
            if (table->absent[i].looked_ns < place->looked_ns)
                place = &table->absent[i];
    }
    *place = (struct missing_pid){pid, now_ns};
}

static bool is_listed(const struct process_table *table, int64_t pid)
{
    const struct os_pids *pids = &table->pids;
    struct search_number number = {0, (uint64_t)pid};
    return search_find(pids->items, pids->count, sizeof *pids->items, number) != NULL;
}

/* All of them, once in a tick. */
static void list_all(struct process_table *table)
{
    int result = os_list_processes(&table->reader.context->os, &table->pids);
    table->complete = true;
    if (result < 0) {
        table->pids.count = 0;
        return;
    }
    table->listed = table->pids.count;
}

bool gpu_users_alive(struct process_table *table, int64_t pid)
{
    uint64_t now_ns = reader_now(&table->reader);
    struct missing_pid *absent = absent_of(table, pid);
    if (!table->complete && absent != NULL && now_ns < saturating_add(absent->looked_ns, ABSENT_NS))
        return false;
    if (!table->complete)
        list_all(table);
    bool lives = is_listed(table, pid);
    if (!lives)
        remember(table, pid, now_ns);
    else if (absent != NULL)
        absent->pid = 0;
    return lives;
}
