/* gpu_source.c: see gpu_source.h.
 *
 * Two kinds of job: one that opens the back end and lists its devices, and one for each device that
 * reads it and its processes. */
#include "sample/gpu_source.h"

#include "core/memory.h"
#include "sample/context.h"

#include <string.h>

enum {
    HANG_SECONDS = 2,    /* until a call counts as hanging */
    RETRY_SECONDS = 60,  /* at most, until a device that hung is asked again */
    RESCAN_SECONDS = 10, /* at least, until devices are listed anew */
    SCAN_SHARE = 1000,   /* of the wall time: one part may go to listing devices, */
    READING_SHARE = 111  /* and one to reading them: together less than a hundredth */
};

/* ---- the lane's side ---- */

/* What the lanes of one back end share. Counted; the last lane to go closes the back end. */
struct gpu_world {
    atomic_uint refs;
    vitals_context *context;
    const struct gpu_backend *backend;
    void *state; /* lane with the scan job, then constant */
    bool open;   /* likewise */
};

enum gpu_job_kind { JOB_SCAN, JOB_DEVICE };

/* Begins every job's data. */
struct gpu_job {
    enum gpu_job_kind kind;
    uint64_t spent_ns; /* answer: wall time inside the driver */
};

struct scan_job {
    struct gpu_job job;
    struct gpu_scan scan; /* answer */
};

struct device_job {
    struct gpu_job job;
    uint32_t slot;                  /* question */
    struct metric_set wanted;       /* question */
    struct gpu_sample sample;       /* answer */
    struct gpu_processes processes; /* answer; its items are touched only as far as they are used */
};

static void work_scan(struct gpu_world *world, struct scan_job *job)
{
    memset(&job->scan, 0, offsetof(struct gpu_scan, devices));
    if (!world->open) {
        if (world->backend->open(world->context, &world->state, &job->scan) < 0)
            return;
        world->open = true;
    }
    world->backend->scan(world->state, &job->scan);
}

static void work_device(struct gpu_world *world, struct device_job *job)
{
    memset(&job->sample, 0, sizeof(job->sample));
    memset(&job->processes, 0, offsetof(struct gpu_processes, items));
    world->backend->sample(world->state, job->slot, &job->wanted, &job->sample);
    if (metric_set_has_entity(&job->wanted, VITALS_GPU_PROCESS) ||
        metric_set_has(&job->wanted, VITALS_GPU_PROCESSES))
        world->backend->processes(world->state, job->slot, NULL, &job->wanted, &job->processes);
}

static void work(void *argument, void *data)
{
    struct gpu_world *world = argument;
    struct gpu_job *job = data;
    const vitals_clock *clock = &world->context->os.clock;
    uint64_t begin = clock->monotonic_ns(clock->data);
    if (job->kind == JOB_SCAN)
        work_scan(world, data);
    else
        work_device(world, data);
    job->spent_ns = clock->monotonic_ns(clock->data) - begin;
}

static void world_ref(void *argument)
{
    struct gpu_world *world = argument;
    atomic_fetch_add_explicit(&world->refs, 1, memory_order_relaxed);
}

