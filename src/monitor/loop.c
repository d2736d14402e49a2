/* loop.c: `monitor_run`: waits for keys, snapshots and signals, and draws what follows.
 *
 * It waits in one place, poll(2); what waits for drivers and files has threads of its own. Signals
 * are bytes in a pipe. Everything that has come is handled before anything is drawn. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/screen.h"
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
        /* What nohup(1) has a program ignore, it ignores. */
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

enum { AT_KEYS, AT_SIGNALS, AT_MACHINE, AT_ALL, AT_SCREEN, PLACES };
enum { KEYS_AT_ONCE = 4096 };

struct loop {
    struct monitor monitor;
    struct monitor_options options;
    struct source *source;
    struct canvas canvas;
    int signals;
    int ended_by; /* a signal */
    bool changed; /* there is something to draw */
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
    struct press press;
    for (int i = 0; i < KEYS_AT_ONCE && !loop->monitor.quit && terminal_read(&press) > 0; i++) {
        if (press.code == PRESS_CONTROL('z') && !loop->monitor.pasting)
            suspend(loop, true);
        else if (press.code == PRESS_SIZE)
            take_size(loop);
        else if (press.code == PRESS_CONTROL('l'))
            terminal_forget();
        else
            monitor_press(&loop->monitor, &press);
        monitor_settle(&loop->monitor); /* the next key is about what this one left */
        loop->changed = true;
    }
}

static void read_snapshots(struct loop *loop)
{
    vitals_snapshot *machine = source_machine(loop->source), *all = source_all(loop->source);
    if (machine != NULL)
        model_add_machine(&loop->monitor.model, machine);
    if (all != NULL)
        model_add_all(&loop->monitor.model, all);
    loop->changed = loop->changed || machine != NULL || all != NULL;
}

static int wait_ms(const struct monitor *monitor)
{
    uint64_t patience_ns = monitor_patience_ns(monitor);
    return patience_ns == 0 ? -1 : (int)(patience_ns / 1000000u) + 1;
}

/* false: the terminal is gone. */
static bool turn(struct loop *loop)
{
    struct pollfd places[PLACES] = {
        [AT_KEYS] = {.fd = terminal_descriptor(), .events = POLLIN},
        [AT_SIGNALS] = {.fd = loop->signals, .events = POLLIN},
        [AT_MACHINE] = {.fd = source_machine_descriptor(loop->source), .events = POLLIN},
        [AT_ALL] = {.fd = source_all_descriptor(loop->source), .events = POLLIN},
        [AT_SCREEN] = {.fd = monitor_descriptor(&loop->monitor), .events = POLLIN},
    };
    int got = poll(places, PLACES, wait_ms(&loop->monitor));
    if (got < 0)
        return errno == EINTR;
    if (got == 0 || places[AT_SCREEN].revents != 0)
        loop->changed = true;
    if (places[AT_SIGNALS].revents != 0)
        read_signals(loop);
    if (places[AT_KEYS].revents & POLLIN)
        read_keys(loop);
    read_snapshots(loop);
    return !(places[AT_KEYS].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void draw(struct loop *loop)
{
    if (!loop->changed)
        return;
    monitor_settle(&loop->monitor);
    monitor_draw(&loop->monitor, &loop->canvas);
    terminal_show(&loop->canvas);
    loop->changed = false;
}

static void run(struct loop *loop)
{
    take_size(loop);
    while (!loop->monitor.quit) {
        bool all = monitor_needs_all(&loop->monitor);
        bool had = source_has_all(loop->source);
        source_want_all(loop->source, all);
        if (had && !source_has_all(loop->source))
            model_forget_all(&loop->monitor.model);
        draw(loop);
        if (!turn(loop)) {
            loop->ended_by = SIGHUP;
            loop->monitor.quit = true;
        }
    }
}

/* What the report is made of: with devices who uses them, else every process. */
static void keep_last(const struct loop *loop, struct monitor_end *end)
{
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

int monitor_run(const struct monitor_options *options, struct monitor_end *end, vitals_error *error)
{
    struct loop *loop = calloc(1, sizeof *loop);
    int code = 0;
    if (loop == NULL || (loop->signals = signals_open()) < 0) {
        free(loop);
        *error = (vitals_error){.code = VITALS_EMEMORY, .message = "no memory or descriptor"};
        return VITALS_EMEMORY;
    }
    loop->options = *options;
    code = terminal_open(error);
    if (code == 0) {
        loop->options.look.colorful = options->look.colorful && terminal_colors() >= 256;
        loop->options.look.light = options->look.light && terminal_colors() >= 256;
        code = source_open(&loop->options, &loop->source, error);
        if (code == 0 && monitor_init(&loop->monitor, &loop->options) == 0) {
            run(loop);
            keep_last(loop, end);
        }
        terminal_close();
    }
    end->signal = loop->ended_by;
    signals_close(loop->signals);
    monitor_done(&loop->monitor);
    source_close(loop->source);
    end->busy = monitor_is_busy();
    canvas_done(&loop->canvas);
    free(loop);
    return code;
}
