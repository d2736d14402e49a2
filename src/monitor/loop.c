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

bool monitor_built(void)
{
    return terminal_built();
}

/* ---- signals ---- */

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

/* ---- the loop ---- */

enum { AT_KEYS, AT_SIGNALS, AT_MACHINE, AT_ALL, AT_NEXT, AT_SCREEN, PLACES };
enum { KEYS_AT_ONCE = 4096 };

struct loop {
    struct monitor monitor;
    struct monitor_options options;
    struct monitor_source *source; /* NULL: a recording is shown */
    struct diary *diary;           /* NULL: nothing is kept */
    struct player player;          /* of the monitor, where it has one */
    struct canvas canvas;
    int signals;
    char notice[256];
    int ended_by; /* a signal */
    bool changed; /* there is something to draw */
    bool recalls; /* graphs are being filled from the past */
};

/* Stops us as the terminal's own driver would have, with all that runs in the foreground. */
static void suspend(struct loop *loop, bool everybody)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, ours;
    terminal_suspend();
    (void)sigaction(SIGTSTP, &usual, &ours);
    if (everybody)
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

static void handle_signal(struct loop *loop, int number)
{
    switch (number) {
    case SIGWINCH: take_size(loop); break;
    case SIGTSTP: suspend(loop, false); break;
    case SIGCONT:
        terminal_resume();
        take_size(loop);
        break;
    case SIGPIPE: break;
    default: loop->ended_by = number; loop->monitor.quit = true;
    }
}

static void read_signals(struct loop *loop)
{
    unsigned char bytes[64];
    bool size = false;
    ssize_t count = read(loop->signals, bytes, sizeof bytes);
    for (ssize_t i = 0; i < count; i++) {
        if (bytes[i] == SIGWINCH)
            size = true; /* a storm of them is one */
        else
            handle_signal(loop, bytes[i]);
    }
    if (size)
        handle_signal(loop, SIGWINCH);
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
        monitor_settle(&loop->monitor); /* the next key is about what this one left */
        loop->changed = true;
    }
}

/* Snapshots are kept as they came, whatever is on the screen. */
static void keep(struct loop *loop, enum diary_page page, const vitals_snapshot *snapshot)
{
    if (loop->diary == NULL || snapshot == NULL)
        return;
    diary_add(loop->diary, page, snapshot);
    const char *news = diary_news(loop->diary);
    if (news != NULL)
        monitor_say(&loop->monitor, "to look back: %s", news);
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
    machine = source_machine(loop->source);
    keep(loop, DIARY_MACHINE, machine);
    if (machine != NULL)
        model_add_machine(&loop->monitor.model, machine);
    while (count < ALL_AT_ONCE && (all[count] = source_all(loop->source)) != NULL)
        count++;
    loop->changed = loop->changed || machine != NULL || count > 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count) /* the first of several may be older than what is kept */
            keep(loop, DIARY_ALL, all[i]);
        model_add_all(&loop->monitor.model, all[i]);
    }
}

static int wait_ms(const struct loop *loop)
{
    const uint64_t MS = 1000000, MOST_MS = 3600000;
    const struct monitor *monitor = &loop->monitor;
    uint64_t patience_ns = monitor_patience_ns(monitor), player_ns = UINT64_MAX;
    if (patience_ns == 0)
        patience_ns = UINT64_MAX;
    if (monitor->player != NULL)
        player_ns = loop->recalls ? 0 : player_patience_ns(monitor->player);
    patience_ns = player_ns < patience_ns ? player_ns : patience_ns;
    if (patience_ns == UINT64_MAX)
        return -1;
    uint64_t ms = patience_ns == 0 ? 0 : patience_ns / MS + 1;
    return (int)(ms < MOST_MS ? ms : MOST_MS);
}

/* Work on the past: a few snapshots at a time, so that keys never wait. */
static void travel(struct loop *loop)
{
    enum { AT_ONCE = 64 };
    if (loop->monitor.player == NULL)
        return;
    if (player_turn(loop->monitor.player))
        loop->changed = true;
    bool recalled = loop->recalls;
    loop->recalls = monitor_recall(&loop->monitor, AT_ONCE);
    loop->changed = loop->changed || loop->recalls || recalled;
}

