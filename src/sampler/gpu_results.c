/* gpu_results.c: what a source makes of the answers of its workers: the devices that there are,
 * their values into the table, and the cost of each answer, by which the next question is delayed.
 */
#include "sampler/gpu_source_data.h"

#include "util/memory.h"

#include <string.h>

enum {
    RETRY_SECONDS = 60, /* at most, until a device that hung is asked again */
    SCAN_SHARE = 1000,  /* of the wall time: one part may go to listing devices, */
    READING_SHARE = 125 /* and one to reading them: together less than a hundredth */
};

/* Counts a call into the driver. */
static void count_call(struct gpu_source *source, const struct gpu_job *job)
{
    if (job->kind == GPU_JOB_CLAIM)
        return;
    source->base.calls++;
    source->base.spent_ns += job->spent_ns;
}

static const struct gpu_identity *find_listed(const struct gpu_scan *scan, uint32_t slot)
{
    for (uint32_t i = 0; i < scan->count; i++) {
        if (scan->devices[i].slot == slot)
            return &scan->devices[i];
    }
    return NULL;
}

/* Whether none of its device queries has a thread in it any more. */
static bool release(struct queried_device *device)
{
    bool free = true;
    for (size_t which = 0; which < DEVICE_QUERIES; which++) {
        struct device_query *query = &device->queries[which];
        void *data = query->worker != NULL ? worker_remove(query->worker, query->job) : NULL;
        if (query->worker != NULL && data == NULL) {
            free = false;
            continue;
        }
        gpu_job_free(data);
        *query = (struct device_query){0};
    }
    return free;
}

/* How the files of a scheduler may name the device: by a number, which only the vendor has for
 * which both conventions were made, since each vendor has a device 0; that of a partition is within
 * its device. */
static struct job_claim_device called(const struct gpu_scan *scan,
                                      const struct gpu_identity *identity)
{
    const struct gpu_identity *whole = identity->parent_slot < 0
                                           ? identity
                                           : find_listed(scan, (uint32_t)identity->parent_slot);
    struct job_claim_device out = {.index = whole != NULL && strcmp(identity->vendor, "nvidia") == 0
                                                ? (int64_t)whole->index
                                                : -1,
                                   .minor = -1,
                                   .partition = identity->parent_slot >= 0,
                                   .instance = -1};
    if (whole != NULL && whole->node_count > 0)
        out.minor = whole->nodes[0].minor;
    if (identity->gpu_instance_id.state > 0 && identity->gpu_instance_id.as.u64 <= INT32_MAX)
        out.instance = (int64_t)identity->gpu_instance_id.as.u64;
    memcpy(out.uuid, identity->uuid, sizeof out.uuid);
    out.uuid[sizeof out.uuid - 1] = '\0';
    return out;
}

int gpu_source_list(struct gpu_source *source, struct gpu_table *table, const struct gpu_scan *scan)
{
    for (uint32_t i = 0; i < scan->count; i++) {
        const struct gpu_identity *identity = &scan->devices[i];
        struct queried_device *device = NULL;
        for (size_t j = 0; j < source->device_count && device == NULL; j++)
            if (source->devices[j].slot == identity->slot)
                device = &source->devices[j];
        if (device == NULL) {
            if (memory_grow((void **)&source->devices, &source->device_capacity,
                            source->device_count, sizeof(*source->devices)) < 0)
                return VITALS_EMEMORY;
            device = &source->devices[source->device_count++];
            *device = (struct queried_device){.slot = identity->slot};
        }
        device->node_count = identity->node_count < GPU_NODES_MAX ? identity->node_count
                                                                  : GPU_NODES_MAX;
        memcpy(device->nodes, identity->nodes, sizeof device->nodes);
        device->swept = source->world->backend->sweeps ? identity->swept : 0;
        device->called = called(scan, identity);
    }
    return gpu_table_scan(table, source->number, scan);
}

static int take_scan(struct gpu_source *source, struct gpu_table *table, uint64_t now_ns)
{
    if (!worker_collect(source->scan_worker, source->scan_job))
        return 0;
    const struct gpu_scan_job *job = worker_data(source->scan_worker, source->scan_job);
    source->scan_asked = source->scan_hangs = false;
    count_call(source, &job->job);
    uint64_t paid = saturating_add(now_ns, saturating_mul(job->job.spent_ns, SCAN_SHARE));
    if (source->state != VITALS_NOT_YET && paid > source->next_scan_ns)
        source->next_scan_ns = paid; /* the first scan loads the driver: that is paid once */

    const struct gpu_scan *scan = &job->scan;
    source->state = scan->state;
    memcpy(source->message, scan->message, sizeof(source->message));
    size_t kept = 0; // devices that are listed, or that a thread is still in
    for (size_t i = 0; i < source->device_count; i++) {
        struct queried_device *device = &source->devices[i];
        device->gone = find_listed(scan, device->slot) == NULL;
        if (!device->gone || !release(device))
            source->devices[kept++] = *device;
    }
    source->device_count = kept;
    int code = gpu_source_list(source, table, scan);
    if (code < 0)
        source->next_scan_ns = now_ns; /* try again with the next tick */
    return code;
}

/* Every device has an equal part of the driver's share of the wall time, so that a slow one does
 * not delay the others; its slow readings, if wanted, have a part of their own. The first reading,
 * which may have to wake the device, is paid by the later ones bit by bit. The first call that
 * hangs is free; a device that hangs again is not asked for a while. */
