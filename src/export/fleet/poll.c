/* poll.c: see poll.h. One thread asks all machines; none waits for another, since each request has
 * a deadline of its own. A machine that does not answer, or with too much, is asked less often, up
 * to every eighth interval. */
#include "export/fleet/poll.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "export/client.h"
#include "export/clock.h"
#include "export/export_thread.h"
#include "export/link.h"
#include "export/publisher.h"
#include "record/error.h"
#include "util/base.h"
#include "util/file.h"

/* Answers are looked at this often: those that come together are read together. */
static const uint64_t TURN_NS = 5000000;

/* A line that was written for so long waited for the reader. */
static const uint64_t STALLED_NS = 100000000;

enum {
    BEGUN_AT_ONCE = 64, /* requests begun in a turn: each new one may need a thread for its name */
    BACK_OFF_MOST = 3,  /* such a machine is asked every 2^3 intervals */
    CONNECTIONS_MOST = 4096,
    NAME_DESCRIPTORS = 3 /* of a request: its connection, and two while its name is looked up */
};

struct poll_host {
    struct client_answer answer; /* the first member: an answer is the machine's */
    struct client_request request;
    struct client *client;
    char *url;
    uint64_t due_ns, begun_ns;
    unsigned failures;
    bool busy, asked;
    bool excused; /* it has not answered since a failure that was the reader's */
};

struct poll {
    struct poll_host *hosts;
    size_t count, next;  /* next: where the search for machines that are due goes on */
    size_t most_bytes;   /* of an answer */
    struct buffer form;  /* what is posted; empty: nothing */
    size_t busy, most;   /* requests under way */
    uint64_t stalled_ns; /* until when the reader did not read */
    struct client_group *group;
    uint64_t interval_ns; /* 0: once */
    int wake[2];          /* a byte, or its end, ends the thread */
    struct buffer line;
    struct export_thread thread;
};

/* A line break is a blank in JSON, outside of its strings, where none may be. */
static void blank(struct buffer *text, char line_break)
{
    char *at = text->bytes, *end = at + text->size;
    while ((at = memchr(at, line_break, (size_t)(end - at))) != NULL)
        *at = ' ';
}

/* Returns false if nobody reads any more. */
static bool take(struct poll *poll, struct poll_host *host)
{
    struct client_answer *answer = &host->answer;
    struct buffer *line = &poll->line;
    bool good = answer->status == 200 && !answer->cut && answer->body.size > 0;
    bool query = poll->form.size > 0;
    bool oversized = answer->cut && answer->body.size >= poll->most_bytes;
    uint64_t now_ns = clock_now_ns(), every_ns;
    poll->busy--;
    host->busy = false;
    /* While the reader did not read, nothing was received either: once it is asked again. */
    if (answer->status == 0 && host->begun_ns < poll->stalled_ns && !host->excused) {
        host->excused = true;
        host->asked = false;
        host->due_ns = now_ns;
        client_answer_done(answer);
        return true;
    }
    buffer_reset(line);
    buffer_format(line, "%zu %" PRIu64 " ", (size_t)(host - poll->hosts), now_ns);
    if (good) {
        blank(&answer->body, '\n');
        blank(&answer->body, '\r');
        buffer_string(line, "answer ");
        buffer_append(line, answer->body.bytes, answer->body.size);
    } else if (answer->lacking)
        buffer_string(line, "other it was not asked: no descriptor is left here (ulimit -n)");
    else if (answer->status == 0)
        buffer_format(line, "silent %s%s", answer->refused ? "see --ca-file: " : "", answer->why);
    else if (answer->status == 401)
        buffer_string(line, "login a login is missing or wrong");
    else if (answer->status == 403)
        buffer_format(line, "login %s",
                      query ? "the login is not permitted"
                            : "403: its VITALS_ALLOW_HOST (or --allow-host) lacks this name");
    else if (oversized)
        buffer_format(line, "oversized its answer is above %zu MiB: %s", poll->most_bytes >> 20,
                      query ? "name fewer machines (--hosts)" : "run vitals there, or press Enter");
    else if (answer->cut)
        buffer_format(line,
                      "oversized all answers on their way are above %d MiB: name fewer machines",
                      POLL_ROOM >> 20);
    else
        buffer_format(line, "other it %s (%d)",
                      query                   ? "refuses the query"
                      : answer->status == 503 ? "has no sample yet"
                                              : "is no vitals serve",
                      answer->status);
    buffer_byte(line, '\n');

    host->excused = host->excused && answer->status == 0;
    host->failures = answer->status == 0 || oversized
                         ? host->failures + (host->failures < BACK_OFF_MOST)
                         : 0;
    every_ns = poll->interval_ns << host->failures;
    host->due_ns += every_ns;
    if (host->due_ns < now_ns)
        host->due_ns = now_ns + every_ns - (now_ns - host->due_ns) % uint64_max(every_ns, 1);
    client_answer_done(answer);
    bool written = file_write_all(LINK_ACTIVATION_SOCKET, line->bytes, line->size) && !line->failed;
    uint64_t after_ns = clock_now_ns();
    if (after_ns - now_ns > STALLED_NS)
        poll->stalled_ns = after_ns;
    return written;
}

