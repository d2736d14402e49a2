/* gpu_hangs.c: what a source does with a driver that does not answer: the device stays with the
 * thread that hangs, and the others get a new worker. Job claims, which are files of a scheduler,
 * keep their one worker; a tick waits for them once and briefly. */
#include "sampler/gpu_source_data.h"

#include "util/memory.h"

#include <stdio.h>
#include <string.h>

/* Moves a job to another worker; if the thread is in it by now, it stays. */
static void move_job(struct worker **worker, int *job, struct worker *to)
{
    bool asked = worker_state(*worker, *job) !=
                 WORKER_IDLE; /* an answer that just came is asked for anew */
    void *data = worker_remove(*worker, *job);
    if (data == NULL)
        return;
    *job = worker_add(to, data); /* a new worker has room for all that an old one held */
    *worker = to;
    if (asked)
        worker_ask(*worker, *job);
}

/* Moves what the worker serves, besides the device that it hangs in (NULL: it lists devices), to a
 * new one. False where there is nothing else, or no thread is to be had: then it waits. */
static bool isolate(struct gpu_source *source, struct worker *worker, int job,
                    const struct queried_device *hung)
{
    /* A diagnosis stays behind a scan that hangs. */
    bool scans = source->scan_worker == worker, scan_hangs = scans && source->scan_job == job;
    bool diagnoses = source->diagnosis_worker == worker && source->diagnosis_job >= 0 &&
                     source->diagnosis_job != job && !scan_hangs;
    bool others = (scans && !scan_hangs) || diagnoses;
    size_t count = gpu_query_count(source);
    for (size_t i = 0; i < count; i++)
        others |= &source->devices[i / DEVICE_QUERIES] != hung &&
                  gpu_query_at(source, i)->worker == worker;
    struct worker *fresh = others ? gpu_source_worker(source) : NULL;
    if (fresh == NULL)
        return false;

    for (size_t i = 0; i < count; i++) {
        struct device_query *query = gpu_query_at(source, i);
        if (query->worker == worker && &source->devices[i / DEVICE_QUERIES] != hung)
            move_job(&query->worker, &query->job, fresh);
    }
    if (scans && !scan_hangs)
        move_job(&source->scan_worker, &source->scan_job, fresh);
    if (diagnoses)
        move_job(&source->diagnosis_worker, &source->diagnosis_job, fresh);
    if (source->base.worker == worker)
        source->base.worker = fresh;
    if (source->newest_slow == worker)
        source->newest_slow = fresh;
    return true;
}

static bool isolate_hung(struct gpu_source *source)
{
    bool moved = false;
    for (size_t i = 0, count = source->base.worker_count; i < count; i++) {
        struct worker *worker = source->base.workers[i];
        struct queried_device *hung = NULL;
        uint64_t item;
        int job;
        if (!worker_hangs(worker, &job, &item))
            continue;

        /* Ticks wait no longer for what it hangs in, nor for what else it has of that device. All
         * job claims are files of one disk: another thread would hang there too. */
        for (size_t j = 0; j < gpu_query_count(source); j++) {
            struct device_query *query = gpu_query_at(source, j);
            if (worker == source->notes)
                query->hangs |= query->asked && query->worker == worker;
            else if (query->worker == worker && query->job == job)
                hung = &source->devices[j / DEVICE_QUERIES];
        }
        if (worker == source->notes)
            continue;
        if (hung == NULL && source->scan_worker == worker)
            source->scan_hangs |= source->scan_job == job;
        if (hung == NULL && source->diagnosis_worker == worker)
            source->diagnosis_hangs = true; /* it, or the scan that it comes behind */
        for (size_t which = 0; hung != NULL && which < DEVICE_QUERIES; which++)
            if (hung->queries[which].worker == worker)
                hung->queries[which].hangs = true;
        moved |= isolate(source, worker, job, hung);
    }
    return moved;
}

/* What the first scan had listed before it hung is read on a worker of its own; false where there
 * is nothing of the kind. */
static bool take_listed(struct gpu_source *source, struct gpu_table *table)
{
    const struct gpu_world *world = source->world;
    if (!source->scan_hangs || source->state != VITALS_NOT_YET || source->device_count > 0 ||
        world->backend->listed == NULL || !atomic_load(&world->open))
        return false;
    struct gpu_scan *scan = memory_alloc(sizeof *scan);
    if (scan == NULL)
        return false;
    world->backend->listed(world->state, scan);
    struct worker *worker = scan->count > 0 ? gpu_source_worker(source) : NULL;
    bool taken = worker != NULL && gpu_source_list(source, table, scan) == 0;
    if (worker != NULL)
        source->base.worker = worker;
    if (taken)
        snprintf(source->message, sizeof source->message,
                 "%u listed, then the driver did not answer", scan->count);
    memory_free(scan);
    return taken;
}

bool gpu_source_late(struct source *base, const struct source_tick *tick)
{
    struct gpu_source *source = (struct gpu_source *)base;
    struct gpu_table *table = tick->devices;
    uint64_t now_ns = source_now(base);
    static const char SILENT[] = "the driver has not answered yet";
    bool late = source->scan_asked;
    for (size_t i = 0; i < gpu_query_count(source); i++) {
        struct device_query *query = gpu_query_at(source, i);
        enum gpu_job_kind kind = gpu_query_kinds[i % DEVICE_QUERIES];
        bool missing = gpu_query_is_waited_for(query, kind, now_ns) ||
                       (query->asked && query->hangs);
        late |= missing && kind != GPU_JOB_CLAIM;
        if (missing)
            gpu_table_late(table, source->number, source->devices[i / DEVICE_QUERIES].slot,
                           query->waits ? &query->pending : &query->question);
        query->waits = false;
    }
    if (source->diagnosis_asked)
        cache_overdue(&source->diagnosis, &source->diagnosis.kept.wanted);
    base->timeouts += late;
    if (source->scan_asked && source->state == VITALS_NOT_YET && source->device_count == 0)
        memcpy(source->message, SILENT, sizeof(SILENT));
    bool moved = isolate_hung(source);
    return take_listed(source, table) || moved;
}
