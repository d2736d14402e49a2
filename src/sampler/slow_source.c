/* slow_source.c: see slow_source.h. */
#include "sampler/slow_source.h"

#include "sampler/context.h"
#include "util/memory.h"

#include <string.h>

enum { BATCHES = 16 };      /* so that a late batch does not keep the others back */
enum { HUNG_MAX = 4 };      /* threads that are left behind in a process, of each worker */
enum { LIMIT_SECONDS = 2 }; /* longer than this in one process a worker is not late but hangs */

/* ---- the workers' side ---- */

/* Each worker has a world of its own, because it has the cache of names. */
struct slow_world {
    struct worker_world base;
    struct user_cache *users;
};

struct slow_job {
    uint64_t spent_ns; /* answer */
    struct process_batch batch;
};

static void work(struct worker_world *base, void *data, const struct os_gate *gate)
{
    (void)gate;
    struct slow_world *world = (struct slow_world *)base;
    struct slow_job *job = data;
    const vitals_clock *clock = &world->base.context->os.clock;
    uint64_t begin_ns = clock->monotonic_ns(clock->data);
    process_batch_read(world->base.context, world->users, &job->batch);
    job->spent_ns = clock->monotonic_ns(clock->data) - begin_ns;
}

static void world_done(struct worker_world *world)
{
    user_cache_free(((struct slow_world *)world)->users);
}

static struct slow_world *world_new(vitals_context *context)
{
    struct slow_world *world = worker_world_new(context, sizeof(*world), world_done);
    if (world == NULL)
        return NULL;
    world->users = user_cache_new();
    if (world->users != NULL)
        return world;
    worker_world_unref(&world->base);
    return NULL;
}

static void world_unref(struct slow_world *world)
{
    worker_world_unref(world != NULL ? &world->base : NULL);
}

static void data_free(void *data)
{
    struct slow_job *job = data;
    process_batch_done(&job->batch);
    memory_free(job);
}

/* ---- which worker reads what ---- */

enum { FILES, MEMORY, CHANNELS };
enum { TURNS_EACH = PROCESS_TURNS / CHANNELS };

static const struct {
    struct worker_service service;
    size_t batch; /* processes in a batch */
    const char *name, *message;
    uint64_t key; /* of its row in the table source */
} KINDS[CHANNELS] = {
    [FILES] = {.service = {.name = "vitals-files", .work = work, .data_free = data_free},
               .batch = PROCESS_BATCH,
               .name = "files",
               .message = "command lines, users and cgroups, read beside the ticks",
               .key = 3},
    [MEMORY] = {.service = {.name = "vitals-memory", .work = work, .data_free = data_free},
                .batch = 64,
                .name = "memory",
                .message = "shared memory of processes, read beside the ticks",
                .key = 8},
};

/* The kernel walks through all of a process's memory for these. */
static const vitals_metric WALKED[] = {VITALS_PROCESS_PSS_BYTES, VITALS_PROCESS_USS_BYTES,
                                       VITALS_PROCESS_SWAP_PSS_BYTES, VITALS_PROCESS_THP_BYTES};

static void unite(struct metric_set *set, const struct metric_set *other)
{
    for (size_t entity = 0; entity <= ENTITY_MAX; entity++)
        for (size_t word = 0; word < METRIC_NUMBERS / 64; word++)
            set->bits[entity][word] |= other->bits[entity][word];
}

static void metrics_of(unsigned kind, const struct metric_set *wanted, struct metric_set *out)
{
    struct metric_set workers;
    detail_wanted(wanted, &workers);
    *out = kind == FILES ? workers : (struct metric_set){0};
    for (size_t i = 0; i < ARRAY_COUNT(WALKED); i++) {
        if (kind == FILES)
            metric_set_remove(out, WALKED[i]);
        else if (metric_set_has(&workers, WALKED[i]))
            metric_set_add(out, WALKED[i]);
    }
}

/* ---- the owner's side ---- */

/* A worker whose thread is in a process for too long, alone with its batch: of its answer, that
 * process's part counts, and nothing is asked of the process before. */
struct hung {
    struct worker *worker;
    int job;
    size_t index;
    uint64_t key;
};

struct channel {
    unsigned kind;
    struct plan_turn turns[TURNS_EACH];
    uint64_t every_ns[TURNS_EACH]; /* of each turn, as the table is asked */
    size_t turn_count;             /* 0: there is no worker */
    struct slow_world *world;
    struct worker *worker;
    int batches[BATCHES]; /* jobs, made when they are needed */
    size_t batch_count;
    bool more; /* there was no batch for some that are due, or there are descriptors for them now */
    bool refused; /* there were no descriptors for some, and nobody asked again */
    bool late;    /* has not answered since a deadline: nobody waits for it */
    struct hung hung[HUNG_MAX];
    size_t hung_count;
    uint64_t calls, spent_ns, timeouts;
};

