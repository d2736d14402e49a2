/* top.c: `vitals top`, and the view with --hosts: the devices of many machines as a table, as JSON,
 * or as a screen. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/fleet/hosts.h"
#include "export/address.h"
#include "fleet/screen.h"
#include "fleet/table.h"

enum { PORT = 9847 }; /* of vitals serve */

static const uint64_t FORGET_NS = 5000000000;

/* Prometheus reads its targets each 15 s, or less often. */
static const uint64_t SLOW_INTERVAL_NS = 5000000000, PROMETHEUS_FORGET_NS = 120000000000;

/* ---- the machines ---- */

/* A login takes longer than a request. */
static uint64_t timeout_of(const struct settings *settings)
{
    enum { SSH_TIMES = 10 };
    return settings->fleet.timeout_ns * (settings->fleet.ssh ? SSH_TIMES : 1);
}

int hosts_open(const struct settings *settings, uint64_t interval_ns, struct fleet *fleet,
               struct fleet_link **link)
{
    const struct fleet_asking asking = {
        .program = settings->export.program,
        .prometheus = settings->fleet.prometheus,
        .ssh = settings->fleet.ssh,
        .netrc = settings->fleet.netrc,
        .ca_file = settings->fleet.ca_file,
        .whole = settings->command->bit == COMMAND_SELECT,
        .interval_ns = interval_ns,
        .timeout_ns = timeout_of(settings),
    };
    struct host_list list = {.items = NULL};
    const char *server = settings->fleet.prometheus;
    vitals_error error;
    *fleet = (struct fleet){.hosts = NULL};
    *link = NULL;
    if (server != NULL && !address_is_web(server))
        return command_fail(EXIT_USAGE, "--prometheus %s: http://HOST:PORT is expected%s",
                            command_safe(address_behind_login(server)), address_hint(server));
    int code = settings->fleet.hosts == NULL
                   ? 0
                   : host_list_parse(settings->fleet.hosts, PORT, &list, &error);
    if (code < 0 || (list.count == 0 && settings->fleet.hosts != NULL)) {
        host_list_done(&list);
        return command_fail(code == VITALS_EARGUMENT || code == 0 ? EXIT_USAGE : EXIT_CANNOT,
                            "--hosts: %s", code < 0 ? error.message : "it names no machine");
    }
    if (settings->fleet.netrc != NULL && access(settings->fleet.netrc, R_OK) != 0) {
        host_list_done(&list);
        return command_fail(EXIT_CANNOT, "--netrc %s: %s", command_safe(settings->fleet.netrc),
                            strerror(errno));
    }
    code = fleet_init(fleet, &list, server != NULL, &error);
    if (code == 0)
        code = fleet_link_open(fleet, &asking, link, &error);
    host_list_done(&list);
    return code < 0 ? command_fail(EXIT_CANNOT, "%s", error.message) : 0;
}

void hosts_close(struct fleet *fleet, struct fleet_link *link)
{
    fleet_link_close(link);
    fleet_done(fleet);
}

int hosts_wait(const struct settings *settings, struct fleet *fleet, struct fleet_link *link)
{
    /* Those for which there is no connection yet wait for others, at most so long each. */
    const uint64_t most_ns = timeout_of(settings) + 2 * NS_PER_SECOND;
    uint64_t until_ns = clock_now_ns() + most_ns;
    vitals_error error;
    while (fleet_is_awaited(fleet)) {
        uint64_t now_ns = clock_now_ns();
        struct pollfd come = {.fd = fleet_link_descriptor(link), .events = POLLIN};
        if (now_ns >= until_ns)
            break;
        if (poll(&come, 1, (int)((until_ns - now_ns) / 1000000) + 1) > 0) {
            size_t heard = fleet->heard;
            if (fleet_link_read(link, fleet, &error) < 0)
                return command_fail(EXIT_CANNOT, "%s", error.message);
            until_ns = fleet->heard > heard ? clock_now_ns() + most_ns : until_ns;
        }
    }
    fleet->now_ns = clock_now_ns();
    return 0;
}

size_t hosts_tell_silent(const struct fleet *fleet)
{
    enum { TOLD = 5 };
    size_t silent = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        const struct fleet_host *host = &fleet->hosts[i];
        if (host->state == FLEET_ANSWERS)
            continue;
        if (silent++ < TOLD)
            (void)command_fail(0, "%s: %s", host->place.name,
                               host->why[0] != '\0' ? host->why : "no answer in time");
    }
    if (silent > TOLD)
        (void)command_fail(0, "and %zu more", silent - TOLD);
    return fleet->count - silent;
}

/* ---- how it is shown ---- */

bool command_is_live_top(const struct settings *settings)
{
    return (settings->command->bit == COMMAND_TOP || settings->command->bit == COMMAND_VIEW) &&
           (settings->fleet.hosts != NULL || settings->fleet.prometheus != NULL) &&
           !settings->view.once && !settings->look.json && settings->view.screen == NULL &&
           settings->look.terminal && settings->look.typed && VITALS_WITH_NCURSES;
}

