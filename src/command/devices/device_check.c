/* device_check.c: see device_check.h. */
#include "command/devices/device_check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000, END_MS = 500 }; /* until it tells, and until it has ended */

/* True if every driver has answered; if not, a device that is not listed may still exist. */
static bool all_answered(const vitals_snapshot *snapshot)
{
    static const char *const SETTLED[] = {"have", "unsupported"};
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_SOURCE, row)) != NULL;) {
        vitals_text state = {NULL, 0};
        bool settled = vitals_row_text(row, VITALS_SOURCE_STATE, &state) <= 0;
        for (size_t i = 0; i < sizeof SETTLED / sizeof SETTLED[0]; i++)
            settled |= state.size == strlen(SETTLED[i]) &&
                       memcmp(state.bytes, SETTLED[i], state.size) == 0;
        if (!settled)
            return false;
    }
    return true;
}

/* In the child. What cannot be found out is no reason to run nothing: then there is no message. */
static void look(const struct machine_settings *machine, const struct measure_settings *measure,
                 vitals_error *verdict)
{
    vitals_options world;
    vitals_context *context = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    command_world(machine, &world);
    if (vitals_context_new(&world, &context, &error) < 0 ||
        vitals_snapshot_take(context, VITALS_GPUS | VITALS_SOURCES, &snapshot, &error) < 0)
        return;
    for (size_t i = 0; i < measure->devices.count && verdict->message[0] == '\0'; i++) {
        const vitals_row *row;
        int code = vitals_gpu_find(snapshot, measure->devices.items[i], &row, &error);
        if (code < 0 && (code != VITALS_EGONE || all_answered(snapshot)))
            *verdict = error;
    }
}

/* True once the child has told, or has ended without a word. A signal begins the wait anew: one
 * that ends us does. */
static bool has_told(int descriptor)
{
    struct pollfd end = {.fd = descriptor, .events = POLLIN};
    int told;
    do
        told = poll(&end, 1, PATIENCE_MS);
    while (told < 0 && errno == EINTR);
    return told > 0;
}

/* Reads the message from the pipe, because the exit code is lost if SIGCHLD is ignored. A child
 * that a driver holds in the kernel does not end even now and is left behind. */
static int outcome(pid_t child, int descriptor)
{
    vitals_error verdict = {.message = ""};
    bool told = has_told(descriptor) &&
                read(descriptor, &verdict, sizeof verdict) == (ssize_t)sizeof verdict;
    if (!told)
        (void)kill(child, SIGKILL);
    for (int i = 0; i < END_MS && waitpid(child, NULL, WNOHANG) == 0; i++)
        (void)poll(NULL, 0, 1);
    if (!told || verdict.message[0] == '\0')
        return EXIT_DONE;
    verdict.message[sizeof verdict.message - 1] = '\0';
    return command_fail(EXIT_USAGE, "--devices: %s", verdict.message);
}

int device_check(const struct machine_settings *machine, const struct measure_settings *measure)
{
    int ends[2];
    if (measure->devices.count == 0 || pipe2(ends, O_CLOEXEC) != 0)
        return EXIT_DONE;
    pid_t child = fork();
    if (child == 0) {
        vitals_error verdict = {.message = ""};
        close(ends[0]);
        look(machine, measure, &verdict);
        _exit(write(ends[1], &verdict, sizeof verdict) < 0);
    }
    close(ends[1]);
    int code = child > 0 ? outcome(child, ends[0]) : EXIT_DONE;
    close(ends[0]);
    return code;
}
