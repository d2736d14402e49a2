/* view.c: `vitals` without a subcommand: the monitor, the report, or JSON. */
#include <string.h>

#include "command/command.h"
#include "feed/built_without.h"
#include "monitor/monitor.h"

/* Whether TERM names a terminal on which the monitor can be tried; it knows more of it. */
static bool is_capable(const char *term)
{
    return term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

int command_view(const struct settings *settings)
{
    bool terminal = settings->look.terminal && settings->look.typed,
         capable = is_capable(settings->environment.term);
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
