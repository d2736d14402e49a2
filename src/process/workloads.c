/* workloads.c: see workloads.h. */
#include "process/workloads.h"
#include "process/entry.h"

#include "util/memory.h"
#include "util/search.h"

#include <string.h>

static void entry_done(struct workload_entry *entry)
{
    shared_text_unref(entry->id);
    shared_text_unref(entry->user);
    shared_text_unref(entry->cgroup);
}

void workloads_done(struct workloads *workloads)
{
    for (size_t i = 0; i < workloads->count; i++)
        entry_done(&workloads->items[i]);
    memory_free(workloads->items);
    *workloads = (struct workloads){0};
}

static bool is_called(const struct workload_entry *entry, const struct shared_text *id)
{
    return entry->id == id || shared_text_equal(entry->id, id->bytes, id->size);
}

/* NULL where memory is out, there are too many, or the text is no id. */
static struct workload_entry *add(struct workloads *workloads, struct shared_text *id)
{
    struct workload parts;
    bool known = workload_parse((struct span){id->bytes, id->size}, &parts);
    workloads->unknown |= !known;
    workloads->cut |= workloads->count == WORKLOADS_MAX;
    if (!known || workloads->count == WORKLOADS_MAX)
        return NULL;
    if (MEMORY_GROW(workloads->items, workloads->capacity, workloads->count) < 0) {
        workloads->failed = true;
        return NULL;
    }
    struct workload_entry *entry = &workloads->items[workloads->count++];
    *entry = (struct workload_entry){
        .key = ++workloads->last_key, .id = shared_text_ref(id), .parts = parts};
    entry->row_key = entry->key;
    return entry;
}

/* A name that was found out: of a pod, or the number of a job by the word of its daemon. */
static bool is_named(const struct workload_entry *entry)
{
    const struct workload *parts = &entry->parts;
    bool number = parts->kind == WORKLOAD_SLURM && parts->job.size != 0 &&
                  parts->job.bytes[0] != 's' && entry->state == VITALS_HAVE;
    return number || parts->kind == WORKLOAD_POD;
}

static struct process_detail *detail_of(const struct process *process, vitals_metric metric)
{
    for (size_t i = 0; i < process->detail_count; i++)
        if (process->details[i].metric == metric)
            return &process->details[i];
    return NULL;
}

static struct shared_text *text_of(const struct process *process, vitals_metric metric)
{
    const struct process_detail *detail = detail_of(process, metric);
    return detail != NULL && detail->state > 0 ? detail->as.text : NULL;
}

static void replace(struct shared_text **kept, struct shared_text *fresh)
{
    if (*kept == fresh)
        return;
    shared_text_unref(*kept);
    *kept = fresh != NULL ? shared_text_ref(fresh) : NULL;
}

/* A cgroup that was made up for a process is none. */
static size_t place_of(const struct process_table *table, const struct process *process,
                       const struct shared_text *cgroup)
{
    size_t place = 0;
    if (cgroup != NULL && work_player(table->reader.context, process->files.pid) == NULL)
        (void)workload_of_cgroup((struct span){cgroup->bytes, cgroup->size}, &place);
    return place;
}

/* Names come to be known when a process is read, and its neighbors were read before: then theirs is
 * the same. Returns the named one whose own cgroup it is in or below; NULL where nothing better is
 * known. */
static struct workload_entry *rename_of(const struct workloads *workloads,
                                        const struct process_table *table,
                                        const struct process *process, struct process_detail *id)
{
    struct workload parts;
    struct shared_text *cgroup = text_of(process, VITALS_PROCESS_CGROUP);
    if (!workloads->named || cgroup == NULL ||
        !workload_parse((struct span){id->as.text->bytes, id->as.text->size}, &parts))
        return NULL;
    bool job = parts.kind == WORKLOAD_SLURM && parts.job.size != 0 &&
               (parts.job.bytes[0] == 's' || id->state == VITALS_ESTIMATE);
    size_t place = 0;
    if (parts.kind == WORKLOAD_CONTAINER || job)
        place = place_of(table, process, cgroup);
    for (size_t i = 0; i < workloads->count && place != 0; i++) {
        struct workload_entry *entry = &workloads->items[i];
        if (entry->place == place && is_named(entry) && entry->parts.claimed == parts.claimed &&
            memcmp(entry->cgroup->bytes, cgroup->bytes, place) == 0) {
            replace(&id->as.text, entry->id);
            id->state = entry->parts.claimed ? VITALS_ESTIMATE : VITALS_HAVE;
            return entry;
        }
    }
    return NULL;
}