struct slow_source {
    vitals_context *context; /* borrowed, as is the event, from whoever made the source */
    struct worker_event *event;
    struct channel channels[CHANNELS];
};

/* A thread for the channel, with names of its own. */
static int add_worker(const struct slow_source *source, struct channel *channel)
{
    struct slow_world *world = world_new(source->context);
    if (world == NULL)
        return -1;
    struct worker *worker = worker_new(source->event, &KINDS[channel->kind].service, &world->base);
    if (worker == NULL) {
        world_unref(world);
        return -1;
    }
    world_unref(channel->world);
    channel->world = world;
    channel->worker = worker;
    return 0;
}

static int channel_open(const struct slow_source *source, struct channel *channel,
                        const struct plan *plan)
{
    struct metric_set metrics;
    metrics_of(channel->kind, &plan->request->wanted, &metrics);
    channel->turn_count = plan_turns(plan, &metrics, channel->turns, TURNS_EACH);
    /* At every tick: but once in it, and all calls of a tick have one now_ns. */
    for (size_t i = 0; i < channel->turn_count; i++)
        channel->every_ns[i] = channel->turns[i].every_ns == 0 ? 1 : channel->turns[i].every_ns;
    return channel->turn_count == 0 ? 0 : add_worker(source, channel);
}

struct slow_source *slow_source_new(vitals_context *context, struct worker_event *event,
                                    const struct plan *plan)
{
    struct slow_source *source = memory_alloc(sizeof(*source));
    if (source == NULL)
        return NULL;
    source->context = context;
    source->event = event;
    int code = 0;
    for (unsigned kind = 0; kind < CHANNELS && code == 0; kind++) {
        source->channels[kind].kind = kind;
        code = channel_open(source, &source->channels[kind], plan);
    }
    if (code == 0)
        return source;
    const vitals_clock *clock = &context->os.clock;
    slow_source_free(source, clock->monotonic_ns(clock->data) + NS_PER_SECOND);
    return NULL;
}

void slow_source_free(struct slow_source *source, uint64_t deadline_ns)
{
    if (source == NULL)
        return;
    for (unsigned kind = 0; kind < CHANNELS; kind++)
        if (source->channels[kind].worker != NULL)
            worker_tell_end(source->channels[kind].worker);
    for (unsigned kind = 0; kind < CHANNELS; kind++) {
        const struct channel *channel = &source->channels[kind];
        if (channel->worker != NULL)
            worker_end(channel->worker, deadline_ns);
        for (size_t i = 0; i < channel->hung_count; i++)
            worker_end(channel->hung[i].worker, 0);
    }
    slow_source_forget(source);
}

void slow_source_forget(struct slow_source *source)
{
    if (source == NULL)
        return;
    for (unsigned kind = 0; kind < CHANNELS; kind++)
        world_unref(source->channels[kind].world);
    memory_free(source);
}

/* ---- asking ---- */

static int add_batch(struct channel *channel)
{
    if (channel->batch_count == BATCHES)
        return -1;
    struct slow_job *job = memory_alloc(sizeof(*job));
    if (job == NULL)
        return -1;
    int number = worker_add(channel->worker, job);
    if (number < 0)
        memory_free(job);
    else
        channel->batches[channel->batch_count++] = number;
    return number;
}

/* A batch that nobody works on; -1 where there is none and no room for one more. */
static int idle_batch(struct channel *channel)
{
    for (size_t i = 0; i < channel->batch_count; i++) {
        if (worker_state(channel->worker, channel->batches[i]) == WORKER_IDLE)
            return channel->batches[i];
    }
    return add_batch(channel);
}

/* Asks for all that is due of one question; false where there was no batch for the rest. */
static bool ask(struct channel *channel, const struct process_question *question, size_t capacity,
                struct process_table *processes, uint64_t now_ns)
{
    for (int batch; (batch = idle_batch(channel)) >= 0;) {
        struct slow_job *job = worker_data(channel->worker, batch);
        if (process_table_due(processes, question, now_ns, &job->batch, capacity) == 0)
            return true;
        worker_ask(channel->worker, batch);
    }
    return false;
}

static unsigned first_turn(const struct channel *channel)
{
    return channel->kind * TURNS_EACH;
}

static struct process_question question_of(const struct channel *channel, size_t turn)
{
    return (struct process_question){first_turn(channel) + (unsigned)turn, 1,
                                     &channel->every_ns[turn], &channel->turns[turn].wanted};
}

