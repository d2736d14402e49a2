/* sweep_source.c: see sweep_source.h. */
#include "sampler/sweep_source.h"

#include "sampler/context.h"
#include "util/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { HANG_SECONDS = 2, WORKERS_MAX = 4, KEY = 15 };

/* What one worker needs. Counted. */
struct sweep_world {
    struct worker_world base;
    struct gpu_sweeper *sweeper; /* the worker's, but for gpu_sweeper_asks */
};

struct sweep_job {
    struct gpu_sweep *sweep; /* answer; NULL: no memory */
    uint64_t spent_ns;       /* likewise */
};

struct sweep_source {
    vitals_context *context;
    struct worker_event *event;
    /* Workers that hang in a driver, and the newest, which does not: it avoids their devices. */
    struct {
        struct worker *worker;
        struct sweep_world *world;
        int job;
        uint32_t major, minor; /* where it hangs */
    } workers[WORKERS_MAX];
    size_t worker_count;
    bool asked, answered, failed;
    bool stuck; /* the newest hangs too, and there is nobody else to ask */
    struct gpu_sweep *newest;
    uint64_t calls, spent_ns, timeouts;
};

/* ---- the worker's side ---- */

static void world_done(struct worker_world *world)
{
    gpu_sweeper_free(((struct sweep_world *)world)->sweeper);
}

static void world_unref(struct sweep_world *world)
{
    worker_world_unref(&world->base);
}

static void work(struct worker_world *base, void *data, const struct os_gate *gate)
{
    (void)gate;
    struct sweep_world *world = (struct sweep_world *)base;
    struct sweep_job *job = data;
    const vitals_clock *clock = &world->base.context->os.clock;
    uint64_t begin = clock->monotonic_ns(clock->data);
    job->sweep = gpu_sweeper_take(world->sweeper);
    job->spent_ns = clock->monotonic_ns(clock->data) - begin;
}

static void job_free(void *data)
{
    struct sweep_job *job = data;
    if (job != NULL)
        gpu_sweep_unref(job->sweep);
    memory_free(job);
}

static const struct worker_service SERVICE = {
    .name = "vitals-sweep", .work = work, .data_free = job_free};

/* ---- the owner's side ---- */

struct sweep_source *sweep_source_new(vitals_context *context, struct worker_event *event)
{
    struct sweep_source *source = memory_alloc(sizeof(*source));
    if (source == NULL)
        return NULL;
    source->context = context_ref(context);
    source->event = event;
    return source;
}

void sweep_source_tell_end(struct sweep_source *source)
{
    for (size_t i = 0; i < source->worker_count; i++)
        worker_tell_end(source->workers[i].worker);
}

void sweep_source_free(struct sweep_source *source, uint64_t deadline_ns)
{
    if (source == NULL)
        return;
    sweep_source_tell_end(source);
    for (size_t i = 0; i < source->worker_count; i++)
        worker_end(source->workers[i].worker, deadline_ns);
    sweep_source_forget(source);
}

void sweep_source_forget(struct sweep_source *source)
{
    if (source == NULL)
        return;
    for (size_t i = 0; i < source->worker_count; i++)
        world_unref(source->workers[i].world);
    gpu_sweep_unref(source->newest);
    context_unref(source->context);
    memory_free(source);
}

void sweep_source_begin(struct sweep_source *source)
{
    source->answered = source->failed = false;
}

/* ---- workers ---- */

static struct sweep_world *new_world(const struct sweep_source *source)
{
    struct sweep_world *world = worker_world_new(source->context, sizeof(*world), world_done);
    struct gpu_sweeper *sweeper = world != NULL ? gpu_sweeper_new(source->context) : NULL;
    if (sweeper == NULL) {
        worker_world_unref(world != NULL ? &world->base : NULL);
        return NULL;
    }
    for (size_t i = 0; i < source->worker_count; i++)
        gpu_sweeper_avoid(sweeper, source->workers[i].major, source->workers[i].minor);
    world->sweeper = sweeper;
    return world;
}

/* A worker with its job; false: no thread or no memory. */
static bool add_worker(struct sweep_source *source)
{
    if (source->worker_count == WORKERS_MAX)
        return false;
    struct sweep_world *world = new_world(source);
    struct worker *worker = world != NULL ? worker_new(source->event, &SERVICE, &world->base)
                                          : NULL;
    struct sweep_job *job = worker != NULL ? memory_alloc(sizeof(*job)) : NULL;
    int number = job != NULL ? worker_add(worker, job) : -1;
    if (number < 0) {
        memory_free(job);
        if (worker != NULL)
            worker_end(worker, 0);
        if (world != NULL)
            world_unref(world);
        return false;
    }
    source->workers[source->worker_count].worker = worker;
    source->workers[source->worker_count].job = number;
    source->workers[source->worker_count++].world = world;
    return true;
}

/* Takes a worker out of the list; its thread waits for work, and ends. */
static void retire(struct sweep_source *source, size_t at)
{
    const vitals_clock *clock = &source->context->os.clock;
    worker_end(source->workers[at].worker, clock->monotonic_ns(clock->data) + NS_PER_SECOND);
    world_unref(source->workers[at].world);
    source->worker_count--;
    memmove(&source->workers[at], &source->workers[at + 1],
            (source->worker_count - at) * sizeof source->workers[0]);
}

/* Where a driver that hung has answered, its device is to be swept again: by a new worker, which
 * avoids those that hang still. True: then the newest is no more. */
