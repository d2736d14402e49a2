/* gpu_source.c: see gpu_source.h.
 *
 * Two kinds of job: one that opens the back end and lists its devices, and one for each device that
 * reads it and its processes. */
#include "sample/gpu_source.h"

#include "core/memory.h"
#include "sample/context.h"

#include <string.h>

enum {
    HANG_SECONDS = 2,      /* until a call counts as hanging */
    RESCAN_SECONDS = 10,   /* how often devices are listed anew */
    COST_SHARE = 100       /* of the wall time, one part may go to the driver */
};

/* ---- the lane's side ---- */

/* What the lanes of one back end share. Counted; the last lane to go closes the back end. */
struct gpu_world {
    atomic_uint refs;
    vitals_context *context;
    const struct gpu_backend *backend;
    void *state;      /* lane with the scan job, then constant */
    bool open;        /* likewise */
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
    uint32_t slot;             /* question */
    struct metric_set wanted;  /* question */
    struct gpu_sample sample;  /* answer */
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
    bool asked; /* in this round and not answered yet */
    bool hangs; /* quarantined: it is alone on its lane */
};

struct gpu_source {
    unsigned number; /* of the back end */
    struct gpu_world *world;
    struct lane_hub *hub;

    struct lane **lanes; /* the newest one, last, is the one in service */
    size_t lane_count, lane_capacity;
    int scan_job; /* on the lane that scan_lane names */
    struct lane *scan_lane;
    bool scan_asked;
    uint64_t next_scan_ns;

    struct gpu_device *devices;
    size_t device_count, device_capacity;

