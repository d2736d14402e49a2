/* json.c: `vitals --json`: snapshots as JSON, one, or a line each until it is told to stop.
 *
 * A snapshot leaves as a whole line: an interrupt ends the stream between two of them. */
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/output.h"

static bool streams(const struct sampling_settings *sampling)
{
    return sampling->count > 0 || sampling->interval_given;
}

/* How many snapshots to write; UINT64_MAX: all there are. `from` may be NULL. */
static uint64_t wanted(const struct sampling_settings *sampling, const char *from)
{
    if (sampling->count > 0)
        return sampling->count;
    return from != NULL || streams(sampling) ? UINT64_MAX : 1;
}

static int write_snapshot(struct output *output, const vitals_snapshot *snapshot)
{
    int code = command_print_json(snapshot, output);
    if (code == EXIT_DONE)
        (void)output_flush(output);
    return code;
}

int command_json(const struct settings *settings)
{
    vitals_error error;
    vitals_request *request = NULL;
    struct feed feed = {.data = NULL};
    if (vitals_request_new(VITALS_EVERYTHING, &request, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);

    uint64_t interval_ns = settings->sampling.interval_ns > 0 ? settings->sampling.interval_ns
                                                              : 1000000000;
    int cancel = streams(&settings->sampling) && settings->machine.from == NULL
                     ? command_interrupts()
                     : -1;
    int code = EXIT_DONE;
    if (vitals_request_add_table(request, VITALS_WORKLOAD, &error) < 0 ||
        vitals_request_add(request, VITALS_PROCESS_WORKLOAD, &error) < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    if (vitals_request_interval(request, interval_ns, &error) < 0)
        code = command_fail(EXIT_USAGE, "%s", error.message);
    if (code == EXIT_DONE)
        code = command_feed(&settings->machine, request, interval_ns, cancel, &feed);
    if (code == EXIT_DONE) {
        uint64_t left = wanted(&settings->sampling, settings->machine.from);

        bool any = false;
        struct output output;
        output_init(&output, STDOUT_FILENO);
        for (; left > 0 && code == EXIT_DONE && output_open(&output); left--) {
            vitals_snapshot *snapshot;

            int result = feed.next(feed.data, &snapshot, &error);
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
        if (!any && code == EXIT_DONE && settings->machine.from != NULL)
            code = command_fail(EXIT_CANNOT, "%s: no snapshot in it",
                                command_safe(settings->machine.from));
        code = output_done(&output, code);
    }
    feed_close(&feed);
    vitals_request_free(request);
    return code;
}
