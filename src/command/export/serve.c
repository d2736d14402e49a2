/* serve.c: `vitals serve`: samples this machine for the program that serves clients.
 *
 * The sampler has a thread of its own, which never waits for clients; here one poll waits for
 * samples, for the program's messages and for signals. A sample that the program does not take in
 * time is dropped, and counted. All processes are read only while a client has a page open that
 * lists them, and by a second sampler, so that counters come from one sampler from first to last.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command/export/exporter.h"
#include "export/prometheus/families.h"
#include "util/burst.h"
#include "util/number.h"

static const uint64_t LAST_NS = 4000000000; /* for the program's last messages */
static const uint64_t BOTH_NS = 100000000;  /* for two lines to be written, one after the other */

struct serve_stream {
    vitals_sampler *sampler;
    vitals_subscription *subscription;
};

struct server {
    const struct settings *settings;
    struct exporter exporter;
    vitals_context *context;
    struct serve_stream samples, every; /* every: all processes, while a client wants them */
    bool kept;                          /* a part of a line is not written yet */
    struct buffer line;
    struct burst burst;
    int code;
    bool over;
};

/* True for metrics that are not exported: those that describe this service and not the machine, and
 * those that --processes and --cmdline exclude. */
static bool is_left_out(const struct settings *settings, vitals_metric metric)
{
    static const char OURS[] = "cgroup_";
    vitals_table entity = vitals_metric_table(metric);
    if (metric == VITALS_HOST_CPUS_ELIGIBLE || metric == VITALS_HOST_MEMORY_EFFECTIVE_BYTES ||
        (entity == VITALS_TABLE_HOST &&
         strncmp(vitals_metric_name(metric), OURS, sizeof OURS - 1) == 0))
        return true;
    if (metric == VITALS_PROCESS_COMMAND_LINE && strcmp(settings->export.command_line, "off") == 0)
        return true;
    return strcmp(settings->serve.processes, "off") == 0 &&
           (entity == VITALS_TABLE_PROCESS || entity == VITALS_TABLE_GPU_PROCESS ||
            entity == VITALS_TABLE_WORKLOAD);
}

static int request_of_samples(const struct server *server, vitals_request **out,
                              vitals_error *error)
{
    static const unsigned SETS = VITALS_SET_MACHINE | VITALS_SET_GPUS | VITALS_SET_PROCESSES |
                                 VITALS_SET_SOURCES | VITALS_SET_FILESYSTEMS | VITALS_SET_SENSORS;
    const struct settings *settings = server->settings;
    const char *processes = settings->serve.processes;
    bool all = strcmp(processes, "pid") == 0;
    enum exposition_level level = all                             ? EXPOSITION_PID
                                  : strcmp(processes, "off") == 0 ? EXPOSITION_OFF
                                                                  : EXPOSITION_WORKLOAD;
    int code = vitals_request_new(SETS, out, error);
    if (code == 0)
        code = metric_selection_add(*out, level, settings->serve.compat != NULL, error);
    for (vitals_metric metric = 0; code == 0 && (metric = vitals_metric_next(metric)) != 0;) {
        if (is_left_out(settings, metric))
            code = vitals_request_remove(*out, metric, error);
    }
    if (code == 0)
        code = vitals_request_set_rows(*out, all ? VITALS_ROWS_ALL : VITALS_ROWS_GPU_USERS, NULL, 0,
                                       error);
    return code;
}

/* Requests what the page lists for each process. */
static int request_of_every(const struct server *server UNUSED, vitals_request **out,
                            vitals_error *error)
{
    int code = vitals_request_new(VITALS_SET_PROCESSES, out, error);
    if (code == 0)
        code = vitals_request_add(*out, VITALS_PROCESS_WORKLOAD, error);
    if (code == 0)
        code = vitals_request_remove(*out, VITALS_PROCESS_COMMAND_LINE, error);
    return code;
}

static void stream_close(struct serve_stream *stream)
{
    vitals_subscription_free(stream->subscription);
    vitals_sampler_free(stream->sampler);
    *stream = (struct serve_stream){.sampler = NULL};
}

typedef int make_request(const struct server *server, vitals_request **out, vitals_error *error);

