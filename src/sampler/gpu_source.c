/* gpu_source.c: the source of one vendor's devices.
 *
 * Everything that enters the driver happens on its workers: loading it, listing
 * devices, reading them. A device query is what one device is asked for on one worker: its
 * readings, its slow readings, its users, its job claims. Each has its own turn and its own price:
 * the time in the driver is measured, and devices are asked so seldom that all calls together take
 * at most a share of the wall time (driver_share of the context). If that is too little for
 * everything in each tick, a device's readings are divided: utilization, memory and processes come
 * first, the other ones when there is time. Values that grow old meanwhile become stale
 * (gpu_table_age).
 *
 * One worker serves all devices of a vendor until a call hangs; then its device stays with that
 * thread and a new worker takes the others. Job claims, which are files of a scheduler, keep their
 * one worker; a tick waits for them once and briefly. */
#include "sampler/gpu_worker.h"
#include "sampler/source.h"

#include "gpu/table.h"
#include "host/identities.h"
#include "model/answer_cache.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>

enum {
    RESCAN_SECONDS = 10, /* at least, until devices are listed anew */
    NOTES_MS = 500,      /* a tick's patience with a scheduler's files */
    RETRY_SECONDS = 60,  /* at most, until a device that hung is asked again */
    SCAN_SHARE = 1000    /* of the wall time, one part may go to listing devices */
};

/* Parts of the driver's share that go to slow readings, where these are wanted, and at least to the
 * readings that do not come first. */
static const double SLOW_PART = 0.2, LATER_PART = 0.2;

static const double CLAIM_SHARE = 0.008; /* of the wall time: for files of a scheduler */

enum { READ_QUERY, LATER_QUERY, DEVICE_QUERIES = 5 };
static const enum gpu_job_kind KINDS[DEVICE_QUERIES] = {[READ_QUERY] = GPU_JOB_READ,
                                                        [LATER_QUERY] = GPU_JOB_LATER,
                                                        GPU_JOB_SLOW,
                                                        GPU_JOB_USERS,
                                                        GPU_JOB_CLAIM};

struct device_query {
    enum gpu_job_kind kind;
    struct worker *worker; /* NULL: never asked for */
    int job;
    bool asked;    /* and not answered yet */
    bool hangs;    /* no tick waits for its answer */
    bool known;    /* has answered before */
    bool lost;     /* the last answer was that nothing can be read: it sleeps, or is lost */
    bool held;     /* would have been asked in this tick, if it had not hung so often */
    bool waits;    /* to be asked as soon as there is a sweep */
    bool is_old;   /* the sweep that it was asked with is not of its tick */
    unsigned hung; /* answers in a row that took so long */
    uint64_t asked_ns;
    uint64_t paid_until_ns;     /* what it has cost so far is within its share by then */
    uint64_t took_ns, cost_ns;  /* the last answer; the lesser of the last two */
    struct metric_set pending;  /* due since it was last asked */
    struct metric_set question; /* what it was asked last */
};

struct queried_device {
    struct gpu_target target;
    unsigned swept; /* of GPU_SWEPT */
    bool gone; /* no longer listed: it stays while a thread hangs in it, and is asked nothing */
    bool is_left_out; /* the request names other devices: it is asked nothing */
    bool divided;     /* it is too slow to be read as a whole in each tick */
    struct device_query queries[DEVICE_QUERIES]; /* in the order of KINDS */
};

struct gpu_source {
    struct source base; /* in service: the newest worker that reads devices */
    unsigned number;    /* of the back end */
    struct gpu_world *world;
    /* Which metrics are asked for by which device query, of a device of which nothing is swept. */
    struct metric_set parts[DEVICE_QUERIES];
    int code; /* of answers that were taken at the beginning of a tick, or at its deadline */

    struct worker *newest_slow; /* that of slow readings in service */
    struct worker *notes;       /* of job claims: one for all, since one disk has them all */
    int scan_job;               /* on the worker that scan_worker names */
    struct worker *scan_worker;
    bool scan_asked, scan_hangs;
    uint64_t next_scan_ns;

    int diagnosis_job; /* on the worker that diagnosis_worker names; -1: never asked for */
    struct worker *diagnosis_worker; /* that of the scans, unless one of the two hangs */
    bool diagnosis_asked, diagnosis_hangs;
    struct answer_cache diagnosis;
    struct identities subjects;

    struct queried_device *devices;
    size_t device_count, device_capacity;
    size_t asked_count; /* of these: not left out; at least 1 */

    signed char state;
    char message[GPU_MESSAGE];
};

/* All device queries of all devices have a number below this, in the order of devices and kinds. */
static size_t query_count(const struct gpu_source *source)
{
    return source->device_count * DEVICE_QUERIES;
}

