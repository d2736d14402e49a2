/* device_check.c: see device_list.h. */
#include "command/devices/device_list.h"

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
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_SOURCE, row)) != NULL;) {
        if (vitals_row_availability(row, VITALS_SOURCE_STATE) > 0 &&
            !command_text_is(row, VITALS_SOURCE_STATE, "have") &&
            !command_text_is(row, VITALS_SOURCE_STATE, "unsupported"))
            return false;
    }
    return true;
}

/* In the child. What cannot be found out is no reason to run nothing: then there is no message. */
static void look(const struct machine_settings *machine, const struct measure_settings *measure,
                 vitals_error *verdict)
{
    vitals_context *context = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    if (command_context(machine, &context, &error) < 0 ||
        vitals_snapshot_take(context, VITALS_GPUS | VITALS_SOURCES, &snapshot, &error) < 0)
        return;
    for (size_t i = 0; i < measure->devices.count && verdict->message[0] == '\0'; i++) {
        const vitals_row *row;
        int code = vitals_gpu_find(snapshot, measure->devices.items[i], &row, &error);
        if (code < 0 && (code != VITALS_EGONE || all_answered(snapshot)))
            *verdict = error;
    }
}

int device_check(const struct machine_settings *machine, const struct measure_settings *measure)
{
    vitals_error verdict = {.message = ""};
    int ends[2], ready;
    if (measure->devices.count == 0 || pipe2(ends, O_CLOEXEC) != 0)
        return EXIT_DONE;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        look(machine, measure, &verdict);
        _exit(write(ends[1], &verdict, sizeof verdict) < 0);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return EXIT_DONE;
    }

    /* Reads the message from the pipe, because the exit code is lost if SIGCHLD is ignored. A
     * signal begins the wait anew: one that ends us does. A child that a driver holds in the kernel
     * does not end even when it is killed, and is left behind. */
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    do
        ready = poll(&end, 1, PATIENCE_MS);
    while (ready < 0 && errno == EINTR);
    bool told = ready > 0 && read(ends[0], &verdict, sizeof verdict) == (ssize_t)sizeof verdict;
    close(ends[0]);
    if (!told)
        (void)kill(child, SIGKILL);
    for (int i = 0; i < END_MS && waitpid(child, NULL, WNOHANG) == 0; i++)
        (void)poll(NULL, 0, 1);
    if (!told || verdict.message[0] == '\0')
        return EXIT_DONE;
    verdict.message[sizeof verdict.message - 1] = '\0';
    return command_fail(EXIT_USAGE, "--devices: %s", verdict.message);
}