static int stream_open(struct server *server, make_request *make, struct serve_stream *stream)
{
    vitals_request *request = NULL;
    vitals_error error;
    int code = make(server, &request, &error);
    if (code == 0 && server->settings->sampling.interval_ns > 0)
        code = vitals_request_set_interval(request, server->settings->sampling.interval_ns, &error);
    if (code == 0)
        code = vitals_sampler_new(server->context, request, &stream->sampler, &error);
    vitals_request_free(request);
    if (code == 0)
        code = vitals_subscription_new(stream->sampler, &stream->subscription, &error);
    if (code == 0)
        code = vitals_sampler_start(stream->sampler, &error);
    if (code == 0)
        return 0;
    stream_close(stream);
    return command_fail(EXIT_CANNOT, "%s", error.message);
}

/* Writes a sample, between the other parts of its line. */
static void tell_sample(struct server *server, const struct serve_stream *stream,
                        const char *before, const char *behind)
{
    /* Two samples of the same time are written one after the other. */
    uint64_t wait_ns = server->every.sampler != NULL ? BOTH_NS : 0;
    vitals_snapshot *snapshot = vitals_subscription_latest(stream->subscription);
    vitals_error error;
    if (snapshot == NULL)
        return;
    buffer_reset(&server->line);
    buffer_string(&server->line, before);
    int code = vitals_snapshot_json(snapshot, text_write, &server->line, &error);
    vitals_snapshot_unref(snapshot);
    buffer_string(&server->line, behind);
    if (code < 0 || server->line.failed)
        return;
    (void)link_write(server->exporter.link, server->line.bytes, server->line.size, wait_ns);
    server->kept = !link_flush(server->exporter.link, 0);
    burst_step(&server->burst, server->line.size);
}

static void end(struct server *server, int code)
{
    server->over = true;
    server->code = code;
}

/* With --processes=pid every process is in the samples anyway, and with off none is exported; so
 * the second sampler is for "workload" only. */
static void hear(struct server *server)
{
    enum { AT_ONCE = 100 }; /* lines, so that a flood of messages cannot occupy the loop */
    bool workloads = strcmp(server->settings->serve.processes, "workload") == 0;
    int got = 1;
    for (int i = 0; i < AT_ONCE && !server->over && got > 0; i++) {
        struct exporter_message message;
        char *line;
        got = link_hear(server->exporter.link, 0, &line);
        if (got <= 0)
            break;
        exporter_take(&server->exporter, line, &message);
        bool changes = message.all_processes != (server->every.sampler != NULL);
        if (message.kind == MESSAGE_OPENED && message.url[0] != '\0')
            (void)command_fail(0, "listening at %s", command_safe(message.url));
        else if (message.kind == MESSAGE_FAILED && strcmp(message.publisher, "serve") == 0)
            end(server, EXIT_CANNOT);
        else if (message.kind == MESSAGE_WANT && workloads && changes && message.all_processes)
            (void)stream_open(server, request_of_every, &server->every);
        else if (message.kind == MESSAGE_WANT && workloads && changes)
            stream_close(&server->every);
    }
    if (got < 0)
        end(server, command_fail(EXIT_CANNOT, "the exporter ended: %s",
                                 command_safe(server->settings->export.program)));
}

static int descriptor_of(const struct serve_stream *stream)
{
    return stream->subscription != NULL ? vitals_subscription_descriptor(stream->subscription) : -1;
}

static void serve(struct server *server, int interrupts)
{
    struct pollfd polled[] = {
        {.fd = interrupts, .events = POLLIN},
        {.fd = link_hearing(server->exporter.link), .events = POLLIN},
        {.fd = -1, .events = POLLIN},
        {.fd = -1, .events = POLLIN},
        {.fd = -1, .events = POLLOUT},
    };
    while (!server->over) {
        polled[2].fd = descriptor_of(&server->samples);
        polled[3].fd = descriptor_of(&server->every);
        polled[4].fd = server->kept ? link_descriptor(server->exporter.link) : -1;
        if (poll(polled, ARRAY_COUNT(polled), -1) < 0 && errno != EINTR) {
            end(server, command_fail(EXIT_CANNOT, "cannot wait: %s", strerror(errno)));
            return;
        }
        if (polled[0].revents != 0)
            return;
        if (polled[4].revents != 0)
            server->kept = !link_flush(server->exporter.link, 0);
        if (polled[1].revents != 0)
            hear(server);
        if (!server->over && polled[2].revents != 0)
            tell_sample(server, &server->samples, "", "\n");
        if (!server->over && polled[3].revents != 0 && server->every.subscription != NULL)
            tell_sample(server, &server->every, "{\"processes\":", "}\n");
    }
}

