/* workload_source.c: the source of the table workload: which processes work for what, and what the
 * cgroups of that count.
 *
 * The processes' own worker says what each works for; when a tick has that, another worker reads
 * the files of the cgroups, and the tick waits for it as for the others. Reading takes at most a
 * fiftieth of the wall time: with many workloads, figures are older. */
#include "sampler/source.h"

#include "model/answer_cache.h"
#include "process/workloads.h"
#include "util/memory.h"

#include <string.h>

enum { KEY = 9, SHARE = 50, MANY = 64 };

/* Metrics that cgroups count; if none does, sums over processes may stand in. */
static const vitals_metric FIGURES[] = {VITALS_WORKLOAD_TASKS, VITALS_WORKLOAD_MEMORY_USED_BYTES,
                                        VITALS_WORKLOAD_MEMORY_PEAK_BYTES,
                                        VITALS_WORKLOAD_CPU_SECONDS, VITALS_WORKLOAD_OOM_KILLS};

/* ---- the worker's side ---- */

struct workload_question {
    uint64_t key;
    size_t at, size; /* of the cgroup's path, in `paths` */
};

struct workload_job {
    struct metric_set asked; /* question */
    struct buffer paths;
    struct workload_question *items;
    size_t count, capacity;
    struct row_batch batch; /* answer */
    uint64_t read_ns;       /* answer: when it began */
};

static void workload_work(struct worker_world *world, void *data, const struct os_gate *gate UNUSED)
{
    struct os_groups *groups = world->own;
    struct workload_job *job = data;
    const struct os *os = &world->context->os;
    job->read_ns = os_now_ns(os);
    os_groups_find(groups, os);
    batch_reset(&job->batch, &job->asked);
    for (size_t i = 0; i < job->count; i++) {
        const struct workload_question *item = &job->items[i];
        if (batch_add_row(&job->batch, VITALS_TABLE_WORKLOAD, item->key, (struct span){"", 0}) ==
            NULL)
            break;
        os_groups_metrics(groups, os, (struct span){job->paths.bytes + item->at, item->size},
                          &job->batch);
    }
}

static bool workload_world_make(struct worker_world *world)
{
    world->own = os_groups_new();
    return world->own != NULL;
}

static void workload_world_done(struct worker_world *world)
{
    os_groups_free(world->own);
}

static void workload_data_free(void *data)
{
    struct workload_job *job = data;
    buffer_done(&job->paths);
    memory_free(job->items);
    batch_done(&job->batch);
    memory_free(job);
}

static const struct worker_service SERVICE = {"vitals-groups", workload_work, workload_data_free};

struct workload_source {
    struct source base;
    struct workloads workloads;
    struct answer_cache cache;
    struct metric_set last; /* what was asked for last */
    uint64_t looked_ns;     /* the tick in which it was asked, */
    uint64_t asked_ns;      /* and that in which the worker was */
    uint64_t pause_ns;      /* till it may be asked again */
};

static void workload_done(struct source *base)
{
    struct workload_source *source = (struct workload_source *)base;
    workloads_done(&source->workloads);
    cache_done(&source->cache);
}

/* ---- asking ---- */

static int workload_ask(struct source *base, const struct source_tick *tick)
{
    struct workload_source *source = (struct workload_source *)base;
    uint64_t now_ns = tick->begin_ns;
    if (source->looked_ns == now_ns)
        return 0;

    source->looked_ns = now_ns;
    workloads_collect(&source->workloads, tick->processes);
    bool early = source->asked_ns != 0 && now_ns - source->asked_ns < source->pause_ns;
    bool any = false;
    struct metric_set asked = {0};
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
        if (!metric_set_has(tick->due, FIGURES[i]) || !metric_set_has(tick->shown, FIGURES[i]))
            continue;
        metric_set_add(&asked, FIGURES[i]);
        any = true;
    }
    if (!source_is_idle(base) || early || !any)
        return 0;

    /* Asks for the workloads that have a cgroup of their own. */
    struct workload_job *job = source_data(base);
    job->count = 0;
    job->paths.failed = false;
    buffer_reset(&job->paths);
    for (size_t i = 0; i < source->workloads.count; i++) {
        const struct workload_entry *entry = &source->workloads.items[i];
        if (entry->place == 0)
            continue;
        if (MEMORY_GROW(job->items, job->capacity, job->count) < 0)
            return VITALS_EMEMORY;
        job->items[job->count++] = (struct workload_question){entry->key, job->paths.size,
                                                              entry->place};
        buffer_append(&job->paths, entry->cgroup->bytes, entry->place);
    }
    if (job->paths.failed)
        return VITALS_EMEMORY;
    if (job->count == 0)
        return 0;
    job->asked = source->last = asked;
    source->asked_ns = now_ns;
    worker_ask(base->worker, 0);
    return 0;
}