/* First of whom everything is due, so that no file of theirs is read twice; then turn by turn. */
static void ask_turns(struct channel *channel, struct process_table *processes, uint64_t now_ns)
{
    size_t capacity = KINDS[channel->kind].batch;
    struct metric_set all = {0};
    for (size_t i = 0; i < channel->turn_count; i++)
        unite(&all, &channel->turns[i].wanted);
    channel->more = channel->refused = false;
    struct process_question question = {first_turn(channel), (unsigned)channel->turn_count,
                                        channel->every_ns, &all};
    if (channel->turn_count > 1)
        channel->more = !ask(channel, &question, capacity, processes, now_ns);
    for (size_t i = 0; i < channel->turn_count && !channel->more; i++) {
        question = question_of(channel, i);
        channel->more = !ask(channel, &question, capacity, processes, now_ns);
    }
}

void slow_source_ask(struct slow_source *source, struct process_table *processes, uint64_t now_ns)
{
    for (unsigned kind = 0; kind < CHANNELS; kind++)
        ask_turns(&source->channels[kind], processes, now_ns);
}

bool slow_source_has_more(const struct slow_source *source)
{
    for (unsigned kind = 0; kind < CHANNELS; kind++)
        if (source->channels[kind].more)
            return true;
    return false;
}

bool slow_source_refused(const struct slow_source *source)
{
    for (unsigned kind = 0; kind < CHANNELS; kind++)
        if (source->channels[kind].refused)
            return true;
    return false;
}

/* ---- collecting ---- */

static void hold(const struct channel *channel, struct process_table *processes, uint64_t key,
                 bool held)
{
    process_table_hold(processes, key, first_turn(channel), (unsigned)channel->turn_count, held);
}

static void take(struct channel *channel, struct process_table *processes, struct slow_job *job)
{
    channel->calls++;
    channel->spent_ns += job->spent_ns;
    enum process_taken taken = process_table_take(processes, &job->batch);
    channel->more |= taken == PROCESS_RELIEVED;
    channel->refused |= taken == PROCESS_REFUSED;
}

/* Threads that came back from where they hung: their processes are asked again. */
static void collect_hung(struct channel *channel, struct process_table *processes)
{
    size_t kept = 0;
    for (size_t i = 0; i < channel->hung_count; i++) {
        const struct hung hung = channel->hung[i];
        if (!worker_collect(hung.worker, hung.job)) {
            channel->hung[kept++] = hung;
            continue;
        }
        struct slow_job *job = worker_data(hung.worker, hung.job);
        hold(channel, processes, hung.key, false);
        process_batch_keep(&job->batch, hung.index);
        take(channel, processes, job);
        worker_end(hung.worker, 0);
    }
    channel->hung_count = kept;
}

static void collect(struct channel *channel, struct process_table *processes)
{
    collect_hung(channel, processes);
    for (size_t i = 0; i < channel->batch_count; i++) {
        if (!worker_collect(channel->worker, channel->batches[i]))
            continue;
        take(channel, processes, worker_data(channel->worker, channel->batches[i]));
        channel->late = false;
    }
}

void slow_source_collect(struct slow_source *source, struct process_table *processes)
{
    for (unsigned kind = 0; kind < CHANNELS; kind++)
        collect(&source->channels[kind], processes);
}

static bool is_idle(const struct channel *channel)
{
    for (size_t i = 0; i < channel->batch_count; i++) {
        if (worker_state(channel->worker, channel->batches[i]) != WORKER_IDLE)
            return false;
    }
    return true;
}

static bool is_settled(const struct channel *channel)
{
    return channel->late || is_idle(channel);
}

bool slow_source_settled(const struct slow_source *source, bool first_tick)
{
    return is_settled(&source->channels[FILES]) &&
           (!first_tick || is_settled(&source->channels[MEMORY]));
}

/* ---- late ---- */

/* The batch whose process the worker hangs in, and which of it that is; NULL where it does not. */
static struct slow_job *hanging(const struct slow_source *source, const struct channel *channel,
                                int *number, size_t *index)
{
    const vitals_clock *clock = &source->context->os.clock;
    uint64_t since_ns;
    *number = channel->worker == NULL ? -1 : worker_running(channel->worker, &since_ns);
    if (*number < 0)
        return NULL;
    struct slow_job *job = worker_data(channel->worker, *number);
    bool hangs = process_batch_hangs(&job->batch, clock->monotonic_ns(clock->data),
                                     LIMIT_SECONDS * NS_PER_SECOND, index);
    return hangs ? job : NULL;
}

