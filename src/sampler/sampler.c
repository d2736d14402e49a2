/* sampler.c: ticks on demand or at a thread's own pace, and the slot between it and its readers.
 *
 * Locks: the slot's mutex, a leaf. Thread rule: <vitals/sampler.h>. */
#include "model/snapshot.h"
#include "sampler/context.h"
#include "sampler/tick.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* A tick goes on without the workers after half its interval, at most this. */
static const uint64_t PATIENCE_MAX_NS = 100 * NS_PER_MS;

/* The first tick of vitals_sampler_take: loading a driver may take a second, and a device that
 * hangs is known for it after two. */
static const uint64_t PATIENCE_FIRST_NS = 2200 * NS_PER_MS;

struct vitals_sampler {
    struct tick tick; /* the thread that ticks */
    pid_t owner;      /* after a fork, the child may only free */
    uint64_t next_ns; /* when the next tick is due, by the thread that ticks; 0: at once */
    bool running;
    atomic_bool entered; /* a thread is in take, next or start */
    pthread_t thread;
    int stop; /* an event; -1 before the first start */

    pthread_mutex_t mutex;
    vitals_snapshot *latest;           /* guarded by mutex */
    vitals_subscription *subscription; /* likewise: the first of a list */
};

struct vitals_subscription {
    vitals_sampler *sampler;
    vitals_subscription *next; /* guarded by the sampler's mutex */
    int fresh;                 /* an event: the latest has not been given to this one */
};

int vitals_sampler_new(vitals_context *context, const vitals_request *request, vitals_sampler **out,
                       vitals_error *error)
{
    static const struct metric_set NOTHING;
    if (memcmp(&request->wanted, &NOTHING, sizeof(NOTHING)) == 0)
        return error_set(error, VITALS_EARGUMENT, 0, "the request is empty");
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;) {
        if (entity_is_of_handle(entity) && metric_set_has_entity(&request->wanted, entity))
            return error_set(error, VITALS_EARGUMENT, 0,
                             "table %s can be read only of one process (vitals_process_ask)",
                             vitals_table_name(entity));
    }
    vitals_sampler *sampler = memory_alloc(sizeof(*sampler));
    if (sampler == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    int code = tick_init(&sampler->tick, context, request, error);
    if (code < 0) {
        memory_free(sampler);
        return code;
    }
    pthread_mutex_init(&sampler->mutex, NULL);
    sampler->owner = getpid();
    sampler->stop = -1;
    *out = sampler;
    return 0;
}

static uint64_t patience(const vitals_sampler *sampler)
{
    uint64_t half = sampler->tick.request->interval_ns / 2;
    return half < PATIENCE_MAX_NS ? half : PATIENCE_MAX_NS;
}

void vitals_sampler_free(vitals_sampler *sampler)
{
    if (sampler == NULL)
        return;
    if (sampler->owner == getpid()) {
        vitals_sampler_stop(sampler);
        tick_done(&sampler->tick, PATIENCE_MAX_NS);
    } else if (sampler->running || atomic_load(&sampler->entered)) {
        return; /* a fork amid a tick: nothing of it can be trusted, the memory is the price */
    } else {
        tick_forget(&sampler->tick);
    }
    snapshot_drop(sampler->latest);
    os_close_descriptor(sampler->stop);
    pthread_mutex_destroy(&sampler->mutex);
    memory_free(sampler);
}

/* A caller's mistake that would corrupt the heap. A binding makes it easily: Python's cffi gives up
 * the interpreter's lock in each call. */
static int enter(vitals_sampler *sampler, vitals_error *error)
{
    if (sampler->owner != getpid())
        return error_forked(error, "sampler");
    if (atomic_exchange_explicit(&sampler->entered, true, memory_order_acquire))
        return error_set(error, VITALS_EARGUMENT, 0, "another thread is using this sampler");
    return 0;
}

static void leave(vitals_sampler *sampler)
{
    atomic_store_explicit(&sampler->entered, false, memory_order_release);
}

