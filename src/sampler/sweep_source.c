/* sweep_source.c: the source of all open GPU devices, by one pass over /proc.
 *
 * One for all vendors. It is asked only in ticks in which a back end waits for it, so a machine
 * without such a device never pays. A driver that hangs keeps its device and its thread (source.h);
 * up to four threads. */
#include "sampler/source.h"

#include "gpu/sweep.h"
#include "util/memory.h"

#include <stdio.h>

enum { HUNG_MAX = 3, KEY = 15 };

struct sweep_job {
    struct gpu_sweep *sweep; /* answer; NULL: no memory */
};

/* A sweeper belongs to one thread: each worker's world has its own. */
static void sweep_work(struct worker_world *world, void *data, const struct os_gate *gate)
{
    struct sweep_job *job = data;
    job->sweep = gpu_sweeper_take(world->own, gate);
}

static bool sweep_world_make(struct worker_world *world)
{
    world->own = gpu_sweeper_new(world->context);
    return world->own != NULL;
}

static void sweep_world_done(struct worker_world *world)
{
    gpu_sweeper_free(world->own);
}

static void sweep_data_free(void *data)
{
    struct sweep_job *job = data;
    gpu_sweep_unref(job->sweep);
    memory_free(job);
}

static const struct worker_service SERVICE = {"vitals-sweep", sweep_work, sweep_data_free};

struct sweep_source {
    struct source base; /* an item is a device */
    bool asked, answered, failed;
    bool stuck; /* the worker in service hangs too, and no other can be asked */
    struct gpu_sweep *newest;
};

static void sweep_done(struct source *base)
{
    gpu_sweep_unref(((struct sweep_source *)base)->newest);
}

static void sweep_begin(struct source *base, const struct source_tick *tick UNUSED)
{
    struct sweep_source *source = (struct sweep_source *)base;
    source->answered = source->failed = false;
}

/* Workers whose driver has answered: their devices are swept again. */
static void take_back(struct source *base)
{
    struct source_hung back;
    while (source_take_back(base, &back))
        source_worker_end(base, back.worker, source_now(base) + NS_PER_SECOND);
}

enum sweep_answer sweep_source_take(struct source *base, struct gpu_sweep **out)
{
    struct sweep_source *source = (struct sweep_source *)base;
    if (!source->asked && !source->answered && !source->failed) {
        take_back(base);
        if (base->worker == NULL)
            base->worker = source_new_worker(base);
        source->failed = base->worker == NULL;
        source->asked = !source->failed;
        if (source->asked)
            worker_ask(base->worker, 0);
    }

    /* If the worker hangs in a driver, that device stays with it, and another sweeps the others
     * from the next tick on. */
    int hung_job;
    uint64_t device;
    bool hangs = source->asked && worker_hangs(base->worker, &hung_job, &device);
    if (hangs) {
        take_back(base); /* makes room */
        source->stuck = !source_leave_behind(base);
        source->asked = source->stuck;
    }
    if (source->asked && source_collect(base)) {
        struct sweep_job *job = source_data(base);
        source->asked = source->stuck = false;
        source->failed = job->sweep == NULL;
        source->answered = !source->failed;
        if (source->answered) {
            gpu_sweep_unref(source->newest);
            source->newest = job->sweep;
            job->sweep = NULL;
        }
    }

    *out = source->newest;
    if (source->answered)
        return SWEEP_FRESH;
    return source->failed || hangs ? SWEEP_OLD : SWEEP_NONE;
}

static bool sweep_late(struct source *base, const struct source_tick *tick UNUSED)
{
    base->timeouts += ((struct sweep_source *)base)->asked;
    return false;
}

static void sweep_write(const struct source *base, vitals_builder *builder, uint64_t stamp_ns)
{
    const struct sweep_source *source = (const struct sweep_source *)base;
    const struct gpu_sweep *sweep = source->newest;
    size_t hanging = base->hung_count + source->stuck;
    if (base->worker == NULL)
        return;

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
                 hanging, hanging == 1 ? "" : "s", hanging == 1 ? "s" : "");

    vitals_availability state = sweep != NULL ? (vitals_availability)sweep->state : VITALS_NOT_YET;
    source_begin_row(builder, KEY, "gpu clients", text, source->stuck ? VITALS_TIMED_OUT : state,
                     stamp_ns);
    source_end_row(base, builder, value_u64(hanging));
}

static const struct source_ops OPS = {.size = sizeof(struct sweep_source),
                                      .done = sweep_done,
                                      .world_make = sweep_world_make,
                                      .world_done = sweep_world_done,
                                      .job_size = sizeof(struct sweep_job),
                                      .begin = sweep_begin,
                                      .late = sweep_late,
                                      .write = sweep_write};

struct source *sweep_source_add(struct sources *sources)
{
    return sources_add(sources, &OPS, &SERVICE, HUNG_MAX);
}
