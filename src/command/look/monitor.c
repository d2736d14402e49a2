/* monitor.c: `vitals` on a terminal, `vitals --screen` and `vitals replay`: runs the screens of
 * src/monitor with the settings. On exit, the report of the last reading stays in the
 * scrollback. */
#include "command/command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command/look/demo_procfs.h"
#include "command/look/layout.h"
#include "feed/text.h"
#include "monitor/monitor.h"
#include "record/replay/timeline.h"
#include "report/report.h"

enum { USER = 128 };

/* Fills the options of the screens from the settings; `user` is borrowed. */
static void fill_options(const struct settings *settings, const char *const *user,
                         struct monitor_options *options)
{
    /* Faster redraws have no use, and rates would be computed from too few counter steps. */
    enum { LEAST_NS = 100000000 };
    uint64_t interval_ns = settings->sampling.interval_ns;
    const char *mode = settings->view.monitor_mode;
    *options = (struct monitor_options){
        .look = command_look(settings),
        .mode = strcmp(mode, "full") == 0      ? MONITOR_FULL
                : strcmp(mode, "compact") == 0 ? MONITOR_COMPACT
                                               : MONITOR_AUTO,
        .mode_given = settings->view.monitor,
        .interval_ns = interval_ns > 0 && interval_ns < LEAST_NS ? LEAST_NS : interval_ns,
        .held_after_ns = settings->view.idle_after_ns,
        .selection = command_selection(settings, user),
        .visible = settings->environment.visible_devices,
        .order = settings->environment.device_order,
        .user = *user,
        .root = *user != NULL && geteuid() == 0,
        /* Processes of the demo are real ones that only lend their names. */
        .readonly = settings->machine.demo != NULL        ? "this is a demo"
                    : settings->machine.proc_root != NULL ? "these are processes of another /proc"
                    : settings->view.readonly             ? "read-only"
                                                          : NULL,
        .temporary = settings->environment.temporary,
        .notice = settings->view.config_notice,
        .term = settings->environment.term,
        .part_ops = &command_part_ops,
    };
    const char *colors = settings->environment.colors != NULL ? settings->environment.colors : "";
    options->look.direct = settings->view.screen == NULL &&
                           (strcmp(colors, "truecolor") == 0 || strcmp(colors, "24bit") == 0);
    /* The story lasts minutes: its devices count as idle after 20 s, and each second is shown. */
    static const uint64_t USUAL_NS = 900000000000u, STORY_NS = 20000000000u, TOLD_NS = 1000000000;
    if (demo_procfs_wanted(&settings->machine, &settings->view) &&
        strcmp(settings->machine.demo, DEMO_STORY) == 0) {
        if (options->held_after_ns == USUAL_NS)
            options->held_after_ns = STORY_NS;
        if (options->interval_ns == 0)
            options->interval_ns = TOLD_NS;
    }
    layout_begin(&settings->view, options);
}

enum { SIZE_LEAST = 1, SIZE_MOST = 1000 };

/* Parses "80x24", "80x24:help" or "help" of --screen. Returns 0, or the usage error if it is not a
 * size. */
static int read_screen(const struct settings *settings, struct monitor_picture *picture)
{
    const char *text = settings->view.screen;
    int end = 0;
    unsigned width = 0, height = 0;
    *picture = (struct monitor_picture){.styles = settings->look.force_color};
    if (*text >= 'a' && *text <= 'z') { /* in the terminal's size, or the most common one */
        struct winsize size;
        bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= SIZE_LEAST &&
                     size.ws_row >= SIZE_LEAST && size.ws_col <= SIZE_MOST &&
                     size.ws_row <= SIZE_MOST;
        picture->width = known ? size.ws_col : 80;
        picture->height = known ? size.ws_row : 24;
        picture->screen = text;
        return 0;
    }
    if (strspn(text, "0123456789x") == 0 || sscanf(text, "%4ux%4u%n", &width, &height, &end) != 2 ||
        (text[end] != '\0' && text[end] != ':') || width < SIZE_LEAST || width > SIZE_MOST ||
        height < SIZE_LEAST || height > SIZE_MOST)
        return command_fail(EXIT_USAGE,
                            "--screen %s: not a size; write 80x24, 120x40:help, or help alone",
                            command_safe(text));
    picture->width = (int)width;
    picture->height = (int)height;
    picture->screen = text[end] == ':' ? text + end + 1 : NULL;
    return 0;
}

static int draw_screen(const struct monitor_picture *picture, const struct monitor_options *options,
                       struct feed *feed, size_t most, struct buffer *drawn)
{
    vitals_error error;
    int result = monitor_print(options, feed, most, picture, text_write, drawn, &error);
    if (drawn->failed)
        return command_fail(EXIT_CANNOT, "out of memory");
    if (result < 0)
        return command_fail(result == VITALS_EARGUMENT ? EXIT_USAGE : EXIT_CANNOT, "%s",
                            error.message);
    return EXIT_DONE;
}

/* Prints and frees the text. */
static int print_drawn(struct buffer *drawn, int code)
{
    if (code == EXIT_DONE) {
        struct output *output = output_begin(STDOUT_FILENO);
        (void)output_write(output, drawn->bytes, drawn->size);
        code = output_done(output, EXIT_DONE);
    }
    buffer_done(drawn);
    return code;
}

