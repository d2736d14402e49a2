/* descriptors.c: which files of processes stay open, within max_descriptors.
 *
 * A kept stat is identity and saves two system calls per tick, so stats come first; a kept statm
 * saves two as well and takes what the stats of all listed processes leave. A process without one
 * is opened, read and closed at each tick. Where the system refuses more all the same (EMFILE,
 * ENFILE), a quarter of what is kept is given up and the budget with it: reading goes on.
 * Thread rule: the tick thread. */
#include "process/entry.h"

#include <errno.h>

size_t descriptors_budget(const vitals_context *context)
{
    uint64_t budget = context->max_descriptors;
    if (budget == 0)
        budget = os_descriptor_limit() / 4 * 3;
    return budget < SIZE_MAX ? (size_t)budget : SIZE_MAX;
}

static size_t kept(const struct process_table *table)
{
    return table->stats_kept + table->statms_kept;
}

static void drop_statm(struct process_table *table, struct process *process)
{
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

static void shrink_stats(struct process_table *table, size_t quota)
{
    for (size_t i = table->key_count; i > 0 && table->stats_kept > quota; i--) {
        struct process *process = table->by_key[i - 1];
        if (process != table->current && process->kept)
            descriptors_close(table, process);
    }
}

void descriptors_share(struct process_table *table)
{
    size_t stats = size_min(table->pids.count, table->budget);
    shrink_statms(table, table->budget - stats);
}

/* Gives up a quarter. False where nothing is left to give. */
static bool shed(struct process_table *table)
{
    size_t before = kept(table);
    table->budget = before / 4 * 3;
    size_t stats = size_min(table->stats_kept, table->budget);
    shrink_statms(table, table->budget - stats);
    shrink_stats(table, table->budget - size_min(table->statms_kept, table->budget));
    os_trace(&table->context->os, "out of descriptors: %zu of %zu kept ones closed",
             before - kept(table), before);
    return kept(table) < before;
}

static bool is_exhausted(int result)
{
    return result == -EMFILE || result == -ENFILE;
}

int descriptors_open(struct process_table *table, struct process *process)
{
    int result;
    do
        result = os_process_open(&table->context->os, process->files.pid, false, &process->files);
    while (is_exhausted(result) && shed(table));
    return result;
}

int descriptors_file(struct process_table *table, struct process *process, const char *name,
                     size_t limit)
{
    int result;
    bool cut;
    do {
        buffer_reset(&table->text);
        result = os_process_file(&table->context->os, process->files.pid, name, limit, &table->text,
                                 &cut);
    } while (is_exhausted(result) && shed(table));
    return result;
}

int descriptors_resident_pages(struct process_table *table, struct process *process,
                               uint64_t *pages)
{
    if (process->files.statm >= 0)
        return os_process_resident_pages(&process->files, pages);
    int result;
    do
        result = os_process_open_statm(&table->context->os, &process->files);
    while (is_exhausted(result) && shed(table));
    if (result < 0)
        return result;
    result = os_process_resident_pages(&process->files, pages);
    table->statms_kept++;
    size_t stats = size_min(table->pids.count, table->budget);
    if (table->statms_kept > table->budget - stats || kept(table) > table->budget)
        drop_statm(table, process);
    return result;
}

void descriptors_settle(struct process_table *table, struct process *process)
{
    if (kept(table) >= table->budget) {
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