static struct device_query *query_at(const struct gpu_source *source, size_t number)
{
    return &source->devices[number / DEVICE_QUERIES].queries[number % DEVICE_QUERIES];
}

/* NULL: no thread or no memory. */
static struct worker *new_worker(struct gpu_source *source)
{
    return source_worker(&source->base, &source->world->base);
}

/* ---- answers ---- */

static const struct gpu_identity *find_listed(const struct gpu_scan *scan, uint32_t slot)
{
    for (uint32_t i = 0; i < scan->count; i++)
        if (scan->devices[i].slot == slot)
            return &scan->devices[i];
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
        *query = (struct device_query){.kind = query->kind};
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

/* A scan of another back end may have given the devices other numbers, by which they are chosen. */
static void refresh_choice(struct gpu_source *source, const struct gpu_table *table)
{
    source->asked_count = 0;
    for (size_t i = 0; i < source->device_count; i++) {
        struct queried_device *device = &source->devices[i];
        device->is_left_out = !gpu_table_is_chosen(table, source->number, device->target.slot);
        source->asked_count += !device->is_left_out;
    }
    source->asked_count += source->asked_count == 0; /* a divisor */
}

/* Takes the devices of a scan in; none goes. */
static int list_devices(struct gpu_source *source, struct gpu_table *table,
                        const struct gpu_scan *scan)
{
    for (uint32_t i = 0; i < scan->count; i++) {
        const struct gpu_identity *identity = &scan->devices[i];
        struct queried_device *device = NULL;
        for (size_t j = 0; j < source->device_count && device == NULL; j++)
            if (source->devices[j].target.slot == identity->slot)
                device = &source->devices[j];
        if (device == NULL) {
            if (MEMORY_GROW(source->devices, source->device_capacity, source->device_count) < 0)
                return VITALS_EMEMORY;
            device = &source->devices[source->device_count++];
            *device = (struct queried_device){.target.slot = identity->slot};
            for (size_t which = 0; which < DEVICE_QUERIES; which++)
                device->queries[which].kind = KINDS[which];
        }
        device->target.node_count = identity->node_count < GPU_NODES_MAX ? identity->node_count
                                                                         : GPU_NODES_MAX;
        memcpy(device->target.nodes, identity->nodes, sizeof device->target.nodes);
        device->swept = source->world->backend->sweeps ? identity->swept : 0;
        device->target.called = called(scan, identity);
    }
    int code = gpu_table_scan(table, source->number, scan);
    refresh_choice(source, table);
    return code;
}

static int take_scan(struct gpu_source *source, struct gpu_table *table, uint64_t now_ns)
{
    if (!worker_collect(source->scan_worker, source->scan_job))
        return 0;
    const struct gpu_job *job = worker_data(source->scan_worker, source->scan_job);
    source->scan_asked = source->scan_hangs = false;
    uint64_t spent_ns = source_count_call(&source->base, source->scan_worker, source->scan_job);
    uint64_t paid = saturating_add(now_ns, saturating_mul(spent_ns, SCAN_SHARE));
    if (source->state != VITALS_NOT_YET && paid > source->next_scan_ns)
        source->next_scan_ns = paid; /* the first scan loads the driver: that is paid once */

    const struct gpu_scan *scan = &job->scan;
    source->state = scan->state;
    memcpy(source->message, scan->message, sizeof(source->message));
    size_t kept = 0; // devices that are listed, or that a thread is still in
    for (size_t i = 0; i < source->device_count; i++) {
        struct queried_device *device = &source->devices[i];
        device->gone = find_listed(scan, device->target.slot) == NULL;
        if (!device->gone || !release(device))
            source->devices[kept++] = *device;
    }
    source->device_count = kept;
    int code = list_devices(source, table, scan);
    if (code < 0)
        source->next_scan_ns = now_ns; /* try again with the next tick */
    return code;
}

/* The part of the wall time that the calls of a query may take. Every device has an equal part of
 * the driver's share, so that a slow one does not delay the others. */
static double share_of(const struct gpu_source *source, const struct queried_device *device,
                       const struct device_query *query, uint64_t interval_ns)
{
    double share = source->base.context->driver_share / (double)source->asked_count;
    if (query->kind == GPU_JOB_CLAIM)
        return CLAIM_SHARE / (double)source->asked_count;
    if (query->kind == GPU_JOB_SLOW)
        return share * SLOW_PART;
    share *= source->newest_slow != NULL ? 1 - SLOW_PART : 1;
    if (!device->divided || query->kind == GPU_JOB_USERS)
        return share;
    if (query->kind == GPU_JOB_READ)
        return share * (1 - LATER_PART);
    double first = (double)device->queries[READ_QUERY].cost_ns / ((double)interval_ns * share);
    return share * (1 - (first < 1 - LATER_PART ? first : 1 - LATER_PART));
}

static bool part_of(const struct gpu_source *source, size_t number, const struct metric_set *set,
                    struct metric_set *out);

/* Divides the readings of a device if they cost more than its share of a tick, and joins them again
 * if they cost clearly less. */
static void divide(struct gpu_source *source, struct queried_device *device, uint64_t interval_ns)
{
    struct device_query *read = &device->queries[READ_QUERY],
                        *later = &device->queries[LATER_QUERY];
    double share = source->base.context->driver_share / (double)source->asked_count;
    double room_ns = share * (source->newest_slow != NULL ? 1 - SLOW_PART : 1) *
                     (double)interval_ns;
    double cost_ns = (double)read->cost_ns + (double)later->cost_ns;
    bool divided = device->divided ? cost_ns > room_ns * 3 / 4 : cost_ns > room_ns;
    if (divided == device->divided || read->asked || later->asked)
        return;
    size_t number = (size_t)(device - source->devices) * DEVICE_QUERIES;
    struct metric_set pending = read->pending;
    metric_set_join(&pending, &later->pending);
    device->divided = divided;
    (void)part_of(source, number + READ_QUERY, &pending, &read->pending);
    (void)part_of(source, number + LATER_QUERY, &pending, &later->pending);
    later->known = read->known;
    later->lost = read->lost;
    later->cost_ns = later->took_ns = 0;
    if (divided) /* until it is known */
        later->cost_ns = later->took_ns = read->cost_ns;
}

/* A query waits until its calls are within its share. The first answer is free, since it may have
 * to wake the device. On a busy machine one answer may take long for no fault of the driver's, so
 * the lesser of two counts. The first call that hangs is free; a device that hangs again is not
 * asked for a while. */
static void charge(struct gpu_source *source, struct queried_device *device,
                   struct device_query *query, uint64_t spent_ns, const struct source_tick *tick)
{
    static const uint64_t RETRY_NS = RETRY_SECONDS * NS_PER_SECOND;
    uint64_t now_ns = source_now(&source->base);
    double share = share_of(source, device, query, tick->interval_ns);
    bool hung = spent_ns >= WORKER_HANG_NS;
    if (!hung) {
        query->cost_ns = query->known && query->took_ns < spent_ns ? query->took_ns : spent_ns;
        query->took_ns = spent_ns;
    }
    double price_ns = (double)(hung ? spent_ns : query->cost_ns) / share;
    uint64_t price = price_ns < (double)EXACT_MAX ? (uint64_t)price_ns : EXACT_MAX;
    if (hung) {
        query->hung++;
        query->paid_until_ns = query->hung > 1 ? now_ns + (price < RETRY_NS ? price : RETRY_NS)
                                               : now_ns;
        return;
    }
    query->hung = 0;
    if (query->known)
        query->paid_until_ns = saturating_add(uint64_max(query->paid_until_ns, query->asked_ns),
                                              price);
}

static int take_query(struct gpu_source *source, struct queried_device *device,
                      struct device_query *query, const struct source_tick *tick)
{
    struct gpu_table *table = tick->devices;
    if (query->held)
        gpu_table_late(table, source->number, device->target.slot, &query->pending);
    if (query->worker == NULL || !worker_collect(query->worker, query->job))
        return 0;
    struct gpu_job *job = worker_data(query->worker, query->job);
    bool hung = query->hangs;
    query->asked = query->hangs = query->held = false;
    bool claims = job->kind == GPU_JOB_CLAIM; // no call into the driver
    charge(source, device, query,
           claims ? worker_spent_ns(query->worker, query->job)
                  : source_count_call(&source->base, query->worker, query->job),
           tick);
    if (query->known && query->hung == 0 &&
        (query->kind == GPU_JOB_READ || query->kind == GPU_JOB_LATER))
        divide(source, device, tick->interval_ns);
    query->known = true;
    query->lost = job->sample.state < 0;
    /* All readings of the device are lost with it, whichever query was told (gpu_table_sample). */
    for (size_t which = 0; query->lost && which < DEVICE_QUERIES; which++)
        device->queries[which].lost |= KINDS[which] != GPU_JOB_CLAIM;
    int code = 0;
    if (claims)
        return gpu_table_claims(table, source->number, device->target.slot, &job->sample);
    if (job->sample.state != VITALS_UNSET)
        code = gpu_table_sample(table, source->number, device->target.slot, &job->sample);

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
        code = gpu_table_processes(table, source->number, device->target.slot, &query->question,
                                   processes);
    }
    if (late && code == 0)
        gpu_table_late(table, source->number, device->target.slot, &query->question);
    return code;
}

