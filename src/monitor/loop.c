/* loop.c: `monitor_run`: waits for keys, snapshots and signals, and draws what follows.
 *
 * It waits in one place, poll(2); what waits for drivers and files has threads of its own. Signals
 * are bytes in a pipe. Everything that has come is handled before anything is drawn. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/history/live_history.h"
#include "monitor/screens/screen.h"
#include "monitor/source.h"
#include "monitor/terminal.h"
#include "monitor/trace.h"
#include "util/base.h"
#include "util/error.h"

static const int SIGNALS[] = {SIGTERM,  SIGHUP,  SIGINT,  SIGQUIT,
                              SIGWINCH, SIGTSTP, SIGCONT, SIGPIPE};
enum { SIGNAL_COUNT = sizeof SIGNALS / sizeof SIGNALS[0] };

static volatile sig_atomic_t signal_end = -1;
static struct sigaction found[SIGNAL_COUNT];

static void tell(int number)
{
    int kept = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t ignored = write((int)signal_end, &byte, 1);
    (void)ignored;
    errno = kept;
}

/* The end of the pipe that can be read, or -1. */
static int signals_open(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    signal_end = ends[1];
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};
        (void)sigaction(SIGNALS[i], NULL, &found[i]);
        /* Signals that nohup(1) ignores stay ignored. */
        if (found[i].sa_handler != SIG_IGN)
            (void)sigaction(SIGNALS[i], &action, NULL);
    }
    return ends[0];
}

static void signals_close(int descriptor)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        (void)sigaction(SIGNALS[i], &found[i], NULL);
    if (descriptor >= 0)
        (void)close(descriptor);
    if (signal_end >= 0)
        (void)close((int)signal_end);
    signal_end = -1;
}

enum { AT_KEYS, AT_SIGNALS, AT_MACHINE, AT_ALL, AT_NEXT, AT_SCREEN, PLACES };
enum { KEYS_AT_ONCE = 4096 };

struct loop {
    struct monitor monitor;
    struct monitor_options options;
    struct monitor_source *source; /* NULL: a recording is shown */
    struct live_history *history;  /* NULL: nothing is kept */
    struct player player;          /* of the monitor, where it has one */
    struct canvas canvas;
    int signals;
    char notice[256];
    int ended_by; /* a signal */
    bool changed; /* there is something to draw */
    bool recalls; /* graphs are being filled from the past */
};

/* Stops us as the terminal's own driver would have, if wanted with the whole foreground group. */
static void suspend(struct loop *loop, bool whole_group)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, ours;
    terminal_suspend();
    (void)sigaction(SIGTSTP, &usual, &ours);
    if (whole_group)
        (void)kill(0, SIGTSTP);
    else
        (void)raise(SIGTSTP);
    (void)sigaction(SIGTSTP, &ours, NULL);
    terminal_resume();
    loop->changed = true;
}

static void take_size(struct loop *loop)
{
    int width, height;
    terminal_size(&width, &height);
    if (canvas_resize(&loop->canvas, width, height) == 0)
        monitor_resize(&loop->monitor, loop->canvas.width, loop->canvas.height);
    loop->changed = true;
}

static void trace(struct loop *loop)
{
    terminal_suspend();
    int failed = trace_run(loop->monitor.traced, loop->signals);
    terminal_resume();
    loop->monitor.traced = 0;
    loop->changed = true;
    if (failed != 0)
        model_say(&loop->monitor.model, "strace: %s",
                  failed == ENOENT ? "it is not installed" : strerror(failed));
    take_size(loop); /* it may be another now */
}

/* The terminal has replied that its background is light, or dark. */
static void follow_background(struct loop *loop)
{
    struct look *look = &loop->options.look;
    int light = terminal_background();
    if (light < 0 || look->light == (light > 0))
        return;
    look->light = light > 0;
    if (look->direct)
        terminal_set_ramps(theme_direct(look_theme(look)));
    loop->changed = true;
}

static void read_keys(struct loop *loop)
{
    struct input_event event;
    for (int i = 0; i < KEYS_AT_ONCE && !loop->monitor.quit && terminal_read(&event) > 0; i++) {
        if (event.code == INPUT_CONTROL('z') && !loop->monitor.pasting)
            suspend(loop, true);
        else if (event.code == INPUT_SIZE)
            take_size(loop);
        else if (event.code == INPUT_CONTROL('l'))
            terminal_forget();
        else
            monitor_input(&loop->monitor, &event);
        if (loop->monitor.traced != 0)
            trace(loop);
        monitor_settle(&loop->monitor); /* the next key is about what this one left */
        loop->changed = true;
    }
    follow_background(loop);
}