/* Waits until the next tick is due, or the event `stop` (-1: none). Returns what the clock does. */
static int wait_due(vitals_sampler *sampler, int stop)
{
    const vitals_clock *clock = &sampler->tick.context->os.clock;
    if (sampler->next_ns == 0)
        sampler->next_ns = clock->monotonic_ns(clock->data);
    return clock->wait_until(clock->data, stop, sampler->next_ns);
}

/* Sets when the next tick is due. Deadlines that have gone by already are missed. */
static void set_due(vitals_sampler *sampler)
{
    const vitals_clock *clock = &sampler->tick.context->os.clock;
    uint64_t now_ns = clock->monotonic_ns(clock->data);
    uint64_t interval_ns = sampler->tick.request->interval_ns;
    sampler->next_ns = (sampler->next_ns != 0 ? sampler->next_ns : now_ns) + interval_ns;
    if (now_ns >= sampler->next_ns) {
        uint64_t missed = (now_ns - sampler->next_ns) / interval_ns + 1;
        sampler->tick.missed += missed;
        sampler->next_ns += missed * interval_ns;
    }
}

static int take(vitals_sampler *sampler, bool when_due, vitals_snapshot **out, vitals_error *error)
{
    int code = enter(sampler, error);
    if (code < 0)
        return code;
    if (sampler->running) {
        code = error_set(error, VITALS_EARGUMENT, 0,
                         "the sampler's own thread is running; use vitals_sampler_latest");
    } else if (when_due && (code = wait_due(sampler, -1)) < 0) {
        code = error_system(error, -code, "the clock cannot wait");
    } else {
        bool first = sampler->tick.sequence == 0;
        code = tick_run(&sampler->tick, first ? PATIENCE_FIRST_NS : patience(sampler), out, error);
        if (when_due && first) /* it may take long: the second is a whole interval later */
            sampler->next_ns = 0;
        if (when_due)
            set_due(sampler);
    }
    leave(sampler);
    return code;
}

int vitals_sampler_take(vitals_sampler *sampler, vitals_snapshot **out, vitals_error *error)
{
    return take(sampler, false, out, error);
}

int vitals_sampler_next(vitals_sampler *sampler, vitals_snapshot **out, vitals_error *error)
{
    return take(sampler, true, out, error);
}

int sampler_take_soon(vitals_sampler *sampler, vitals_snapshot **out)
{
    return tick_run(&sampler->tick, patience(sampler), out, NULL);
}

int sampler_take_last(vitals_sampler *sampler, vitals_snapshot **out)
{
    sampler->tick.last = true;
    int code = sampler_take_soon(sampler, out);
    sampler->tick.last = false;
    return code;
}

int vitals_snapshot_take_request(vitals_context *context, const vitals_request *request,
                                 vitals_snapshot **out, vitals_error *error)
{
    vitals_sampler *sampler = NULL;
    int code = vitals_sampler_new(context, request, &sampler, error);
    if (code == 0) {
        sampler->tick.last = true;
        code = vitals_sampler_take(sampler, out, error);
    }
    vitals_sampler_free(sampler);
    return code;
}

int vitals_snapshot_take(vitals_context *context, unsigned sets, vitals_snapshot **out,
                         vitals_error *error)
{
    vitals_request *request = NULL;
    int code = vitals_request_new(sets, &request, error);
    if (code == 0)
        code = vitals_snapshot_take_request(context, request, out, error);
    vitals_request_free(request);
    return code;
}

/* ---- the thread ---- */

static void *sampler_main(void *argument)
{
    vitals_sampler *sampler = argument;
    struct tick *tick = &sampler->tick;
    int woken;
    while ((woken = wait_due(sampler, sampler->stop)) == 0) {
        vitals_snapshot *snapshot = NULL, *before = NULL;
        vitals_error error;
        if (tick_run(tick, patience(sampler), &snapshot, &error) == 0) {
            snapshot_hold(snapshot);
            /* Under the mutex of the slot, so that no subscription is told of it twice. */
            pthread_mutex_lock(&sampler->mutex);
            before = sampler->latest;
            sampler->latest = snapshot;
            for (vitals_subscription *each = sampler->subscription; each != NULL; each = each->next)
                os_event_set(each->fresh);
            pthread_mutex_unlock(&sampler->mutex);
            snapshot_drop(before);
        } else {
            os_trace(&tick->context->os, "tick: %s", error.message);
        }
        set_due(sampler);
    }
    if (woken < 0)
        os_trace(&tick->context->os, "the clock cannot wait: no more ticks");
    return NULL;
}