/* Begins what is due, and returns when the next one is: now, if more are than are begun at once. */
static uint64_t begin_due(struct poll *poll, uint64_t now_ns, bool *open)
{
    uint64_t next_ns = now_ns + 3600 * (uint64_t)1000000000;
    size_t begun = 0;
    for (size_t i = 0; i < poll->count; i++) {
        struct poll_host *host = &poll->hosts[(poll->next + i) % poll->count];
        if (host->busy || (host->asked && poll->interval_ns == 0))
            continue;
        if (host->due_ns > now_ns) {
            next_ns = host->due_ns < next_ns ? host->due_ns : next_ns;
        } else if (poll->busy >= poll->most) {
            poll->next = (poll->next + i) % poll->count;
            return next_ns; /* one that ends makes room */
        } else if (begun++ < BEGUN_AT_ONCE) {
            host->busy = host->asked = true;
            host->begun_ns = now_ns;
            poll->busy++;
            if (!client_group_begin(poll->group, host->client, &host->request, &host->answer))
                *open = take(poll, host) && *open;
        } else {
            poll->next = (poll->next + i) % poll->count;
            return now_ns + TURN_NS;
        }
    }
    return next_ns;
}

static void work(void *data)
{
    struct poll *poll = data;
    const vitals_clock *clock = vitals_clock_system();
    bool open = true;
    char byte; /* there is one, or an end, when it is to stop */
    while (open && read(poll->wake[0], &byte, 1) < 0) {
        uint64_t now_ns = clock_now_ns(), next_ns = begin_due(poll, now_ns, &open);
        struct client_answer *answer = client_group_next(poll->group, next_ns - now_ns,
                                                         poll->wake[0]);
        for (; answer != NULL && open; answer = client_group_next(poll->group, 0, poll->wake[0]))
            open = take(poll, (struct poll_host *)answer);
        (void)clock->wait_until(clock->data, poll->wake[0], clock_now_ns() + TURN_NS);
    }
}

/* ---- start and end ---- */

static void poll_free(struct poll *poll)
{
    for (size_t i = 0; i < poll->count; i++) {
        client_free(poll->hosts[i].client);
        client_answer_done(&poll->hosts[i].answer);
        free(poll->hosts[i].url);
    }
    client_group_free(poll->group);
    for (int i = 0; i < 2; i++) {
        if (poll->wake[i] >= 0)
            close(poll->wake[i]);
    }
    buffer_done(&poll->line);
    buffer_done(&poll->form);
    free(poll->hosts);
    free(poll);
}

/* Returns how many requests can be under way with the descriptors that this process may have (the
 * command has raised that number). Connections that are kept count too. */
static size_t connections_most(size_t hosts)
{
    enum { OWN = 24, LOOKED_UP = 2 * BEGUN_AT_ONCE };
    struct rlimit limit = {.rlim_cur = 1024};
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    size_t left = limit.rlim_cur > OWN ? (size_t)limit.rlim_cur - OWN : 1, most = CONNECTIONS_MOST;
    /* Of a few, each may have its name looked up; of many, those that are begun together. */
    size_t room = left > 2 * (size_t)LOOKED_UP ? left - LOOKED_UP : left / NAME_DESCRIPTORS;
    most = room < most ? room : most;
    most = hosts < most ? hosts : most;
    return most > 0 ? most : 1;
}

