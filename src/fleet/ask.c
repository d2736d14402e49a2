/* ask.c: see fleet.h: starts the exporter as the process that asks, and reads its lines. Without
 * the exporter there is none. */
#include "fleet/fleet.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "feed/built_without.h"
#include "record/error.h"

#if VITALS_WITH_TELL
#include "export/clock.h"
#include "export/fleet/poll.h"
#include "export/link.h"
#include "export/message.h"
#include "export/run_config.h"
#include "export/wire.h"
#include "fleet/over_ssh.h"
#include "util/memory.h"

struct fleet_link {
    struct over_ssh *ssh; /* NULL: the exporter asks */
    struct link *link;
    struct wire *lines;
    int descriptor;
};

static size_t most_of(const struct fleet_asking *asking)
{
    return asking->prometheus != NULL ? POLL_QUERY_MAX : POLL_ANSWER_MAX;
}

static void write_config(const struct fleet *fleet, const struct fleet_asking *asking,
                         struct buffer *out)
{
    static const uint64_t PATIENCE_NS = 1000000000;
    struct json_form form;
    run_config_begin(&form, out, "top");
    form_put_number(&form, "patience_seconds", (double)PATIENCE_NS / 1e9);
    form_begin_member(&form, "fleet", '{');
    form_begin_member(&form, "hosts", '[');
    if (asking->prometheus != NULL)
        form_string(&form, asking->prometheus);
    for (size_t i = 0; asking->prometheus == NULL && i < fleet->count; i++)
        form_string(&form, fleet->hosts[i].place.url);
    form_end(&form, ']');
    if (asking->prometheus != NULL) {
        struct buffer query = {.bytes = NULL};
        fleet_prometheus_query(fleet, &query);
        out->failed = out->failed || query.failed;
        form_put_string(&form, "query", query.bytes);
        buffer_done(&query);
    }
    form_put_string(&form, "path",
                    asking->prometheus != NULL ? "/api/v1/query"
                    : asking->whole            ? "/api/v1/snapshot"
                                               : "/api/v1/snapshot?view=fleet");
    form_put_number(&form, "most_bytes", (double)most_of(asking));
    form_put_number(&form, "interval_seconds", (double)asking->interval_ns / 1e9);
    form_put_number(&form, "timeout_seconds", (double)asking->timeout_ns / 1e9);
    run_config_put(&form, "netrc", asking->netrc);
    run_config_put(&form, "ca_file", asking->ca_file);
    form_end(&form, '}');
    form_end(&form, '}');
}

int fleet_link_open(const struct fleet *fleet, const struct fleet_asking *asking,
                    struct fleet_link **out, vitals_error *error)
{
    struct buffer config = {.bytes = NULL};
    struct fleet_link *own = memory_alloc(sizeof *own);
    int ends[2] = {-1, -1}, high = -1, code;
    if (asking->ssh && own != NULL) {
        code = over_ssh_open(fleet, asking->interval_ns, asking->timeout_ns, &own->ssh, error);
        own->descriptor = code == 0 ? over_ssh_descriptor(own->ssh) : -1;
        if (code < 0)
            memory_free(own);
        else
            *out = own;
        return code;
    }
    write_config(fleet, asking, &config);
    if (own == NULL || config.failed)
        code = record_no_memory("hosts", error);
    else if (pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ||
             (high = fcntl(ends[1], F_DUPFD_CLOEXEC, LINK_ACTIVATION_SOCKET + 1)) < 0)
        code = record_fail_errno(errno, "hosts", error);
    else if ((own->lines = wire_new(ends[0], most_of(asking) + POLL_LINE_MORE)) == NULL)
        code = record_no_memory("hosts", error);
    else {
        const struct link_program program = {.path = asking->program, .activation_socket = high};
        code = link_open(&program, config.bytes, &own->link, error);
    }
    buffer_done(&config);
    for (int i = 0; i < 2; i++) {
        int unused = i == 0 ? ends[1] : high;
        if (unused >= 0)
            close(unused);
    }
    if (code < 0) {
        if (ends[0] >= 0)
            close(ends[0]);
        if (own != NULL)
            wire_free(own->lines);
        memory_free(own);
        return code;
    }
    own->descriptor = ends[0];
    *out = own;
    return 0;
}

void fleet_link_close(struct fleet_link *link)
{
    if (link == NULL)
        return;
    if (link->ssh != NULL) {
        over_ssh_close(link->ssh);
        memory_free(link);
        return;
    }
    close(link->descriptor);
    (void)link_close(link->link, 0, true, NULL, NULL);
    wire_free(link->lines);
    memory_free(link);
}

int fleet_link_descriptor(const struct fleet_link *link)
{
    return link->descriptor;
}

int fleet_link_read(struct fleet_link *link, struct fleet *fleet, vitals_error *error)
{
    int taken = 0, got;
    char *line;
    size_t size;
    if (link->ssh != NULL)
        return over_ssh_read(link->ssh, fleet);
    while ((got = wire_next(link->lines, &line, &size)) > 0)
        taken += fleet_take(fleet, line, size, clock_now_ns());
    if (got == 0 || taken > 0)
        return taken;

    /* Its last message, if it had one. */
    struct exporter_message message = {.kind = MESSAGE_OTHER};
    while (message.kind != MESSAGE_FAILED && link_hear(link->link, 0, &line) > 0)
        message_read(line, &message);
    return record_fail(VITALS_EGONE, "tell", error, "%s",
                       message.kind == MESSAGE_FAILED ? message.text
                                                      : "the process that asks has ended");
}
#else
int fleet_link_open(const struct fleet *fleet, const struct fleet_asking *asking,
                    struct fleet_link **out, vitals_error *error)
{
    (void)fleet, (void)asking, (void)out;
    return record_fail(VITALS_EUNSUPPORTED, "--hosts", error, BUILT_WITHOUT_EXPORTER);
}

void fleet_link_close(struct fleet_link *link)
{
    (void)link;
}

int fleet_link_descriptor(const struct fleet_link *link)
{
    (void)link;
    return -1;
}

int fleet_link_read(struct fleet_link *link, struct fleet *fleet, vitals_error *error)
{
    (void)link, (void)fleet;
    return record_fail(VITALS_EUNSUPPORTED, "--hosts", error, BUILT_WITHOUT_EXPORTER);
}
#endif
