/* export_thread.c: see export_thread.h. */
#include "export/export_thread.h"

#include <poll.h>
#include <unistd.h>

#include "export/clock.h"
#include "util/error.h"
#include "util/thread.h"

static void *thread_main(void *data)
{
    struct export_thread *thread = data;
    thread->work(thread->data);
    pthread_mutex_lock(&thread->mutex);
    thread->ended = true;
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->mutex);
    return NULL;
}

int export_thread_start(struct export_thread *thread, void (*work)(void *data), void *data,
                        vitals_error *error)
{
    pthread_condattr_t attributes;
    thread->work = work;
    thread->data = data;
    thread->ended = false;
    pthread_mutex_init(&thread->mutex, NULL);
    pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->changed, &attributes);
    pthread_condattr_destroy(&attributes);

    int number = thread_start(&thread->thread, "vitals-export", 0, thread_main, thread);
    if (number == 0)
        return 0;

    pthread_cond_destroy(&thread->changed);
    pthread_mutex_destroy(&thread->mutex);
    return error_system(error, number, "cannot start a thread");
}

bool export_thread_wait(struct export_thread *thread, uint64_t until_ns)
{
    const struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    return pthread_cond_timedwait(&thread->changed, &thread->mutex, &until) == 0;
}

bool export_thread_wait_for_end(struct export_thread *thread, uint64_t until_ns)
{
    while (!thread->ended && export_thread_wait(thread, until_ns))
        ;
    return thread->ended;
}

bool export_thread_leave(struct export_thread *thread)
{
    bool ended = thread->ended;
    pthread_mutex_unlock(&thread->mutex);
    if (!ended) {
        (void)pthread_detach(thread->thread);
        return false;
    }
    (void)pthread_join(thread->thread, NULL);
    pthread_cond_destroy(&thread->changed);
    pthread_mutex_destroy(&thread->mutex);
    return true;
}

/* ---- the watchdog ---- */

static struct {
    int descriptor;
    uint64_t patience_ns;
} watched; /* set once, before the thread starts */

static void *watch(void *unused)
{
    const vitals_clock *clock = vitals_clock_system();
    struct pollfd other = {.fd = watched.descriptor, .events = POLLRDHUP};
    while (poll(&other, 1, -1) <= 0)
        ;
    uint64_t deadline_ns = clock->monotonic_ns(clock->data) + watched.patience_ns;
    while (clock->wait_until(clock->data, -1, deadline_ns) != 0)
        ;
    _exit(1);
    return unused;
}

void watchdog_start(int descriptor, uint64_t patience_ns)
{
    pthread_t thread;
    watched.descriptor = descriptor;
    watched.patience_ns = patience_ns;
    if (thread_start(&thread, "vitals-watchdog", 0, watch, NULL) == 0)
        (void)pthread_detach(thread);
}
