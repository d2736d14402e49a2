/* view.c: `vitals` without a subcommand: the monitor, the report, or JSON. */
#include "command/command.h"

int command_view(const struct settings *settings)
{
    if (settings->json)
        return command_json(settings);
    if (settings->monitor)
        return command_fail(EXIT_CANNOT, "the monitor is not built yet; vitals -1 prints a report");
    if (!settings->once && settings_origin(settings, &settings->interval_ns) == ORIGIN_FLAG)
        return command_fail(EXIT_USAGE, "--interval is for --json and for commands; the monitor, "
                                        "which will take it too, is not built yet");
    return command_one_shot(settings);
}
