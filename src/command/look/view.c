/* view.c: `vitals` without a subcommand: the monitor, the report, or snapshots as JSON, one, or a
 * line each until it is told to stop. A snapshot leaves as a whole line: an interrupt ends the
 * stream between two of them. */
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "feed/built_without.h"
#include "monitor/monitor.h"

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

int command_view(const struct settings *settings)
{
    /* The monitor can be tried on a terminal that TERM names; it knows more of it. */
    const char *term = settings->environment.term;
    bool terminal = settings->look.terminal && settings->look.typed;
    bool capable = term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
    if (settings->look.json)
        return command_json(settings);
    if (settings->view.screen != NULL)
        return command_screen(settings);
    if (settings->view.monitor && !terminal)
        return command_fail(EXIT_CANNOT, "the monitor needs a terminal for input and output; "
                                         "vitals -1 prints a report");
    if (settings->view.monitor ||
        (terminal && capable && !settings->view.once && !settings->view.report_unasked &&
         settings->machine.from == NULL && monitor_built()))
        return command_monitor(settings);
    if (!settings->view.once && settings->sampling.interval_given)
        return command_fail(EXIT_USAGE,
                            "--interval is for the monitor, for --json and for commands; "
                            "what is not shown on a terminal%s is one report",
                            terminal && !capable ? " that TERM names (as xterm-256color)" : "");
    int code = command_one_shot(settings);
    if (terminal && capable && !settings->view.once && !monitor_built())
        (void)command_fail(0, "this is the report of vitals -1; " BUILT_WITHOUT_MONITOR);
    return code;
}