/* ---- asking ---- */

static void ask(struct gpu_source *source, size_t number, const struct metric_set *question,
                struct gpu_sweep *swept, uint64_t now_ns)
{
    const struct queried_device *device = &source->devices[number / DEVICE_QUERIES];
    struct device_query *query = query_at(source, number);
    if (query->worker == NULL) {
        /* A job on the newest worker of those that serve its kind. */
        struct worker **newest = query->kind == GPU_JOB_SLOW    ? &source->newest_slow
                                 : query->kind == GPU_JOB_CLAIM ? &source->notes
                                                                : &source->base.worker;
        if (*newest == NULL)
            *newest = new_worker(source);
        /* Two threads never read one device at once. */
        struct worker *worker = query->kind == GPU_JOB_LATER ? device->queries[READ_QUERY].worker
                                                             : *newest;
        query->job = worker != NULL ? gpu_job_add(worker, query->kind) : -1;
        if (query->job < 0)
            return;
        query->worker = worker;
    }
    struct gpu_job *job = worker_data(query->worker, query->job);
    job->target = device->target;
    job->wanted = query->question = *question;
    gpu_sweep_unref(job->swept);
    job->swept = swept != NULL ? gpu_sweep_ref(swept) : NULL;
    query->pending = (struct metric_set){0};
    query->asked_ns = now_ns;
    query->asked = true;
    query->waits = false;
    worker_ask(query->worker, query->job);
}

