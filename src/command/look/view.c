/* view.c: `vitals` without a subcommand: the monitor, the report, or snapshots as JSON, one, or one
 * for each line until it is interrupted. A snapshot is written as a whole line: an interrupt ends
 * the stream between two lines. */
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "feed/built_without.h"
#include "feed/rows.h"

static bool is_terminal(const struct settings *settings)
{
    return settings->look.terminal && settings->look.typed;
}

/* True if the terminal may support the monitor: TERM is set and not "dumb". The monitor itself
 * checks more. */
static bool is_capable(const struct settings *settings)
{
    const char *term = settings->environment.term;
    return is_terminal(settings) && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

bool command_is_monitor(const struct settings *settings)
{
    const struct view_settings *view = &settings->view;
    if (settings->command->bit != COMMAND_VIEW || settings->look.json || view->screen != NULL ||
        settings->fleet.hosts != NULL)
        return false;
    if (view->monitor)
        return is_terminal(settings);
    return VITALS_WITH_NCURSES && is_capable(settings) && !view->once && !view->report_unasked &&
           settings->machine.from == NULL;
}

/* Whether a second reading would tell the load of a device, of which its driver only counts. */
static bool is_load_due(const vitals_snapshot *snapshot)
{
    EACH_ROW(row, snapshot, VITALS_TABLE_GPU) {
        if (vitals_row_availability(row, VITALS_GPU_UTILIZATION_RATIO) == VITALS_NOT_YET)
            return true;
    }
    return false;
}

int command_json(const struct settings *settings)
{
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
    if (vitals_request_new(VITALS_SET_EVERYTHING, &request, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);

    int cancel = streams && from == NULL ? command_interrupts() : -1;
    int code = EXIT_DONE;
    if (vitals_request_add_table(request, VITALS_TABLE_WORKLOAD, &error) < 0 ||
        vitals_request_add(request, VITALS_PROCESS_WORKLOAD, &error) < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    if (streams && vitals_request_set_interval(request, interval_ns, &error) < 0)
        code = command_fail(EXIT_USAGE, "%s", error.message);
    if (code == EXIT_DONE)
        code = command_feed(&settings->machine, request, streams ? interval_ns : 0, cancel, &feed);
    vitals_request_free(request);
    if (code != EXIT_DONE)
        return code;

    bool any = false;
    int got = 1;
    vitals_snapshot *snapshot = NULL, *older = NULL;
    struct output *output = output_begin(STDOUT_FILENO);
    for (; left > 0 && code == EXIT_DONE && output_open(output); left--) {
        vitals_snapshot_unref(snapshot); // the one before
        snapshot = NULL;
        got = streams ? feed.next(feed.data, &snapshot, &error)
                      : command_read_first(&settings->machine, &feed, &older, &snapshot, &error);
        if (got > 0 && !streams && from == NULL && sampling->delay_ns > 0 &&
            is_load_due(snapshot)) {
            command_wait_until(clock_now_ns() + sampling->delay_ns);
            got = command_read_next(&feed, &older, &snapshot, &error);
        }
        if (got <= 0)
            break;
        any = true;
        code = command_print_json(snapshot, output);
        (void)output_flush(output);
        if (!streams && from == NULL)
            code = command_tell_partial(snapshot, code);
    }
    vitals_snapshot_unref(older);
    vitals_snapshot_unref(snapshot);
    if (got < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    else if (!any && code == EXIT_DONE && from != NULL)
        code = command_fail(EXIT_CANNOT, "%s: no snapshot in it", command_safe(from));
    feed_close(&feed);
    return output_done(output, code);
}

int command_view(const struct settings *settings)
{
    if (settings->fleet.hosts != NULL)
        return command_top(settings);
    if (settings->look.json)
        return command_json(settings);
    if (settings->view.screen != NULL)
        return command_screen(settings);
    if (command_is_monitor(settings))
        return command_monitor(settings);
    if (settings->view.monitor)
        return command_fail(EXIT_CANNOT, "the monitor needs a terminal for input and output; "
                                         "vitals -1 prints a report");
    if (!settings->view.once && settings->sampling.interval_given)
        return command_fail(EXIT_USAGE,
                            "--interval is for the monitor, --json and commands; without a "
                            "terminal%s vitals prints one report",
                            is_terminal(settings) && !is_capable(settings)
                                ? " that TERM names (as xterm-256color)"
                                : "");
    int code = command_one_shot(settings);
    if (is_capable(settings) && !settings->view.once && !VITALS_WITH_NCURSES)
        (void)command_fail(0, "this is the report of vitals -1; " BUILT_WITHOUT_MONITOR);
    return code;
}