static void world_unref(void *argument)
{
    struct gpu_world *world = argument;
    if (atomic_fetch_sub_explicit(&world->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (world->open)
        world->backend->close(world->state);
    context_unref(world->context);
    memory_free(world);
}

static const struct lane_service GPU_SERVICE = {.name = "vitals-gpu",
                                                .work = work,
                                                .world_ref = world_ref,
                                                .world_unref = world_unref,
                                                .data_free = memory_free};

/* ---- the owner's side ---- */

struct gpu_device {
    uint32_t slot;
    struct lane *lane;
    int job;
    bool asked;    /* and not answered yet */
    bool hangs;    /* quarantined: nobody waits for its answer */
    bool known;    /* has answered before */
    bool held;     /* would have been asked in this tick, if it had not hung so often */
    unsigned hung; /* answers in a row that took so long */
    uint64_t asked_ns;
    uint64_t paid_until_ns;    /* what it has cost so far is within its share by then */
    struct metric_set pending; /* due since it was last asked */
};

struct gpu_source {
    unsigned number; /* of the back end */
    struct gpu_world *world;
    struct lane_hub *hub;

    struct lane **lanes; /* the newest one, last, is the one in service */
    size_t lane_count, lane_capacity;
    int scan_job; /* on the lane that scan_lane names */
    struct lane *scan_lane;
    bool scan_asked, scan_hangs;
    uint64_t next_scan_ns;

    struct gpu_device *devices;
    size_t device_count, device_capacity;

    signed char state;
    char message[GPU_MESSAGE];
    uint64_t calls, spent_ns, timeouts;
};

static struct lane *add_lane(struct gpu_source *source)
{
    if (memory_grow((void **)&source->lanes, &source->lane_capacity, source->lane_count,
                    sizeof(struct lane *)) < 0)
        return NULL;
    struct lane *lane = lane_new(source->hub, &GPU_SERVICE, source->world);
    if (lane != NULL)
        source->lanes[source->lane_count++] = lane;
    return lane;
}

static int add_scan_job(struct gpu_source *source)
{
    struct scan_job *job = memory_alloc(sizeof(*job));
    if (job == NULL)
        return -1;
    job->job.kind = JOB_SCAN;
    source->scan_job = lane_add(source->scan_lane, job);
    if (source->scan_job < 0)
        memory_free(job);
    return source->scan_job < 0 ? -1 : 0;
}

struct gpu_source *gpu_source_new(vitals_context *context, struct lane_hub *hub,
                                  const struct gpu_backend *backend, unsigned number)
{
    struct gpu_source *source = memory_alloc(sizeof(*source));
    if (source == NULL)
        return NULL;
    source->number = number;
    source->hub = hub;
    source->state = VITALS_NOT_YET;
    source->world = memory_alloc(sizeof(*source->world));
    if (source->world == NULL) {
        memory_free(source);
        return NULL;
    }
    atomic_init(&source->world->refs, 1);
    source->world->context = context_ref(context);
    source->world->backend = backend;
    source->scan_lane = add_lane(source);
    if (source->scan_lane == NULL || add_scan_job(source) < 0) {
        const vitals_clock *clock = &context->os.clock;
        gpu_source_free(source, clock->monotonic_ns(clock->data) + NS_PER_SECOND);
        return NULL;
    }
    return source;
}

void gpu_source_tell_end(struct gpu_source *source)
{
    for (size_t i = 0; i < source->lane_count; i++)
        lane_tell_end(source->lanes[i]);
}

void gpu_source_free(struct gpu_source *source, uint64_t deadline_ns)
{
    if (source == NULL)
        return;
    gpu_source_tell_end(source);
    for (size_t i = 0; i < source->lane_count; i++)
        lane_end(source->lanes[i], deadline_ns);
    gpu_source_forget(source);
}

void gpu_source_forget(struct gpu_source *source)
{
    if (source == NULL)
        return;
    world_unref(source->world);
    memory_free(source->lanes);
    memory_free(source->devices);
    memory_free(source);
}

/* ---- asking ---- */

static void ask_scan(struct gpu_source *source, uint64_t now_ns)
{
    if (source->scan_asked || now_ns < source->next_scan_ns)
        return;
    source->next_scan_ns = now_ns + RESCAN_SECONDS * NS_PER_SECOND;
    source->scan_asked = true;
    lane_ask(source->scan_lane, source->scan_job);
}

static void ask_device(struct gpu_device *device, const struct metric_set *question,
                       uint64_t now_ns)
{
    struct device_job *job = lane_data(device->lane, device->job);
    job->slot = device->slot;
    job->wanted = *question;
    device->pending = (struct metric_set){0};
    device->asked_ns = now_ns;
    device->asked = true;
    lane_ask(device->lane, device->job);
}

static void add_pending(struct gpu_device *device, const struct metric_set *due)
{
    for (size_t i = 0; i < ARRAY_COUNT(due->bits); i++) {
        for (size_t j = 0; j < ARRAY_COUNT(due->bits[i]); j++)
            device->pending.bits[i][j] |= due->bits[i][j];
    }
}

static bool wants_devices(const struct metric_set *set)
{
    for (vitals_entity entity = vitals_entity_next((vitals_entity)0); entity != 0;
         entity = vitals_entity_next(entity)) {
        bool of_gpu = entity == VITALS_GPU || vitals_entity_parent(entity) == VITALS_GPU;
        if (of_gpu && metric_set_has_entity(set, entity))
            return true;
    }
    return false;
}

void gpu_source_ask(struct gpu_source *source, const struct metric_set *wanted,
                    const struct metric_set *due, uint64_t now_ns, uint64_t interval_ns)
{
    if (!wants_devices(wanted))
        return;
    ask_scan(source, now_ns);
    for (size_t i = 0; i < source->device_count; i++) {
        struct gpu_device *device = &source->devices[i];
        add_pending(device, due);
        /* A quarter of an interval early is on time: deadlines are absolute, answers are not. */
        bool paid = now_ns + interval_ns / 4 >= device->paid_until_ns;
        device->held = !paid && device->hung > 0;
        if (paid && !device->asked && wants_devices(&device->pending))
            ask_device(device, device->known ? &device->pending : wanted, now_ns);
    }
}

void gpu_source_ask_new(struct gpu_source *source, const struct metric_set *wanted, uint64_t now_ns)
{
    for (size_t i = 0; i < source->device_count; i++) {
        struct gpu_device *device = &source->devices[i];
        if (!device->known && !device->asked)
            ask_device(device, wanted, now_ns);
    }
}

/* ---- collecting ---- */

static void count_call(struct gpu_source *source, const struct gpu_job *job)
{
    source->calls++;
    source->spent_ns += job->spent_ns;
}

static struct gpu_device *find_device(struct gpu_source *source, uint32_t slot)
{
    for (size_t i = 0; i < source->device_count; i++) {
        if (source->devices[i].slot == slot)
            return &source->devices[i];
    }
    return NULL;
}

static int add_device(struct gpu_source *source, uint32_t slot)
{
    if (memory_grow((void **)&source->devices, &source->device_capacity, source->device_count,
                    sizeof(*source->devices)) < 0)
        return VITALS_EMEMORY;
    struct device_job *job = memory_alloc(sizeof(*job));
    if (job == NULL)
        return VITALS_EMEMORY;
    job->job.kind = JOB_DEVICE;
    struct gpu_device device = {.slot = slot, .lane = source->lanes[source->lane_count - 1]};
    device.job = lane_add(device.lane, job);
    if (device.job < 0) {
        memory_free(job);
        return VITALS_EMEMORY;
    }
    source->devices[source->device_count++] = device;
    return 0;
}

static bool is_listed(const struct gpu_scan *scan, uint32_t slot)
{
    for (uint32_t i = 0; i < scan->count; i++) {
        if (scan->devices[i].slot == slot)
            return true;
    }
    return false;
}

/* Devices that left are forgotten, unless a thread is still in them. */
static void drop_devices(struct gpu_source *source, const struct gpu_scan *scan)
{
    size_t kept = 0;
    for (size_t i = 0; i < source->device_count; i++) {
        struct gpu_device *device = &source->devices[i];
        void *data = NULL;
        if (!is_listed(scan, device->slot))
            data = lane_remove(device->lane, device->job);
        if (data != NULL)
            memory_free(data);
        else
            source->devices[kept++] = *device;
    }
    source->device_count = kept;
}

static int use_scan(struct gpu_source *source, struct gpu_table *table, const struct gpu_scan *scan)
{
    source->state = scan->state;
    memcpy(source->message, scan->message, sizeof(source->message));
    drop_devices(source, scan);
    for (uint32_t i = 0; i < scan->count; i++) {
        uint32_t slot = scan->devices[i].slot;
        if (find_device(source, slot) == NULL && add_device(source, slot) < 0)
            return VITALS_EMEMORY;
    }
    return gpu_table_scan(table, source->number, scan);
}

static int take_scan(struct gpu_source *source, struct gpu_table *table, uint64_t now_ns)
{
    if (!lane_collect(source->scan_lane, source->scan_job))
        return 0;
    const struct scan_job *job = lane_data(source->scan_lane, source->scan_job);
    source->scan_asked = source->scan_hangs = false;
    count_call(source, &job->job);
    uint64_t paid = saturating_add(now_ns, saturating_mul(job->job.spent_ns, SCAN_SHARE));
    if (source->state != VITALS_NOT_YET && paid > source->next_scan_ns)
        source->next_scan_ns = paid; /* the first scan loads the driver: that is paid once */
    int code = use_scan(source, table, &job->scan);
    if (code < 0)
        source->next_scan_ns = now_ns; /* try again with the next tick */
    return code;
}

/* Every device has an equal part of the driver's share of the wall time, so that a slow one does
 * not keep the others back. The first reading is free: it may have to wake the device. So is the
 * first call that hangs; who hangs again is left alone for a while. */
static void charge(const struct gpu_source *source, struct gpu_device *device, uint64_t spent_ns,
                   uint64_t now_ns)
{
    uint64_t share = READING_SHARE * (uint64_t)source->device_count;
    uint64_t price = saturating_mul(spent_ns, share);
    if (spent_ns >= HANG_SECONDS * NS_PER_SECOND) {
        device->hung++;
        uint64_t pause = price < RETRY_SECONDS * NS_PER_SECOND ? price
                                                               : RETRY_SECONDS * NS_PER_SECOND;
        device->paid_until_ns = device->hung > 1 ? now_ns + pause : now_ns;
        return;
    }
    device->hung = 0;
    uint64_t from = device->paid_until_ns > device->asked_ns ? device->paid_until_ns
                                                             : device->asked_ns;
    if (device->known)
        device->paid_until_ns = saturating_add(from, price);
}

static int take_device(struct gpu_source *source, struct gpu_device *device,
                       struct gpu_table *table, uint64_t now_ns)
{
    if (device->held)
        gpu_table_late(table, source->number, device->slot);
    if (!lane_collect(device->lane, device->job))
        return 0;
    const struct device_job *job = lane_data(device->lane, device->job);
    device->asked = device->hangs = device->held = false;
    count_call(source, &job->job);
    charge(source, device, job->job.spent_ns, now_ns);
    device->known = true;
    int code = gpu_table_sample(table, source->number, device->slot, &job->sample);
    if (code == 0 && job->processes.state != VITALS_UNSET)
        code = gpu_table_processes(table, source->number, device->slot, &job->processes);
    return code;
}

int gpu_source_collect(struct gpu_source *source, struct gpu_table *table)
{
    const vitals_clock *clock = &source->world->context->os.clock;
    uint64_t now_ns = clock->monotonic_ns(clock->data);
    int code = take_scan(source, table, now_ns);
    for (size_t i = 0; i < source->device_count && code == 0; i++)
        code = take_device(source, &source->devices[i], table, now_ns);
    return code;
}

bool gpu_source_settled(const struct gpu_source *source)
{
    if (source->scan_asked && !source->scan_hangs)
        return false;
    for (size_t i = 0; i < source->device_count; i++) {
        if (source->devices[i].asked && !source->devices[i].hangs)
            return false;
    }
    return true;
}

/* ---- late ---- */

/* Moves a job to another lane; where the thread is in it by now, it stays. */
static void move_job(struct lane **lane, int *job, struct lane *to)
{
    bool ask = lane_state(*lane, *job) !=
               LANE_IDLE; /* an answer that just came is asked for anew */
    void *data = lane_remove(*lane, *job);
    if (data == NULL)
        return;
    *job = lane_add(to, data); /* a new lane has room for all that an old one held */
    *lane = to;
    if (ask)
        lane_ask(*lane, *job);
}

/* How many devices a lane serves beside the one it hangs in: alone, there is nobody to move. */
static bool serves_others(const struct gpu_source *source, const struct lane *lane, int job)
{
    if (source->scan_lane == lane && source->scan_job != job)
        return true;
    for (size_t i = 0; i < source->device_count; i++) {
        if (source->devices[i].lane == lane && source->devices[i].job != job)
            return true;
    }
    return false;
}

/* Nobody waits any longer for what a lane hangs in. */
static void quarantine(struct gpu_source *source, const struct lane *hung, int job)
{
    if (source->scan_lane == hung && source->scan_job == job)
        source->scan_hangs = true;
    for (size_t i = 0; i < source->device_count; i++) {
        struct gpu_device *device = &source->devices[i];
        if (device->lane == hung && device->job == job)
            device->hangs = true;
    }
}

/* Whatever else the lane served goes to a new one; where there is no thread to be had, it waits. */
static bool isolate(struct gpu_source *source, struct lane *hung, int job)
{
    struct lane *lane = serves_others(source, hung, job) ? add_lane(source) : NULL;
    if (lane == NULL)
        return false;
    for (size_t i = 0; i < source->device_count; i++) {
        struct gpu_device *device = &source->devices[i];
        if (device->lane == hung && device->job != job)
            move_job(&device->lane, &device->job, lane);
    }
    if (source->scan_lane == hung && source->scan_job != job)
        move_job(&source->scan_lane, &source->scan_job, lane);
    return true;
}

static bool isolate_hung(struct gpu_source *source, uint64_t now_ns)
{
    bool moved = false;
    for (size_t i = 0, count = source->lane_count; i < count; i++) {
        uint64_t since;
        int job = lane_running(source->lanes[i], &since);
        if (job < 0 || now_ns < since + HANG_SECONDS * NS_PER_SECOND)
            continue;
        quarantine(source, source->lanes[i], job);
        moved |= isolate(source, source->lanes[i], job);
    }
    return moved;
}

bool gpu_source_late(struct gpu_source *source, struct gpu_table *table, uint64_t now_ns)
{
    static const char SILENT[] = "the driver has not answered yet";
    bool late = source->scan_asked;
    for (size_t i = 0; i < source->device_count; i++) {
        if (!source->devices[i].asked)
            continue;
        late = true;
        gpu_table_late(table, source->number, source->devices[i].slot);
    }
    source->timeouts += late;
    if (source->scan_asked && source->state == VITALS_NOT_YET)
        memcpy(source->message, SILENT, sizeof(SILENT));
    return isolate_hung(source, now_ns);
}

/* ---- its row ---- */

static uint64_t count_hanging(const struct gpu_source *source)
{
    uint64_t hanging = source->scan_hangs;
    for (size_t i = 0; i < source->device_count; i++)
        hanging += source->devices[i].hangs;
    return hanging;
}

void gpu_source_write(const struct gpu_source *source, vitals_builder *builder, uint64_t stamp_ns)
{
    enum { KEY_BASE = 16 };
    const char *name = source->world->backend->name;
    const char *state = vitals_availability_name((vitals_availability)source->state);
    vitals_builder_row(builder, VITALS_SOURCE, KEY_BASE + source->number, 0,
                       (vitals_text){name, strlen(name)}, stamp_ns);
    vitals_builder_text(builder, VITALS_SOURCE_STATE, (vitals_text){state, strlen(state)},
                        VITALS_HAVE);
    vitals_builder_text(builder, VITALS_SOURCE_MESSAGE,
                        (vitals_text){source->message, strlen(source->message)}, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_SOURCE_CALLS, source->calls, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_SOURCE_CALL_SECONDS, (double)source->spent_ns / 1e9,
                       VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_SOURCE_TIMEOUTS, source->timeouts, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_SOURCE_QUARANTINED, count_hanging(source), VITALS_HAVE);
    vitals_builder_missing(builder, VITALS_SOURCE_MISSED_TICKS, VITALS_UNSUPPORTED);
}
