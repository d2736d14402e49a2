/* slow_source.c: see slow_source.h. */
#include "sample/slow_source.h"

#include "core/memory.h"
#include "sample/context.h"

#include <string.h>

enum {
    BATCHES = 16,         /* so that a late batch does not keep the others back */
    BATCH_PROCESSES = 256 /* what does not fit is asked for when a batch is free again */
};

/* ---- the lane's side ---- */

struct slow_world {
    atomic_uint refs;
    vitals_context *context;
    struct user_cache *users; /* the lane's own */
};

enum slow_kind { SLOW_DETAILS, SLOW_HOST };

/* Begins every job's data. */
struct slow_job {
    enum slow_kind kind;
    uint64_t read_ns, spent_ns; /* answer: when it began, how long it took */
};

struct details_job {
    struct slow_job job;
    struct process_want wants[BATCH_PROCESSES];     /* question */
    size_t count;                                   /* question */
    struct process_detail details[BATCH_PROCESSES]; /* answer */
};

struct host_job {
    struct slow_job job;
    struct metric_set wanted; /* question */
    struct values machine;    /* answer */
};

static void work_details(struct slow_world *world, struct details_job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        process_detail_read(world->context, world->users, &job->wants[i], &job->details[i]);
        job->details[i].read_ns = job->job.read_ns;
    }
}

static void work_host(struct slow_world *world, struct host_job *job)
{
    memset(&job->machine, 0, sizeof(job->machine));
    host_slow_read(world->context, &job->wanted, &job->machine);
}

static void work(void *argument, void *data)
{
    struct slow_world *world = argument;
    struct slow_job *job = data;
    const vitals_clock *clock = &world->context->os.clock;
    job->read_ns = clock->monotonic_ns(clock->data);
    if (job->kind == SLOW_DETAILS)
        work_details(world, data);
    else
        work_host(world, data);
    job->spent_ns = clock->monotonic_ns(clock->data) - job->read_ns;
}

static void world_ref(void *argument)
{
    struct slow_world *world = argument;
    atomic_fetch_add_explicit(&world->refs, 1, memory_order_relaxed);
}

static void world_unref(void *argument)
{
    struct slow_world *world = argument;
    if (atomic_fetch_sub_explicit(&world->refs, 1, memory_order_acq_rel) != 1)
        return;
    user_cache_free(world->users);
    context_unref(world->context);
    memory_free(world);
}

/* A job that nobody collected still holds its answers' text. */
static void data_free(void *data)
{
    const struct slow_job *job = data;
    if (job->kind == SLOW_DETAILS) {
        struct details_job *details = data;
        for (size_t i = 0; i < details->count; i++)
            process_detail_done(&details->details[i]);
    }
    memory_free(data);
}

static const struct lane_service SLOW_SERVICE = {.name = "vitals-files",
                                                 .work = work,
                                                 .world_ref = world_ref,
                                                 .world_unref = world_unref,
                                                 .data_free = data_free};

/* ---- the owner's side ---- */

struct slow_source {
    struct slow_world *world;
    struct lane *lane;
    int batches[BATCHES], host; /* jobs; batches are made when they are needed */
    size_t batch_count;
    bool more; /* there was no batch for some that are due */
    bool host_asked;
    uint64_t host_asked_ns;
    uint64_t calls, spent_ns, timeouts;
};

static int add_job(struct slow_source *source, enum slow_kind kind, size_t size)
{
    struct slow_job *job = memory_alloc(size);
    if (job == NULL)
        return -1;
    job->kind = kind;
    int number = lane_add(source->lane, job);
    if (number < 0)
        memory_free(job);
    return number;
}

static int fill(struct slow_source *source, vitals_context *context, struct lane_hub *hub)
{
    source->world = memory_alloc(sizeof(*source->world));
    if (source->world == NULL)
        return -1;
    atomic_init(&source->world->refs, 1);
    source->world->context = context_ref(context);
    source->world->users = user_cache_new();
    if (source->world->users == NULL)
        return -1;
    source->lane = lane_new(hub, &SLOW_SERVICE, source->world);
    if (source->lane == NULL)
        return -1;
    source->host = add_job(source, SLOW_HOST, sizeof(struct host_job));
    return source->host < 0 ? -1 : 0;
}

struct slow_source *slow_source_new(vitals_context *context, struct lane_hub *hub)
{
    struct slow_source *source = memory_alloc(sizeof(*source));
    if (source == NULL)
        return NULL;
    if (fill(source, context, hub) == 0)
        return source;
    const vitals_clock *clock = &context->os.clock;
    slow_source_free(source, clock->monotonic_ns(clock->data) + NS_PER_SECOND);
    return NULL;
}

void slow_source_free(struct slow_source *source, uint64_t deadline_ns)
{
    if (source == NULL)
        return;
    if (source->lane != NULL)
        lane_end(source->lane, deadline_ns);
    slow_source_forget(source);
}

