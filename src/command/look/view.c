/* view.c: `vitals` without a subcommand: the monitor, the report, or JSON. */
#include <string.h>

#include "command/command.h"
#include "feed/built_without.h"
#include "monitor/monitor.h"

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
