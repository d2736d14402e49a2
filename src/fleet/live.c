/* live.c: see screen.h: the screen of many machines on a terminal. It waits in one place, for keys,
 * answers and signals, and draws at most once for all that has come. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/clock.h"
#include "fleet/screen.h"
#include "monitor/terminal.h"

/* Answers that come together are drawn together. */
static const uint64_t TOGETHER_NS = 100000000;

/* Waits for a program that has the terminal, and takes answers meanwhile: none grows old in a pipe.
 * Returns its exit code, 127 if it could not be started. */
static int wait_for(const struct fleet_live *live, pid_t child, vitals_error *error, int *failed)
{
    enum { LOOK_MS = 100 };
    int status = 0;
    pid_t ended;
    while (child > 0 && (ended = waitpid(child, &status, WNOHANG)) <= 0) {
        struct pollfd come = {.fd = *failed < 0 ? -1 : fleet_link_descriptor(live->link),
                              .events = POLLIN};
        if (ended < 0 && errno != EINTR)
            return 127;
        if (poll(&come, 1, LOOK_MS) > 0) {
            int taken = fleet_link_read(live->link, live->fleet, error);
            *failed = taken < 0 ? taken : 0;
        }
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

/* Opens a machine's own screen: ssh -t [-p PORT] -- HOST vitals. The keys ^C and ^\ are those of
 * ssh, as with system(3). Returns 0, or an error of fleet_link_read. */
static int open_machine(const struct fleet_live *live, struct fleet_screen *screen,
                        vitals_error *error)
{
    static const int KEYS[] = {SIGINT, SIGQUIT};
    struct sigaction before[2], ignored = {.sa_handler = SIG_IGN};
    char name[HOST_NAME], port[HOST_PORT];
    const char *words[8] = {"ssh", "-t"};
    size_t count = 2;
    int failed = 0;
    host_list_split_name(fleet_screen_host(screen)->place.name, name, port);
    if (live->ssh && port[0] != '\0') {
        words[count++] = "-p";
        words[count++] = port;
    }
    words[count++] = "--";
    words[count++] = name;
    words[count++] = "vitals";
    terminal_suspend();
    for (size_t i = 0; i < 2; i++)
        (void)sigaction(KEYS[i], &ignored, &before[i]);
    pid_t child = fork();
    for (size_t i = 0; child == 0 && i < 2; i++)
        (void)sigaction(KEYS[i], &before[i], NULL);
    if (child == 0) {
        (void)execvp("ssh", (char *const *)words);
        _exit(127);
    }
    int code = wait_for(live, child, error, &failed);
    for (size_t i = 0; i < 2; i++)
        (void)sigaction(KEYS[i], &before[i], NULL);
    terminal_resume();
    if (code == 127)
        (void)snprintf(screen->message, sizeof screen->message,
                       "ssh, or vitals on %.60s, cannot be started", name);
    else if (code != 0)
        (void)snprintf(screen->message, sizeof screen->message, "ssh %.60s vitals ended with %d",
                       name, code);
    return failed;
}

/* Returns 0, or an error of fleet_link_read. */
static int read_keys(const struct fleet_live *live, struct fleet_screen *screen,
                     struct canvas *canvas, vitals_error *error)
{
    struct input_event event;
    int code = 0;
    while (code == 0 && !screen->quit && terminal_read(&event) > 0) {
        int width, height;
        if (event.code == INPUT_CONTROL('z')) {
            terminal_suspend();
            (void)raise(SIGSTOP);
            terminal_resume();
        }
        if (event.code == INPUT_SIZE || event.code == INPUT_CONTROL('z')) {
            terminal_size(&width, &height);
            (void)canvas_resize(canvas, width, height);
        } else if (event.code == INPUT_CONTROL('l'))
            terminal_forget();
        else
            fleet_screen_input(screen, &event);
        if (screen->opened)
            code = open_machine(live, screen, error);
        screen->opened = false;
    }
    if (terminal_background() >= 0)
        screen->look.light = terminal_background() > 0;
    return code;
}

static int run(const struct fleet_live *live, struct fleet_screen *screen, vitals_error *error)
{
    enum { KEYS, ANSWERS, SIGNALS, PLACES };
    struct canvas canvas = {.width = 0};
    int width, height, code = 0;
    uint64_t draw_ns = 0; /* when answers that have come are drawn; 0: none have */
    terminal_size(&width, &height);
    if (canvas_resize(&canvas, width, height) < 0)
        code = VITALS_EMEMORY;
    while (code == 0 && !screen->quit) {
        struct pollfd places[PLACES] = {
            {.fd = terminal_descriptor(), .events = POLLIN},
            {.fd = fleet_link_descriptor(live->link), .events = POLLIN},
            {.fd = live->interrupts, .events = POLLIN},
        };
        uint64_t now_ns = clock_now_ns();
        int wait_ms = draw_ns == 0       ? 1000
                      : draw_ns > now_ns ? (int)((draw_ns - now_ns) / 1000000) + 1
                                         : 0;
        int got = poll(places, PLACES, wait_ms);
        bool keys = got < 0 || (places[KEYS].revents & POLLIN), due = got == 0;
        if (places[SIGNALS].revents != 0 || (places[KEYS].revents & (POLLHUP | POLLERR)))
            break;
        if (keys)
            code = read_keys(live, screen, &canvas, error);
        if (code == 0 && places[ANSWERS].revents != 0) {
            int taken = fleet_link_read(live->link, live->fleet, error);
            code = taken < 0 ? taken : 0;
            draw_ns = draw_ns > 0 ? draw_ns : now_ns + TOGETHER_NS;
        }
        now_ns = clock_now_ns();
        if (code < 0 || !(keys || due || (draw_ns > 0 && now_ns >= draw_ns)))
            continue;
        fleet_forget(live->fleet, now_ns, live->forget_ns);
        code = fleet_screen_update(screen);
        fleet_screen_draw(screen, &canvas, now_ns);
        terminal_show(&canvas);
        draw_ns = 0;
    }
    canvas_done(&canvas);
    if (code == VITALS_EMEMORY)
        *error = (vitals_error){.code = code, .message = "out of memory"};
    return code;
}

int fleet_live_run(const struct fleet_live *live, vitals_error *error)
{
    struct fleet_screen screen;
    int code = fleet_screen_init(&screen, live->fleet, &live->look, &live->order);
    if (code < 0)
        *error = (vitals_error){.code = code, .message = "out of memory"};
    else if ((code = terminal_open(live->term, NULL, error)) == 0) {
        if (terminal_colors() < 256 && screen.look.theme != THEME_MONO)
            screen.look.theme = THEME_CONTRAST;
        screen.look.light = screen.look.light && terminal_colors() >= 256;
        if (!screen.look.theme_given && !screen.look.colorless)
            terminal_query_background();
        code = run(live, &screen, error);
        terminal_close();
    }
    fleet_screen_done(&screen);
    return code;
}
