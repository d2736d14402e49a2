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

static bool is_in(const struct device_query *query, const struct worker *worker, int job)
{
    return query->worker == worker && query->job == job;
}

/* The device that a worker hangs in; NULL: it lists devices. */
static struct queried_device *hanging(struct gpu_source *source, const struct worker *worker,
                                      int job)
{
    for (size_t i = 0; i < source->device_count; i++) {
        for (size_t which = 0; which < DEVICE_QUERIES; which++) {
            if (is_in(&source->devices[i].queries[which], worker, job))
                return &source->devices[i];
        }
    }
    return NULL;
}

/* Whether the worker serves more than the device that it hangs in: if not, nothing is to be moved.
 */
static bool serves_others(const struct gpu_source *source, const struct worker *worker, int job,
                          const struct queried_device *hung)
{
    bool diagnoses = source->diagnosis_worker == worker && source->diagnosis_job >= 0;
    if ((source->scan_worker == worker && source->scan_job != job) ||
        (diagnoses && source->diagnosis_job != job && source->scan_job != job))
        return true;
    for (size_t i = 0; i < source->device_count; i++) {
        for (size_t which = 0; which < DEVICE_QUERIES; which++) {
            if (&source->devices[i] != hung && source->devices[i].queries[which].worker == worker)
                return true;
        }
    }
    return false;
}

/* Ticks wait no longer for what a worker hangs in, nor for what else it has of that device. */
static void quarantine(struct gpu_source *source, const struct worker *worker, int job,
                       struct queried_device *hung)
{
    if (hung == NULL && source->scan_worker == worker)
        source->scan_hangs |= source->scan_job == job;
    if (hung == NULL && source->diagnosis_worker == worker)
        source->diagnosis_hangs = true; /* it, or the scan that it comes behind */
    for (size_t which = 0; hung != NULL && which < DEVICE_QUERIES; which++) {
        if (hung->queries[which].worker == worker)
            hung->queries[which].hangs = true;
    }
}

/* A diagnosis stays behind a scan that hangs. */
static void move_scans(struct gpu_source *source, struct worker *worker, int job, struct worker *to)
{
    bool scan_hangs = source->scan_worker == worker && source->scan_job == job;
    if (source->scan_worker == worker && !scan_hangs)
        move_job(&source->scan_worker, &source->scan_job, to);
    if (source->diagnosis_worker == worker && source->diagnosis_job != job && !scan_hangs)
        move_job(&source->diagnosis_worker, &source->diagnosis_job, to);
}

/* Moves what else the worker served to a new one; if no thread is to be had, it waits. */
static bool isolate(struct gpu_source *source, struct worker *worker, int job,
                    const struct queried_device *hung)
{
    struct worker *fresh = serves_others(source, worker, job, hung) ? gpu_source_worker(source)
                                                                    : NULL;
    if (fresh == NULL)
        return false;
    for (size_t i = 0; i < source->device_count; i++) {
        for (size_t which = 0; which < DEVICE_QUERIES; which++) {
            struct device_query *query = &source->devices[i].queries[which];
            if (query->worker == worker && &source->devices[i] != hung)
                move_job(&query->worker, &query->job, fresh);
        }
    }
    move_scans(source, worker, job, fresh);
    if (source->base.worker == worker)
        source->base.worker = fresh;
    if (source->newest_slow == worker)
        source->newest_slow = fresh;
    return true;
}

/* All of them are of one disk: another thread would hang there too. */
static void leave_notes(struct gpu_source *source)
{
    for (size_t i = 0; i < source->device_count; i++) {
        for (size_t which = 0; which < DEVICE_QUERIES; which++) {
            struct device_query *query = &source->devices[i].queries[which];
            query->hangs |= query->asked && query->worker == source->notes;
        }
    }
}

static bool isolate_hung(struct gpu_source *source)
{
    bool moved = false;
    for (size_t i = 0, count = source->base.worker_count; i < count; i++) {
        struct worker *worker = source->base.workers[i];
        uint64_t item;
        int job;
        if (!worker_hangs(worker, &job, &item))
            continue;
        if (worker == source->notes) {
            leave_notes(source);
            continue;
        }
        struct queried_device *hung = hanging(source, worker, job);
        quarantine(source, worker, job, hung);
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
    for (size_t i = 0; i < source->device_count; i++) {
        struct queried_device *device = &source->devices[i];
        for (size_t which = 0; which < DEVICE_QUERIES; which++) {
            struct device_query *query = &device->queries[which];
            bool missing = gpu_query_is_waited_for(query, gpu_query_kinds[which], now_ns) ||
                           (query->asked && query->hangs);
            late |= missing && gpu_query_kinds[which] != GPU_JOB_CLAIM;
            if (missing)
                gpu_table_late(table, source->number, device->slot,
                               query->waits ? &query->pending : &query->question);
            query->waits = false;
        }
    }
    if (source->diagnosis_asked)
        cache_overdue(&source->diagnosis, &source->diagnosis.kept.wanted);
    base->timeouts += late;
    if (source->scan_asked && source->state == VITALS_NOT_YET && source->device_count == 0)
        memcpy(source->message, SILENT, sizeof(SILENT));
    bool moved = isolate_hung(source);
    return take_listed(source, table) || moved;
}
