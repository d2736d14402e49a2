/* slow_source.c: the sources of what may block of a process: command lines, users, shared memory.
 *
 * A command line waits for the lock of a process's memory, a user name for a directory server: so a
 * thread of its own reads them, in batches, and a tick takes what is there by its deadline. Reading
 * PSS walks through a process's memory and takes its time by the size of it: it has a worker of its
 * own, which only the first tick waits for.
 *
 * While a worker is late, what it was asked for is STALE or TIMED_OUT. A process that hangs is left
 * to its thread (source.h), up to four for each worker; it is not asked again until its thread
 * comes back, and what that brings counts. */
#include "sampler/source.h"

#include "process/table.h"
#include "sampler/tick.h"
#include "util/memory.h"

#include <string.h>

enum { BATCHES = 16 };  /* so that a late batch does not keep the others back */
enum { HUNG_MAX = 4 };  /* threads that are left behind in a process, of each worker */
enum { RETRY_MS = 10 }; /* until processes without descriptors are asked again in a first tick */

/* ---- the workers' side ---- */

/* The cache of names belongs to one thread: each worker's world has its own. */
static void slow_work(struct worker_world *world, void *data, const struct os_gate *gate)
{
    process_batch_read(world->context, world->own, data, gate);
}

static bool slow_world_make(struct worker_world *world)
{
    world->own = user_cache_new();
    return world->own != NULL;
}

static void slow_world_done(struct worker_world *world)
{
    user_cache_free(world->own);
}

static void slow_data_free(void *batch)
{
    batch_done(&((struct process_batch *)batch)->rows);
    memory_free(batch);
}

enum slow_kind { FILES, MEMORY, KINDS_COUNT };
enum { TURNS_EACH = PROCESS_TURNS / KINDS_COUNT };

static const struct {
    size_t batch; /* processes in a batch */
    uint64_t key; /* of its row in the table source */
    const char *name, *message;
} KINDS[KINDS_COUNT] = {
    [FILES] = {PROCESS_BATCH, 3, "files",
               "command lines, users and cgroups, read beside the ticks"},
    [MEMORY] = {64, 8, "memory", "shared memory of processes, read beside the ticks"},
};

static const struct worker_service SERVICES[KINDS_COUNT] = {
    [FILES] = {"vitals-files", slow_work, slow_data_free},
    [MEMORY] = {"vitals-memory", slow_work, slow_data_free},
};

/* The kernel walks through all of a process's memory for these. */
static const vitals_metric WALKED[] = {VITALS_PROCESS_PSS_BYTES,      VITALS_PROCESS_USS_BYTES,
                                       VITALS_PROCESS_SWAP_PSS_BYTES, VITALS_PROCESS_THP_BYTES,
                                       VITALS_PROCESS_PSS_ANON_BYTES, VITALS_PROCESS_PSS_FILE_BYTES,
                                       VITALS_PROCESS_PSS_SHMEM_BYTES};

struct slow_source {
    struct source base; /* an item is the key of a process */
    enum slow_kind kind;
    struct plan_turn turns[TURNS_EACH];
    uint64_t every_ns[TURNS_EACH]; /* of each turn, as the table is asked */
    size_t turn_count;             /* 0: there is no worker */
    int batches[BATCHES];          /* jobs, made when they are needed */
    size_t batch_count;
    bool more; /* some are due for which there was no batch, or for which there are descriptors now
                */
    bool refused; /* there were no descriptors for some, and they were not asked again */
};

/* ---- asking ---- */

/* Asks for all that is due of one question; false: there was no batch for the rest, idle or new. */
static bool ask_question(struct slow_source *source, const struct process_question *question,
                         const struct source_tick *tick)
{
    struct worker *worker = source->base.worker;
    for (size_t i = 0; i < BATCHES; i++) {
        if (i == source->batch_count) {
            struct process_batch *batch = memory_alloc(sizeof *batch);
            int number = batch != NULL ? worker_add(worker, batch) : -1;
            if (number < 0) {
                memory_free(batch);
                return false;
            }
            source->batches[source->batch_count++] = number;
        }
        int number = source->batches[i];
        if (worker_state(worker, number) != WORKER_IDLE)
            continue;
        if (process_table_due(tick->processes, question, tick->begin_ns,
                              worker_data(worker, number), KINDS[source->kind].batch) == 0)
            return true;
        worker_ask(worker, number);
    }
    return false;
}

