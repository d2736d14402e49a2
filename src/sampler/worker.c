/* worker.c: see worker.h. */
#include "sampler/worker.h"

#include "sampler/context.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/thread.h"

#include <pthread.h>
#include <string.h>

/* If the last answer took so long, the next one is told without the time in which the thread waited
 * for a CPU: that is no fault of what was called. */
#define CPU_WAITS_NS NS_PER_MS

enum { WORKER_STACK_BYTES = 512 * 1024 };

struct worker_event {
    struct worker_world base; /* counted as one */
    int arrivals;             /* an event */
};

struct worker_job {
    void *data; /* NULL: the place is free */
    enum worker_job_state state;
    uint64_t order;    /* of asking */
    uint64_t spent_ns; /* in the last answer */
};

struct worker {
    atomic_uint refs; /* the owner and the thread */
    struct worker_event *event;
    const struct worker_service *service;
    struct worker_world *world;
    int wake; /* an event: something was asked, or it is time to end */
    int left; /* an event: the thread has ended */
    pthread_t thread;

    pthread_mutex_t mutex;
    struct worker_job jobs[WORKER_JOBS_MAX]; /* guarded by mutex, as is all that follows */
    size_t count;
    uint64_t asked;
    size_t waiting;       /* jobs that were asked and have not begun */
    int running;          /* -1: none */
    uint64_t progress_ns; /* when the job or its newest item began or ended */
    uint64_t item;        /* 0: none */
    uint64_t avoided[WORKER_AVOIDED];
    size_t avoided_count;
    bool given_up, ending;
};

/* ---- the event ---- */

static void event_done(struct worker_world *base)
{
    os_close_descriptor(((struct worker_event *)base)->arrivals);
}

struct worker_event *worker_event_new(vitals_context *context)
{
    struct worker_event *event = worker_world_new(context, sizeof *event, event_done);
    if (event == NULL)
        return NULL;
    event->arrivals = os_event_new();
    if (event->arrivals >= 0)
        return event;
    worker_event_unref(event);
    return NULL;
}

void worker_event_unref(struct worker_event *event)
{
    worker_world_unref(event != NULL ? &event->base : NULL);
}

bool worker_event_wait(struct worker_event *event, uint64_t deadline_ns)
{
    const vitals_clock *clock = &event->base.context->os.clock;
    if (clock->wait_until(clock->data, event->arrivals, deadline_ns) != 1)
        return false;
    os_event_clear(event->arrivals);
    return true;
}

void *worker_world_new(vitals_context *context, size_t size,
                       void (*done)(struct worker_world *world))
{
    struct worker_world *world = memory_alloc(size);
    if (world == NULL)
        return NULL;

    atomic_init(&world->refs, 1);
    world->context = context_ref(context);
    world->done = done;
    return world;
}

void worker_world_unref(struct worker_world *world)
{
    if (world == NULL || atomic_fetch_sub_explicit(&world->refs, 1, memory_order_acq_rel) != 1)
        return;

    if (world->done != NULL)
        world->done(world);
    context_unref(world->context);
    memory_free(world);
}

static uint64_t worker_now(const struct worker *worker)
{
    return os_now_ns(&worker->event->base.context->os);
}

static bool gate_enter(void *data, uint64_t item)
{
    struct worker *worker = data;
    uint64_t now_ns = worker_now(worker);
    pthread_mutex_lock(&worker->mutex);
    bool passed_over = worker->given_up;
    for (size_t i = 0; i < worker->avoided_count; i++)
        passed_over |= worker->avoided[i] == item;
    worker->item = passed_over ? 0 : item;
    worker->progress_ns = now_ns;
    pthread_mutex_unlock(&worker->mutex);
    return !passed_over;
}

static void gate_leave(void *data, uint64_t item UNUSED)
{
    struct worker *worker = data;
    uint64_t now_ns = worker_now(worker);
    pthread_mutex_lock(&worker->mutex);
    worker->item = 0;
    worker->progress_ns = now_ns;
    pthread_mutex_unlock(&worker->mutex);
}

/* ---- life ---- */