    signed char state;
    char message[GPU_MESSAGE];
    uint64_t calls, spent_ns, timeouts;
    uint64_t round_spent_ns; /* of the round under way */
    uint64_t next_round_ns;
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

struct gpu_source *gpu_source_new(vitals_context *context, struct lane_hub *hub, unsigned backend)
{
    struct gpu_source *source = memory_alloc(sizeof(*source));
    if (source == NULL)
        return NULL;
    source->number = backend;
    source->hub = hub;
    source->state = VITALS_NOT_YET;
    source->world = memory_alloc(sizeof(*source->world));
    if (source->world == NULL) {
        memory_free(source);
        return NULL;
    }
    atomic_init(&source->world->refs, 1);
    source->world->context = context_ref(context);
    source->world->backend = gpu_backends[backend];
    source->scan_lane = add_lane(source);
    if (source->scan_lane == NULL || add_scan_job(source) < 0) {
        const vitals_clock *clock = &context->os.clock;
        gpu_source_free(source, clock->monotonic_ns(clock->data) + NS_PER_SECOND);
        return NULL;
    }
    return source;
}

void gpu_source_free(struct gpu_source *source, uint64_t deadline_ns)
{
    if (source == NULL)
        return;
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
    if (source->scan_asked || now_ns < source->next_scan_ns ||
        lane_state(source->scan_lane, source->scan_job) != LANE_IDLE)
        return;
    source->next_scan_ns = now_ns + RESCAN_SECONDS * NS_PER_SECOND;
    source->scan_asked = true;
    lane_ask(source->scan_lane, source->scan_job);
}

static void ask_device(struct gpu_device *device, const struct metric_set *due)
{
    if (lane_state(device->lane, device->job) != LANE_IDLE)
        return; /* still at the last question */
    struct device_job *job = lane_data(device->lane, device->job);
    job->slot = device->slot;
    job->wanted = *due;
    device->asked = true;
    lane_ask(device->lane, device->job);
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

int gpu_source_ask(struct gpu_source *source, const struct metric_set *wanted,
                   const struct metric_set *due, uint64_t now_ns, uint64_t interval_ns)
{
    if (!wants_devices(wanted))
        return 0;
    ask_scan(source, now_ns);
    /* A quarter of an interval early is on time: deadlines are absolute, rounds are not. */
    if (now_ns + interval_ns / 4 < source->next_round_ns || !wants_devices(due))
        return 0;
    source->round_spent_ns = 0;
    source->next_round_ns = 0;
    for (size_t i = 0; i < source->device_count; i++)
        ask_device(&source->devices[i], due);
    return 0;
}

/* ---- collecting ---- */

static void account(struct gpu_source *source, const struct gpu_job *job, uint64_t now_ns)
{
    source->calls++;
    source->spent_ns += job->spent_ns;
    source->round_spent_ns += job->spent_ns;
    source->next_round_ns = now_ns + COST_SHARE * source->round_spent_ns;
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

static int take_scan(struct gpu_source *source, struct gpu_table *table, uint64_t now_ns)
{
    if (!lane_collect(source->scan_lane, source->scan_job))
        return 0;
    const struct scan_job *job = lane_data(source->scan_lane, source->scan_job);
    source->scan_asked = false;
    account(source, &job->job, now_ns);
    source->next_round_ns = 0; /* loading the driver is paid once, readings need not wait for it */
    source->state = job->scan.state;
    memcpy(source->message, job->scan.message, sizeof(source->message));
    drop_devices(source, &job->scan);
    for (uint32_t i = 0; i < job->scan.count; i++) {
        uint32_t slot = job->scan.devices[i].slot;
        if (find_device(source, slot) == NULL && add_device(source, slot) < 0)
            return VITALS_EMEMORY;
    }
    return gpu_table_scan(table, source->number, &job->scan);
}

static int take_device(struct gpu_source *source, struct gpu_device *device,
                       struct gpu_table *table, uint64_t now_ns)
{
    if (!lane_collect(device->lane, device->job))
        return 0;
    const struct device_job *job = lane_data(device->lane, device->job);
    device->asked = device->hangs = false;
    account(source, &job->job, now_ns);
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
    if (source->scan_asked)
        return false;
    for (size_t i = 0; i < source->device_count; i++) {
        if (source->devices[i].asked && !source->devices[i].hangs)
            return false;
    }
    return true;
}

/* ---- late ---- */

/* Moves a job to the newest lane, unless the thread is in it. */
static int move_job(struct lane *from, struct lane *to, int job)
{
    bool ask = lane_state(from, job) == LANE_ASKED;
    void *data = lane_remove(from, job);
    if (data == NULL)
        return job;
    int moved = lane_add(to, data); /* a new lane has room for all that an old one held */
    if (ask)
        lane_ask(to, moved);
    return moved;
}

/* The lane hangs in one job: whatever else it served goes to a new one. */
static int isolate(struct gpu_source *source, struct lane *hung, int job)
{
    struct lane *lane = add_lane(source);
    if (lane == NULL)
        return VITALS_EMEMORY;
    for (size_t i = 0; i < source->device_count; i++) {
        struct gpu_device *device = &source->devices[i];
        if (device->lane != hung)
            continue;
        if (device->job == job) {
            device->hangs = true;
        } else if (lane_state(hung, device->job) != LANE_DONE) {
            device->job = move_job(hung, lane, device->job);
            device->lane = lane;
        }
    }
    if (source->scan_lane == hung && source->scan_job != job) {
        source->scan_job = move_job(hung, lane, source->scan_job);
        source->scan_lane = lane;
    }
    return 0;
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

static int isolate_hung(struct gpu_source *source, uint64_t now_ns)
{
    for (size_t i = 0, count = source->lane_count; i < count; i++) {
        uint64_t since;
        int job = lane_running(source->lanes[i], &since);
        if (job < 0 || now_ns < since + HANG_SECONDS * NS_PER_SECOND ||
            !serves_others(source, source->lanes[i], job))
            continue;
        if (isolate(source, source->lanes[i], job) < 0)
            return VITALS_EMEMORY;
    }
    return 0;
}

int gpu_source_late(struct gpu_source *source, struct gpu_table *table, uint64_t now_ns)
{
    bool late = source->scan_asked;
    for (size_t i = 0; i < source->device_count; i++) {
        if (!source->devices[i].asked)
            continue;
        late = true;
        gpu_table_late(table, source->number, source->devices[i].slot);
    }
    source->timeouts += late;
    if (source->scan_asked && source->state == VITALS_NOT_YET)
        memcpy(source->message, "the driver has not answered yet", 32);
    return isolate_hung(source, now_ns);
}

/* ---- its row ---- */

static uint64_t count_hanging(const struct gpu_source *source)
{
    uint64_t hanging = 0;
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