static unsigned first_turn(const struct slow_source *source)
{
    return (unsigned)source->kind * TURNS_EACH;
}

static struct process_question question_of(const struct slow_source *source, size_t turn)
{
    return (struct process_question){first_turn(source) + (unsigned)turn, 1,
                                     &source->every_ns[turn], &source->turns[turn].wanted};
}

static void take_batch(struct slow_source *source, const struct source_tick *tick,
                       struct worker *worker, int job)
{
    (void)source_count_call(&source->base, worker, job);
    enum process_taken taken = process_table_take(tick->processes, worker_data(worker, job));
    source->more |= taken == PROCESS_RELIEVED;
    source->refused |= taken == PROCESS_REFUSED;
}

static void take_batches(struct slow_source *source, const struct source_tick *tick)
{
    struct worker *worker = source->base.worker;
    for (size_t i = 0; i < source->batch_count; i++) {
        if (!worker_collect(worker, source->batches[i]))
            continue;
        take_batch(source, tick, worker, source->batches[i]);
        source->base.late = false;
    }
}

/* First the processes of which everything is due, so that no file of theirs is read twice; then
 * turn by turn. A first tick asks while it meets processes, and takes what was answered by then. */
static int slow_ask(struct source *base, const struct source_tick *tick)
{
    struct slow_source *source = (struct slow_source *)base;
    struct metric_set all = {0};
    for (size_t i = 0; i < source->turn_count; i++)
        metric_set_join(&all, &source->turns[i].wanted);

    if (tick->first)
        take_batches(source, tick);
    source->more = source->refused = false;
    struct process_question question = {first_turn(source), (unsigned)source->turn_count,
                                        source->every_ns, &all};
    if (source->turn_count > 1)
        source->more = !ask_question(source, &question, tick);
    for (size_t i = 0; i < source->turn_count && !source->more; i++) {
        question = question_of(source, i);
        source->more = !ask_question(source, &question, tick);
    }
    return 0;
}

/* ---- collecting ---- */

static void hold(const struct slow_source *source, const struct source_tick *tick, uint64_t key,
                 bool held)
{
    process_table_hold(tick->processes, key, first_turn(source), (unsigned)source->turn_count,
                       held);
}

static int slow_collect(struct source *base, const struct source_tick *tick)
{
    struct slow_source *source = (struct slow_source *)base;
    struct source_hung back;
    while (source_take_back(base, &back)) {
        hold(source, tick, back.item, false);
        process_batch_keep(worker_data(back.worker, back.job), back.item);
        take_batch(source, tick, back.worker, back.job);
        source_worker_end(base, back.worker, 0);
    }

    take_batches(source, tick);
    return source->more ? slow_ask(base, tick) : 0;
}

static bool is_idle(const struct slow_source *source)
{
    for (size_t i = 0; i < source->batch_count; i++)
        if (worker_state(source->base.worker, source->batches[i]) != WORKER_IDLE)
            return false;
    return true;
}

/* A first tick may be the only one. */
static bool slow_settled(const struct source *base, const struct source_tick *tick)
{
    const struct slow_source *source = (const struct slow_source *)base;
    if (tick->first && source->refused)
        return false;
    return base->late || is_idle(source) || (source->kind == MEMORY && !tick->first);
}

/* Processes that were refused descriptors are asked again when others may have closed theirs. */
static uint64_t slow_patience(const struct source *base, const struct source_tick *tick,
                              uint64_t deadline_ns)
{
    const struct slow_source *source = (const struct slow_source *)base;
    if (!tick->first || !source->refused)
        return deadline_ns;
    uint64_t retry_ns = saturating_add(source_now(base), RETRY_MS * NS_PER_MS);
    return retry_ns < deadline_ns ? retry_ns : deadline_ns;
}