static void charge(const struct gpu_source *source, struct device_query *query, uint64_t spent_ns,
                   uint64_t now_ns)
{
    static const uint64_t RETRY_NS = RETRY_SECONDS * NS_PER_SECOND;
    uint64_t kinds = source->newest_slow != NULL ? 2 : 1;
    uint64_t share = READING_SHARE * kinds * (uint64_t)source->device_count;
    uint64_t price = saturating_mul(spent_ns, share);
    if (spent_ns >= WORKER_HANG_NS) {
        query->hung++;
        uint64_t pause_ns = price < RETRY_NS ? price : RETRY_NS;
        query->paid_until_ns = query->hung > 1 ? now_ns + pause_ns : now_ns;
        return;
    }
    query->hung = 0;
    if (!query->known) {
        query->debt_ns = price;
        return;
    }
    uint64_t installment = query->debt_ns < price ? query->debt_ns : price;
    query->debt_ns -= installment;
    query->paid_until_ns = saturating_add(uint64_max(query->paid_until_ns, query->asked_ns),
                                          price + installment);
}

static int take_query(struct gpu_source *source, const struct queried_device *device,
                      struct device_query *query, struct gpu_table *table, uint64_t now_ns)
{
    if (query->held)
        gpu_table_late(table, source->number, device->slot, &query->pending);
    if (query->worker == NULL || !worker_collect(query->worker, query->job))
        return 0;
    struct gpu_device_job *job = worker_data(query->worker, query->job);
    bool hung = query->hangs;
    query->asked = query->hangs = query->held = false;
    count_call(source, &job->job);
    charge(source, query, job->job.spent_ns, now_ns);
    query->known = true;
    query->lost = job->sample.state < 0;
    int code = 0;
    if (job->job.kind == GPU_JOB_CLAIM)
        return gpu_table_claims(table, source->number, device->slot, &job->sample);
    if (job->sample.state != VITALS_UNSET)
        code = gpu_table_sample(table, source->number, device->slot, &job->sample);

    struct gpu_processes *processes = &job->processes;
    bool late = hung; /* what it asked for is seconds old by now */
    if (code == 0 && processes->state != VITALS_UNSET) {
        if (query->is_old) {
            /* Made of a sweep that is not of this tick: as old as that is. Without one the back end
             * may know of some users from elsewhere. */
            if (job->swept != NULL && processes->stamp_ns > job->swept->stamp_ns)
                processes->stamp_ns = job->swept->stamp_ns;
            if (job->swept == NULL && processes->state > 0)
                processes->cut = true;
            if (processes->state == VITALS_NOT_YET)
                processes->state = VITALS_TIMED_OUT;
            late |= job->swept != NULL;
        }
        code = gpu_table_processes(table, source->number, device->slot, &query->question,
                                   processes);
    }
    if (late && code == 0)
        gpu_table_late(table, source->number, device->slot, &query->question);
    return code;
}

int gpu_source_take(struct gpu_source *source, struct gpu_table *table)
{
    uint64_t now_ns = source_now(&source->base);
    int code = take_scan(source, table, now_ns);
    if (code == 0 && source->diagnosis_job >= 0 &&
        worker_collect(source->diagnosis_worker, source->diagnosis_job)) {
        struct gpu_diagnosis_job *job = worker_data(source->diagnosis_worker,
                                                    source->diagnosis_job);
        source->diagnosis_asked = source->diagnosis_hangs = false;
        code = identities_give(&source->subjects, &job->batch, VITALS_DIAGNOSIS);
        if (code == 0)
            code = cache_take(&source->diagnosis, &job->batch, now_ns);
    }
    for (size_t i = 0; i < gpu_query_count(source) && code == 0; i++)
        code = take_query(source, &source->devices[i / DEVICE_QUERIES], gpu_query_at(source, i),
                          table, now_ns);
    return code;
}

static uint64_t brief_end(const struct device_query *query)
{
    return saturating_add(query->asked_ns, GPU_NOTES_MS * NS_PER_MS);
}

bool gpu_query_is_waited_for(const struct device_query *query, enum gpu_job_kind kind,
                             uint64_t now_ns)
{
    bool once = kind == GPU_JOB_SLOW || kind == GPU_JOB_CLAIM;
    bool is_over = kind == GPU_JOB_CLAIM && now_ns >= brief_end(query);
    return (query->asked || query->waits) && !query->hangs && !(once && query->known) && !is_over;
}

uint64_t gpu_source_patience(const struct source *base, const struct source_tick *tick,
                             uint64_t deadline_ns)
{
    (void)tick;
    const struct gpu_source *source = (const struct gpu_source *)base;
    uint64_t now_ns = source_now(base);
    for (size_t i = 0; i < gpu_query_count(source); i++) {
        const struct device_query *query = gpu_query_at(source, i);
        enum gpu_job_kind kind = gpu_query_kinds[i % DEVICE_QUERIES];
        if (kind == GPU_JOB_CLAIM && gpu_query_is_waited_for(query, kind, now_ns) &&
            brief_end(query) < deadline_ns)
            deadline_ns = brief_end(query);
    }
    return deadline_ns;
}

bool gpu_source_settled(const struct source *base, const struct source_tick *tick)
{
    (void)tick;
    const struct gpu_source *source = (const struct gpu_source *)base;
    uint64_t now_ns = source_now(base);
    if ((source->scan_asked && !source->scan_hangs) ||
        (source->diagnosis_asked && !source->diagnosis_hangs))
        return false;
    for (size_t i = 0; i < gpu_query_count(source); i++)
        if (gpu_query_is_waited_for(gpu_query_at(source, i), gpu_query_kinds[i % DEVICE_QUERIES],
                                    now_ns))
            return false;
    return true;
}
