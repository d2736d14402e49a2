/* async_free.c: see async_free.h. */
#include "monitor/async_free.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { PARTINGS_MOST = 8 };

struct parting {
    pthread_t thread;
    vitals_sampler *sampler;
    bool used;
    atomic_bool over; /* by the thread, at its end */
};

/* The monitor's thread alone uses and empties them. */
static struct parting partings[PARTINGS_MOST];

static void *part(void *data)
{
    struct parting *parting = data;
    vitals_sampler_free(parting->sampler);
    atomic_store(&parting->over, true);
    return NULL;
}

static void empty(struct parting *parting)
{
    (void)pthread_join(parting->thread, NULL);
    parting->used = false;
}

static struct parting *find_place(void)
{
    for (size_t i = 0; i < PARTINGS_MOST; i++) {
        struct parting *parting = &partings[i];
        if (parting->used && atomic_load(&parting->over))
            empty(parting);
        if (!parting->used)
            return parting;
    }
    return NULL;
}

/* A thread that takes no signal: those are the monitor's. */
static int start(struct parting *parting)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&parting->thread, NULL, part, parting);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code == 0 ? 0 : -1;
}

void parting_free(vitals_sampler *sampler, vitals_subscription *subscription)
{
    struct parting *parting = sampler != NULL ? find_place() : NULL;
    vitals_subscription_free(subscription);
    if (parting != NULL) {
        parting->sampler = sampler;
        atomic_store(&parting->over, false);
        parting->used = start(parting) == 0;
    }
    if (parting == NULL || !parting->used)
        vitals_sampler_free(sampler);
}

void parting_wait(void)
{
    for (size_t i = 0; i < PARTINGS_MOST; i++) {
        if (partings[i].used)
            empty(&partings[i]);
    }
}
