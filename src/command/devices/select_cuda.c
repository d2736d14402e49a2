/* select_cuda.c: see select_cuda.h. */
#include "command/devices/select_cuda.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vitals/vitals.h>

enum { PATIENCE_SECONDS = 10, ANSWER = 8192 };

/* Runs in the new process, whose libraries may print anything: their output is dropped. */
_Noreturn static void answer(int end)
{
    static char list[ANSWER];

    /* Ends this process when its parent no longer waits for it, whatever a library does meanwhile.
     */
    sigset_t alarm_set;
    (void)signal(SIGALRM, SIG_DFL);
    (void)sigemptyset(&alarm_set);
    (void)sigaddset(&alarm_set, SIGALRM);
    (void)sigprocmask(SIG_UNBLOCK, &alarm_set, NULL);
    (void)alarm(PATIENCE_SECONDS);

    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; nowhere >= 0 && i <= STDERR_FILENO; i++)
        (void)dup2(nowhere, i);
    (void)unsetenv("CUDA_VISIBLE_DEVICES");
    if (vitals_cuda_enumerate(NULL, list, sizeof list, NULL) == 0) {
        ssize_t written = write(end, list, strlen(list));
        _exit(written < 0);
    }
    _exit(1);
}

/* Forks twice, so that a command that vitals later becomes finds no child that it did not start. */
static bool start(int end)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        pid_t own = fork();
        if (own == 0)
            answer(end);
        _exit(own < 0);
    }
    if (child < 0)
        return false;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return true;
}

static uint64_t now_ms(void)
{
    const vitals_clock *clock = vitals_clock_system();
    return clock->monotonic_ns(clock->data) / 1000000;
}

/* Reads until the deadline. Returns the bytes, 0 at the end or if it is too late, or a negative
 * error. */
static ssize_t read_until(int end, uint64_t deadline_ms, char *out, size_t capacity)
{
    for (;;) {
        uint64_t now = now_ms();
        struct pollfd poll_end = {.fd = end, .events = POLLIN};
        int ready = now < deadline_ms ? poll(&poll_end, 1, (int)(deadline_ms - now)) : 0;
        ssize_t got = ready > 0 ? read(end, out, capacity) : ready;
        if (got >= 0 || errno != EINTR)
            return got;
    }
}

bool select_ask_cuda(char *out, size_t capacity)
{
    int ends[2];
    size_t used = 0;
    uint64_t deadline_ms = now_ms() + PATIENCE_SECONDS * UINT64_C(1000);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool started = start(ends[1]);
    close(ends[1]);
    while (started && used + 1 < capacity) {
        ssize_t got = read_until(ends[0], deadline_ms, out + used, capacity - used - 1);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    close(ends[0]);
    out[used] = '\0';
    return used > 0;
}