int command_screen(const struct settings *settings)
{
    struct monitor_options options;
    struct demo_feed readings = {.most = 0};
    struct buffer drawn = {.bytes = NULL};
    char name[USER];
    const char *user = settings->machine.from != NULL ? NULL
                       : demo_procfs_wanted(&settings->machine, &settings->view)
                           ? DEMO_PROCFS_USER
                           : command_user(name, sizeof name);
    struct monitor_picture picture;
    vitals_request *request = NULL;
    vitals_error error;
    int code = read_screen(settings, &picture);
    if (code != 0)
        return code;
    fill_options(settings, &user, &options);
    if (monitor_request(&options, monitor_part_of(picture.screen), &request, &error) < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    else if (settings->machine.from != NULL) /* all of it, so that graphs have a history */
        code = command_feed(&settings->machine, request, 1, -1, &readings.feed);
    else
        code = demo_feed_open(settings, request, &readings);
    vitals_request_free(request);
    if (code == 0) {
        options.context = monitor_asks(picture.screen) ? readings.context : NULL;
        options.root |= readings.demo != NULL;
        code = draw_screen(&picture, &options, &readings.feed, readings.most, &drawn);
    }

    if (monitor_is_busy()) { /* its context is left behind */
        feed_close(&readings.feed);
        readings.context = NULL;
    }
    demo_feed_close(&readings);

    return print_drawn(&drawn, code);
}

/* Runs the screens on the terminal until the user leaves them, then prints the report of the last
 * reading. Frees the context of the options. Returns the exit code; if the screens cannot be shown
 * the message ends with `instead`. */
static int show_on_terminal(const struct settings *settings, struct monitor_options *options,
                            const char *instead)
{
    struct monitor_end end = {0};
    vitals_error error;
    int result = monitor_run(options, &end, &error);
    int code = EXIT_DONE;
    if (result < 0)
        code = command_fail(result == VITALS_EARGUMENT ? EXIT_USAGE : EXIT_CANNOT, "%s%s%s",
                            error.message, result == VITALS_EARGUMENT ? "" : "; ",
                            result == VITALS_EARGUMENT ? "" : instead);
    else if (end.signal == 0 && end.now != NULL)
        code = command_print_report(settings, end.now, end.older);
    vitals_snapshot_unref(end.now);
    vitals_snapshot_unref(end.older);
    if (!end.busy)
        vitals_context_free(options->context);
    if (end.signal == 0)
        return code;

    /* Ends by the same signal, so that the parent's wait status shows it. */
    (void)signal(end.signal, SIG_DFL);
    (void)raise(end.signal);
    return 128 + end.signal;
}

int command_monitor(const struct settings *settings)
{
    struct monitor_options options;
    vitals_error error;
    char name[USER];
    bool story = demo_procfs_wanted(&settings->machine, &settings->view);
    const char *user = story ? DEMO_PROCFS_USER : command_user(name, sizeof name);
    struct demo_procfs *demo = NULL;
    vitals_options world;
    fill_options(settings, &user, &options);
    options.root |= story;
    command_world(&settings->machine, &world);
    int result = story ? demo_procfs_open(settings->environment.demo_folder, true, &world, &demo,
                                          &error)
                       : 0;
    if (result == 0)
        result = vitals_context_new(&world, &options.context, &error);
    if (result < 0) {
        demo_procfs_close(demo);
        return command_fail(result == VITALS_EARGUMENT ? EXIT_USAGE : EXIT_CANNOT, "%s",
                            error.message);
    }
    int code = show_on_terminal(settings, &options, "vitals -1 prints a report");
    demo_procfs_close(demo);
    return code;
}

int command_replay(const struct settings *settings)
{
    struct monitor_options options;
    struct timeline timeline;
    vitals_error error;
    const char *no_user = NULL;
    if (settings->arguments.words.count != 1)
        return command_fail(EXIT_USAGE, "replay: name one recording, as in: vitals replay run.db");
    struct monitor_picture picture;
    int code = settings->view.screen != NULL ? read_screen(settings, &picture) : 0;
    if (code != 0)
        return code;
    if (settings->view.screen == NULL && !(settings->look.terminal && settings->look.typed))
        return command_fail(EXIT_CANNOT, "replay needs a terminal for input and output; "
                                         "--screen 120x40 prints one screen, vitals report what "
                                         "was used");

    /* A file without anything to show is reported here, where its name is known. */
    struct timeline_span span = {.count = 0};
    const char *path = settings->arguments.words.items[0];
    if (timeline_open(path, &timeline, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    int spanned = timeline.span(timeline.data, &span, &error);
    if (spanned != 0 || span.count == 0) {
        timeline_close(&timeline);
        return spanned != 0
                   ? command_fail(EXIT_CANNOT, "%s", error.message)
                   : command_fail(EXIT_CANNOT, "%s: holds no snapshot", command_safe(path));
    }

    fill_options(settings, &no_user, &options);
    options.readonly = "this is a recording";
    options.replay = &timeline;
    options.at = settings->view.at;
    options.stands = settings->view.paused;

    if (settings->view.screen != NULL) {
        struct buffer drawn = {.bytes = NULL};
        code = draw_screen(&picture, &options, NULL, 0, &drawn);
        return print_drawn(&drawn, code);
    }
    options.clock = vitals_clock_system();
    return show_on_terminal(settings, &options, "--screen 120x40 prints one as text");
}