static int workload_collect(struct source *base, const struct source_tick *tick UNUSED)
{
    struct workload_source *source = (struct workload_source *)base;
    if (!source_collect(base))
        return 0;

    struct workload_job *job = source_data(base);
    uint64_t spent_ns = worker_spent_ns(base->worker, 0);
    source->pause_ns = job->count < MANY ? 0 : saturating_mul(spent_ns, SHARE);
    return cache_take(&source->cache, &job->batch, job->read_ns);
}

static bool workload_settled(const struct source *base, const struct source_tick *tick)
{
    const struct workload_source *source = (const struct workload_source *)base;
    return source->looked_ns == tick->begin_ns && (base->late || source_is_idle(base));
}

static bool workload_late(struct source *base, const struct source_tick *tick UNUSED)
{
    struct workload_source *source = (struct workload_source *)base;
    if (source_is_idle(base))
        return false;

    base->timeouts++;
    base->late = true;
    cache_overdue(&source->cache, &source->last);
    return false;
}

/* ---- rows ---- */

static vitals_text text_of(struct span span)
{
    return (vitals_text){span.bytes != NULL ? span.bytes : "", span.size};
}

/* The parts of the id; empty for other kinds. */
static const struct {
    vitals_metric metric;
    uint16_t place;
} PARTS[] = {
    {VITALS_WORKLOAD_SLURM_JOB_ID, offsetof(struct workload, job)},
    {VITALS_WORKLOAD_SLURM_STEP_ID, offsetof(struct workload, step)},
    {VITALS_WORKLOAD_K8S_NAMESPACE_NAME, offsetof(struct workload, space)},
    {VITALS_WORKLOAD_K8S_POD_NAME, offsetof(struct workload, pod)},
    {VITALS_WORKLOAD_K8S_CONTAINER_NAME, offsetof(struct workload, container)},
};

static void write_identity(const struct workload_entry *entry, vitals_builder *builder)
{
    const struct workload *parts = &entry->parts;
    builder_shared(builder, VITALS_WORKLOAD_ID, entry->id, entry->state);
    vitals_builder_text(builder, VITALS_WORKLOAD_KIND, source_text(workload_word(parts->kind)),
                        VITALS_HAVE);
    for (size_t i = 0; i < ARRAY_COUNT(PARTS); i++) {
        struct span span;
        memcpy(&span, (const char *)parts + PARTS[i].place, sizeof span);
        bool number = PARTS[i].metric == VITALS_WORKLOAD_SLURM_JOB_ID;
        vitals_builder_text(builder, PARTS[i].metric, text_of(span),
                            number ? entry->state : VITALS_HAVE);
    }
    vitals_builder_u64(builder, VITALS_WORKLOAD_CLAIMED, parts->claimed, VITALS_HAVE);
    struct span unit = parts->kind == WORKLOAD_UNIT ? parts->name : (struct span){"", 0};
    vitals_builder_text(builder, VITALS_WORKLOAD_UNIT, text_of(unit), VITALS_HAVE);
    builder_shared(builder, VITALS_WORKLOAD_USER, entry->user, entry->user_state);

    /* Values of the path beside the id. */
    struct workload_path told;
    struct span path = {"", 0}, none = path;
    if (entry->cgroup != NULL)
        path = (struct span){entry->cgroup->bytes, entry->cgroup->size};
    workload_path_read(path, &told);
    bool contained = parts->kind == WORKLOAD_POD || parts->kind == WORKLOAD_CONTAINER;
    vitals_builder_text(builder, VITALS_WORKLOAD_CONTAINER_ID,
                        text_of(contained ? told.container : none), VITALS_HAVE);
    vitals_builder_text(builder, VITALS_WORKLOAD_SLURM_SLUID,
                        text_of(parts->kind == WORKLOAD_SLURM ? told.sluid : none), VITALS_HAVE);
    if (entry->place != 0)
        vitals_builder_text(builder, VITALS_WORKLOAD_CGROUP,
                            (vitals_text){entry->cgroup->bytes, entry->place}, VITALS_HAVE);
    else
        vitals_builder_missing(builder, VITALS_WORKLOAD_CGROUP, VITALS_UNSUPPORTED);
}

/* A count of the processes that work for it: some may be missing. */
static struct value count_of(const struct workload_source *source, uint64_t number)
{
    struct value value = value_u64(number);
    const struct workloads *all = &source->workloads;
    if (!all->all || all->unknown || all->failed)
        value.state = VITALS_LOWER_BOUND;
    return value;
}

