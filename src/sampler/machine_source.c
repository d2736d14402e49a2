/* machine_source.c: see machine_source.h. */
#include "sampler/machine_source.h"

#include "sampler/context.h"
#include "util/memory.h"

#include <string.h>

/* What the machine has not is looked for this often: a worker that is woken costs more than what it
 * would find. */
static const uint64_t LOOK_NS = 10 * NS_PER_SECOND;

/* Longer than this a worker is not late but stuck. */
static const uint64_t STUCK_NS = 2 * NS_PER_SECOND;

/* ---- the workers' side ---- */

enum { HUNG_MAX = 8 };

struct machine_world {
    struct worker_world base;
    /* Mounts that do not answer: put there by the owner, taken away by the thread that was left
     * behind in one, when it comes back. 0: free. */
    atomic_uint_fast64_t hung[HUNG_MAX];
};

struct machine_job {
    enum host_cache kind;
    struct machine_world *world; /* of the worker */
    atomic_uint_fast64_t inside; /* the mount that is being asked; 0: none */
    struct metric_set asked;     /* question */
    struct row_batch batch;      /* answer */
    uint64_t read_ns, spent_ns;  /* answer: when it began, how long it took */
};

static bool enter(void *data, uint64_t mount)
{
    struct machine_job *job = data;
    for (size_t i = 0; i < HUNG_MAX; i++)
        if (atomic_load(&job->world->hung[i]) == mount)
            return false;
    atomic_store(&job->inside, mount);
    return true;
}

static void leave(void *data, uint64_t mount)
{
    struct machine_job *job = data;
    atomic_store(&job->inside, 0);
    for (size_t i = 0; i < HUNG_MAX; i++) {
        uint_fast64_t hung = mount;
        (void)atomic_compare_exchange_strong(&job->world->hung[i], &hung, 0);
    }
}

static void work(struct worker_world *base, void *data, const struct os_gate *unused)
{
    (void)unused;
    struct machine_world *world = (struct machine_world *)base;
    struct machine_job *job = data;
    const vitals_clock *clock = &world->base.context->os.clock;
    const struct os_gate gate = {enter, leave, job};
    job->world = world;
    job->read_ns = clock->monotonic_ns(clock->data);
    host_cache_read(world->base.context, job->kind, &job->asked, &gate, &job->batch);
    job->spent_ns = clock->monotonic_ns(clock->data) - job->read_ns;
}

static void data_free(void *data)
{
    struct machine_job *job = data;
    batch_done(&job->batch);
    memory_free(job);
}

#define SERVICE(thread)                                      \
    {                                                        \
        .name = thread, .work = work, .data_free = data_free \
    }

static const struct {
    struct worker_service service;
    const char *name, *message; /* of its source's row */
} WORKERS[HOST_LATES] = {
    [HOST_CACHE_MACHINE] = {SERVICE("vitals-machine"), "machine",
                            "what the machine has, and what our cgroup allows and used"},
    [HOST_CACHE_FILESYSTEMS] = {SERVICE("vitals-mounts"), "filesystems",
                                "mounted file systems and their space"},
    [HOST_CACHE_SENSORS] = {SERVICE("vitals-sensors"), "sensors",
                            "temperatures, fans and batteries of the machine"},
    [HOST_CACHE_TABLES] = {SERVICE("vitals-tables"), "tables",
                           "addresses, logins and sockets of the machine"},
};

/* ---- the owner's side ---- */

struct kind {
    struct metric_set part;    /* of that which is wanted */
    struct metric_set last;    /* what was asked for last */
    struct metric_set lacking; /* what no answer had since `looked_ns` */
    uint64_t looked_ns;
    struct worker *worker; /* NULL: nothing of it is wanted */
    int job;
    bool asked;
    bool late; /* has not answered since a deadline: nobody waits for it */
    uint64_t asked_ns;
    uint64_t calls, spent_ns, timeouts;
};

struct machine_source {
    vitals_context *context;    /* borrowed from the world */
    struct worker_event *event; /* borrowed from whoever made the source */
    struct machine_world *world;
    struct kind kinds[HOST_LATES];
};

static int add_worker(struct machine_source *source, enum host_cache number)
{
    struct kind *kind = &source->kinds[number];
    kind->worker = worker_new(source->event, &WORKERS[number].service, &source->world->base);
    struct machine_job *job = kind->worker != NULL ? memory_alloc(sizeof(*job)) : NULL;
    if (job == NULL)
        return -1;
    job->kind = number;
    atomic_init(&job->inside, 0);
    kind->job = worker_add(kind->worker, job);
    if (kind->job < 0)
        memory_free(job);
    return kind->job < 0 ? -1 : 0;
}