static int add_host(struct poll *poll, const char *url, const char *path,
                    const struct client_options *options, vitals_error *error)
{
    struct poll_host *host = &poll->hosts[poll->count];
    struct buffer whole = {.bytes = NULL};
    size_t size = strlen(url);
    while (size > 0 && url[size - 1] == '/')
        size--;
    buffer_format(&whole, "%.*s%s", (int)size, url, path);
    host->url = whole.failed ? NULL : strdup(whole.bytes);
    buffer_done(&whole);
    if (host->url == NULL)
        return record_no_memory("hosts", error);
    host->request = (struct client_request){
        .method = "GET", .url = host->url, .most = poll->most_bytes};
    if (poll->form.size > 0) {
        host->request.method = "POST";
        host->request.content_type = "application/x-www-form-urlencoded";
        host->request.body = poll->form.bytes;
        host->request.size = poll->form.size;
    }
    poll->count++;
    return client_new(options, &host->client, error);
}

static int fleet_open(const json_t *config, const json_t *export_config UNUSED, void **data,
                      vitals_error *error)
{
    const json_t *hosts = json_object_get(config, "hosts"), *url;
    double seconds = json_number_value(json_object_get(config, "timeout_seconds"));
    uint64_t timeout_ns = seconds > 0 && seconds < 1e6 ? (uint64_t)(seconds * 1e9) : 2000000000;
    const struct client_options options = {
        .user_agent = "vitals",
        .netrc = json_string_value(json_object_get(config, "netrc")),
        .ca_file = json_string_value(json_object_get(config, "ca_file")),
        .direct = true,
        .connect_ns = timeout_ns,
        .total_ns = timeout_ns,
    };
    const char *path = json_string_value(json_object_get(config, "path"));
    const char *query = json_string_value(json_object_get(config, "query"));
    json_int_t most = (json_int_t)json_number_value(json_object_get(config, "most_bytes"));
    size_t count = json_array_size(hosts), i;
    struct poll *poll = calloc(1, sizeof *poll);
    struct poll_host *items = calloc(count + 1, sizeof *items);
    if (poll == NULL || items == NULL) {
        free(poll);
        free(items);
        return record_no_memory("hosts", error);
    }
    *poll = (struct poll){.hosts = items, .wake = {-1, -1}};
    seconds = json_number_value(json_object_get(config, "interval_seconds"));
    poll->most_bytes = most > 0 && most < POLL_ROOM ? (size_t)most : POLL_ANSWER_MAX;
    if (query != NULL) {
        buffer_string(&poll->form, "query=");
        client_encode(&poll->form, query, strlen(query), false);
    }
    poll->interval_ns = seconds > 0 && seconds < 1e6 ? (uint64_t)(seconds * 1e9) : 0;
    int code = pipe2(poll->wake, O_CLOEXEC | O_NONBLOCK) < 0
                   ? record_fail_errno(errno, "hosts", error)
                   : 0;
    json_array_foreach(hosts, i, url)
    {
        if (code == 0)
            code = add_host(poll, json_string_value(url), path != NULL ? path : "", &options,
                            error);
    }
    poll->most = connections_most(count);
    if (code == 0 && (poll->group = client_group_new(poll->most, POLL_ROOM)) == NULL)
        code = record_no_memory("hosts", error);
    if (code == 0)
        code = export_thread_start(&poll->thread, work, poll, error);
    if (code < 0) {
        close(LINK_ACTIVATION_SOCKET); /* the reader need not wait */
        poll_free(poll);
        return code;
    }
    *data = poll;
    return 0;
}

static void fleet_close(void *data, uint64_t deadline_ns)
{
    struct poll *poll = data;
    close(poll->wake[1]);
    poll->wake[1] = -1;
    pthread_mutex_lock(&poll->thread.mutex);
    (void)export_thread_wait_for_end(&poll->thread, deadline_ns);
    if (export_thread_leave(&poll->thread))
        poll_free(poll);
}

const struct publisher publisher_fleet = {
    .name = "fleet", .open = fleet_open, .close = fleet_close};
