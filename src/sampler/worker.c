/* worker.c: see worker.h. */
#include "sampler/worker.h"

#include "sampler/context.h"
#include "util/memory.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

enum { LANE_STACK_BYTES = 512 * 1024, LANE_JOBS_MAX = 288 };

struct lane_hub {
    atomic_uint refs;
    vitals_context *context;
    int arrivals; /* an event */
};

struct lane_job {
    void *data; /* NULL: the place is free */
    enum lane_job_state state;
    uint64_t order; /* of asking */
};

struct lane {
    atomic_uint refs; /* the owner and the thread */
    struct lane_hub *hub;
    const struct lane_service *service;
    void *world;
    int wake; /* an event: something was asked, or it is time to end */
    int left; /* an event: the thread has ended */
    pthread_t thread;

    pthread_mutex_t mutex;
    struct lane_job jobs[LANE_JOBS_MAX]; /* guarded by mutex, as is all that follows */
    size_t count;
    uint64_t asked;
    int running; /* -1: none */
    uint64_t running_since_ns;
    bool ending;
};

/* ---- the hub ---- */

struct lane_hub *lane_hub_new(vitals_context *context)
{
    struct lane_hub *hub = memory_alloc(sizeof(*hub));
    if (hub == NULL)
        return NULL;
    hub->arrivals = os_event_new();
    if (hub->arrivals < 0) {
        memory_free(hub);
        return NULL;
    }
    atomic_init(&hub->refs, 1);
    hub->context = context_ref(context);
    return hub;
}

void lane_hub_unref(struct lane_hub *hub)
{
    if (hub == NULL || atomic_fetch_sub_explicit(&hub->refs, 1, memory_order_acq_rel) != 1)
        return;
    os_close_descriptor(hub->arrivals);
    context_unref(hub->context);
    memory_free(hub);
}

bool lane_hub_wait(struct lane_hub *hub, uint64_t deadline_ns)
{
    const vitals_clock *clock = &hub->context->os.clock;
    if (clock->wait_until(clock->data, hub->arrivals, deadline_ns) != 1)
        return false;
    os_event_clear(hub->arrivals);
    return true;
}

/* ---- life ---- */

static void lane_unref(struct lane *lane)
{
    if (atomic_fetch_sub_explicit(&lane->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < lane->count; i++) {
        if (lane->jobs[i].data != NULL)
            lane->service->data_free(lane->jobs[i].data);
    }
    lane->service->world_unref(lane->world);
    os_close_descriptor(lane->wake);
    os_close_descriptor(lane->left);
    pthread_mutex_destroy(&lane->mutex);
    lane_hub_unref(lane->hub);
    memory_free(lane);
}

/* The job that was asked first, marked as running, and its data; -1 where there is none. */
static int next_job(struct lane *lane, uint64_t now_ns, void **data, bool *ending)
{
    pthread_mutex_lock(&lane->mutex);
    int found = -1;
    for (size_t i = 0; i < lane->count; i++) {
        const struct lane_job *job = &lane->jobs[i];
        if (job->state == LANE_ASKED && (found < 0 || job->order < lane->jobs[found].order))
            found = (int)i;
    }
    *ending = lane->ending;
    if (*ending)
        found = -1;
    if (found >= 0) {
        lane->jobs[found].state = LANE_RUNNING;
        *data = lane->jobs[found].data;
    }
    lane->running = found;
    lane->running_since_ns = now_ns;
    pthread_mutex_unlock(&lane->mutex);
    return found;
}

static void finish_job(struct lane *lane, int job)
{
    pthread_mutex_lock(&lane->mutex);
    lane->jobs[job].state = LANE_DONE;
    lane->running = -1;
    pthread_mutex_unlock(&lane->mutex);
    os_event_set(lane->hub->arrivals);
}

static void *lane_main(void *argument)
{
    struct lane *lane = argument;
    const vitals_clock *clock = &lane->hub->context->os.clock;
    for (bool ending = false; !ending;) {
        void *data = NULL;
        int job = next_job(lane, clock->monotonic_ns(clock->data), &data, &ending);
        if (job >= 0) {
            lane->service->work(lane->world, data);
            finish_job(lane, job);
        } else if (!ending) {
            ending = clock->wait_until(clock->data, lane->wake, UINT64_MAX) < 0; /* cannot wait */
            os_event_clear(lane->wake);
        }
    }
    os_event_set(lane->left);
    lane_unref(lane);
    return NULL;
}

/* A thread that takes no signal: those are the program's. */
static int start_thread(struct lane *lane)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return -1;
    pthread_attr_setstacksize(&attributes, LANE_STACK_BYTES);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&lane->thread, &attributes, lane_main, lane);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed == 0)
        pthread_setname_np(lane->thread, lane->service->name);
    return failed == 0 ? 0 : -1;
}