/* The metrics of `set` that the device query is asked for; false where none. */
static bool part_of(const struct gpu_source *source, size_t number, const struct metric_set *set,
                    struct metric_set *out)
{
    static const struct {
        unsigned swept;
        vitals_metric metric;
    } own[] = {
        {GPU_SWEPT_LOAD, VITALS_GPU_UTILIZATION_RATIO},
        {GPU_SWEPT_LOAD, VITALS_GPU_BUSY_SECONDS},
        {GPU_SWEPT_ENGINES, VITALS_GPU_ENGINE_UTILIZATION_RATIO},
        {GPU_SWEPT_ENGINES, VITALS_GPU_ENGINE_BUSY_SECONDS},
        {GPU_SWEPT_ENGINES, VITALS_GPU_ENGINE_CAPACITY},
        {GPU_SWEPT_MEMORY, VITALS_GPU_MEMORY_USED_BYTES},
    };
    const struct queried_device *device = &source->devices[number / DEVICE_QUERIES];
    size_t which = number % DEVICE_QUERIES;
    const struct metric_set *part = &source->parts[which], *later = &source->parts[LATER_QUERY];
    for (size_t i = 0; i < ARRAY_COUNT(set->bits); i++)
        for (size_t j = 0; j < ARRAY_COUNT(set->bits[i]); j++) {
            out->bits[i][j] = set->bits[i][j] & part->bits[i][j];
            if (which == READ_QUERY && device->divided)
                out->bits[i][j] &= ~later->bits[i][j];
            if (which == LATER_QUERY && !device->divided)
                out->bits[i][j] = 0;
        }

    /* Metrics of the device that come with its users are left to the query of users. */
    for (size_t i = 0; i < ARRAY_COUNT(own); i++) {
        if ((own[i].swept & device->swept) == 0 || !metric_set_has(set, own[i].metric))
            continue;
        if (KINDS[which] == GPU_JOB_USERS)
            metric_set_add(out, own[i].metric);
        else
            metric_set_remove(out, own[i].metric);
    }
    return !metric_set_is_empty(out);
}

bool gpu_source_wants_devices(const struct metric_set *set)
{
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;) {
        bool of_gpu = entity == VITALS_TABLE_GPU || vitals_table_parent(entity) == VITALS_TABLE_GPU;
        if (of_gpu && metric_set_has_entity(set, entity))
            return true;
    }
    return false;
}

/* Takes note of what is due. Returns whether the query may be asked now. */
static bool is_next(struct gpu_source *source, size_t number, const struct source_tick *tick)
{
    struct device_query *query = query_at(source, number);
    uint64_t now_ns = tick->begin_ns;
    struct metric_set part;
    const struct queried_device *device = &source->devices[number / DEVICE_QUERIES];
    if (device->gone || device->is_left_out)
        return false;
    if (part_of(source, number, tick->due, &part))
        metric_set_join(&query->pending, &part);
    /* A quarter of an interval early is on time: deadlines are absolute, answers are not. */
    bool paid = now_ns + tick->interval_ns / 4 >= query->paid_until_ns;
    query->held = !paid && query->hung > 0;
    return paid && !query->asked && gpu_source_wants_devices(&query->pending);
}

