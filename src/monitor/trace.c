/* trace.c: see trace.h. */
#include "monitor/trace.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/base.h"

/* Signals of the terminal are for strace alone. */
static const int FOR_STRACE[] = {SIGINT, SIGQUIT, SIGTSTP, SIGWINCH, SIGCONT, SIGPIPE};

static int start(uint64_t pid, pid_t *child)
{
    char name[] = "strace", threads[] = "-f", of[] = "-p", number[24];
    char *arguments[] = {name, threads, of, number, NULL};
    posix_spawnattr_t attributes;
    sigset_t usual;
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)pid);
    int failed = posix_spawnattr_init(&attributes);
    if (failed != 0)
        return failed;
    (void)sigemptyset(&usual);
    for (size_t i = 0; i < ARRAY_COUNT(FOR_STRACE); i++) {
        if (FOR_STRACE[i] != SIGTSTP) /* if it were stopped, its end would never come */
            (void)sigaddset(&usual, FOR_STRACE[i]);
    }
    (void)posix_spawnattr_setsigdefault(&attributes, &usual);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    failed = posix_spawnp(child, name, NULL, &attributes, arguments, environ);
    (void)posix_spawnattr_destroy(&attributes);
    return failed;
}

static bool has_signal(int signals, int wait_ms)
{
    struct pollfd place = {.fd = signals, .events = POLLIN};
    return poll(&place, 1, wait_ms) > 0;
}

static void wait_for_end(pid_t child, int signals)
{
    enum { TURN_MS = 100 };
    while (waitpid(child, NULL, WNOHANG) == 0) {
        if (has_signal(signals, TURN_MS)) {
            (void)kill(child, SIGTERM);
            (void)waitpid(child, NULL, 0);
            return;
        }
    }
}

static void wait_for_enter(int signals)
{
    struct pollfd places[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                              {.fd = signals, .events = POLLIN}};
    char line[256];
    for (;;) {
        if (poll(places, ARRAY_COUNT(places), -1) < 0 && errno != EINTR)
            return;
        if (places[1].revents != 0)
            return;
        if (places[0].revents == 0)
            continue;
        ssize_t size = read(STDIN_FILENO, line, sizeof line);
        if (size <= 0 || memchr(line, '\n', (size_t)size) != NULL)
            return;
    }
}

int trace_run(uint64_t pid, int signals)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, ours[ARRAY_COUNT(FOR_STRACE)];
    pid_t child;
    (void)dprintf(STDOUT_FILENO, "strace -f -p %llu: it slows the process; ^C ends it\n",
                  (unsigned long long)pid);
    for (size_t i = 0; i < ARRAY_COUNT(FOR_STRACE); i++)
        (void)sigaction(FOR_STRACE[i], &ignore, &ours[i]);

    int failed = start(pid, &child);
    if (failed == 0) {
        wait_for_end(child, signals);
        if (!has_signal(signals, 0)) {
            (void)dprintf(STDOUT_FILENO, "Enter goes back to vitals\n");
            wait_for_enter(signals);
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(FOR_STRACE); i++)
        (void)sigaction(FOR_STRACE[i], &ours[i], NULL);
    return failed;
}
