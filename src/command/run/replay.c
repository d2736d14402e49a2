/* replay.c: `vitals replay FILE`: the monitor's screens over what was recorded. */
#include "command/command.h"
#include "command/look/monitor.h"
#include "record/replay/timeline.h"

/* What holds nothing that could be shown is told here, where its name is known. */
static int open_file(const struct argument_settings *arguments, struct timeline *out)
{
    vitals_error error;
    struct timeline_span span = {.count = 0};
    const char *path = arguments->words.items[0];
    if (timeline_open(path, out, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    int code = out->span(out->data, &span, &error);
    if (code == 0 && span.count > 0)
        return 0;
    if (code == 0)
        code = command_fail(EXIT_CANNOT, "%s: holds no snapshot", command_safe(path));
    else
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    timeline_close(out);
    return code;
}

int command_replay(const struct settings *settings)
{
    struct monitor_options options;
    struct timeline timeline;
    const char *nobody = NULL;
    if (settings->arguments.words.count != 1)
        return command_fail(EXIT_USAGE, "replay needs one FILE, a recording");
    int code = settings->view.screen != NULL ? monitor_check_screen(&settings->view, NULL) : 0;
    if (code != 0)
        return code;
    if (settings->view.screen == NULL && !(settings->look.terminal && settings->look.typed))
        return command_fail(EXIT_CANNOT, "replay needs a terminal for input and output; "
                                         "--screen 120x40 prints one screen, vitals report what "
                                         "was used");
    code = open_file(&settings->arguments, &timeline);
    if (code != 0)
        return code;
    monitor_fill_options(settings, &nobody, &options);
    options.readonly = "this is a recording";
    options.replay = &timeline;
    options.at = settings->view.at;
    options.stands = settings->view.paused;

    if (settings->view.screen != NULL)
        return monitor_print_screen(&settings->view, settings->look.force_color, &options, NULL, 0);
    options.clock = vitals_clock_system();
    return monitor_on_terminal(settings, &options, "--screen 120x40 prints one as text");
}