static void ask_query(struct gpu_source *source, size_t number, const struct source_tick *tick)
{
    struct device_query *query = query_at(source, number);
    struct metric_set part;
    if (query->kind == GPU_JOB_USERS) {
        query->waits = true;
        return;
    }
    if (!query->known || query->lost) /* what was read before it was lost holds no more */
        part_of(source, number, tick->wanted, &part);
    else
        part = query->pending;
    ask(source, number, &part, NULL, tick->begin_ns);
}

/* Asks divided devices for their other readings, the one that has waited longest first, as many as
 * take a quarter of the interval: the next tick's first readings come behind them. */
static void ask_later(struct gpu_source *source, const struct source_tick *tick)
{
    uint64_t taken_ns = 0;
    for (size_t i = 0; i < source->device_count; i++) {
        const struct device_query *query = &source->devices[i].queries[LATER_QUERY];
        taken_ns += query->asked ? query->cost_ns : 0;
    }
    while (taken_ns < tick->interval_ns / 4) {
        struct device_query *next = NULL;
        size_t number = 0;
        for (size_t i = LATER_QUERY; i < query_count(source); i += DEVICE_QUERIES) {
            struct device_query *query = query_at(source, i);
            if (is_next(source, i, tick) && (next == NULL || query->asked_ns < next->asked_ns)) {
                next = query;
                number = i;
            }
        }
        if (next == NULL)
            return;
        taken_ns += next->cost_ns;
        ask_query(source, number, tick);
        if (!next->asked)
            return; // no memory for its job
    }
}

static int take_queries(struct gpu_source *source, const struct source_tick *tick)
{
    int code = 0;
    for (size_t i = 0; i < query_count(source) && code == 0; i++)
        code = take_query(source, &source->devices[i / DEVICE_QUERIES], query_at(source, i), tick);
    return code;
}

static void gpu_begin(struct source *base, const struct source_tick *tick)
{
    struct gpu_source *source = (struct gpu_source *)base;
    uint64_t now_ns = tick->begin_ns;
    if (!gpu_source_wants_devices(tick->wanted) &&
        !metric_set_has_entity(tick->wanted, VITALS_TABLE_DIAGNOSIS))
        return;

    if (!source->scan_asked && now_ns >= source->next_scan_ns) {
        source->next_scan_ns = now_ns + RESCAN_SECONDS * NS_PER_SECOND;
        source->scan_asked = true;
        worker_ask(source->scan_worker, source->scan_job);
    }

    /* Behind the scan, on its worker. */
    bool diagnose = !source->diagnosis_asked &&
                    metric_set_has_entity(tick->due, VITALS_TABLE_DIAGNOSIS);
    if (diagnose && source->diagnosis_job < 0) {
        source->diagnosis_worker = source->scan_worker;
        source->diagnosis_job = gpu_job_add(source->diagnosis_worker, GPU_JOB_DIAGNOSIS);
    }
    if (diagnose && source->diagnosis_job >= 0) {
        struct gpu_job *job = worker_data(source->diagnosis_worker, source->diagnosis_job);
        job->wanted = *tick->due;
        metric_set_add_identities(&job->wanted, VITALS_TABLE_DIAGNOSIS);
        source->diagnosis_asked = true;
        worker_ask(source->diagnosis_worker, source->diagnosis_job);
    }
    /* Answers that came after the last tick's deadline: these devices are asked anew. */
    int code = take_queries(source, tick);
    source->code = code < 0 ? code : source->code;
    refresh_choice(source, tick->devices);
    for (size_t i = 0; i < query_count(source); i++)
        if (KINDS[i % DEVICE_QUERIES] != GPU_JOB_LATER && is_next(source, i, tick))
            ask_query(source, i, tick);
    ask_later(source, tick);
}