static void count(struct workloads *workloads, const struct process_table *table,
                  struct process *process)
{
    struct process_detail *id = detail_of(process, VITALS_PROCESS_WORKLOAD);
    if (id == NULL || id->state <= 0 || id->as.text == NULL) {
        bool gone = id != NULL && id->state == VITALS_GONE;
        workloads->unknown |= !gone && process->gone_tick != table->tick;
        return;
    }
    struct workload_entry *entry = rename_of(workloads, table, process, id);
    if (entry == NULL) {
        /* The one that the process was found in before is likely to be its own still. */
        struct search_number number = {offsetof(struct workload_entry, key), process->workload};
        entry = search_find(workloads->items, workloads->count, sizeof *workloads->items, number);
        if (entry != NULL && !is_called(entry, id->as.text))
            entry = NULL;
    }
    for (size_t i = 0; i < workloads->count && entry == NULL; i++)
        if (is_called(&workloads->items[i], id->as.text))
            entry = &workloads->items[i];
    if (entry == NULL)
        entry = add(workloads, id->as.text);
    if (entry == NULL)
        return;
    process->workload = entry->key;

    /* The oldest process of the workload tells what there is to tell. */
    struct shared_text *cgroup = text_of(process, VITALS_PROCESS_CGROUP);
    if (entry->tick != workloads->tick) {
        const struct process_detail *user = detail_of(process, VITALS_PROCESS_USER);
        entry->processes = entry->threads = entry->resident_bytes = 0;
        entry->several = false;
        entry->state = id->state == VITALS_ESTIMATE ? VITALS_ESTIMATE : VITALS_HAVE;
        entry->read_ns = id->read_ns;
        entry->user_state = user != NULL ? (vitals_availability)user->state : VITALS_NOT_YET;
        replace(&entry->user, text_of(process, VITALS_PROCESS_USER));
        if (entry->cgroup != cgroup || cgroup == NULL || entry->tick == 0)
            entry->place = place_of(table, process, cgroup);
        replace(&entry->cgroup, cgroup);
    }
    if (entry->place != 0 && cgroup != NULL && cgroup != entry->cgroup) {
        bool below = cgroup->size >= entry->place &&
                     memcmp(cgroup->bytes, entry->cgroup->bytes, entry->place) == 0 &&
                     (cgroup->size == entry->place || cgroup->bytes[entry->place] == '/');
        entry->several |= !below;
    }
    entry->tick = workloads->tick;

    /* Adds the CPU time that the process used since it was counted last; all of it the first time.
     */
    const struct os_stat *stat = &process->stat;
    const struct os *os = &table->reader.context->os;
    if ((stat->has & OS_STAT_TIMES) != 0) {
        uint64_t ticks = saturating_add(stat->user_ticks, stat->system_ticks);
        if (ticks > process->workload_ticks) {
            entry->cpu_seconds += (double)(ticks - process->workload_ticks) / os->ticks_per_second;
            process->workload_ticks = ticks;
        }
    }
    bool exact = process->statm_state > 0 && (process->statm.has & OS_STATM_RESIDENT) != 0;
    uint64_t pages = exact ? process->statm.resident : stat->resident_pages;
    entry->resident_bytes = saturating_add(entry->resident_bytes,
                                           saturating_mul(pages, os->page_bytes));
    entry->processes++;
    entry->threads += (stat->has & OS_STAT_THREADS) != 0 ? stat->threads : 1;
}

void workloads_collect(struct workloads *workloads, struct process_table *table)
{
    workloads->tick++;
    workloads->cut = workloads->unknown = workloads->failed = false;
    workloads->named = false;
    for (size_t i = 0; i < workloads->count; i++)
        workloads->named |= is_named(&workloads->items[i]);
    workloads->all = (table->rows & VITALS_ROWS_ALL) != 0;
    for (size_t i = 0; i < table->key_count; i++) {
        struct process *process = table->by_key[i];
        if (process->key == 0 || !tree_has_row(table, process))
            continue;
        if (process->state == VITALS_HAVE)
            count(workloads, table, process);
        else
            workloads->unknown |= process->state != VITALS_GONE;
    }

    size_t kept = 0; // those that a process works for
    for (size_t i = 0; i < workloads->count; i++) {
        if (workloads->items[i].tick == workloads->tick)
            workloads->items[kept++] = workloads->items[i];
        else
            entry_done(&workloads->items[i]);
    }
    workloads->count = kept;
}

void workloads_tell(struct workloads *workloads, struct workload_entry *entry, size_t counter,
                    double number, bool counted)
{
    struct workload_told *told = &entry->told[counter];
    if (told->is && (number < told->number || counted != told->counted))
        entry->row_key = ++workloads->last_key;
    *told = (struct workload_told){number, true, counted};
}