static void worker_unref(struct worker *worker)
{
    if (atomic_fetch_sub_explicit(&worker->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < worker->count; i++)
        if (worker->jobs[i].data != NULL)
            worker->service->data_free(worker->jobs[i].data);
    worker_world_unref(worker->world);
    os_close_descriptor(worker->wake);
    os_close_descriptor(worker->left);
    pthread_mutex_destroy(&worker->mutex);
    worker_event_unref(worker->event);
    memory_free(worker);
}

/* How long the calling thread has waited for a CPU: on a busy machine, a large part of the time of
 * a call that sleeps. 0: not known. */
static uint64_t cpu_wait_ns(const struct os *os)
{
    char text[80];
    uint64_t ran_ns, waited_ns;
    if (os->clock.monotonic_ns != os_clock()->monotonic_ns || // a test's clock tells nothing of it
        os_proc_text(os, "thread-self/schedstat", text, sizeof text) < 0)
        return 0;
    const char *at = text, *end = text + strlen(text);
    bool known = number_u64(&at, end, &ran_ns) && at < end && *at++ == ' ' &&
                 number_u64(&at, end, &waited_ns);
    return known ? waited_ns : 0;
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    const struct os *os = &worker->event->base.context->os;
    const vitals_clock *clock = &os->clock;
    const struct os_gate gate = {gate_enter, gate_leave, worker};
    bool news = false; /* answers that the owner was not told of */
    for (bool ending = false; !ending;) {
        /* The job that was asked first. */
        uint64_t now_ns = worker_now(worker);
        struct worker_job *next = NULL;
        pthread_mutex_lock(&worker->mutex);
        ending = worker->ending;
        for (size_t i = 0; i < worker->count && !ending; i++) {
            struct worker_job *job = &worker->jobs[i];
            if (job->state == WORKER_ASKED && (next == NULL || job->order < next->order))
                next = job;
        }
        void *data = next != NULL ? next->data : NULL;
        bool slow = next != NULL && next->spent_ns >= CPU_WAITS_NS;
        if (next != NULL) {
            next->state = WORKER_RUNNING;
            worker->waiting--;
        }
        worker->running = next != NULL ? (int)(next - worker->jobs) : -1;
        worker->progress_ns = now_ns;
        worker->item = 0;
        pthread_mutex_unlock(&worker->mutex);

        if (next != NULL) {
            uint64_t waited_ns = slow ? cpu_wait_ns(os) : 0;
            worker->service->work(worker->world, data, &gate);
            uint64_t spent_ns = worker_now(worker) - now_ns;
            waited_ns = slow ? cpu_wait_ns(os) - waited_ns : 0;
            spent_ns -= spent_ns < WORKER_HANG_NS && waited_ns < spent_ns ? waited_ns : 0;
            pthread_mutex_lock(&worker->mutex);
            next->spent_ns = spent_ns;
            next->state = WORKER_DONE;
            worker->running = -1;
            pthread_mutex_unlock(&worker->mutex);
            news = true;
        } else if (news) { /* once for all that was asked: the owner waits for the last of it */
            os_event_set(worker->event->arrivals);
            news = false;
        } else if (!ending) {
            ending = clock->wait_until(clock->data, worker->wake, UINT64_MAX) < 0; /* cannot wait */
            os_event_clear(worker->wake);
        }
    }
    /* This may close a driver, which can hang: the owner waits for it no longer than for a job. */
    struct worker_world *world = worker->world;
    worker->world = NULL;
    worker_world_unref(world);
    os_event_set(worker->left);
    worker_unref(worker);
    return NULL;
}

struct worker *worker_new(struct worker_event *event, const struct worker_service *service,
                          struct worker_world *world)
{
    struct worker *worker = memory_alloc(sizeof(*worker));
    if (worker == NULL)
        return NULL;
    worker->wake = os_event_new();
    worker->left = os_event_new();
    if (worker->wake < 0 || worker->left < 0) {
        os_close_descriptor(worker->wake);
        os_close_descriptor(worker->left);
        memory_free(worker);
        return NULL;
    }
    atomic_init(&worker->refs, 2);
    pthread_mutex_init(&worker->mutex, NULL);
    worker->running = -1;
    worker->service = service;
    worker->world = world;
    atomic_fetch_add_explicit(&world->refs, 1, memory_order_relaxed);
    worker->event = event;
    atomic_fetch_add_explicit(&event->base.refs, 1, memory_order_relaxed);

    if (thread_start(&worker->thread, service->name, WORKER_STACK_BYTES, worker_main, worker) !=
        0) {
        atomic_store(&worker->refs, 1);
        worker_unref(worker);
        return NULL;
    }
    return worker;
}

void worker_tell_end(struct worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    worker->ending = true;
    pthread_mutex_unlock(&worker->mutex);
    os_event_set(worker->wake);
}

void worker_end(struct worker *worker, uint64_t deadline_ns)
{
    const vitals_clock *clock = &worker->event->base.context->os.clock;
    worker_tell_end(worker);
    if (clock->wait_until(clock->data, worker->left, deadline_ns) == 1)
        pthread_join(worker->thread, NULL);
    else
        pthread_detach(worker->thread);
    worker_unref(worker);
}

/* ---- jobs ---- */

int worker_add(struct worker *worker, void *data)
{
    int place = -1;
    pthread_mutex_lock(&worker->mutex);
    for (size_t i = 0; i < worker->count && place < 0; i++)
        if (worker->jobs[i].data == NULL)
            place = (int)i;
    if (place < 0 && worker->count < WORKER_JOBS_MAX)
        place = (int)worker->count++;
    if (place >= 0)
        worker->jobs[place] = (struct worker_job){.data = data, .state = WORKER_IDLE};
    pthread_mutex_unlock(&worker->mutex);
    return place;
}

void *worker_remove(struct worker *worker, int job)
{
    pthread_mutex_lock(&worker->mutex);
    void *data = NULL;
    if (worker->jobs[job].state != WORKER_RUNNING) {
        worker->waiting -= worker->jobs[job].state == WORKER_ASKED;
        data = worker->jobs[job].data;
        worker->jobs[job] = (struct worker_job){.data = NULL};
    }
    pthread_mutex_unlock(&worker->mutex);
    return data;
}

void *worker_data(struct worker *worker, int job)
{
    return worker->jobs[job].data; // which the owner alone changes
}

enum worker_job_state worker_state(struct worker *worker, int job)
{
    pthread_mutex_lock(&worker->mutex);
    enum worker_job_state state = worker->jobs[job].state;
    pthread_mutex_unlock(&worker->mutex);
    return state;
}

void worker_ask(struct worker *worker, int job)
{
    pthread_mutex_lock(&worker->mutex);
    bool rests = worker->running < 0 && worker->waiting == 0;
    worker->waiting += worker->jobs[job].state != WORKER_ASKED;
    worker->jobs[job].state = WORKER_ASKED;
    worker->jobs[job].order = ++worker->asked;
    pthread_mutex_unlock(&worker->mutex);
    if (rests) /* else it looks for more before it waits */
        os_event_set(worker->wake);
}

bool worker_collect(struct worker *worker, int job)
{
    pthread_mutex_lock(&worker->mutex);
    bool done = worker->jobs[job].state == WORKER_DONE;
    if (done)
        worker->jobs[job].state = WORKER_IDLE;
    pthread_mutex_unlock(&worker->mutex);
    return done;
}

uint64_t worker_spent_ns(struct worker *worker, int job)
{
    return worker->jobs[job].spent_ns; // which the thread changes only while the job is running
}

/* ---- hangs ---- */

bool worker_hangs(struct worker *worker, int *job, uint64_t *item)
{
    uint64_t now_ns = worker_now(worker);
    pthread_mutex_lock(&worker->mutex);
    *job = worker->running;
    *item = worker->item;
    bool hangs = *job >= 0 && now_ns >= saturating_add(worker->progress_ns, WORKER_HANG_NS);
    pthread_mutex_unlock(&worker->mutex);
    return hangs;
}

bool worker_give_up(struct worker *worker, uint64_t item)
{
    pthread_mutex_lock(&worker->mutex);
    bool inside = worker->running >= 0 && worker->item == item;
    worker->given_up = worker->given_up || inside;
    pthread_mutex_unlock(&worker->mutex);
    return inside;
}

void worker_avoid(struct worker *worker, const uint64_t *items, size_t count)
{
    pthread_mutex_lock(&worker->mutex);
    worker->avoided_count = size_min(count, WORKER_AVOIDED);
    memcpy(worker->avoided, items, worker->avoided_count * sizeof *items);
    pthread_mutex_unlock(&worker->mutex);
}