/* ---- late ---- */

static bool slow_hangs(const struct source *base)
{
    int job;
    uint64_t item;
    return base->worker != NULL && worker_hangs(base->worker, &job, &item) && item != 0;
}

static bool slow_late(struct source *base, const struct source_tick *tick)
{
    struct slow_source *source = (struct slow_source *)base;
    take_batches(source, tick); // what was answered just now is not late
    bool waited = source->kind == FILES || tick->first;
    bool overdue = !is_idle(source) && (waited || slow_hangs(base));
    if (overdue || (waited && base->hung_count != 0)) {
        for (size_t i = 0; i < source->turn_count; i++) {
            struct process_question question = question_of(source, i);
            process_table_late(tick->processes, &question, tick->begin_ns);
        }
    }
    if (!overdue)
        return false;

    base->timeouts++;
    base->late = true;
    if (!source_leave_behind(base))
        return false;

    /* The other batches move on to a new worker. They and the rest of this one are due again. */
    const struct source_hung *hung = &base->hung[base->hung_count - 1];
    process_table_return(tick->processes, worker_data(hung->worker, hung->job));
    size_t kept = 0;
    for (size_t i = 0; i < source->batch_count; i++) {
        if (source->batches[i] == hung->job)
            continue;
        struct process_batch *other = worker_remove(hung->worker, source->batches[i]);
        if (other == NULL)
            continue;
        process_table_return(tick->processes, other);
        other->count = 0;
        source->batches[kept++] = worker_add(base->worker, other); /* a new one has room */
    }
    source->batch_count = kept;
    hold(source, tick, hung->item, true);
    return true;
}

static void slow_write(const struct source *base, vitals_builder *builder, uint64_t stamp_ns)
{
    enum slow_kind kind = ((const struct slow_source *)base)->kind;
    vitals_availability state = base->late ? VITALS_STALE : VITALS_HAVE;
    source_begin_row(builder, KINDS[kind].key, KINDS[kind].name, KINDS[kind].message,
                     slow_hangs(base) ? VITALS_TIMED_OUT : state, stamp_ns);
    source_end_row(base, builder, value_u64(base->hung_count));
}

static const struct source_ops OPS = {.size = sizeof(struct slow_source),
                                      .world_make = slow_world_make,
                                      .world_done = slow_world_done,
                                      .ask = slow_ask,
                                      .collect = slow_collect,
                                      .settled = slow_settled,
                                      .patience = slow_patience,
                                      .late = slow_late,
                                      .write = slow_write};

int slow_sources_add(struct sources *sources, const struct plan *plan)
{
    for (unsigned kind = 0; kind < KINDS_COUNT; kind++) {
        struct plan_turn turns[TURNS_EACH];
        struct metric_set workers, metrics = {0};
        detail_wanted(&plan->request->wanted, &workers);
        if (kind == FILES)
            metrics = workers;
        for (size_t i = 0; i < ARRAY_COUNT(WALKED); i++) {
            if (kind == FILES)
                metric_set_remove(&metrics, WALKED[i]);
            else if (metric_set_has(&workers, WALKED[i]))
                metric_set_add(&metrics, WALKED[i]);
        }
        size_t count = plan_turns(plan, &metrics, turns, TURNS_EACH);
        if (count == 0 && kind == MEMORY) /* its row comes with the columns */
            continue;

        struct slow_source *source = sources_add(sources, &OPS, &SERVICES[kind], HUNG_MAX);
        if (source == NULL)
            return VITALS_EMEMORY;
        source->kind = (enum slow_kind)kind;
        source->turn_count = count;
        memcpy(source->turns, turns, sizeof turns);
        /* 0 means at each tick: once in it, and all calls of a tick have one time. */
        for (size_t i = 0; i < count; i++)
            source->every_ns[i] = turns[i].every_ns == 0 ? 1 : turns[i].every_ns;
        source->base.worker = count > 0 ? source_new_worker(&source->base) : NULL;
        if (count > 0 && source->base.worker == NULL)
            return VITALS_EMEMORY;
    }
    return 0;
}
