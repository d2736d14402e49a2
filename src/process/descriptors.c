/* descriptors.c: which files of processes stay open, within max_descriptors.
 *
 * A kept stat is identity and saves two system calls per tick, so stats come first; a kept statm
 * saves two as well and takes what the stats of all listed processes leave. A process without one
 * is opened, read and closed at each tick. The last few that the program may open are never kept:
 * its workers and the program itself need some. If the system refuses more all the same (EMFILE,
 * ENFILE), a quarter of what is kept is given up and the budget with it: reading goes on. Thread
 * rule: the tick thread. */
#include "process/entry.h"

size_t descriptors_budget(const vitals_context *context)
{
    uint64_t budget = context->max_descriptors;
    if (budget == 0)
        budget = os_descriptor_limit() / 4 * 3;
    return budget < SIZE_MAX ? (size_t)budget : SIZE_MAX;
}

uint64_t descriptors_ceiling(void)
{
    enum { SPARE_MOST = 64, SPARE_SHARE = 8 };
    uint64_t limit = os_descriptor_limit();
    uint64_t share = limit / SPARE_SHARE;
    return limit - (share < SPARE_MOST ? share : SPARE_MOST);
}

static size_t kept(const struct process_table *table)
{
    return table->stats_kept + table->statms_kept;
}

/* What was to be read later is read before its file is closed. */
static void read_due(struct process_table *table, struct process *process)
{
    if (process->statm_due)
        (void)reader_statm(&table->reader, process);
}

static void drop_statm(struct process_table *table, struct process *process)
{
    read_due(table, process);
    os_close_descriptor(process->files.statm);
    process->files.statm = -1;
    table->statms_kept--;
}

/* Closes kept statm, the newest processes first, until no more than `quota` are left. */
static void shrink_statms(struct process_table *table, size_t quota)
{
    for (size_t i = table->key_count; i > 0 && table->statms_kept > quota; i--) {
        struct process *process = table->by_key[i - 1];
        if (process != table->current && process->files.statm >= 0)
            drop_statm(table, process);
    }
}

void descriptors_share(struct process_table *table)
{
    table->ceiling = descriptors_ceiling();
    size_t stats = size_min(table->listed, table->budget);
    shrink_statms(table, table->budget - stats);
}

bool descriptors_relieve(void *owner)
{
    struct process_table *table = owner;
    if (table->new_processes != NULL && new_processes_give_up(table->new_processes))
        return true;
    size_t before = kept(table);
    table->budget = before / 4 * 3;
    size_t stats = size_min(table->stats_kept, table->budget);
    shrink_statms(table, table->budget - stats);

    size_t stat_quota = table->budget - size_min(table->statms_kept, table->budget);
    for (size_t i = table->key_count; i > 0 && table->stats_kept > stat_quota; i--) {
        struct process *process = table->by_key[i - 1];
        if (process == table->current || !process->kept)
            continue;
        read_due(table, process);
        descriptors_close(table, process);
    }
    os_trace(&table->reader.context->os, "out of descriptors: %zu of %zu kept ones closed",
             before - kept(table), before);
    return kept(table) < before;
}

void descriptors_settle_statm(struct process_table *table, struct process *process)
{
    table->statms_kept++;
    size_t stats = size_min(table->listed, table->budget);
    if (table->statms_kept > table->budget - stats || kept(table) > table->budget ||
        descriptors_is_high(table->ceiling, process->files.statm))
        drop_statm(table, process);
}

void descriptors_settle(struct process_table *table, struct process *process)
{
    if (kept(table) >= table->budget || descriptors_is_high(table->ceiling, process->files.stat)) {
        read_due(table, process);
        descriptors_close(table, process);
        return;
    }
    process->kept = true;
    table->stats_kept++;
}

void descriptors_close(struct process_table *table, struct process *process)
{
    table->stats_kept -= process->kept;
    table->statms_kept -= process->files.statm >= 0;
    process->kept = false;
    os_process_close(&process->files);
}