/* false: the terminal is gone. */
static bool turn(struct loop *loop)
{
    struct pollfd places[PLACES] = {
        [AT_KEYS] = {.fd = terminal_descriptor(), .events = POLLIN},
        [AT_SIGNALS] = {.fd = loop->signals, .events = POLLIN},
        [AT_MACHINE] = {.fd = -1, .events = POLLIN},
        [AT_ALL] = {.fd = -1, .events = POLLIN},
        [AT_NEXT] = {.fd = -1, .events = POLLIN},
        [AT_SCREEN] = {.fd = monitor_descriptor(&loop->monitor), .events = POLLIN},
    };
    if (loop->source != NULL) {
        places[AT_MACHINE].fd = source_machine_descriptor(loop->source);
        places[AT_ALL].fd = source_all_descriptor(loop->source);
        places[AT_NEXT].fd = source_next_descriptor(loop->source);
    }
    int got = poll(places, PLACES, wait_ms(loop));
    if (got < 0)
        return errno == EINTR;
    if (got == 0 || places[AT_SCREEN].revents != 0)
        loop->changed = true;
    if (places[AT_SIGNALS].revents != 0)
        read_signals(loop);
    if (places[AT_KEYS].revents & POLLIN)
        read_keys(loop);
    read_snapshots(loop);
    travel(loop);
    return !(places[AT_KEYS].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void draw(struct loop *loop)
{
    if (!loop->changed)
        return;
    monitor_settle(&loop->monitor);
    monitor_draw(&loop->monitor, &loop->canvas);
    terminal_mouse(!loop->monitor.model.arranged.plain);
    terminal_show(&loop->canvas);
    loop->changed = false;
}

/* Every process is read only while a screen shows them. */
static void choose_processes(struct loop *loop)
{
    if (loop->source == NULL)
        return;
    bool had = source_has_all(loop->source);
    struct wants wants;
    monitor_wants(&loop->monitor, &wants);
    source_want(loop->source, &wants);
    source_want_all(loop->source, monitor_needs_all(&loop->monitor));
    if (had && !source_has_all(loop->source))
        model_forget_all(&loop->monitor.model);
}

static void run(struct loop *loop)
{
    take_size(loop);
    while (!loop->monitor.quit) {
        choose_processes(loop);
        draw(loop);
        if (!turn(loop)) {
            loop->ended_by = SIGHUP;
            loop->monitor.quit = true;
        }
    }
}

/* Metrics of the report: with devices their users, else every process. */
static void keep_last(struct loop *loop, struct monitor_end *end)
{
    model_return(&loop->monitor.model);
    const struct model *model = &loop->monitor.model;
    const struct readings *readings = model_device_count(model) > 0 || model->all.now == NULL
                                          ? &model->machine
                                          : &model->all;
    if (readings->now == NULL)
        return;
    end->now = vitals_snapshot_ref(readings->now);
    if (readings->older != NULL)
        end->older = vitals_snapshot_ref(readings->older);
}

/* ---- where snapshots come from ---- */

static const vitals_clock *clock_of(const struct monitor_options *options)
{
    return options->clock != NULL ? options->clock : vitals_context_clock(options->context);
}

static void give_player(struct loop *loop, struct timeline machine, const struct timeline *all)
{
    struct timeline_cursor cursor;
    timeline_cursor_init(&cursor, machine, all, model_window_ns(&loop->monitor.model));
    player_init(&loop->player, &loop->monitor.model, clock_of(&loop->options), cursor,
                loop->options.replay != NULL);
    loop->monitor.player = &loop->player;
}

static int open_recording(struct loop *loop, vitals_error *error)
{
    loop->monitor.model.same = true;
    give_player(loop, *loop->options.replay, NULL);
    return player_begin(&loop->player, loop->options.at, !loop->options.stands, error);
}

/* If nothing can be kept the monitor runs without a history. */
static void open_diary(struct loop *loop)
{
    struct timeline machine, all;
    vitals_error error;
    if (diary_new(loop->options.temporary, NULL, &loop->diary, &error) < 0) {
        loop->diary = NULL;
        monitor_say(&loop->monitor, "to look back: %s", error.message);
        return;
    }
    diary_timeline(loop->diary, DIARY_MACHINE, &machine);
    diary_timeline(loop->diary, DIARY_ALL, &all);
    give_player(loop, machine, &all);
}

static int open_world(struct loop *loop, vitals_error *error)
{
    if (monitor_init(&loop->monitor, &loop->options) < 0) {
        *error = (vitals_error){.code = VITALS_EMEMORY, .message = "out of memory"};
        return VITALS_EMEMORY;
    }
    if (loop->options.replay != NULL)
        return open_recording(loop, error);
    int code = source_open(&loop->options, &loop->source, error);
    if (code == 0)
        open_diary(loop);
    return code;
}

static void close_unused(struct timeline timeline)
{
    timeline_close(&timeline);
}

static void close_world(struct loop *loop)
{
    if (loop->monitor.player != NULL)
        player_done(&loop->player);
    else if (loop->options.replay != NULL)
        close_unused(*loop->options.replay);
    loop->monitor.player = NULL;
    diary_free(loop->diary);
    monitor_done(&loop->monitor);
    source_close(loop->source);
}

/* Its threads allocate little, so separate heaps would only waste memory. Large blocks, as the
 * history of a device, are mapped: they take memory as they fill and give all of it back. */
static void keep_memory_small(void)
{
#ifdef M_ARENA_MAX
    enum { APART = 64 * 1024 };
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_MMAP_THRESHOLD, APART);
    (void)mallopt(M_TOP_PAD,
                  0); /* what was never given out is known to be zero, and stays untouched */
#endif
}

/* Both the notice of the options and this one are shown at the start. */
static void add_notice(struct loop *loop, const char *notice)
{
    const char *first = loop->options.notice;
    if (notice == NULL)
        return;
    (void)snprintf(loop->notice, sizeof loop->notice, "%s%s%s", notice, first != NULL ? "; " : "",
                   first != NULL ? first : "");
    loop->options.notice = loop->notice;
}

int monitor_run(const struct monitor_options *options, struct monitor_end *end, vitals_error *error)
{
    struct loop *loop = calloc(1, sizeof *loop);
    int code = 0;
    if (loop == NULL || (loop->signals = signals_open()) < 0) {
        free(loop);
        *error = (vitals_error){.code = VITALS_EMEMORY, .message = "no memory or descriptor"};
        return VITALS_EMEMORY;
    }
    keep_memory_small();
    loop->options = *options;
    code = terminal_open(options->term, error);
    if (code == 0) {
        loop->options.look.colorful = options->look.colorful && terminal_colors() >= 256;
        loop->options.look.light = options->look.light && terminal_colors() >= 256;
        add_notice(loop, terminal_notice());
        code = open_world(loop, error);
        if (code == 0) {
            run(loop);
            keep_last(loop, end);
        }
        terminal_close();
    }
    end->signal = loop->ended_by;
    signals_close(loop->signals);
    close_world(loop);
    end->busy = monitor_is_busy();
    canvas_done(&loop->canvas);
    free(loop);
    return code;
}
