/* machine_source.c: see machine_source.h. */
#include "sampler/machine_source.h"

#include "sampler/context.h"
#include "util/memory.h"

#include <string.h>

/* What the machine has not is looked for this often: a lane that is woken costs more than what it
 * would find. */
static const uint64_t LOOK_NS = 10 * NS_PER_SECOND;

/* Longer than this a lane is not late but stuck. */
static const uint64_t STUCK_NS = 2 * NS_PER_SECOND;

/* ---- the lanes' side ---- */

enum { HUNG_MAX = 8 };

struct machine_world {
    atomic_uint refs;
    vitals_context *context;
    /* Mounts that do not answer: put there by the owner, taken away by the thread that was left
     * behind in one, when it comes back. 0: free. */
    atomic_uint_fast64_t hung[HUNG_MAX];
};

struct machine_job {
    enum host_late kind;
    struct machine_world *world; /* of the lane */
    atomic_uint_fast64_t inside; /* the mount that is being asked; 0: none */
    struct metric_set asked;     /* question */
    struct facts facts;          /* answer */
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

static void work(void *argument, void *data)
{
    struct machine_world *world = argument;
    struct machine_job *job = data;
    const vitals_clock *clock = &world->context->os.clock;
    const struct os_mount_gate gate = {enter, leave, job};
    job->world = world;
    job->read_ns = clock->monotonic_ns(clock->data);
    host_late_read(world->context, job->kind, &job->asked, &gate, &job->facts);
    job->spent_ns = clock->monotonic_ns(clock->data) - job->read_ns;
}

static void world_ref(void *argument)
{
    struct machine_world *world = argument;
    atomic_fetch_add_explicit(&world->refs, 1, memory_order_relaxed);
}

static void world_unref(void *argument)
{
    struct machine_world *world = argument;
    if (atomic_fetch_sub_explicit(&world->refs, 1, memory_order_acq_rel) != 1)
        return;
    context_unref(world->context);
    memory_free(world);
}

static void data_free(void *data)
{
    struct machine_job *job = data;
    facts_done(&job->facts);
    memory_free(job);
}

#define SERVICE(thread)                                                                   \
    {                                                                                     \
        .name = thread, .work = work, .world_ref = world_ref, .world_unref = world_unref, \
        .data_free = data_free                                                            \
    }

static const struct {
    struct lane_service service;
    const char *name, *message; /* of its source's row */
} LANES[HOST_LATES] = {
    [HOST_LATE_MACHINE] = {SERVICE("vitals-machine"), "machine",
                           "what the machine has, and what our cgroup allows and used"},
    [HOST_LATE_FILESYSTEMS] = {SERVICE("vitals-mounts"), "filesystems",
                               "mounted file systems and their space"},
    [HOST_LATE_SENSORS] = {SERVICE("vitals-sensors"), "sensors",
                           "temperatures, fans and batteries of the machine"},
    [HOST_LATE_TABLES] = {SERVICE("vitals-tables"), "tables",
                          "addresses, logins and sockets of the machine"},
};

/* ---- the owner's side ---- */

struct kind {
    struct metric_set part;    /* of that which is wanted */
    struct metric_set last;    /* what was asked for last */
    struct metric_set lacking; /* what no answer had since `looked_ns` */
    uint64_t looked_ns;
    struct lane *lane; /* NULL: nothing of it is wanted */
    int job;
    bool asked;
    bool late; /* has not answered since a deadline: nobody waits for it */
    uint64_t asked_ns;
    uint64_t calls, spent_ns, timeouts;
};

struct machine_source {
    vitals_context *context; /* borrowed from the world */
    struct lane_hub *hub;    /* borrowed from whoever made the source */
    struct machine_world *world;
    struct kind kinds[HOST_LATES];
};

static int add_lane(struct machine_source *source, enum host_late number)
{
    struct kind *kind = &source->kinds[number];
    kind->lane = lane_new(source->hub, &LANES[number].service, source->world);
    struct machine_job *job = kind->lane != NULL ? memory_alloc(sizeof(*job)) : NULL;
    if (job == NULL)
        return -1;
    job->kind = number;
    atomic_init(&job->inside, 0);
    kind->job = lane_add(kind->lane, job);
    if (kind->job < 0)
        memory_free(job);
    return kind->job < 0 ? -1 : 0;
}

static int fill(struct machine_source *source, vitals_context *context, struct lane_hub *hub,
                const struct metric_set *wanted)
{
    source->world = memory_alloc(sizeof(*source->world));
    if (source->world == NULL)
        return -1;
    atomic_init(&source->world->refs, 1);
    for (size_t i = 0; i < HUNG_MAX; i++)
        atomic_init(&source->world->hung[i], 0);
    source->world->context = context_ref(context);
    source->context = context;
    source->hub = hub;
    struct metric_set asked = *wanted; /* our own cgroup's pressure: who asks for no scope could not
                                          tell it from the machine's */
    if (!metric_set_has(wanted, VITALS_PRESSURE_SCOPE))
        memset(asked.bits[VITALS_PRESSURE], 0, sizeof(asked.bits[VITALS_PRESSURE]));
    int code = 0;
    for (int i = 0; i < HOST_LATES && code == 0; i++)
        if (host_late_part((enum host_late)i, &asked, &source->kinds[i].part))
            code = add_lane(source, (enum host_late)i);
    return code;
}

struct machine_source *machine_source_new(vitals_context *context, struct lane_hub *hub,
                                          const struct metric_set *wanted)
{
    struct machine_source *source = memory_alloc(sizeof(*source));
    if (source == NULL)
        return NULL;
    if (fill(source, context, hub, wanted) == 0)
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
        if (source->kinds[i].lane != NULL)
            lane_tell_end(source->kinds[i].lane);
    for (size_t i = 0; i < HOST_LATES; i++)
        if (source->kinds[i].lane != NULL)
            lane_end(source->kinds[i].lane, deadline_ns);
    machine_source_forget(source);
}

void machine_source_forget(struct machine_source *source)
{
    if (source == NULL)
        return;
    if (source->world != NULL)
        world_unref(source->world);
    memory_free(source);
}

/* ---- asking and collecting ---- */

static bool is_idle(const struct kind *kind)
{
    return kind->lane == NULL || lane_state(kind->lane, kind->job) == LANE_IDLE;
}

/* Of what is due, without what nobody wants of a lane and what the machine has not. */
static bool question(struct kind *kind, enum host_late number, const struct metric_set *due,
                     uint64_t now_ns, struct metric_set *out)
{
    uint64_t any = 0;
    if (!host_late_part(number, due, out))
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
static void note_lacking(struct kind *kind, enum host_late number, const struct metric_set *asked,
                         const struct host *host)
{
    for (vitals_metric metric = vitals_metric_next(0); metric != 0 && !host_late_whole(number);
         metric = vitals_metric_next(metric)) {
        if (metric_set_has(asked, metric) && !host_late_has(host, number, metric))
            metric_set_add(&kind->lacking, metric);
    }
}

void machine_source_ask(struct machine_source *source, const struct metric_set *due,
                        uint64_t now_ns)
{
    for (int i = 0; i < HOST_LATES; i++) {
        struct kind *kind = &source->kinds[i];
        bool again = kind->asked && kind->asked_ns == now_ns;
        if (kind->lane == NULL || again || !is_idle(kind))
            continue;
        struct machine_job *job = lane_data(kind->lane, kind->job);
        if (!question(kind, (enum host_late)i, due, now_ns, &job->asked))
            continue;
        if (host_late_whole((enum host_late)i))
            job->asked = kind->part;
        kind->last = job->asked;
        kind->asked = true;
        kind->asked_ns = now_ns;
        lane_ask(kind->lane, kind->job);
    }
}

int machine_source_collect(struct machine_source *source, struct host *host)
{
    int code = 0;
    for (int i = 0; i < HOST_LATES && code == 0; i++) {
        struct kind *kind = &source->kinds[i];
        if (kind->lane == NULL || !lane_collect(kind->lane, kind->job))
            continue;
        struct machine_job *job = lane_data(kind->lane, kind->job);
        kind->late = false;
        kind->calls++;
        kind->spent_ns += job->spent_ns;
        code = host_late_take(host, (enum host_late)i, &job->facts, job->read_ns);
        note_lacking(kind, (enum host_late)i, &job->asked, host);
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

/* Whether the lane's thread has been in its job for too long. */
static bool is_stuck(const struct machine_source *source, const struct kind *kind)
{
    uint64_t since_ns;
    return lane_running(kind->lane, &since_ns) >= 0 &&
           monotonic(source) >= saturating_add(since_ns, STUCK_NS);
}

/* A mount that hangs keeps its thread; the others are asked by a new one from now on, and that one
 * mount not before its thread comes back. */
static bool leave_behind(struct machine_source *source)
{
    struct kind *kind = &source->kinds[HOST_LATE_FILESYSTEMS];
    struct lane *stuck = kind->lane;
    struct machine_job *job = lane_data(stuck, kind->job);
    uint64_t mount = atomic_load(&job->inside);
    size_t place = 0;
    while (place < HUNG_MAX && atomic_load(&source->world->hung[place]) != 0)
        place++;
    if (mount == 0 || place == HUNG_MAX)
        return false;
    struct kind before = *kind;
    if (add_lane(source, HOST_LATE_FILESYSTEMS) < 0) {
        if (kind->lane != NULL)
            lane_end(kind->lane, monotonic(source));
        *kind = before;
        return false;
    }
    atomic_store(&source->world->hung[place], mount);
    // It may have come back meanwhile, and found nothing to take away.
    if (atomic_load(&job->inside) != mount)
        atomic_store(&source->world->hung[place], 0);
    lane_end(stuck, 0);
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
        host_late_overdue(host, (enum host_late)i, &kind->last);
        if (i == HOST_LATE_FILESYSTEMS && is_stuck(source, kind))
            freed = leave_behind(source);
    }
    return freed;
}

/* ---- rows ---- */

/* How it stands: STALE while the lane is late, TIMED_OUT when it is stuck. */
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
        if (kind->lane == NULL)
            continue;
        vitals_availability state = state_of(source, kind);
        vitals_builder_row(builder, VITALS_SOURCE, KEY_BASE + i, 0, text_of(LANES[i].name),
                           stamp_ns);
        vitals_builder_text(builder, VITALS_SOURCE_STATE, text_of(vitals_availability_name(state)),
                            VITALS_HAVE);
        vitals_builder_text(builder, VITALS_SOURCE_MESSAGE, text_of(LANES[i].message), VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_SOURCE_CALLS, kind->calls, VITALS_HAVE);
        vitals_builder_f64(builder, VITALS_SOURCE_CALL_SECONDS, (double)kind->spent_ns / 1e9,
                           VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_SOURCE_TIMEOUTS, kind->timeouts, VITALS_HAVE);
        if (i == HOST_LATE_FILESYSTEMS)
            vitals_builder_u64(builder, VITALS_SOURCE_QUARANTINED, hung_mounts(source),
                               VITALS_HAVE);
        else
            vitals_builder_missing(builder, VITALS_SOURCE_QUARANTINED, VITALS_UNSUPPORTED);
        vitals_builder_missing(builder, VITALS_SOURCE_MISSED_TICKS, VITALS_UNSUPPORTED);
    }
}
