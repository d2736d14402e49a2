/* gpu_cache.c: what a source does with a driver that does not answer: its device stays with the
 * thread that hangs, the others get a new lane. Files of a scheduler's that do not answer keep
 * their one lane, and nobody waits for them but once and briefly. */
#include "sampler/gpu_source_data.h"

#include "sampler/context.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>

/* Moves a job to another lane; where the thread is in it by now, it stays. */
static void move_job(struct lane **lane, int *job, struct lane *to)
{
    bool asked = lane_state(*lane, *job) !=
                 LANE_IDLE; /* an answer that just came is asked for anew */
    void *data = lane_remove(*lane, *job);
    if (data == NULL)
        return;
    *job = lane_add(to, data); /* a new lane has room for all that an old one held */
    *lane = to;
    if (asked)
        lane_ask(*lane, *job);
}

static bool is_in(const struct errand *errand, const struct lane *lane, int job)
{
    return errand->lane == lane && errand->job == job;
}

/* The device that a lane hangs in; NULL: it lists devices. */
static struct gpu_device *hanging(struct gpu_source *source, const struct lane *lane, int job)
{
    for (size_t i = 0; i < source->device_count; i++) {
        for (size_t which = 0; which < ERRANDS; which++) {
            if (is_in(&source->devices[i].errands[which], lane, job))
                return &source->devices[i];
        }
    }
    return NULL;
}

/* Whether the lane serves anybody but the device that it hangs in: alone, nobody is to be moved. */
static bool serves_others(const struct gpu_source *source, const struct lane *lane, int job,
                          const struct gpu_device *hung)
{
    bool diagnoses = source->diagnosis_lane == lane && source->diagnosis_job >= 0;
    if ((source->scan_lane == lane && source->scan_job != job) ||
        (diagnoses && source->diagnosis_job != job && source->scan_job != job))
        return true;
    for (size_t i = 0; i < source->device_count; i++) {
        for (size_t which = 0; which < ERRANDS; which++) {
            if (&source->devices[i] != hung && source->devices[i].errands[which].lane == lane)
                return true;
        }
    }
    return false;
}

/* Nobody waits any longer for what a lane hangs in, nor for what else it has of that device. */
static void quarantine(struct gpu_source *source, const struct lane *lane, int job,
                       struct gpu_device *hung)
{
    if (hung == NULL && source->scan_lane == lane)
        source->scan_hangs |= source->scan_job == job;
    if (hung == NULL && source->diagnosis_lane == lane)
        source->diagnosis_hangs = true; /* it, or the scan that it comes behind */
    for (size_t which = 0; hung != NULL && which < ERRANDS; which++) {
        if (hung->errands[which].lane == lane)
            hung->errands[which].hangs = true;
    }
}

/* A diagnosis stays behind a scan that hangs. */
static void move_scans(struct gpu_source *source, struct lane *lane, int job, struct lane *to)
{
    bool scan_hangs = source->scan_lane == lane && source->scan_job == job;
    if (source->scan_lane == lane && !scan_hangs)
        move_job(&source->scan_lane, &source->scan_job, to);
    if (source->diagnosis_lane == lane && source->diagnosis_job != job && !scan_hangs)
        move_job(&source->diagnosis_lane, &source->diagnosis_job, to);
}

/* Whatever else the lane served goes to a new one; where there is no thread to be had, it waits. */
static bool isolate(struct gpu_source *source, struct lane *lane, int job,
                    const struct gpu_device *hung)
{
    struct lane *fresh = serves_others(source, lane, job, hung) ? gpu_source_lane(source) : NULL;
    if (fresh == NULL)
        return false;
    for (size_t i = 0; i < source->device_count; i++) {
        for (size_t which = 0; which < ERRANDS; which++) {
            struct errand *errand = &source->devices[i].errands[which];
            if (errand->lane == lane && &source->devices[i] != hung)
                move_job(&errand->lane, &errand->job, fresh);
        }
    }
    move_scans(source, lane, job, fresh);
    if (source->newest == lane)
        source->newest = fresh;
    if (source->newest_slow == lane)
        source->newest_slow = fresh;
    return true;
}

/* All of them are of one disk: another thread would hang there too. */
static void leave_notes(struct gpu_source *source)
{
    for (size_t i = 0; i < source->device_count; i++) {
        for (size_t which = 0; which < ERRANDS; which++) {
            struct errand *errand = &source->devices[i].errands[which];
            errand->hangs |= errand->asked && errand->lane == source->notes;
        }
    }
}

static bool isolate_hung(struct gpu_source *source, uint64_t now_ns)
{
    bool moved = false;
    for (size_t i = 0, count = source->lane_count; i < count; i++) {
        uint64_t since;
        struct lane *lane = source->lanes[i];
        int job = lane_running(lane, &since);
        if (job < 0 || now_ns < since + GPU_HANG_SECONDS * NS_PER_SECOND)
            continue;
        if (lane == source->notes) {
            leave_notes(source);
            continue;
        }
        struct gpu_device *hung = hanging(source, lane, job);
        quarantine(source, lane, job, hung);
        moved |= isolate(source, lane, job, hung);
    }
    return moved;
}

/* What the first scan had listed before it hung is read on a lane of its own; false where there is
 * nothing of the kind. */
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
    struct lane *lane = scan->count > 0 ? gpu_source_lane(source) : NULL;
    bool taken = lane != NULL && gpu_source_list(source, table, scan) == 0;
    if (lane != NULL)
        source->newest = lane;
    if (taken)
        snprintf(source->message, sizeof source->message,
                 "%u listed, then the driver did not answer", scan->count);
    memory_free(scan);
    return taken;
}

bool gpu_source_late(struct gpu_source *source, struct gpu_table *table, uint64_t now_ns)
{
    static const char SILENT[] = "the driver has not answered yet";
    bool late = source->scan_asked;
    for (size_t i = 0; i < source->device_count; i++) {
        struct gpu_device *device = &source->devices[i];
        for (size_t which = 0; which < ERRANDS; which++) {
            struct errand *errand = &device->errands[which];
            bool missing = gpu_errand_is_waited_for(errand, gpu_errand_kinds[which], now_ns) ||
                           (errand->asked && errand->hangs);
            late |= missing && gpu_errand_kinds[which] != GPU_JOB_ALLOTMENT;
            if (missing)
                gpu_table_late(table, source->number, device->slot,
                               errand->waits ? &errand->pending : &errand->question);
            errand->waits = false;
        }
    }
    if (source->diagnosis_asked)
        late_overdue(&source->diagnosis, &source->diagnosis.kept.wanted);
    source->timeouts += late;
    if (source->scan_asked && source->state == VITALS_NOT_YET && source->device_count == 0)
        memcpy(source->message, SILENT, sizeof(SILENT));
    bool moved = isolate_hung(source, now_ns);
    return take_listed(source, table) || moved;
}
