/* hasher.c: see hasher.h. */
#include "export/server/hasher.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if VITALS_WITH_CRYPT
#include <crypt.h>
#endif

struct hasher {
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    int notify;               /* guarded by mutex: -1 once its owner has gone */
    unsigned holders;         /* guarded by mutex */
    unsigned waiting;         /* guarded by mutex */
    struct comparison *asked; /* guarded by mutex: the oldest first */
    struct comparison **last; /* guarded by mutex: where the next is put */
    struct comparison *done;  /* guarded by mutex */
};

void comparison_free(struct comparison *comparison)
{
    if (comparison != NULL)
        explicit_bzero(comparison, sizeof *comparison);
    free(comparison);
}

#if VITALS_WITH_CRYPT
static bool compare(const struct comparison *comparison, struct crypt_data *work)
{
    const char *made = crypt_rn(comparison->password, comparison->hash, work, (int)sizeof *work);
    unsigned differ = 1;
    if (made != NULL && strlen(made) == strlen(comparison->hash)) {
        differ = 0;
        for (size_t i = 0; made[i] != '\0'; i++)
            differ |= (unsigned char)made[i] ^ (unsigned char)comparison->hash[i];
    }
    explicit_bzero(work, sizeof *work);
    return differ == 0;
}

static struct comparison *take(struct hasher *hasher)
{
    pthread_mutex_lock(&hasher->mutex);
    while (hasher->asked == NULL && hasher->notify >= 0)
        pthread_cond_wait(&hasher->wanted, &hasher->mutex);
    struct comparison *comparison = hasher->asked;
    if (comparison != NULL) {
        hasher->asked = comparison->next;
        if (hasher->asked == NULL)
            hasher->last = &hasher->asked;
    }
    pthread_mutex_unlock(&hasher->mutex);
    return comparison;
}

static void give(struct hasher *hasher, struct comparison *comparison)
{
    uint64_t one = 1;
    pthread_mutex_lock(&hasher->mutex);
    hasher->waiting--;
    comparison->next = hasher->done;
    hasher->done = comparison;
    if (hasher->notify >= 0) {
        ssize_t written = write(hasher->notify, &one, sizeof one);
        (void)written;
    }
    pthread_mutex_unlock(&hasher->mutex);
}

static void unhold(struct hasher *hasher)
{
    pthread_mutex_lock(&hasher->mutex);
    bool last = --hasher->holders == 0;
    pthread_mutex_unlock(&hasher->mutex);
    if (!last)
        return;
    while (hasher->asked != NULL || hasher->done != NULL) {
        struct comparison **list = hasher->asked != NULL ? &hasher->asked : &hasher->done;
        struct comparison *comparison = *list;
        *list = comparison->next;
        comparison_free(comparison);
    }
    pthread_cond_destroy(&hasher->wanted);
    pthread_mutex_destroy(&hasher->mutex);
    free(hasher);
}

static bool owned(struct hasher *hasher)
{
    pthread_mutex_lock(&hasher->mutex);
    bool is = hasher->notify >= 0;
    pthread_mutex_unlock(&hasher->mutex);
    return is;
}

static void *work(void *data)
{
    struct hasher *hasher = data;
    struct comparison *comparison;
    struct crypt_data *place = calloc(1, sizeof *place);
    while (owned(hasher) && (comparison = take(hasher)) != NULL) {
        comparison->equal = place != NULL && compare(comparison, place);
        give(hasher, comparison);
    }
    free(place);
    unhold(hasher);
    return NULL;
}

struct hasher *hasher_new(int notify)
{
    struct hasher *hasher = calloc(1, sizeof *hasher);
    pthread_t thread;
    sigset_t all, old;
    if (hasher == NULL)
        return NULL;
    pthread_mutex_init(&hasher->mutex, NULL);
    pthread_cond_init(&hasher->wanted, NULL);
    hasher->notify = notify;
    hasher->holders = 2;
    hasher->last = &hasher->asked;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    bool runs = pthread_create(&thread, NULL, work, hasher) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (runs) {
        (void)pthread_detach(thread);
        return hasher;
    }
    hasher->holders = 1;
    unhold(hasher);
    return NULL;
}

void hasher_free(struct hasher *hasher)
{
    if (hasher == NULL)
        return;
    pthread_mutex_lock(&hasher->mutex);
    hasher->notify = -1;
    pthread_cond_signal(&hasher->wanted);
    pthread_mutex_unlock(&hasher->mutex);
    unhold(hasher);
}
#else
struct hasher *hasher_new(int notify)
{
    (void)notify;
    return NULL;
}

void hasher_free(struct hasher *hasher)
{
    (void)hasher;
}
#endif

bool hasher_ask(struct hasher *hasher, struct comparison *comparison)
{
    if (hasher == NULL)
        return false;
    pthread_mutex_lock(&hasher->mutex);
    bool room = hasher->waiting < HASHER_WAITING;
    if (room) {
        hasher->waiting++;
        comparison->next = NULL;
        *hasher->last = comparison;
        hasher->last = &comparison->next;
        pthread_cond_signal(&hasher->wanted);
    }
    pthread_mutex_unlock(&hasher->mutex);
    return room;
}

struct comparison *hasher_next(struct hasher *hasher)
{
    if (hasher == NULL)
        return NULL;
    pthread_mutex_lock(&hasher->mutex);
    struct comparison *comparison = hasher->done;
    if (comparison != NULL)
        hasher->done = comparison->next;
    pthread_mutex_unlock(&hasher->mutex);
    return comparison;
}