/* Snapshots are kept as they came, whatever is on the screen. */
static void keep(struct loop *loop, enum live_part part, const vitals_snapshot *snapshot)
{
    if (loop->history == NULL || snapshot == NULL)
        return;
    live_history_add(loop->history, part, snapshot);
    const char *news = live_history_news(loop->history);
    if (news != NULL)
        model_say(&loop->monitor.model, "to look back: %s", news);
}

/* At most as many as a change of streams leaves: the last of the old one and two of the new one.
 * More come with the next turn, as keys go first. */
static void read_snapshots(struct loop *loop)
{
    enum { ALL_AT_ONCE = 3 };
    vitals_snapshot *machine, *all[ALL_AT_ONCE];
    size_t count = 0;
    if (loop->source == NULL)
        return;
    source_turn(loop->source);
    machine = source_machine(loop->source);
    keep(loop, LIVE_MACHINE, machine);
    if (machine != NULL)
        model_add_machine(&loop->monitor.model, machine);
    while (count < ALL_AT_ONCE && (all[count] = source_all(loop->source)) != NULL)
        count++;
    loop->changed = loop->changed || machine != NULL || count > 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count) /* the first of several may be older than what is kept */
            keep(loop, LIVE_ALL, all[i]);
        model_add_all(&loop->monitor.model, all[i]);
    }
}

static int wait_ms(const struct loop *loop)
{
    const uint64_t MOST_MS = 3600000;
    const struct monitor *monitor = &loop->monitor;
    uint64_t patience_ns = monitor_patience_ns(monitor);
    if (patience_ns == 0)
        patience_ns = UINT64_MAX;
    if (loop->source != NULL)
        patience_ns = uint64_min(patience_ns, source_patience_ns(loop->source));
    if (monitor->player != NULL)
        patience_ns = loop->recalls ? 0
                                    : uint64_min(patience_ns, player_patience_ns(monitor->player));
    if (patience_ns == UINT64_MAX)
        return -1;
    uint64_t ms = patience_ns == 0 ? 0 : patience_ns / NS_PER_MS + 1;
    return (int)uint64_min(ms, MOST_MS);
}