void slow_source_forget(struct slow_source *source)
{
    if (source == NULL)
        return;
    if (source->world != NULL)
        world_unref(source->world);
    memory_free(source);
}

/* ---- asking ---- */

/* A batch that nobody works on; -1 where there is none and no room for one more. */
static int idle_batch(struct slow_source *source)
{
    for (size_t i = 0; i < source->batch_count; i++) {
        if (lane_state(source->lane, source->batches[i]) == LANE_IDLE)
            return source->batches[i];
    }
    if (source->batch_count == BATCHES)
        return -1;
    int batch = add_job(source, SLOW_DETAILS, sizeof(struct details_job));
    if (batch >= 0)
        source->batches[source->batch_count++] = batch;
    return batch;
}

static void ask_details(struct slow_source *source, struct process_table *processes,
                        const struct metric_set *wanted, uint64_t now_ns, uint64_t every_ns)
{
    if (every_ns == 0)
        every_ns = 1; /* at every tick: but once in it, and all calls of a tick have one now_ns */
    source->more = false;
    for (int batch; (batch = idle_batch(source)) >= 0;) {
        struct details_job *job = lane_data(source->lane, batch);
        job->count = process_table_due(processes, wanted, now_ns, every_ns, job->wants,
                                       BATCH_PROCESSES);
        if (job->count == 0)
            return;
        lane_ask(source->lane, batch);
    }
    source->more = true;
}

bool slow_source_has_more(const struct slow_source *source)
{
    return source->more;
}

static bool wants_slow_host(const struct metric_set *due)
{
    for (unsigned number = 1; number < METRIC_NUMBERS; number++) {
        vitals_metric metric = metric_of(VITALS_HOST, number);
        if (metric_set_has(due, metric) && vitals_metric_price(metric) == VITALS_PRICE_LANE)
            return true;
    }
    return false;
}

void slow_source_ask(struct slow_source *source, struct process_table *processes,
                     const struct metric_set *wanted, const struct metric_set *due, uint64_t now_ns,
                     uint64_t details_every_ns)
{
    if (details_every_ns != UINT64_MAX)
        ask_details(source, processes, wanted, now_ns, details_every_ns);
    bool again = source->host_asked && source->host_asked_ns == now_ns;
    if (again || !wants_slow_host(due) || lane_state(source->lane, source->host) != LANE_IDLE)
        return;
    source->host_asked = true;
    source->host_asked_ns = now_ns;
    struct host_job *job = lane_data(source->lane, source->host);
    job->wanted = *due;
    lane_ask(source->lane, source->host);
}

/* ---- collecting ---- */

/* The data of a job that was answered, or NULL. */
static void *collect(struct slow_source *source, int number)
{
    if (!lane_collect(source->lane, number))
        return NULL;
    struct slow_job *job = lane_data(source->lane, number);
    source->calls++;
    source->spent_ns += job->spent_ns;
    return job;
}

void slow_source_collect(struct slow_source *source, struct process_table *processes,
                         struct host *host)
{
    for (size_t i = 0; i < source->batch_count; i++) {
        struct details_job *job = collect(source, source->batches[i]);
        if (job == NULL)
            continue;
        process_table_take(processes, job->details, job->count);
        job->count = 0;
    }
    const struct host_job *job = collect(source, source->host);
    if (job != NULL)
        host_slow_take(host, &job->machine, job->job.read_ns);
}

bool slow_source_settled(const struct slow_source *source)
{
    for (size_t i = 0; i < source->batch_count; i++) {
        if (lane_state(source->lane, source->batches[i]) != LANE_IDLE)
            return false;
    }
    return lane_state(source->lane, source->host) == LANE_IDLE;
}

void slow_source_late(struct slow_source *source)
{
    source->timeouts += !slow_source_settled(source);
}

void slow_source_write(const struct slow_source *source, vitals_builder *builder, uint64_t stamp_ns)
{
    static const char NAME[] = "files";
    static const char MESSAGE[] = "command lines, users and cgroups, read beside the ticks";
    enum { KEY = 3 };
    vitals_builder_row(builder, VITALS_SOURCE, KEY, 0, (vitals_text){NAME, sizeof(NAME) - 1},
                       stamp_ns);
    vitals_builder_text(builder, VITALS_SOURCE_STATE, (vitals_text){"have", 4}, VITALS_HAVE);
    vitals_builder_text(builder, VITALS_SOURCE_MESSAGE, (vitals_text){MESSAGE, sizeof(MESSAGE) - 1},
                        VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_SOURCE_CALLS, source->calls, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_SOURCE_CALL_SECONDS, (double)source->spent_ns / 1e9,
                       VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_SOURCE_TIMEOUTS, source->timeouts, VITALS_HAVE);
    vitals_builder_missing(builder, VITALS_SOURCE_QUARANTINED, VITALS_UNSUPPORTED);
    vitals_builder_missing(builder, VITALS_SOURCE_MISSED_TICKS, VITALS_UNSUPPORTED);
}
