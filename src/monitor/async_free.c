/* async_free.c: see async_free.h. */
#include "monitor/async_free.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { FREEINGS_MOST = 8 };

struct freeing {
    pthread_t thread;
    vitals_sampler *sampler;
    bool used;
    atomic_bool over; /* by the thread, at its end */
};

/* The monitor's thread alone uses and empties them. */
static struct freeing freeings[FREEINGS_MOST];

static void *free_sampler(void *data)
{
    struct freeing *freeing = data;
    vitals_sampler_free(freeing->sampler);
    atomic_store(&freeing->over, true);
    return NULL;
}

static void empty(struct freeing *freeing)
{
    (void)pthread_join(freeing->thread, NULL);
    freeing->used = false;
}

int sampler_begin(const struct monitor_options *options, enum monitor_part part,
                  const struct wants *wants, vitals_sampler **sampler,
                  vitals_subscription **subscription, vitals_error *error)
{
    vitals_request *request = NULL;
    *sampler = NULL;
    *subscription = NULL;
    int code = monitor_request(options, part, &request, error);
    if (code == 0 && wants != NULL)
        code = wants_request(wants, request, error);
    if (code == 0)
        code = vitals_sampler_new(options->context, request, sampler, error);
    vitals_request_free(request);
    if (code == 0)
        code = vitals_subscription_new(*sampler, subscription, error);
    if (code == 0)
        code = vitals_sampler_start(*sampler, error);
    if (code < 0) {
        async_free(*sampler, *subscription);
        *sampler = NULL;
        *subscription = NULL;
    }
    return code;
}

void async_free(vitals_sampler *sampler, vitals_subscription *subscription)
{
    struct freeing *place = NULL;
    for (size_t i = 0; i < FREEINGS_MOST && place == NULL && sampler != NULL; i++) {
        struct freeing *freeing = &freeings[i];
        if (freeing->used && atomic_load(&freeing->over))
            empty(freeing);
        place = freeing->used ? NULL : freeing;
    }
    vitals_subscription_free(subscription);
    if (place != NULL) {
        /* A thread that takes no signal: those are the monitor's. */
        sigset_t all, before;
        place->sampler = sampler;
        atomic_store(&place->over, false);
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        place->used = pthread_create(&place->thread, NULL, free_sampler, place) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (place == NULL || !place->used)
        vitals_sampler_free(sampler);
}

void async_free_wait(void)
{
    for (size_t i = 0; i < FREEINGS_MOST; i++) {
        if (freeings[i].used)
            empty(&freeings[i]);
    }
}
