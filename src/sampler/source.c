/* source.c: see source.h. */
#include "sampler/source.h"

#include "util/memory.h"

enum { ONLY_JOB = 0 };

/* ---- life ---- */

void *sources_add(struct sources *sources, const struct source_ops *ops,
                  const struct worker_service *service, size_t hung_max)
{
    struct source *source = sources->count < SOURCES_MAX ? memory_alloc(ops->size) : NULL;
    if (source == NULL)
        return NULL;

    source->ops = ops;
    source->service = service;
    source->hung_max = hung_max;
    source->context = sources->context;
    source->event = sources->event;
    sources->items[sources->count++] = source;
    return source;
}

void sources_end(struct sources *sources, uint64_t deadline_ns)
{
    /* Told first, so that all end at the same time. */
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i]->ops->let_go != NULL)
            sources->items[i]->ops->let_go(sources->items[i]);
    for (size_t i = 0; i < sources->count; i++)
        for (size_t j = 0; j < sources->items[i]->worker_count; j++)
            worker_tell_end(sources->items[i]->workers[j]);

    for (size_t i = 0; i < sources->count; i++) {
        const struct source *source = sources->items[i];
        for (size_t j = 0; j < source->worker_count; j++) {
            bool hung = false;
            for (size_t k = 0; k < source->hung_count; k++)
                hung |= source->hung[k].worker == source->workers[j];
            worker_end(source->workers[j], hung ? 0 : deadline_ns);
        }
    }
    sources_forget(sources);
}

void sources_forget(struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        struct source *source = sources->items[i];
        if (source->ops->done != NULL)
            source->ops->done(source);
        memory_free(source->workers);
        memory_free(source);
    }
    sources->count = 0;
}

/* ---- the phases ---- */

void sources_begin(const struct sources *sources, const struct source_tick *tick)
{
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i]->ops->begin != NULL)
            sources->items[i]->ops->begin(sources->items[i], tick);
}

int sources_ask(const struct sources *sources, const struct source_tick *tick, bool others)
{
    int code = 0;
    for (size_t i = 0; i < sources->count && code == 0; i++) {
        const struct source_ops *ops = sources->items[i]->ops;
        if (ops->ask != NULL && ops->waits_for_others != others)
            code = ops->ask(sources->items[i], tick);
    }
    return code;
}

int sources_collect(const struct sources *sources, const struct source_tick *tick)
{
    int code = 0;
    for (size_t i = 0; i < sources->count && code == 0; i++)
        if (sources->items[i]->ops->collect != NULL)
            code = sources->items[i]->ops->collect(sources->items[i], tick);
    return code;
}

bool sources_settled(const struct sources *sources, const struct source_tick *tick, bool others)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct source_ops *ops = sources->items[i]->ops;
        if (ops->settled != NULL && !(others && ops->waits_for_others) &&
            !ops->settled(sources->items[i], tick))
            return false;
    }
    return true;
}

uint64_t sources_patience(const struct sources *sources, const struct source_tick *tick,
                          uint64_t deadline_ns)
{
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i]->ops->patience != NULL)
            deadline_ns = sources->items[i]->ops->patience(sources->items[i], tick, deadline_ns);
    return deadline_ns;
}

bool sources_late(const struct sources *sources, const struct source_tick *tick)
{
    bool freed = false;
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i]->ops->late != NULL)
            freed |= sources->items[i]->ops->late(sources->items[i], tick);
    return freed;
}

/* ---- workers ---- */

uint64_t source_now(const struct source *source)
{
    return os_now_ns(&source->context->os);
}

struct worker *source_worker(struct source *source, struct worker_world *world)
{
    if (MEMORY_GROW(source->workers, source->worker_capacity, source->worker_count) < 0)
        return NULL;
    struct worker *worker = worker_new(source->event, source->service, world);
    if (worker != NULL)
        source->workers[source->worker_count++] = worker;
    return worker;
}