static int fill(struct machine_source *source, vitals_context *context, struct worker_event *event,
                const struct metric_set *wanted)
{
    source->world = worker_world_new(context, sizeof(*source->world), NULL);
    if (source->world == NULL)
        return -1;
    for (size_t i = 0; i < HUNG_MAX; i++)
        atomic_init(&source->world->hung[i], 0);
    source->context = context;
    source->event = event;
    struct metric_set asked = *wanted; /* our own cgroup's pressure: who asks for no scope could not
                                          tell it from the machine's */
    if (!metric_set_has(wanted, VITALS_PRESSURE_SCOPE))
        memset(asked.bits[VITALS_PRESSURE], 0, sizeof(asked.bits[VITALS_PRESSURE]));
    int code = 0;
    for (int i = 0; i < HOST_LATES && code == 0; i++)
        if (host_cache_part((enum host_cache)i, &asked, &source->kinds[i].part))
            code = add_worker(source, (enum host_cache)i);
    return code;
}

struct machine_source *machine_source_new(vitals_context *context, struct worker_event *event,
                                          const struct metric_set *wanted)
{
    struct machine_source *source = memory_alloc(sizeof(*source));
    if (source == NULL)
        return NULL;
    if (fill(source, context, event, wanted) == 0)
        return source;
    const vitals_clock *clock = &context->os.clock;
    machine_source_free(source, clock->monotonic_ns(clock->data) + NS_PER_SECOND);
    return NULL;
}

void machine_source_free(struct machine_source *source, uint64_t deadline_ns)
{
    if (source == NULL)
        return;
    for (size_t i = 0; i < HOST_LATES; i++)
        if (source->kinds[i].worker != NULL)
            worker_tell_end(source->kinds[i].worker);
    for (size_t i = 0; i < HOST_LATES; i++)
        if (source->kinds[i].worker != NULL)
            worker_end(source->kinds[i].worker, deadline_ns);
    machine_source_forget(source);
}

void machine_source_forget(struct machine_source *source)
{
    if (source == NULL)
        return;
    if (source->world != NULL)
        worker_world_unref(&source->world->base);
    memory_free(source);
}

/* ---- asking and collecting ---- */

static bool is_idle(const struct kind *kind)
{
    return kind->worker == NULL || worker_state(kind->worker, kind->job) == WORKER_IDLE;
}

/* Of what is due, without what nobody wants of a worker and what the machine has not. */
static bool question(struct kind *kind, enum host_cache number, const struct metric_set *due,
                     uint64_t now_ns, struct metric_set *out)
{
    uint64_t any = 0;
    if (!host_cache_part(number, due, out))
        return false;
    if (now_ns >= saturating_add(kind->looked_ns, LOOK_NS)) {
        kind->lacking = (struct metric_set){0};
        kind->looked_ns = now_ns;
    }
    for (size_t i = 0; i <= ENTITY_MAX; i++) {
        for (size_t j = 0; j < ARRAY_COUNT(out->bits[i]); j++)
            any |= out->bits[i][j] &= kind->part.bits[i][j] & ~kind->lacking.bits[i][j];
    }
    return any != 0;
}

/* Tables that are given whole may get rows at any moment. */
static void note_lacking(struct kind *kind, enum host_cache number, const struct metric_set *asked,
                         const struct host *host)
{
    for (vitals_metric metric = vitals_metric_next(0); metric != 0 && !host_cache_whole(number);
         metric = vitals_metric_next(metric)) {
        if (metric_set_has(asked, metric) && !host_cache_has(host, number, metric))
            metric_set_add(&kind->lacking, metric);
    }
}

void machine_source_ask(struct machine_source *source, const struct metric_set *due,
                        uint64_t now_ns)
{
    for (int i = 0; i < HOST_LATES; i++) {
        struct kind *kind = &source->kinds[i];
        bool again = kind->asked && kind->asked_ns == now_ns;
        if (kind->worker == NULL || again || !is_idle(kind))
            continue;
        struct machine_job *job = worker_data(kind->worker, kind->job);
        if (!question(kind, (enum host_cache)i, due, now_ns, &job->asked))
            continue;
        if (host_cache_whole((enum host_cache)i))
            job->asked = kind->part;
        kind->last = job->asked;
        kind->asked = true;
        kind->asked_ns = now_ns;
        worker_ask(kind->worker, kind->job);
    }
}

int machine_source_collect(struct machine_source *source, struct host *host)
{
    int code = 0;
    for (int i = 0; i < HOST_LATES && code == 0; i++) {
        struct kind *kind = &source->kinds[i];
        if (kind->worker == NULL || !worker_collect(kind->worker, kind->job))
            continue;
        struct machine_job *job = worker_data(kind->worker, kind->job);
        kind->late = false;
        kind->calls++;
        kind->spent_ns += job->spent_ns;
        code = host_cache_take(host, (enum host_cache)i, &job->batch, job->read_ns);
        note_lacking(kind, (enum host_cache)i, &job->asked, host);
    }
    return code;
}