static int gpu_collect(struct source *base, const struct source_tick *tick)
{
    struct gpu_source *source = (struct gpu_source *)base;
    uint64_t now_ns = source_now(base);
    int code = source->code;
    source->code = 0;
    if (code == 0)
        code = take_scan(source, tick->devices, now_ns);
    if (code == 0 && source->diagnosis_job >= 0 &&
        worker_collect(source->diagnosis_worker, source->diagnosis_job)) {
        struct gpu_job *job = worker_data(source->diagnosis_worker, source->diagnosis_job);
        source->diagnosis_asked = source->diagnosis_hangs = false;
        code = identities_give(&source->subjects, &job->sample.batch, VITALS_TABLE_DIAGNOSIS);
        if (code == 0)
            code = cache_take(&source->diagnosis, &job->sample.batch, now_ns);
    }
    if (code == 0)
        code = take_queries(source, tick);

    gpu_table_scans(tick->devices, source->number,
                    source->scan_asked && source->state == VITALS_NOT_YET);

    /* Devices that were found since the tick began are asked, so that they are in it already. */
    now_ns = source_now(base);
    struct metric_set part;
    refresh_choice(source, tick->devices);
    for (size_t i = 0; i < query_count(source); i++) {
        const struct queried_device *device = &source->devices[i / DEVICE_QUERIES];
        struct device_query *query = query_at(source, i);
        if (query->known || query->asked || query->waits || device->gone || device->is_left_out ||
            !part_of(source, i, tick->wanted, &part))
            continue;
        if (query->kind == GPU_JOB_USERS)
            query->waits = true;
        else
            ask(source, i, &part, NULL, now_ns);
    }
    if (code < 0 || tick->sweeps == NULL || !gpu_source_waits(base))
        return code;

    struct gpu_sweep *swept;
    enum sweep_answer answer = sweep_source_take(tick->sweeps, &swept);
    if (answer != SWEEP_NONE)
        gpu_source_ask_users(base, tick->wanted, swept, answer == SWEEP_OLD, source_now(base));
    return 0;
}

bool gpu_source_waits(const struct source *base)
{
    const struct gpu_source *source = (const struct gpu_source *)base;
    bool waits = false;
    for (size_t i = 0; i < query_count(source); i++)
        waits |= query_at(source, i)->waits;
    return waits;
}

void gpu_source_ask_users(struct source *base, const struct metric_set *wanted,
                          struct gpu_sweep *swept, bool is_old, uint64_t now_ns)
{
    struct gpu_source *source = (struct gpu_source *)base;
    struct metric_set part;
    for (size_t i = 0; i < query_count(source); i++) {
        struct device_query *query = query_at(source, i);
        if (!query->waits || !part_of(source, i, wanted, &part))
            continue;
        query->is_old = is_old;
        ask(source, i, &part, swept, now_ns);
    }
}

/* ---- waiting ---- */

static uint64_t brief_end(const struct device_query *query)
{
    return saturating_add(query->asked_ns, NOTES_MS * NS_PER_MS);
}

/* Whether a tick waits for its answer: for slow readings only once, and for job claims, whose files
 * may be on a remote disk, only once and briefly. */
static bool is_waited_for(const struct device_query *query, uint64_t now_ns)
{
    bool claim = query->kind == GPU_JOB_CLAIM, once = claim || query->kind == GPU_JOB_SLOW;
    bool is_over = claim && now_ns >= brief_end(query);
    return (query->asked || query->waits) && !query->hangs && !(once && query->known) && !is_over;
}

static uint64_t gpu_patience(const struct source *base, const struct source_tick *tick UNUSED,
                             uint64_t deadline_ns)
{
    const struct gpu_source *source = (const struct gpu_source *)base;
    uint64_t now_ns = source_now(base);
    for (size_t i = 0; i < query_count(source); i++) {
        const struct device_query *query = query_at(source, i);
        if (query->kind == GPU_JOB_CLAIM && is_waited_for(query, now_ns) &&
            brief_end(query) < deadline_ns)
            deadline_ns = brief_end(query);
    }
    return deadline_ns;
}

static bool gpu_settled(const struct source *base, const struct source_tick *tick UNUSED)
{
    const struct gpu_source *source = (const struct gpu_source *)base;
    uint64_t now_ns = source_now(base);
    if ((source->scan_asked && !source->scan_hangs) ||
        (source->diagnosis_asked && !source->diagnosis_hangs))
        return false;
    for (size_t i = 0; i < query_count(source); i++)
        if (is_waited_for(query_at(source, i), now_ns))
            return false;
    return true;
}

