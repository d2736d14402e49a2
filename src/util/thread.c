/* thread.c: see thread.h. */
#include "util/thread.h"

#include <signal.h>

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
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, &attributes, main, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed == 0)
        pthread_setname_np(*thread, name);
    return failed;
}
