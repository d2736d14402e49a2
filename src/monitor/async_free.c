/* async_free.c: see async_free.h. */
#include "monitor/async_free.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { FREEINGS_MOST = 8 };

struct freeing {
    pthread_t thread;
    vitals_sampler *sampler;
    bool used;
    atomic_bool over; /* by the thread, at its end */
};

/* The monitor's thread alone uses and empties them. */
static struct freeing freeings[FREEINGS_MOST];

static void *part(void *data)
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

static struct freeing *find_place(void)
{
    for (size_t i = 0; i < FREEINGS_MOST; i++) {
        struct freeing *freeing = &freeings[i];
        if (freeing->used && atomic_load(&freeing->over))
            empty(freeing);
        if (!freeing->used)
            return freeing;
    }
    return NULL;
}

/* A thread that takes no signal: those are the monitor's. */
static int start(struct freeing *freeing)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&freeing->thread, NULL, part, freeing);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code == 0 ? 0 : -1;
}

void async_free(vitals_sampler *sampler, vitals_subscription *subscription)
{
    struct freeing *freeing = sampler != NULL ? find_place() : NULL;
    vitals_subscription_free(subscription);
    if (freeing != NULL) {
        freeing->sampler = sampler;
        atomic_store(&freeing->over, false);
        freeing->used = start(freeing) == 0;
    }
    if (freeing == NULL || !freeing->used)
        vitals_sampler_free(sampler);
}

void async_free_wait(void)
{
    for (size_t i = 0; i < FREEINGS_MOST; i++) {
        if (freeings[i].used)
            empty(&freeings[i]);
    }
}