/* *read_ns stays where nothing was read for it. */
static struct value figure_of(const struct workload_source *source,
                              const struct workload_entry *entry, const struct batch_row *row,
                              vitals_metric metric, uint64_t *read_ns)
{
    const struct batch_cell *cell = row != NULL ? batch_find(&source->cache.kept, row, metric)
                                                : NULL;
    if (entry->place == 0 || (cell != NULL && cell->state == VITALS_UNSUPPORTED)) {
        /* No cgroup counts: the sum over the processes. */
        struct value sum = value_missing(VITALS_UNSUPPORTED);
        if (metric == VITALS_WORKLOAD_TASKS)
            return count_of(source, entry->threads);
        if (metric == VITALS_WORKLOAD_MEMORY_USED_BYTES)
            sum = value_u64(entry->resident_bytes); // neither all that is charged nor that alone
        else if (metric == VITALS_WORKLOAD_CPU_SECONDS)
            sum = value_f64(entry->cpu_seconds);
        if (sum.state > 0)
            sum.state = VITALS_ESTIMATE;
        return sum;
    }
    if (cell == NULL)
        return value_missing(cache_reason(&source->cache));
    struct value value = {.as.u64 = cell->as.u64, .state = cell->state};
    if (entry->several && value.state == VITALS_HAVE) // that of the oldest alone
        value.state = VITALS_LOWER_BOUND;
    *read_ns = cache_moment(&source->cache, cell);
    return value;
}

static void workload_write_tables(struct source *base, const struct source_tick *tick,
                                  vitals_builder *builder, uint64_t stamp_ns)
{
    static const vitals_metric COUNTERS[] = {VITALS_WORKLOAD_CPU_SECONDS,
                                             VITALS_WORKLOAD_OOM_KILLS};
    _Static_assert((int)ARRAY_COUNT(COUNTERS) == (int)WORKLOAD_COUNTERS, "each has its number");
    struct workload_source *source = (struct workload_source *)base;
    /* Twice, so that a process whose name comes with one that is read after it has it at once. */
    for (unsigned i = 0; i < 2; i++)
        workloads_collect(&source->workloads, tick->processes);

    size_t hint = 0;
    builder_table_of(builder, VITALS_TABLE_WORKLOAD, tick->shown);
    for (size_t i = 0; i < source->workloads.count; i++) {
        struct workload_entry *entry = &source->workloads.items[i];
        const struct batch_row *row = cache_find(&source->cache, VITALS_TABLE_WORKLOAD, entry->key,
                                                 &hint);
        for (size_t j = 0; j < ARRAY_COUNT(COUNTERS); j++) {
            uint64_t read_ns = 0;
            struct value value = figure_of(source, entry, row, COUNTERS[j], &read_ns);
            bool real = vitals_metric_type(COUNTERS[j]) == VITALS_F64;
            if (value.state > 0)
                workloads_tell(&source->workloads, entry, j,
                               real ? value.as.f64 : (double)value.as.u64, read_ns != 0);
        }
        vitals_builder_row(builder, VITALS_TABLE_WORKLOAD, entry->row_key, 0,
                           (vitals_text){entry->id->bytes, entry->id->size}, stamp_ns);
        write_identity(entry, builder);
        builder_value(builder, VITALS_WORKLOAD_PROCESSES, count_of(source, entry->processes));
        for (size_t j = 0; j < ARRAY_COUNT(FIGURES); j++) {
            uint64_t read_ns = 0;
            if (!metric_set_has(tick->shown, FIGURES[j]))
                continue;
            builder_value(builder, FIGURES[j], figure_of(source, entry, row, FIGURES[j], &read_ns));
            if (read_ns != 0)
                vitals_builder_read_at(builder, FIGURES[j], read_ns);
        }
    }

    const struct workloads *all = &source->workloads;
    vitals_availability state = process_table_state(tick->processes);
    if (state == VITALS_HAVE && (all->failed || all->cut || all->unknown))
        state = VITALS_LOWER_BOUND;
    vitals_builder_state(builder, VITALS_TABLE_WORKLOAD, state);
}

static void workload_write(const struct source *base, vitals_builder *builder, uint64_t stamp_ns)
{
    source_begin_row(builder, KEY, "workloads", "what the cgroups of workloads count",
                     base->late ? VITALS_STALE : VITALS_HAVE, stamp_ns);
    source_end_row(base, builder, value_missing(VITALS_UNSUPPORTED));
}

static const struct source_ops OPS = {.size = sizeof(struct workload_source),
                                      .waits_for_others = true,
                                      .world_make = workload_world_make,
                                      .world_done = workload_world_done,
                                      .job_size = sizeof(struct workload_job),
                                      .done = workload_done,
                                      .ask = workload_ask,
                                      .collect = workload_collect,
                                      .settled = workload_settled,
                                      .late = workload_late,
                                      .write_tables = workload_write_tables,
                                      .write = workload_write};

int workload_source_add(struct sources *sources, const struct metric_set *wanted)
{
    if (!metric_set_has_entity(wanted, VITALS_TABLE_WORKLOAD))
        return 0;
    struct source *source = sources_add(sources, &OPS, &SERVICE, 0);
    if (source == NULL)
        return VITALS_EMEMORY;
    source->worker = source_new_worker(source);
    return source->worker != NULL ? 0 : VITALS_EMEMORY;
}
