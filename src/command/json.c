/* json.c: `vitals --json`: snapshots as JSON, one, or a line each until it is told to stop.
 *
 * A snapshot leaves as a whole line: an interrupt ends the stream between two of them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/output.h"

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

/* The descriptor that can be read once we are asked to end, or -1. A second signal ends us anyhow.
 */
static int watch_interrupts(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction ours = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, theirs;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    interrupted_by = ends[1];
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigaction(signals[i], NULL, &theirs) == 0 && theirs.sa_handler != SIG_IGN)
            sigaction(signals[i], &ours, NULL);
    }
    return ends[0];
}

static bool streams(const struct settings *settings)
{
    return settings->count > 0 || settings_origin(settings, &settings->interval_ns) == ORIGIN_FLAG;
}

/* How many to give; UINT64_MAX: all there are. */
static uint64_t wanted(const struct settings *settings)
{
    if (settings->count > 0)
        return settings->count;
    return settings->from != NULL || streams(settings) ? UINT64_MAX : 1;
}

static int write_snapshot(struct output *output, const vitals_snapshot *snapshot)
{
    vitals_error error;
    if (vitals_snapshot_json(snapshot, output_write, output, &error) < 0 && output_open(output))
        return command_fail(EXIT_CANNOT, "%s", error.message);
    output_text(output, "\n");
    (void)output_flush(output);
    return EXIT_DONE;
}

static int write_feed(const struct settings *settings, struct feed *feed)
{
    int code = EXIT_DONE;
    bool any = false;
    struct output output;
    output_init(&output, STDOUT_FILENO);
    for (uint64_t left = wanted(settings); left > 0 && code == EXIT_DONE && output_open(&output);
         left--) {
        vitals_snapshot *snapshot;
        vitals_error error;
        int result = feed->next(feed->data, &snapshot, &error);
        if (result == 0)
            break;
        if (result < 0) {
            code = command_fail(EXIT_CANNOT, "%s", error.message);
            break;
        }
        any = true;
        code = write_snapshot(&output, snapshot);
        vitals_snapshot_unref(snapshot);
    }
    if (!any && code == EXIT_DONE && settings->from != NULL)
        code = command_fail(EXIT_CANNOT, "%s: no snapshot in it", command_safe(settings->from));
    return output_done(&output, code);
}

int command_json(const struct settings *settings)
{
    vitals_error error;
    vitals_request *request = NULL;
    struct feed feed = {.data = NULL};
    if (vitals_request_new(VITALS_EVERYTHING, &request, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);

    uint64_t interval_ns = settings->interval_ns > 0 ? settings->interval_ns : 1000000000;
    int cancel = streams(settings) && settings->from == NULL ? watch_interrupts() : -1;
    int code = EXIT_DONE;
    if (vitals_request_interval(request, interval_ns, &error) < 0)
        code = command_fail(EXIT_USAGE, "%s", error.message);
    if (code == EXIT_DONE)
        code = command_feed(settings, request, interval_ns, cancel, &feed);
    if (code == EXIT_DONE)
        code = write_feed(settings, &feed);
    feed_close(&feed);
    vitals_request_free(request);
    return code;
}