static int start_thread(vitals_sampler *sampler, vitals_error *error)
{
    if (sampler->running)
        return error_set(error, VITALS_EARGUMENT, 0, "the sampler's thread runs already");
    if (sampler->stop < 0)
        sampler->stop = os_event_new();
    if (sampler->stop < 0)
        return error_set(error, VITALS_ESYSTEM, 0, "no descriptor for the sampler's thread");
    os_event_clear(sampler->stop);
    sampler->next_ns = 0;
    int failed = thread_start(&sampler->thread, "vitals-tick", 0, sampler_main, sampler);
    if (failed != 0)
        return error_system(error, failed, "cannot start the sampler's thread");
    sampler->running = true;
    return 0;
}

int vitals_sampler_start(vitals_sampler *sampler, vitals_error *error)
{
    int code = enter(sampler, error);
    if (code == 0) {
        code = start_thread(sampler, error);
        leave(sampler);
    }
    return code;
}

void vitals_sampler_stop(vitals_sampler *sampler)
{
    if (!sampler->running || sampler->owner != getpid())
        return;
    os_event_set(sampler->stop);
    pthread_join(sampler->thread, NULL);
    sampler->running = false;
    sampler->next_ns = 0;
}

/* ---- the slot ---- */

/* With the mutex held. */
static vitals_snapshot *share_latest(vitals_sampler *sampler)
{
    return sampler->latest != NULL ? vitals_snapshot_ref(sampler->latest) : NULL;
}

vitals_snapshot *vitals_sampler_latest(vitals_sampler *sampler)
{
    if (sampler->owner != getpid())
        return NULL;
    pthread_mutex_lock(&sampler->mutex);
    vitals_snapshot *snapshot = share_latest(sampler);
    pthread_mutex_unlock(&sampler->mutex);
    return snapshot;
}

int vitals_subscription_new(vitals_sampler *sampler, vitals_subscription **out, vitals_error *error)
{
    if (sampler->owner != getpid())
        return error_forked(error, "sampler");
    vitals_subscription *subscription = memory_alloc(sizeof(*subscription));
    if (subscription == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    subscription->sampler = sampler;
    subscription->fresh = os_event_new();
    if (subscription->fresh < 0) {
        int failed = -subscription->fresh;
        memory_free(subscription);
        return error_system(error, failed, "no descriptor for a subscription");
    }
    pthread_mutex_lock(&sampler->mutex);
    subscription->next = sampler->subscription;
    sampler->subscription = subscription;
    if (sampler->latest != NULL)
        os_event_set(subscription->fresh);
    pthread_mutex_unlock(&sampler->mutex);
    *out = subscription;
    return 0;
}

void vitals_subscription_free(vitals_subscription *subscription)
{
    if (subscription == NULL)
        return;
    vitals_sampler *sampler = subscription->sampler;
    if (sampler->owner == getpid()) { /* after a fork the mutex may be held for ever */
        pthread_mutex_lock(&sampler->mutex);
        vitals_subscription **place = &sampler->subscription;
        while (*place != subscription)
            place = &(*place)->next;
        *place = subscription->next;
        pthread_mutex_unlock(&sampler->mutex);
    }
    os_close_descriptor(subscription->fresh);
    memory_free(subscription);
}

int vitals_subscription_descriptor(const vitals_subscription *subscription)
{
    return subscription->fresh;
}

vitals_snapshot *vitals_subscription_latest(vitals_subscription *subscription)
{
    vitals_sampler *sampler = subscription->sampler;
    if (sampler->owner != getpid())
        return NULL; /* the descriptor is our parent's too */
    pthread_mutex_lock(&sampler->mutex);
    vitals_snapshot *snapshot = share_latest(sampler);
    os_event_clear(subscription->fresh);
    pthread_mutex_unlock(&sampler->mutex);
    return snapshot;
}