struct worker *source_new_worker(struct source *source)
{
    const struct source_ops *ops = source->ops;
    struct worker_world *world = worker_world_new(source->context, sizeof *world, ops->world_done);
    void *job = world != NULL && ops->job_size != 0 ? memory_alloc(ops->job_size) : NULL;
    struct worker *worker = NULL;
    if (world != NULL && (job != NULL || ops->job_size == 0) &&
        (ops->world_make == NULL || ops->world_make(world)))
        worker = source_worker(source, world);
    worker_world_unref(world);
    if (worker != NULL && job != NULL)
        (void)worker_add(worker, job); /* an empty worker has room */
    else
        memory_free(job);
    return worker;
}

void source_worker_end(struct source *source, struct worker *worker, uint64_t deadline_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < source->worker_count; i++)
        if (source->workers[i] != worker)
            source->workers[kept++] = source->workers[i];
    source->worker_count = kept;
    worker_end(worker, deadline_ns);
}

bool source_is_idle(const struct source *source)
{
    return source->worker == NULL || worker_state(source->worker, ONLY_JOB) == WORKER_IDLE;
}

void *source_data(const struct source *source)
{
    return worker_data(source->worker, ONLY_JOB);
}

uint64_t source_count_call(struct source *source, struct worker *worker, int job)
{
    uint64_t spent_ns = worker_spent_ns(worker, job);
    source->calls++;
    source->spent_ns += spent_ns;
    return spent_ns;
}

bool source_collect(struct source *source)
{
    if (source->worker == NULL || !worker_collect(source->worker, ONLY_JOB))
        return false;

    (void)source_count_call(source, source->worker, ONLY_JOB);
    source->late = false;
    return true;
}

/* ---- workers that hang ---- */

/* The worker in service avoids what the others hang in. */
static void avoid_hung(const struct source *source)
{
    uint64_t items[WORKER_AVOIDED];
    for (size_t i = 0; i < source->hung_count; i++)
        items[i] = source->hung[i].item;
    worker_avoid(source->worker, items, source->hung_count);
}

bool source_leave_behind(struct source *source)
{
    struct source_hung hung = {.worker = source->worker};
    if (hung.worker == NULL || !worker_hangs(hung.worker, &hung.job, &hung.item) ||
        hung.item == 0 || source->hung_count == source->hung_max)
        return false;

    struct worker *fresh = source_new_worker(source);
    if (fresh == NULL)
        return false;
    if (!worker_give_up(hung.worker, hung.item)) { /* it came back this very moment, and goes on */
        source_worker_end(source, fresh, 0);
        return false;
    }

    worker_tell_end(hung.worker);
    source->hung[source->hung_count++] = hung;
    source->worker = fresh;
    source->late = false;
    avoid_hung(source);
    return true;
}

bool source_take_back(struct source *source, struct source_hung *out)
{
    for (size_t i = 0; i < source->hung_count; i++) {
        if (!worker_collect(source->hung[i].worker, source->hung[i].job))
            continue;

        *out = source->hung[i];
        source->hung_count--;
        memmove(&source->hung[i], &source->hung[i + 1],
                (source->hung_count - i) * sizeof source->hung[0]);
        avoid_hung(source);
        return true;
    }
    return false;
}

void source_begin_row(vitals_builder *builder, uint64_t key, const char *name, const char *message,
                      vitals_availability state, uint64_t stamp_ns)
{
    vitals_builder_row(builder, VITALS_TABLE_SOURCE, key, 0, source_text(name), stamp_ns);
    vitals_builder_text(builder, VITALS_SOURCE_STATE, source_text(vitals_availability_name(state)),
                        VITALS_HAVE);
    vitals_builder_text(builder, VITALS_SOURCE_MESSAGE, source_text(message), VITALS_HAVE);
}

void source_end_row(const struct source *source, vitals_builder *builder, struct value quarantined)
{
    vitals_builder_u64(builder, VITALS_SOURCE_CALLS, source->calls, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_SOURCE_CALL_SECONDS, (double)source->spent_ns / 1e9,
                       VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_SOURCE_TIMEOUTS, source->timeouts, VITALS_HAVE);
    builder_value(builder, VITALS_SOURCE_QUARANTINED, quarantined);
    vitals_builder_missing(builder, VITALS_SOURCE_MISSED_TICKS, VITALS_UNSUPPORTED);
}
