/* interrupts.c: a descriptor that tells a stream to end between two of its parts. */
#include "command/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* The end of a pipe that a signal writes to; the other end stops the feed. */
static volatile sig_atomic_t interrupted_by = -1;

static void interrupt(int signal_number)
{
    (void)signal_number;
    int before = errno;
    ssize_t ignored = write((int)interrupted_by, "", 1);
    (void)ignored;
    errno = before;
}

static int take(const int *signals, size_t count, int flags)
{
    struct sigaction ours = {.sa_handler = interrupt, .sa_flags = flags}, theirs;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    interrupted_by = ends[1];
    for (size_t i = 0; i < count; i++) {
        if (sigaction(signals[i], NULL, &theirs) == 0 && theirs.sa_handler != SIG_IGN)
            sigaction(signals[i], &ours, NULL);
    }
    return ends[0];
}

int command_interrupts(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    return take(signals, sizeof signals / sizeof signals[0], (int)SA_RESETHAND);
}

int command_last_interrupts(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    return take(signals, sizeof signals / sizeof signals[0], 0);
}
