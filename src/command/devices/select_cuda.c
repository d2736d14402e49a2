/* select_cuda.c: see select.h. */
#include "command/devices/select.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0;
}

bool select_ask_cuda(char *out, size_t capacity)
{
    int ends[2];
    size_t used = 0;
    uint64_t deadline_ns = clock_now_ns() + PATIENCE_SECONDS * UINT64_C(1000000000);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool open = start(ends[1]);
    close(ends[1]);
    while (open && used + 1 < capacity) {
        uint64_t now_ns = clock_now_ns();
        struct pollfd end = {.fd = ends[0], .events = POLLIN};
        int left_ms = now_ns < deadline_ns ? (int)((deadline_ns - now_ns) / 1000000) : 0;
        int ready = left_ms > 0 ? poll(&end, 1, left_ms) : 0;
        ssize_t got = ready > 0 ? read(ends[0], out + used, capacity - used - 1) : ready;
        open = got > 0 || (got < 0 && errno == EINTR);
        used += got > 0 ? (size_t)got : 0;
    }
    close(ends[0]);
    out[used] = '\0';
    return used > 0;
}
