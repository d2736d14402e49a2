/* picture.c: a screen as text, without a terminal: for scripts, tests and documents. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/screens/screen.h"
#include "util/error.h"

enum { AT_ONCE = 64 };

/* How long a process is waited for that is asked itself. */
static const uint64_t PATIENCE_NS = 5000000000u;

/* "process-threads" is a page of the screen process; *part (may be NULL) gets which. */
static const struct screen *find(const char *name, enum process_part *part)
{
    const char *page = name != NULL ? strchr(name, '-') : NULL;
    int found = page != NULL ? process_part_find(page + 1) : PROCESS_OVERVIEW;
    size_t size = page != NULL ? (size_t)(page - name) : name != NULL ? strlen(name) : 0;
    if (part != NULL && found >= 0)
        *part = (enum process_part)found;
    for (size_t i = 0; screens[i] != NULL && found >= 0; i++) {
        if (name == NULL ||
            (strlen(screens[i]->name) == size && strncmp(screens[i]->name, name, size) == 0 &&
             (page == NULL || screens[i] == &screen_process)))
            return screens[i];
    }
    return NULL;
}

bool monitor_asks(const char *name)
{
    const struct screen *screen = find(name, NULL);
    return screen != NULL && screen->asks;
}

static int show(struct monitor *monitor, const struct screen *screen, vitals_error *error);

/* The page of a process is opened with the second reading, so that its charts have the others; so
 * are past alerts. */
static int read_all(struct monitor *monitor, struct feed *feed, size_t most,
                    const struct screen *screen, vitals_error *error)
{
    int got = 1;
    bool early = (screen == &screen_process && !monitor->model.arranged.nvitop) ||
                 screen == &screen_alerts;
    for (size_t count = 0; got > 0 && (most == 0 || count < most); count++) {
        vitals_snapshot *snapshot = NULL;
        got = feed->next(feed->data, &snapshot, error);
        if (got > 0)
            model_add_machine(&monitor->model, snapshot);
        monitor->reads_on = true;
        if (got > 0 && early && count == 1 && show(monitor, screen, error) < 0)
            monitor->model.message[0] = '\0'; /* said when it is tried again */
        if (got > 0 && monitor->depth > 1)
            monitor_settle(monitor);
    }
    monitor->reads_on = false;
    if (got < 0)
        return got;
    if (monitor->model.machine.now == NULL)
        return error_set(error, VITALS_EGONE, 0, "there is no snapshot");
    return 0;
}

static int show(struct monitor *monitor, const struct screen *screen, vitals_error *error)
{
    if (screen == &screen_main || monitor->depth > 1)
        return 0;
    if ((screen->target != NULL && !screen->needs_all) || screen->asks)
        model_select(&monitor->model, 0); /* it is about a process */
    monitor->signal = SIGTERM;
    if (monitor_open(monitor, screen) == 0)
        return 0;
    return error_set(error, VITALS_EUNSUPPORTED, 0, "the screen %s cannot be printed%s%s",
                     screen->name, monitor->model.message[0] != '\0' ? ": " : "",
                     monitor->model.message);
}

int monitor_print(const struct monitor_options *options, struct feed *feed, size_t most,
                  const struct monitor_picture *picture, vitals_write_fn *write, void *data,
                  vitals_error *error)
{
    enum process_part part = PROCESS_OVERVIEW;
    const struct screen *screen = find(picture->screen, &part);
    const vitals_clock *clock = vitals_clock_system();
    struct monitor *monitor = screen != NULL ? calloc(1, sizeof *monitor) : NULL;
    struct canvas canvas = {0};
    struct player player = {.file = false};
    bool ready = monitor != NULL && canvas_resize(&canvas, picture->width, picture->height) == 0 &&
                 monitor_init(monitor, options) == 0;
    int code = 0;
    if (screen == NULL) {
        char names[256] = "";
        for (size_t i = 0; screens[i] != NULL; i++)
            cell_add(names, sizeof names, "%s%s", i > 0 ? ", " : "", screens[i]->name);
        code = error_set(error, VITALS_EARGUMENT, 0,
                         "there is no screen of that name; there are %s", names);
    } else if (!ready)
        code = error_set(error, VITALS_EMEMORY, 0, "out of memory");
    if (ready) {
        monitor->model.same = true;
        monitor->part = part;
        monitor_resize(monitor, canvas.width, canvas.height);
    }
    if (ready && options->replay != NULL) {
        struct timeline_cursor cursor;
        timeline_cursor_init(&cursor, *options->replay, NULL, model_window_ns(&monitor->model));
        player_init(&player, &monitor->model, clock, cursor, true);
        monitor->player = &player;
        code = player_begin(&player, options->at != NULL ? options->at : "end", false, error);
    } else if (ready)
        code = read_all(monitor, feed, most, screen, error);
    if (code == 0)
        code = show(monitor, screen, error);
    if (code == 0) {
        /* A process that is asked itself is waited for. */
        uint64_t until_ns = clock->monotonic_ns(clock->data) + PATIENCE_NS;
        monitor_settle(monitor);
        if (monitor_descriptor(monitor) >= 0 &&
            clock->wait_until(clock->data, monitor_descriptor(monitor), until_ns) > 0)
            monitor_settle(monitor);
        while (monitor_recall(monitor, AT_ONCE))
            ;
        while (monitor_patience_ns(monitor) == 1) /* it looks further back */
            monitor_settle(monitor);
        monitor_draw(monitor, &canvas);
        if (canvas_print(&canvas, picture->styles, write, data) != 0)
            code = error_set(error, VITALS_ESYSTEM, 0, "the screen could not be written");
    }
    if (player.model != NULL)
        player_done(&player);
    else if (options->replay != NULL) {
        struct timeline unused = *options->replay;
        timeline_close(&unused);
    }
    if (monitor != NULL)
        monitor_done(monitor);
    canvas_done(&canvas);
    free(monitor);
    return code;
}
