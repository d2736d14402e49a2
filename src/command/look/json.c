/* json.c: `vitals --json`: snapshots as JSON, one, or a line each until it is told to stop.
 *
 * A snapshot leaves as a whole line: an interrupt ends the stream between two of them. */
#include <unistd.h>

#include "command/command.h"
#include "command/output.h"

int command_json(const struct settings *settings)
{
    static struct output output; /* 32 KiB, not for the stack */
    const struct sampling_settings *sampling = &settings->sampling;
    const char *from = settings->machine.from;
    bool streams = sampling->count > 0 || sampling->interval_given;
    uint64_t interval_ns = sampling->interval_ns > 0 ? sampling->interval_ns : 1000000000;
    uint64_t left = sampling->count > 0       ? sampling->count
                    : from != NULL || streams ? UINT64_MAX
                                              : 1;
    vitals_error error;
    vitals_request *request = NULL;
    struct feed feed = {.data = NULL};
    if (vitals_request_new(VITALS_EVERYTHING, &request, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);

    int cancel = streams && from == NULL ? command_interrupts() : -1;
    int code = EXIT_DONE;
    if (vitals_request_add_table(request, VITALS_WORKLOAD, &error) < 0 ||
        vitals_request_add(request, VITALS_PROCESS_WORKLOAD, &error) < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    if (vitals_request_interval(request, interval_ns, &error) < 0)
        code = command_fail(EXIT_USAGE, "%s", error.message);
    if (code == EXIT_DONE)
        code = command_feed(&settings->machine, request, interval_ns, cancel, &feed);
    vitals_request_free(request);
    if (code != EXIT_DONE)
        return code;

    bool any = false;
    int got = 1;
    output_init(&output, STDOUT_FILENO);
    for (; left > 0 && code == EXIT_DONE && output_open(&output); left--) {
        vitals_snapshot *snapshot;
        got = feed.next(feed.data, &snapshot, &error);
        if (got <= 0)
            break;
        any = true;
        code = command_print_json(snapshot, &output);
        (void)output_flush(&output);
        vitals_snapshot_unref(snapshot);
    }
    if (got < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    else if (!any && code == EXIT_DONE && from != NULL)
        code = command_fail(EXIT_CANNOT, "%s: no snapshot in it", command_safe(from));
    feed_close(&feed);
    return output_done(&output, code);
}