/* Returns 0, or EXIT_USAGE after a message. */
static int take_order(const struct fleet_settings *fleet, struct fleet_order *out)
{
    int by = 0;
    const char *sort = fleet->sort;
    while (strcmp(fleet_by_names[by], fleet->by) != 0)
        by++;
    *out = (struct fleet_order){.by = (enum fleet_by)by, .filter = fleet->filter};
    if (sort == NULL)
        return 0;
    out->reversed = sort[0] == '-';
    const struct fleet_column *column = fleet_column_find(sort + out->reversed, out->by);
    if (column == NULL)
        return command_fail_unknown("--sort", sort + out->reversed, " is no column here",
                                    fleet_column_word, "the headings are their names");
    out->sort = column->name;
    return 0;
}

static int show_live(const struct settings *settings, const struct fleet_order *order)
{
    bool prometheus = settings->fleet.prometheus != NULL;
    uint64_t interval_ns = settings->sampling.interval_ns > 0  ? settings->sampling.interval_ns
                           : prometheus || settings->fleet.ssh ? SLOW_INTERVAL_NS
                                                               : NS_PER_SECOND;
    struct fleet fleet;
    struct fleet_live live = {
        .fleet = &fleet,
        .look = command_look(settings),
        .order = *order,
        .term = settings->environment.term,
        .ssh = settings->fleet.ssh,
        .forget_ns = saturating_add(prometheus ? PROMETHEUS_FORGET_NS : FORGET_NS, 2 * interval_ns),
    };
    vitals_error error;
    int code = hosts_open(settings, interval_ns, &fleet, &live.link);
    if (code == 0) {
        live.interrupts = command_interrupts();
        code = fleet_live_run(&live, &error) < 0 ? command_fail(EXIT_CANNOT, "%s", error.message)
                                                 : EXIT_DONE;
    }
    hosts_close(&fleet, live.link);
    return code;
}

/* Returns 0, or EXIT_CANNOT after a message. */
static int print(const struct settings *settings, struct fleet *fleet,
                 const struct fleet_order *order, struct output *output)
{
    struct look look = command_look(settings);
    struct fleet_table table = {.rows = NULL};
    struct fleet_screen screen = {.fleet = NULL};
    struct canvas canvas = {.width = 0};
    int width = settings->look.width < INT_MAX ? (int)settings->look.width : INT_MAX, height = 0;
    int code;
    if (settings->view.screen != NULL) {
        (void)sscanf(settings->view.screen, "%4dx%4d", &width, &height);
        code = canvas_resize(&canvas, width, height) < 0
                   ? VITALS_EMEMORY
                   : fleet_screen_init(&screen, fleet, &look, order);
        if (code == 0) {
            fleet_screen_draw(&screen, &canvas, clock_now_ns());
            code = canvas_print(&canvas, settings->look.color, output_write, output);
        }
        fleet_screen_done(&screen);
        canvas_done(&canvas);
    } else {
        code = fleet_table_build(&table, fleet, order);
        const struct fleet_view view = {fleet, &table, order, clock_now_ns()};
        if (code == 0 && settings->look.json)
            code = fleet_print_json(&view, output_write, output);
        else if (code == 0)
            code = fleet_print(&view, &look, width, settings->look.color, output_write, output);
        fleet_table_done(&table);
    }
    return code == VITALS_EMEMORY ? command_fail(EXIT_CANNOT, "out of memory") : EXIT_DONE;
}

int command_top(const struct settings *settings)
{
    const char *size = settings->view.screen;
    struct fleet_order order;
    struct fleet fleet;
    struct fleet_link *link;
    int columns = 0, rows = 0, end = 0;
    if (settings->fleet.hosts == NULL && settings->fleet.prometheus == NULL)
        return command_fail(EXIT_USAGE, "top needs --hosts, as in: vitals top --hosts "
                                        "node01,node02; or --prometheus");
    if (size != NULL && (sscanf(size, "%4dx%4d%n", &columns, &rows, &end) < 2 ||
                         size[end] != '\0' || columns < 1 || rows < 1))
        return command_fail(EXIT_USAGE, "--screen needs a size as in 120x40, not %s",
                            command_safe(size));
    int code = take_order(&settings->fleet, &order);
    if (code != 0)
        return code;
    if (command_is_live_top(settings))
        return show_live(settings, &order);

    code = hosts_open(settings, 0, &fleet, &link);
    if (code == 0)
        code = hosts_wait(settings, &fleet, link);
    if (code == 0) {
        struct output *output = output_begin(STDOUT_FILENO);
        code = output_done(output, print(settings, &fleet, &order, output));
        bool any = false;
        for (size_t i = 0; i < fleet.count; i++)
            any = any || fleet.hosts[i].state == FLEET_ANSWERS;
        if (code == 0 && !any)
            code = EXIT_CANNOT;
    }
    hosts_close(&fleet, link);
    return code;
}
