/* file_signals.c: see file_signals.h. */
#include "record/file_signals.h"

#include <errno.h>
#include <time.h>

void file_signals_hold(struct file_signals *signals)
{
    sigset_t both, pending;
    sigemptyset(&both);
    sigaddset(&both, SIGXFSZ);
    sigaddset(&both, SIGPIPE);
    sigemptyset(&pending);
    (void)sigpending(&pending);
    signals->ours = both;
    if (sigismember(&pending, SIGXFSZ))
        sigdelset(&signals->ours, SIGXFSZ);
    if (sigismember(&pending, SIGPIPE))
        sigdelset(&signals->ours, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &both, &signals->before);
}

void file_signals_release(struct file_signals *signals)
{
    const struct timespec at_once = {0};
    int kept = errno;
    while (sigtimedwait(&signals->ours, NULL, &at_once) > 0 || errno == EINTR) {}
    (void)pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
    errno = kept;
}
