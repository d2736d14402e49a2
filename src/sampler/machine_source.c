/* machine_source.c: the sources of the machine: what of it cannot be read on the tick thread.
 *
 * One source with a worker for each kind of host.h that is wanted, so that a file server that hangs
 * delays no sensor. A kind that does not answer is not asked again until it does; its values become
 * stale. A mount that hangs is left to its thread (source.h), up to eight of them. */
#include "sampler/source.h"

#include "host/host.h"
#include "util/memory.h"

#include <string.h>

/* Metrics that the machine does not have are looked for this often: waking a worker costs more than
 * it would find. */
static const uint64_t LOOK_NS = 10 * NS_PER_SECOND;

struct machine_job {
    enum host_cache kind;
    struct metric_set asked; /* question */
    struct row_batch batch;  /* answer */
    uint64_t read_ns;        /* answer: when it began */
};

static void machine_work(struct worker_world *world, void *data, const struct os_gate *gate)
{
    struct machine_job *job = data;
    job->read_ns = os_now_ns(&world->context->os);
    host_cache_read(world->context, job->kind, &job->asked, gate, &job->batch);
}

static void machine_data_free(void *data)
{
    struct machine_job *job = data;
    batch_done(&job->batch);
    memory_free(job);
}

struct machine_source {
    struct source base;
    enum host_cache kind;
    struct metric_set part;    /* of that which is wanted */
    struct metric_set last;    /* what was asked for last */
    struct metric_set lacking; /* what no answer had since `looked_ns` */
    uint64_t looked_ns;
    bool asked;
    uint64_t asked_ns;
};

static void machine_begin(struct source *base, const struct source_tick *tick)
{
    struct machine_source *source = (struct machine_source *)base;
    bool again = source->asked && source->asked_ns == tick->begin_ns;
    if (again || !source_is_idle(base))
        return;

    /* The worker is asked only for metrics that are wanted and that the machine has. */
    struct machine_job *job = source_data(base);
    struct metric_set *asked = &job->asked;
    job->kind = source->kind;
    if (!host_cache_part(source->kind, tick->due, asked))
        return;
    if (tick->begin_ns >= saturating_add(source->looked_ns, LOOK_NS)) {
        source->lacking = (struct metric_set){0};
        source->looked_ns = tick->begin_ns;
    }
    uint64_t any = 0;
    for (size_t i = 0; i <= ENTITY_MAX; i++)
        for (size_t j = 0; j < ARRAY_COUNT(asked->bits[i]); j++)
            any |= asked->bits[i][j] &= source->part.bits[i][j] & ~source->lacking.bits[i][j];
    if (any == 0)
        return;

    if (host_cache_whole(source->kind))
        job->asked = source->part;
    source->last = job->asked;
    source->asked = true;
    source->asked_ns = tick->begin_ns;
    worker_ask(base->worker, 0);
}

static int machine_collect(struct source *base, const struct source_tick *tick)
{
    struct machine_source *source = (struct machine_source *)base;
    struct source_hung back;
    while (source_take_back(base, &back))
        source_worker_end(base, back.worker, 0);
    if (!source_collect(base))
        return 0;

    struct machine_job *job = source_data(base);
    int code = host_cache_take(tick->host, source->kind, &job->batch, job->read_ns);

    /* A table that is read whole may get rows at any time: nothing of it is lacking for good. */
    for (vitals_metric m = vitals_metric_next(0); m != 0 && !host_cache_whole(source->kind);
         m = vitals_metric_next(m)) {
        if (metric_set_has(&job->asked, m) && !host_cache_has(tick->host, source->kind, m))
            metric_set_add(&source->lacking, m);
    }
    return code;
}

static bool machine_settled(const struct source *base, const struct source_tick *tick UNUSED)
{
    return base->late || source_is_idle(base);
}

static bool machine_late(struct source *base, const struct source_tick *tick)
{
    struct machine_source *source = (struct machine_source *)base;
    if (source_is_idle(base))
        return false;

    base->timeouts++;
    base->late = true;
    cache_overdue(&tick->host->cache[source->kind], &source->last);
    if (!source_leave_behind(base))
        return false;
    source->asked = false;
    if (tick->first) /* there may be no other */
        machine_begin(base, tick);
    return true;
}

static const struct {
    const char *name, *message; /* of its row */
} KINDS[HOST_LATES] = {
    [HOST_CACHE_MACHINE] = {"machine", "what the machine has, and what our cgroup allows and used"},
    [HOST_CACHE_FILESYSTEMS] = {"filesystems", "mounted file systems and their space"},
    [HOST_CACHE_SENSORS] = {"sensors", "temperatures, fans and batteries of the machine"},
    [HOST_CACHE_TABLES] = {"tables", "addresses, logins and sockets of the machine"},
};

static const struct worker_service SERVICES[HOST_LATES] = {
    [HOST_CACHE_MACHINE] = {"vitals-machine", machine_work, machine_data_free},
    [HOST_CACHE_FILESYSTEMS] = {"vitals-mounts", machine_work, machine_data_free},
    [HOST_CACHE_SENSORS] = {"vitals-sensors", machine_work, machine_data_free},
    [HOST_CACHE_TABLES] = {"vitals-tables", machine_work, machine_data_free},
};

static void machine_write(const struct source *base, vitals_builder *builder, uint64_t stamp_ns)
{
    enum { KEY_BASE = 4 };
    const enum host_cache kind = ((const struct machine_source *)base)->kind;
    int job;
    uint64_t item;
    vitals_availability state = VITALS_HAVE;
    if (!source_is_idle(base))
        state = worker_hangs(base->worker, &job, &item) ? VITALS_TIMED_OUT : VITALS_STALE;
    source_begin_row(builder, KEY_BASE + (uint64_t)kind, KINDS[kind].name, KINDS[kind].message,
                     state, stamp_ns);
    source_end_row(base, builder,
                   base->hung_max > 0 ? value_u64(base->hung_count)
                                      : value_missing(VITALS_UNSUPPORTED));
}

static const struct source_ops OPS = {.size = sizeof(struct machine_source),
                                      .job_size = sizeof(struct machine_job),
                                      .begin = machine_begin,
                                      .collect = machine_collect,
                                      .settled = machine_settled,
                                      .late = machine_late,
                                      .write = machine_write};

int machine_sources_add(struct sources *sources, const struct metric_set *wanted)
{
    /* The pressure of our own cgroup: without the column scope it could not be told from that of
     * the machine. */
    struct metric_set asked = *wanted;
    if (!metric_set_has(wanted, VITALS_PRESSURE_SCOPE))
        memset(asked.bits[VITALS_TABLE_PRESSURE], 0, sizeof asked.bits[VITALS_TABLE_PRESSURE]);

    for (unsigned kind = 0; kind < HOST_LATES; kind++) {
        struct metric_set part;
        if (!host_cache_part((enum host_cache)kind, &asked, &part))
            continue;
        struct machine_source *source = sources_add(
            sources, &OPS, &SERVICES[kind], kind == HOST_CACHE_FILESYSTEMS ? WORKER_AVOIDED : 0);
        if (source == NULL)
            return VITALS_EMEMORY;
        source->kind = (enum host_cache)kind;
        source->part = part;
        source->base.worker = source_new_worker(&source->base);
        if (source->base.worker == NULL)
            return VITALS_EMEMORY;
    }
    return 0;
}
