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

bool gpu_users_alive(struct process_table *table, int64_t pid)
{
    uint64_t now_ns = reader_now(&table->reader);
    /* Its place among the missing ones, or that of the one that was looked for longest ago. */
    struct missing_pid *absent = NULL, *place = &table->absent[0];
    for (size_t i = 0; i < ARRAY_COUNT(table->absent); i++) {
        struct missing_pid *missing = &table->absent[i];
        if (missing->pid == pid)
            absent = missing;
        if (missing->looked_ns < place->looked_ns)
            place = missing;
    }
    if (!table->complete && absent != NULL && now_ns < saturating_add(absent->looked_ns, ABSENT_NS))
        return false;

    struct os_pids *pids = &table->pids;
    if (!table->complete) { // all are listed, once in a tick
        if (os_list_processes(&table->reader.context->os, pids) < 0)
            pids->count = 0;
        else
            table->listed = pids->count;
        table->complete = true;
    }
    struct search_number number = {0, (uint64_t)pid};
    bool lives = search_find(pids->items, pids->count, sizeof *pids->items, number) != NULL;
    if (!lives)
        *(absent != NULL ? absent : place) = (struct missing_pid){pid, now_ns};
    else if (absent != NULL)
        *absent = (struct missing_pid){0};
    return lives;
}