/* false: the terminal is gone. */
static bool turn(struct loop *loop)
{
    enum { PAST_AT_ONCE = 64 }; /* snapshots of the past, so that keys never wait */
    struct pollfd places[PLACES] = {
        [AT_KEYS] = {.fd = terminal_descriptor(), .events = POLLIN},
        [AT_SIGNALS] = {.fd = loop->signals, .events = POLLIN},
        [AT_MACHINE] = {.fd = -1, .events = POLLIN},
        [AT_ALL] = {.fd = -1, .events = POLLIN},
        [AT_NEXT] = {.fd = -1, .events = POLLIN},
        [AT_SCREEN] = {.fd = monitor_descriptor(&loop->monitor), .events = POLLIN},
    };
    for (int i = 0; loop->source != NULL && i < SOURCE_STREAMS; i++)
        places[AT_MACHINE + i].fd = source_descriptor(loop->source, (enum source_stream_kind)i);
    int got = poll(places, PLACES, wait_ms(loop));
    if (got < 0)
        return errno == EINTR;
    if (got == 0 || places[AT_SCREEN].revents != 0)
        loop->changed = true;

    if (places[AT_SIGNALS].revents != 0) {
        unsigned char bytes[64];
        bool size = false;
        ssize_t count = read(loop->signals, bytes, sizeof bytes);
        for (ssize_t i = 0; i < count; i++) {
            if (bytes[i] == SIGTSTP)
                suspend(loop, false);
            else if (bytes[i] == SIGCONT)
                terminal_resume();
            else if (bytes[i] != SIGWINCH && bytes[i] != SIGPIPE) {
                loop->ended_by = bytes[i];
                loop->monitor.quit = true;
            }
            size = size || bytes[i] == SIGWINCH || bytes[i] == SIGCONT; /* a storm of them is one */
        }
        if (size)
            take_size(loop);
    }
    if (places[AT_KEYS].revents & POLLIN)
        read_keys(loop);
    read_snapshots(loop);
    if (loop->monitor.player != NULL) {
        bool moved = player_turn(loop->monitor.player), recalled = loop->recalls;
        loop->recalls = monitor_recall(&loop->monitor, PAST_AT_ONCE);
        loop->changed = loop->changed || moved || recalled || loop->recalls;
    }
    return !(places[AT_KEYS].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void run(struct loop *loop)
{
    struct monitor *monitor = &loop->monitor;
    take_size(loop);
    while (!monitor->quit) {
        /* Every process is read only while a screen shows them. */
        if (loop->source != NULL) {
            bool had = source_has_all(loop->source);
            struct wants wants;
            monitor_wants(monitor, &wants);
            source_want(loop->source, monitor_needs_all(monitor) ? &wants : NULL);
            if (had && !source_has_all(loop->source)) {
                model_forget_all(&monitor->model);
                loop->changed = true;
            }
        }
        if (loop->changed) {
            monitor_settle(monitor);
            monitor_draw(monitor, &loop->canvas);
            terminal_mouse(!monitor->model.arranged.plain);
            terminal_show(&loop->canvas);
            if (monitor->copied != NULL)
                terminal_send(monitor->copied);
            free(monitor->copied);
            monitor->copied = NULL;
            loop->changed = false;
        }
        if (!turn(loop)) {
            loop->ended_by = SIGHUP;
            monitor->quit = true;
        }
    }
}

/* The recording, or the machine with a history of its own; if nothing can be kept the monitor runs
 * without one. */
static int open_world(struct loop *loop, vitals_error *error)
{
    const struct monitor_options *options = &loop->options;
    struct monitor *monitor = &loop->monitor;
    struct timeline machine, all;
    if (monitor_init(monitor, options) < 0)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    if (options->replay != NULL) {
        monitor->model.same = true;
        machine = *options->replay;
    } else {
        int code = source_open(options, &loop->source, error);
        if (code < 0)
            return code;
        if (live_history_new(options->temporary, NULL, &loop->history, error) < 0) {
            loop->history = NULL;
            model_say(&monitor->model, "to look back: %s", error->message);
            return 0;
        }
        live_history_timeline(loop->history, LIVE_MACHINE, &machine);
        live_history_timeline(loop->history, LIVE_ALL, &all);
    }

    struct timeline_cursor cursor;
    timeline_cursor_init(&cursor, machine, options->replay != NULL ? NULL : &all,
                         model_window_ns(&monitor->model));
    player_init(&loop->player, &monitor->model,
                options->clock != NULL ? options->clock : vitals_context_clock(options->context),
                cursor, options->replay != NULL);
    monitor->player = &loop->player;
    return options->replay == NULL
               ? 0
               : player_begin(&loop->player, options->at, !options->stands, error);
}

int monitor_run(const struct monitor_options *options, struct monitor_end *end, vitals_error *error)
{
    struct loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL || (loop->signals = signals_open()) < 0) {
        free(loop);
        return error_set(error, VITALS_EMEMORY, 0, "no memory or descriptor");
    }
#ifdef M_ARENA_MAX
    /* Its threads allocate little, so separate heaps would only waste memory. Large blocks, as the
     * history of a device, are mapped: they take memory as they fill and give all of it back. */
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_MMAP_THRESHOLD, 64 * 1024);
    (void)mallopt(M_TOP_PAD, 0); /* what was never given out is zero, and stays untouched */
#endif

    struct model *model = &loop->monitor.model;
    loop->options = *options;
    const uint32_t *ramps = options->look.direct ? theme_direct(look_theme(&options->look)) : NULL;
    int code = terminal_open(options->term, ramps, error);
    if (code == 0) {
        loop->options.look.direct = terminal_is_direct();
        const char *notice = terminal_notice(), *first = options->notice;
        loop->options.look.colorful = options->look.colorful && terminal_colors() >= 256;
        loop->options.look.light = options->look.light && terminal_colors() >= 256;
        loop->options.look.few_colors = terminal_colors() < 256;
        if (terminal_colors() < 256 && options->look.theme != THEME_MONO)
            loop->options.look.theme = THEME_CONTRAST;
        if (!options->look.theme_given && !options->look.colorless &&
            (options->arrangement == NULL || options->arrangement->theme == 0))
            terminal_query_background();
        (void)snprintf(loop->notice, sizeof loop->notice, "%s%s%s", notice != NULL ? notice : "",
                       notice != NULL && first != NULL ? "; " : "", first != NULL ? first : "");
        if (notice != NULL)
            loop->options.notice = loop->notice;
        code = open_world(loop, error);
        if (code == 0)
            run(loop);
        terminal_close();
    }

    /* The request of the report: the users of devices if there are any, else every process. */
    if (code == 0) {
        model_return(model);
        bool machine = model_device_count(model) > 0 || model->all.now == NULL;
        const struct readings *readings = machine ? &model->machine : &model->all;
        if (readings->now != NULL)
            end->now = vitals_snapshot_ref(readings->now);
        if (readings->now != NULL && readings->older != NULL)
            end->older = vitals_snapshot_ref(readings->older);
    }
    end->signal = loop->ended_by;
    signals_close(loop->signals);
    if (loop->monitor.player != NULL)
        player_done(&loop->player);
    else if (options->replay != NULL) {
        struct timeline unused = *options->replay;
        timeline_close(&unused);
    }
    loop->monitor.player = NULL;
    live_history_free(loop->history);
    monitor_done(&loop->monitor);
    source_close(loop->source);
    end->busy = monitor_is_busy();
    canvas_done(&loop->canvas);
    free(loop);
    return code;
}