/* Takes all batches but one from the old worker to the new one. What they asked for is due again.
 */
static void move_batches(struct channel *channel, struct worker *from, int but,
                         struct process_table *processes)
{
    size_t kept = 0;
    for (size_t i = 0; i < channel->batch_count; i++) {
        struct slow_job *job = channel->batches[i] == but
                                   ? NULL
                                   : worker_remove(from, channel->batches[i]);
        if (job == NULL)
            continue;
        process_table_return(processes, &job->batch);
        job->batch.count = 0;
        channel->batches[kept++] = worker_add(channel->worker, job); // a new worker has room
    }
    channel->batch_count = kept;
}

/* A process that cannot be read keeps its thread; the others are asked by a new one from now on,
 * and that one not before its thread comes back. */
static bool leave_behind(const struct slow_source *source, struct channel *channel,
                         struct process_table *processes)
{
    struct hung hung = {.worker = channel->worker};
    struct slow_job *job = hanging(source, channel, &hung.job, &hung.index);
    if (job == NULL || channel->hung_count == HUNG_MAX || add_worker(source, channel) < 0)
        return false;
    bool left = process_batch_give_up(&job->batch, hung.index);
    if (left) {
        hung.key = job->batch.wants[hung.index].key;
        process_table_return(processes, &job->batch);
        move_batches(channel, hung.worker, hung.job, processes);
        hold(channel, processes, hung.key, true);
        worker_tell_end(hung.worker);
        channel->hung[channel->hung_count++] = hung;
    } else { // it came back this very moment, and goes on
        struct worker *spare = channel->worker;
        channel->worker = hung.worker;
        worker_end(spare, 0);
    }
    channel->late = channel->late && !left;
    return left;
}

static void mark_late(const struct channel *channel, struct process_table *processes,
                      uint64_t now_ns)
{
    for (size_t i = 0; i < channel->turn_count; i++) {
        struct process_question question = question_of(channel, i);
        process_table_late(processes, &question, now_ns);
    }
}

bool slow_source_late(struct slow_source *source, struct process_table *processes, uint64_t now_ns,
                      bool first_tick)
{
    bool freed = false;
    for (unsigned kind = 0; kind < CHANNELS; kind++) {
        struct channel *channel = &source->channels[kind];
        int number;
        size_t index;
        bool waited = kind == FILES || first_tick;
        bool overdue = !is_idle(channel) &&
                       (waited || hanging(source, channel, &number, &index) != NULL);
        if (overdue || (waited && channel->hung_count != 0))
            mark_late(channel, processes, now_ns);
        if (!overdue)
            continue;
        channel->timeouts++;
        channel->late = true;
        freed |= leave_behind(source, channel, processes);
    }
    return freed;
}

/* ---- writing ---- */

static void write_text(vitals_builder *builder, vitals_metric metric, const char *text)
{
    vitals_builder_text(builder, metric, (vitals_text){text, strlen(text)}, VITALS_HAVE);
}

/* STALE while the worker is late, TIMED_OUT while it hangs. */
static vitals_availability state_of(const struct slow_source *source, const struct channel *channel)
{
    int number;
    size_t index;
    if (hanging(source, channel, &number, &index) != NULL)
        return VITALS_TIMED_OUT;
    return channel->late ? VITALS_STALE : VITALS_HAVE;
}

static void write_row(const struct slow_source *source, unsigned kind, vitals_builder *builder,
                      uint64_t stamp_ns)
{
    const struct channel *channel = &source->channels[kind];
    const char *name = KINDS[kind].name;
    vitals_builder_row(builder, VITALS_SOURCE, KINDS[kind].key, 0,
                       (vitals_text){name, strlen(name)}, stamp_ns);
    write_text(builder, VITALS_SOURCE_STATE, vitals_availability_name(state_of(source, channel)));
    write_text(builder, VITALS_SOURCE_MESSAGE, KINDS[kind].message);
    vitals_builder_u64(builder, VITALS_SOURCE_CALLS, channel->calls, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_SOURCE_CALL_SECONDS, (double)channel->spent_ns / 1e9,
                       VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_SOURCE_TIMEOUTS, channel->timeouts, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_SOURCE_QUARANTINED, channel->hung_count, VITALS_HAVE);
    vitals_builder_missing(builder, VITALS_SOURCE_MISSED_TICKS, VITALS_UNSUPPORTED);
}

void slow_source_write(const struct slow_source *source, vitals_builder *builder, uint64_t stamp_ns)
{
    write_row(source, FILES, builder, stamp_ns);
    if (source->channels[MEMORY].turn_count != 0) // its row comes with the columns
        write_row(source, MEMORY, builder, stamp_ns);
}