static bool take_back(struct sweep_source *source)
{
    bool back = false;
    for (size_t i = source->worker_count - 1; i-- > 0;) {
        if (!worker_collect(source->workers[i].worker, source->workers[i].job))
            continue;
        retire(source, i);
        back = true;
    }
    if (back)
        retire(source, source->worker_count - 1);
    return back;
}

static struct worker *newest_worker(const struct sweep_source *source)
{
    return source->workers[source->worker_count - 1].worker;
}

static int newest_job(const struct sweep_source *source)
{
    return source->workers[source->worker_count - 1].job;
}

void sweep_source_ask(struct sweep_source *source)
{
    if (source->asked || source->answered || source->failed)
        return;
    bool none = source->worker_count == 0 || (source->worker_count > 1 && take_back(source)) ||
                worker_state(newest_worker(source), newest_job(source)) != WORKER_IDLE;
    source->failed = none && !add_worker(source);
    if (source->failed)
        return;
    source->asked = true;
    worker_ask(newest_worker(source), newest_job(source));
}

/* Workers whose driver has answered meanwhile make room for another. */
static void make_room(struct sweep_source *source)
{
    for (size_t i = source->worker_count - 1; i-- > 0;) {
        if (worker_collect(source->workers[i].worker, source->workers[i].job))
            retire(source, i);
    }
}

/* Where the newest worker hangs in a driver, that device stays with it, and another worker asks the
 * others. False: it does not hang. */
static bool leave_behind(struct sweep_source *source)
{
    const vitals_clock *clock = &source->context->os.clock;
    uint32_t major, minor;
    uint64_t since;
    if (worker_running(newest_worker(source), &since) < 0 ||
        clock->monotonic_ns(clock->data) < since + HANG_SECONDS * NS_PER_SECOND)
        return false;
    if (source->worker_count == WORKERS_MAX)
        make_room(source);
    size_t at = source->worker_count - 1;
    source->stuck = source->worker_count == WORKERS_MAX ||
                    !gpu_sweeper_asks(source->workers[at].world->sweeper, &major, &minor);
    if (source->stuck)
        return true; /* it goes on waiting */
    source->workers[at].major = major;
    source->workers[at].minor = minor;
    source->asked = source->stuck = !add_worker(source);
    return true;
}

static void take(struct sweep_source *source)
{
    struct sweep_job *job = worker_data(newest_worker(source), newest_job(source));
    source->asked = source->stuck = false;
    source->calls++;
    source->spent_ns += job->spent_ns;
    source->failed = job->sweep == NULL;
    source->answered = !source->failed;
    if (source->failed)
        return;
    gpu_sweep_unref(source->newest);
    source->newest = job->sweep;
    job->sweep = NULL;
}

enum sweep_answer sweep_source_collect(struct sweep_source *source, struct gpu_sweep **out)
{
    bool hangs = source->asked && leave_behind(source);
    if (source->asked && worker_collect(newest_worker(source), newest_job(source)))
        take(source);
    *out = source->newest;
    if (source->answered)
        return SWEEP_FRESH;
    return source->failed || hangs ? SWEEP_OLD : SWEEP_NONE;
}

void sweep_source_late(struct sweep_source *source)
{
    source->timeouts += source->asked;
}

/* ---- its row ---- */

static void write_message(const struct sweep_source *source, vitals_builder *builder)
{
    const struct gpu_sweep *sweep = source->newest;
    char text[160] = "no answer yet";
    int used = 0;
    if (sweep != NULL)
        used = snprintf(text, sizeof text, "%u processes, %zu descriptors of GPUs",
                        sweep->processes, sweep->count);
    if (sweep != NULL && sweep->denied > 0 && used > 0)
        snprintf(text + used, sizeof text - (size_t)used, "; of %u we may not see any",
                 sweep->denied);
    if (source->stuck)
        snprintf(text, sizeof text, "no answer: %zu thread%s hang%s, and no other is asked",
                 source->worker_count, source->worker_count == 1 ? "" : "s",
                 source->worker_count == 1 ? "s" : "");
    vitals_builder_text(builder, VITALS_SOURCE_MESSAGE, (vitals_text){text, strlen(text)},
                        VITALS_HAVE);
}

void sweep_source_write(const struct sweep_source *source, vitals_builder *builder,
                        uint64_t stamp_ns)
{
    static const char NAME[] = "gpu clients";
    if (source->worker_count == 0)
        return;
    vitals_availability state = source->newest != NULL ? (vitals_availability)source->newest->state
                                                       : VITALS_NOT_YET;
    if (source->stuck)
        state = VITALS_TIMED_OUT;
    const char *word = vitals_availability_name(state);
    vitals_builder_row(builder, VITALS_SOURCE, KEY, 0, (vitals_text){NAME, sizeof NAME - 1},
                       stamp_ns);
    vitals_builder_text(builder, VITALS_SOURCE_STATE, (vitals_text){word, strlen(word)},
                        VITALS_HAVE);
    write_message(source, builder);
    vitals_builder_u64(builder, VITALS_SOURCE_CALLS, source->calls, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_SOURCE_CALL_SECONDS, (double)source->spent_ns / 1e9,
                       VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_SOURCE_TIMEOUTS, source->timeouts, VITALS_HAVE);
    vitals_builder_missing(builder, VITALS_SOURCE_MISSED_TICKS, VITALS_UNSUPPORTED);
    vitals_builder_u64(builder, VITALS_SOURCE_QUARANTINED, source->worker_count - !source->stuck,
                       VITALS_HAVE);
}