/* Returns 0 if the variable is not set, or is not a number. */
static unsigned long long number_of(const struct environment_settings *environment,
                                    const char *name)
{
    const char *digits = exporter_variable(environment, name);
    uint64_t number;
    return digits != NULL && number_is_u64(digits, &number) ? number : 0;
}

/* Takes the listening socket that the parent opened, as sd_listen_fds(3) describes: LISTEN_PID is
 * the pid that it is for, LISTEN_FDS the number of descriptors from 3 on. Returns 0 and a
 * descriptor above LINK_ACTIVATION_SOCKET that the caller closes, or -1 if there is none; or an
 * exit code after a message if it cannot be used. The server program checks whether that address is
 * allowed.
 */
static int take_socket(const struct environment_settings *environment, int *out)
{
    enum { FIRST_ACTIVATED = 3 };
    unsigned long long count = number_of(environment, "LISTEN_FDS");
    int listening = 0;
    socklen_t size = sizeof listening;
    *out = -1;
    if (count == 0 || number_of(environment, "LISTEN_PID") != (unsigned long long)getpid())
        return 0;
    if (count != 1)
        return command_fail(EXIT_CANNOT,
                            "the .socket unit passes %llu sockets; leave one ListenStream= in it",
                            count);
    /* The descriptor may be something else, even one of this process. */
    if (getsockopt(FIRST_ACTIVATED, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 ||
        listening == 0)
        return command_fail(EXIT_CANNOT,
                            "LISTEN_FDS is set, but descriptor 3 is not a listening socket");
    *out = fcntl(FIRST_ACTIVATED, F_DUPFD_CLOEXEC, LINK_ACTIVATION_SOCKET + 1);
    if (*out < 0)
        return command_fail(EXIT_CANNOT, "the socket of the .socket unit: %s", strerror(errno));
    (void)close(FIRST_ACTIVATED);
    return 0;
}

/* Starts the program before there is a second thread. */
static int begin(struct server *server)
{
    struct buffer config = {.bytes = NULL};
    vitals_error error;
    int activation_socket = -1,
        code = exporters_check(&server->settings->run, &server->settings->export,
                               &server->settings->serve);
    if (code == 0)
        code = take_socket(&server->settings->environment, &activation_socket);
    if (code != 0)
        return code;
    export_config_serve(&server->settings->sampling, &server->settings->export,
                        &server->settings->serve, activation_socket >= 0, &config);
    code = exporter_open(&server->exporter, &server->settings->export, &config, activation_socket);
    if (activation_socket >= 0)
        (void)close(activation_socket);
    if (code != 0)
        return code;
    code = command_context(&server->settings->machine, &server->context, &error);
    if (code < 0)
        return command_fail(code == VITALS_EARGUMENT ? EXIT_USAGE : EXIT_CANNOT, "%s",
                            error.message);
    return stream_open(server, request_of_samples, &server->samples);
}

int command_serve(const struct settings *settings)
{
    struct server server = {.settings = settings};
    int interrupts = command_interrupts();
    server.code = begin(&server);
    if (server.code == EXIT_DONE)
        serve(&server, interrupts);
    stream_close(&server.every);
    stream_close(&server.samples);
    uint64_t dropped = server.exporter.link != NULL ? link_dropped(server.exporter.link) : 0;
    (void)exporter_close(&server.exporter, LAST_NS, true); /* it must not keep the port */
    if (dropped > 0)
        (void)command_fail(0, "%llu sample%s dropped: not taken in time",
                           (unsigned long long)dropped, dropped == 1 ? " was" : "s were");
    vitals_context_free(server.context);
    buffer_done(&server.line);
    return server.code;
}