struct lane *lane_new(struct lane_hub *hub, const struct lane_service *service, void *world)
{
    struct lane *lane = memory_alloc(sizeof(*lane));
    if (lane == NULL)
        return NULL;
    lane->wake = os_event_new();
    lane->left = os_event_new();
    if (lane->wake < 0 || lane->left < 0) {
        os_close_descriptor(lane->wake);
        os_close_descriptor(lane->left);
        memory_free(lane);
        return NULL;
    }
    atomic_init(&lane->refs, 2);
    pthread_mutex_init(&lane->mutex, NULL);
    lane->running = -1;
    lane->service = service;
    lane->world = world;
    service->world_ref(world);
    lane->hub = hub;
    atomic_fetch_add_explicit(&hub->refs, 1, memory_order_relaxed);
    if (start_thread(lane) < 0) {
        atomic_store(&lane->refs, 1);
        lane_unref(lane);
        return NULL;
    }
    return lane;
}

void lane_tell_end(struct lane *lane)
{
    pthread_mutex_lock(&lane->mutex);
    lane->ending = true;
    pthread_mutex_unlock(&lane->mutex);
    os_event_set(lane->wake);
}

void lane_end(struct lane *lane, uint64_t deadline_ns)
{
    const vitals_clock *clock = &lane->hub->context->os.clock;
    lane_tell_end(lane);
    if (clock->wait_until(clock->data, lane->left, deadline_ns) == 1)
        pthread_join(lane->thread, NULL);
    else
        pthread_detach(lane->thread);
    lane_unref(lane);
}

/* ---- jobs ---- */

int lane_add(struct lane *lane, void *data)
{
    int place = -1;
    pthread_mutex_lock(&lane->mutex);
    for (size_t i = 0; i < lane->count && place < 0; i++) {
        if (lane->jobs[i].data == NULL)
            place = (int)i;
    }
    if (place < 0 && lane->count < LANE_JOBS_MAX)
        place = (int)lane->count++;
    if (place >= 0)
        lane->jobs[place] = (struct lane_job){.data = data, .state = LANE_IDLE};
    pthread_mutex_unlock(&lane->mutex);
    return place;
}

void *lane_remove(struct lane *lane, int job)
{
    pthread_mutex_lock(&lane->mutex);
    void *data = NULL;
    if (lane->jobs[job].state != LANE_RUNNING) {
        data = lane->jobs[job].data;
        lane->jobs[job] = (struct lane_job){.data = NULL};
    }
    pthread_mutex_unlock(&lane->mutex);
    return data;
}

void *lane_data(struct lane *lane, int job)
{
    pthread_mutex_lock(&lane->mutex);
    void *data = lane->jobs[job].data;
    pthread_mutex_unlock(&lane->mutex);
    return data;
}

enum lane_job_state lane_state(struct lane *lane, int job)
{
    pthread_mutex_lock(&lane->mutex);
    enum lane_job_state state = lane->jobs[job].state;
    pthread_mutex_unlock(&lane->mutex);
    return state;
}

void lane_ask(struct lane *lane, int job)
{
    pthread_mutex_lock(&lane->mutex);
    lane->jobs[job].state = LANE_ASKED;
    lane->jobs[job].order = ++lane->asked;
    pthread_mutex_unlock(&lane->mutex);
    os_event_set(lane->wake);
}

bool lane_collect(struct lane *lane, int job)
{
    pthread_mutex_lock(&lane->mutex);
    bool done = lane->jobs[job].state == LANE_DONE;
    if (done)
        lane->jobs[job].state = LANE_IDLE;
    pthread_mutex_unlock(&lane->mutex);
    return done;
}

int lane_running(struct lane *lane, uint64_t *since_ns)
{
    pthread_mutex_lock(&lane->mutex);
    int job = lane->running;
    *since_ns = lane->running_since_ns;
    pthread_mutex_unlock(&lane->mutex);
    return job;
}
