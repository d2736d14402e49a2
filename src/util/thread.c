/* thread.c: see thread.h. */
#include "util/thread.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/base.h"

/* What a fault of the thread itself raises is not blocked: the kernel would end the process without
 * its handler, which gives the terminal back. abort(3) unblocks SIGABRT itself. */
static const int OF_FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

/* A thread that runs. Its id is that of the process, shifted by 32, and its own: in a child of
 * fork(2) the places of its parent's threads are free. */
struct thread_place {
    _Atomic uint64_t id;
    void *(*main)(void *data);
    void *data;
};

/* No thread needs one to run: one that finds none is not known as ours. */
static struct thread_place places[1024];

static uint64_t id_of(int64_t tid)
{
    return (uint64_t)getpid() << 32 | (uint64_t)tid;
}

static struct thread_place *reserve(void)
{
    uint64_t starting = id_of(0);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        uint64_t id = atomic_load(&places[i].id);
        if (id >> 32 != starting >> 32 &&
            atomic_compare_exchange_strong(&places[i].id, &id, starting))
            return &places[i];
    }
    return NULL;
}

static void *run_place(void *argument)
{
    struct thread_place *place = argument;
    atomic_store(&place->id, id_of(syscall(SYS_gettid)));
    void *result = place->main(place->data);
    atomic_store(&place->id, 0);
    return result;
}

bool thread_is_ours(int64_t tid)
{
    uint64_t id = id_of(tid);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (atomic_load_explicit(&places[i].id, memory_order_relaxed) == id)
            return true;
    return false;
}

int thread_start(pthread_t *thread, const char *name, size_t stack_bytes, void *(*main)(void *data),
                 void *data)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int failed = pthread_attr_init(&attributes);
    if (failed != 0)
        return failed;
    if (stack_bytes != 0)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    struct thread_place *place = reserve();
    if (place != NULL) {
        place->main = main;
        place->data = data;
    }
    sigfillset(&all);
    for (size_t i = 0; i < ARRAY_COUNT(OF_FAULTS); i++)
        sigdelset(&all, OF_FAULTS[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = place != NULL ? pthread_create(thread, &attributes, run_place, place)
                           : pthread_create(thread, &attributes, main, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed == 0)
        pthread_setname_np(*thread, name);
    else if (place != NULL)
        atomic_store(&place->id, 0);
    return failed;
}
