/* activity_iterator.c: which processes have changed, by the kernel's own word.
 *
 * If the kernel can tell a digest of every process in one reading (os_task_iterator), a tick of
 * many processes costs that and some files for each that has changed. The iterator is opened once a
 * sampler has lived for some ticks and sees many processes: opening it costs as much as some ticks
 * save. Its list also replaces listing /proc. Thread rule: the tick thread. */
#include "process/entry.h"

#include "util/search.h"

#include <errno.h>

/* 10 to 20 ms, at 4 us for a process and tick. */
enum { WORTH_READINGS = 4000, WORTH_PROCESSES = 96 };

/* How often /proc is listed for processes that the iterator omits. */
static const uint64_t LIST_NS = 10 * NS_PER_SECOND;

static void give_up(struct process_table *table)
{
    os_task_iterator_close(table->iterator);
    table->iterator = NULL;
    table->resting_count = 0;
}

void activity_iterator_begin(struct process_table *table)
{
    table->resting = NULL;
    table->resting_count = 0;
    table->readings += table->scanning_tree ? 0 : table->count;
    if (table->iterator_tried || table->listed < WORTH_PROCESSES ||
        table->readings < WORTH_READINGS)
        return;
    table->iterator_tried = true;
    if (os_task_iterator_open(&table->reader.context->os, &table->iterator) < 0)
        table->iterator = NULL;
}

const struct os_task_digest *activity_iterator_find(const struct process_table *table, int64_t pid)
{
    struct search_number number = {offsetof(struct os_task_digest, pid), (uint64_t)pid};
    return search_find(table->resting, table->resting_count, sizeof *table->resting, number);
}

/* Every LIST_NS the list is that of /proc, which decides. */
static bool list_as_files(struct process_table *table, uint64_t now_ns)
{
    enum { ENDED = 32 };
    if (os_list_processes(&table->reader.context->os, &table->pids) < 0)
        return false;
    /* Pids in /proc that the iterator omits: those started in between, and pid 1 on some machines.
     * They are read at each tick. */
    table->omitted.count = 0;
    for (size_t i = 0; i < table->pids.count; i++) {
        int64_t pid = table->pids.items[i];
        if (activity_iterator_find(table, pid) == NULL && os_pids_append(&table->omitted, pid) < 0)
            return false;
    }
    table->omitted_ns = now_ns;

    /* /proc lists what the iterator tells, except processes that ended in between. If it hides more
     * than those, only what /proc shows may be seen. */
    size_t both = table->pids.count - table->omitted.count;
    if (table->resting_count > both + ENDED + both / 8)
        give_up(table);
    return true;
}

/* A process that it omits is there as long as it was in the tick before. */
static bool list_as_told(struct process_table *table)
{
    table->pids.count = 0;
    size_t omitted = 0, told = 0;
    while (omitted < table->omitted.count || told < table->resting_count) {
        int64_t other = omitted < table->omitted.count ? table->omitted.items[omitted] : INT64_MAX;
        int64_t pid = told < table->resting_count ? table->resting[told].pid : INT64_MAX;
        omitted += other <= pid;
        told += pid <= other;
        bool there = pid <= other || process_by_pid(table, other) != NULL;
        if (there && os_pids_append(&table->pids, pid < other ? pid : other) < 0)
            return false;
    }
    return true;
}

bool activity_iterator_list(struct process_table *table)
{
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
    bool listed = due ? list_as_files(table, now_ns) : list_as_told(table);
    if (!listed)
        table->resting_count = 0;
    return listed;
}

void activity_iterator_end(struct process_table *table)
{
    give_up(table);
    os_pids_done(&table->omitted);
}