bool machine_source_settled(const struct machine_source *source)
{
    for (size_t i = 0; i < HOST_LATES; i++)
        if (!source->kinds[i].late && !is_idle(&source->kinds[i]))
            return false;
    return true;
}

static uint64_t monotonic(const struct machine_source *source)
{
    const vitals_clock *clock = &source->context->os.clock;
    return clock->monotonic_ns(clock->data);
}

/* Whether the worker's thread has been in its job for too long. */
static bool is_stuck(const struct machine_source *source, const struct kind *kind)
{
    uint64_t since_ns;
    return worker_running(kind->worker, &since_ns) >= 0 &&
           monotonic(source) >= saturating_add(since_ns, STUCK_NS);
}

/* A mount that hangs keeps its thread; the others are asked by a new one from now on, and that one
 * mount not before its thread comes back. */
static bool leave_behind(struct machine_source *source)
{
    struct kind *kind = &source->kinds[HOST_CACHE_FILESYSTEMS];
    struct worker *stuck = kind->worker;
    struct machine_job *job = worker_data(stuck, kind->job);
    uint64_t mount = atomic_load(&job->inside);
    size_t place = 0;
    while (place < HUNG_MAX && atomic_load(&source->world->hung[place]) != 0)
        place++;
    if (mount == 0 || place == HUNG_MAX)
        return false;
    struct kind before = *kind;
    if (add_worker(source, HOST_CACHE_FILESYSTEMS) < 0) {
        if (kind->worker != NULL)
            worker_end(kind->worker, monotonic(source));
        *kind = before;
        return false;
    }
    atomic_store(&source->world->hung[place], mount);
    // It may have come back meanwhile, and found nothing to take away.
    if (atomic_load(&job->inside) != mount)
        atomic_store(&source->world->hung[place], 0);
    worker_end(stuck, 0);
    kind->asked = kind->late = false;
    return true;
}

static uint64_t hung_mounts(const struct machine_source *source)
{
    uint64_t count = 0;
    for (size_t i = 0; i < HUNG_MAX; i++)
        count += atomic_load(&source->world->hung[i]) != 0;
    return count;
}

bool machine_source_late(struct machine_source *source, struct host *host)
{
    bool freed = false;
    for (int i = 0; i < HOST_LATES; i++) {
        struct kind *kind = &source->kinds[i];
        if (is_idle(kind))
            continue;
        kind->timeouts++;
        kind->late = true;
        host_cache_overdue(host, (enum host_cache)i, &kind->last);
        if (i == HOST_CACHE_FILESYSTEMS && is_stuck(source, kind))
            freed = leave_behind(source);
    }
    return freed;
}

/* ---- rows ---- */

/* How it stands: STALE while the worker is late, TIMED_OUT when it is stuck. */
static vitals_availability state_of(const struct machine_source *source, const struct kind *kind)
{
    if (is_idle(kind))
        return VITALS_HAVE;
    return is_stuck(source, kind) ? VITALS_TIMED_OUT : VITALS_STALE;
}

static vitals_text text_of(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

void machine_source_write(const struct machine_source *source, vitals_builder *builder,
                          uint64_t stamp_ns)
{
    enum { KEY_BASE = 4 };
    for (size_t i = 0; i < HOST_LATES; i++) {
        const struct kind *kind = &source->kinds[i];
        if (kind->worker == NULL)
            continue;
        vitals_availability state = state_of(source, kind);
        vitals_builder_row(builder, VITALS_SOURCE, KEY_BASE + i, 0, text_of(WORKERS[i].name),
                           stamp_ns);
        vitals_builder_text(builder, VITALS_SOURCE_STATE, text_of(vitals_availability_name(state)),
                            VITALS_HAVE);
        vitals_builder_text(builder, VITALS_SOURCE_MESSAGE, text_of(WORKERS[i].message),
                            VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_SOURCE_CALLS, kind->calls, VITALS_HAVE);
        vitals_builder_f64(builder, VITALS_SOURCE_CALL_SECONDS, (double)kind->spent_ns / 1e9,
                           VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_SOURCE_TIMEOUTS, kind->timeouts, VITALS_HAVE);
        if (i == HOST_CACHE_FILESYSTEMS)
            vitals_builder_u64(builder, VITALS_SOURCE_QUARANTINED, hung_mounts(source),
                               VITALS_HAVE);
        else
            vitals_builder_missing(builder, VITALS_SOURCE_QUARANTINED, VITALS_UNSUPPORTED);
        vitals_builder_missing(builder, VITALS_SOURCE_MISSED_TICKS, VITALS_UNSUPPORTED);
    }
}