/* ---- hangs ---- */

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
    size_t count = query_count(source);
    for (size_t i = 0; i < count; i++)
        others |= &source->devices[i / DEVICE_QUERIES] != hung &&
                  query_at(source, i)->worker == worker;
    struct worker *fresh = others ? new_worker(source) : NULL;
    if (fresh == NULL)
        return false;

    for (size_t i = 0; i < count; i++) {
        struct queried_device *device = &source->devices[i / DEVICE_QUERIES];
        struct device_query *query = query_at(source, i);
        /* Two threads never read one device at once: where its readings, which come first here,
         * stay with the thread, so do the rest and its users. */
        bool stays = (query->kind == GPU_JOB_LATER || query->kind == GPU_JOB_USERS) &&
                     device->queries[READ_QUERY].worker == worker;
        if (query->worker == worker && device != hung && !stays)
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
        for (size_t j = 0; j < query_count(source); j++) {
            struct device_query *query = query_at(source, j);
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

/* Devices that the first scan has listed so far, if it takes long, are read on a worker of their
 * own; false if there are no new ones. */
static bool take_listed(struct gpu_source *source, struct gpu_table *table)
{
    const struct gpu_world *world = source->world;
    if (!source->scan_hangs || source->state != VITALS_NOT_YET || world->backend->listed == NULL ||
        !atomic_load(&world->open))
        return false;
    struct gpu_scan *scan = memory_alloc(sizeof *scan);
    if (scan == NULL)
        return false;
    world->backend->listed(world->state, scan);
    bool more = scan->count > source->device_count, first = source->device_count == 0;
    struct worker *worker = more && first ? new_worker(source) : NULL;
    bool taken = more && (worker != NULL || !first) && list_devices(source, table, scan) == 0;
    if (worker != NULL)
        source->base.worker = worker;
    unsigned whole = 0; /* without partitions, which the driver's count does not have */
    for (uint32_t i = 0; i < scan->count; i++)
        whole += scan->devices[i].parent_slot < 0;
    if (source->device_count > 0 && scan->expected > 0)
        snprintf(source->message, sizeof source->message,
                 "%u of %u devices listed, then the driver did not answer", whole, scan->expected);
    else if (source->device_count > 0)
        snprintf(source->message, sizeof source->message,
                 "%u listed, then the driver did not answer", whole);
    memory_free(scan);
    return taken;
}

static bool gpu_late(struct source *base, const struct source_tick *tick)
{
    struct gpu_source *source = (struct gpu_source *)base;
    struct gpu_table *table = tick->devices;
    uint64_t now_ns = source_now(base);
    static const char SILENT[] = "the driver has not answered yet";
    source->code = take_queries(source, tick); // what came just now is not late
    bool late = source->scan_asked;
    for (size_t i = 0; i < query_count(source); i++) {
        struct device_query *query = query_at(source, i);
        bool missing = is_waited_for(query, now_ns) || (query->asked && query->hangs);
        if (query->kind == GPU_JOB_LATER && !query->hangs)
            missing = false; // its values become stale by their age
        late |= missing && query->kind != GPU_JOB_CLAIM;
        if (missing)
            gpu_table_late(table, source->number, source->devices[i / DEVICE_QUERIES].target.slot,
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

/* ---- its rows ---- */

/* Every back end counts its own; a number of its own in front keeps keys apart. */
enum { DIAGNOSIS_KEYS = 1 << 20 };

/* If it has not answered in time a row says so, its older findings are stale, and the table is
 * LOWER_BOUND. */
static void gpu_write_diagnosis(const struct source *base, vitals_builder *builder,
                                uint64_t stamp_ns)
{
    const struct gpu_source *source = (const struct gpu_source *)base;
    const struct row_batch *batch = &source->diagnosis.kept;
    for (size_t i = 0; i < batch->row_count; i++) {
        const struct batch_row *row = &batch->rows[i];
        struct span label = batch_label(batch, row);
        vitals_builder_row(builder, VITALS_TABLE_DIAGNOSIS,
                           (source->number + 1) * DIAGNOSIS_KEYS + row->key, 0,
                           (vitals_text){label.bytes, label.size}, stamp_ns);
        builder_batch(builder, batch, row);
        builder_rest(builder, VITALS_TABLE_DIAGNOSIS, VITALS_UNSUPPORTED);
    }
    if (!source->diagnosis.overdue)
        return;

    /* That a driver does not answer is the most that is known of it. */
    char subject[64];
    int size = snprintf(subject, sizeof subject, "%s driver", source->world->backend->name);
    bool hangs = source->diagnosis_hangs;
    const struct {
        vitals_metric metric;
        const char *text;
    } texts[] = {
        {VITALS_DIAGNOSIS_SUBJECT, subject},
        {VITALS_DIAGNOSIS_SEVERITY, hangs ? "problem" : "notice"},
        {VITALS_DIAGNOSIS_FINDING,
         hangs ? "it does not answer: a call into it hangs" : "it has not answered in time"},
        {VITALS_DIAGNOSIS_REMEDY, "sudo dmesg | tail -n 50"},
    };
    vitals_builder_row(builder, VITALS_TABLE_DIAGNOSIS, (source->number + 2) * DIAGNOSIS_KEYS - 1,
                       0, (vitals_text){subject, (size_t)size}, stamp_ns);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        vitals_builder_text(builder, texts[i].metric, source_text(texts[i].text), VITALS_HAVE);
    builder_rest(builder, VITALS_TABLE_DIAGNOSIS, VITALS_TIMED_OUT);
    vitals_builder_state(builder, VITALS_TABLE_DIAGNOSIS, VITALS_LOWER_BOUND);
}

static void gpu_write(const struct source *base, vitals_builder *builder, uint64_t stamp_ns)
{
    const struct gpu_source *source = (const struct gpu_source *)base;
    uint64_t hanging = source->scan_hangs || source->diagnosis_hangs;
    for (size_t i = 0; i < source->device_count; i++) {
        bool any = false;
        for (size_t which = 0; which < DEVICE_QUERIES; which++)
            any |= source->devices[i].queries[which].hangs && KINDS[which] != GPU_JOB_CLAIM;
        hanging += any;
    }
    source_begin_row(builder, VITALS_SOURCE_BACK_ENDS + source->number,
                     source->world->backend->name, source->message,
                     (vitals_availability)source->state, stamp_ns);
    source_end_row(base, builder, value_u64(hanging));
}

static void gpu_let_go(struct source *base)
{
    struct gpu_source *source = (struct gpu_source *)base;
    struct gpu_world *world = source->world;
    source->world = NULL;
    worker_world_unref(world != NULL ? &world->base : NULL);
}

static void gpu_done(struct source *base)
{
    struct gpu_source *source = (struct gpu_source *)base;
    gpu_let_go(base);
    cache_done(&source->diagnosis);
    identities_done(&source->subjects);
    memory_free(source->devices);
}

static const struct source_ops OPS = {.size = sizeof(struct gpu_source),
                                      .let_go = gpu_let_go,
                                      .done = gpu_done,
                                      .begin = gpu_begin,
                                      .collect = gpu_collect,
                                      .settled = gpu_settled,
                                      .patience = gpu_patience,
                                      .late = gpu_late,
                                      .write_diagnosis = gpu_write_diagnosis,
                                      .write = gpu_write};

/* Whether a divided device is asked for it first: what every screen shows, and shows to move. */
static bool comes_first(vitals_metric metric)
{
    static const vitals_metric FIRST[] = {VITALS_GPU_UTILIZATION_RATIO,
                                          VITALS_GPU_BUSY_SECONDS,
                                          VITALS_GPU_MEMORY_BUSY_RATIO,
                                          VITALS_GPU_MEMORY_USED_BYTES,
                                          VITALS_GPU_MEMORY_FREE_BYTES,
                                          VITALS_GPU_MEMORY_TOTAL_BYTES,
                                          VITALS_GPU_MEMORY_RESERVED_BYTES,
                                          VITALS_GPU_UNIFIED_MEMORY,
                                          VITALS_GPU_PROCESSES};
    for (size_t i = 0; i < ARRAY_COUNT(FIRST); i++)
        if (FIRST[i] == metric)
            return true;
    return vitals_metric_table(metric) == VITALS_TABLE_GPU_PROCESS;
}

int gpu_source_add(struct sources *sources, const struct gpu_backend *backend, unsigned number)
{
    struct gpu_source *source = sources_add(sources, &OPS, &GPU_SERVICE, 0);
    if (source == NULL)
        return VITALS_EMEMORY;

    source->number = number;
    source->state = VITALS_NOT_YET;
    source->diagnosis_job = -1;
    source->world = worker_world_new(sources->context, sizeof *source->world, gpu_world_done);
    if (source->world == NULL)
        return VITALS_EMEMORY;
    source->world->backend = backend;

    /* Which device query asks for what of a device of which nothing is swept. */
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        vitals_table entity = vitals_metric_table(m);
        if (entity != VITALS_TABLE_GPU && vitals_table_parent(entity) != VITALS_TABLE_GPU)
            continue;
        bool of_users = entity == VITALS_TABLE_GPU_PROCESS || m == VITALS_GPU_PROCESSES;
        enum gpu_job_kind kind = vitals_metric_price(m) == VITALS_PRICE_SLOW ? GPU_JOB_SLOW
                                 : entity == VITALS_TABLE_GPU_JOB            ? GPU_JOB_CLAIM
                                 : backend->sweeps && of_users               ? GPU_JOB_USERS
                                                                             : GPU_JOB_READ;
        for (size_t i = 0; i < DEVICE_QUERIES; i++)
            if (KINDS[i] == kind)
                metric_set_add(&source->parts[i], m);
        if (kind == GPU_JOB_READ && !comes_first(m))
            metric_set_add(&source->parts[LATER_QUERY], m);
    }
    source->base.worker = source->scan_worker = new_worker(source);
    source->scan_job = source->scan_worker != NULL ? gpu_job_add(source->scan_worker, GPU_JOB_SCAN)
                                                   : -1;
    return source->scan_job < 0 ? VITALS_EMEMORY : 0;
}
