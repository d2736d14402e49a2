/* serve_answer.c: sends answers: headers, compression, body; and event streams, which send each
 * sample to their clients. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/clock.h"
#include "export/server/request_headers.h"
#include "export/server/serve.h"
#include "feed/text.h"

enum { PACK_FROM = 512 };

/* The default policy: documents that are shown as a page may load and run nothing. */
static const char NOTHING[] = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'";

const struct http_code http_codes[HTTP_CODES] = {
    {200, "200"}, {304, "304"}, {400, "400"}, {401, "401"}, {403, "403"}, {404, "404"},
    {405, "405"}, {429, "429"}, {431, "431"}, {503, "503"}, {0, "other"},
};

const char *const http_reasons[REFUSED_REASONS] = {"host", "site",   "method", "path",
                                                   "size", "header", "body",   "password",
                                                   "rate", "busy",   "streams"};

void http_answer_text(struct http_answer *answer, int status, const char *text)
{
    struct buffer bytes = {.bytes = NULL};
    buffer_string(&bytes, text);
    answer->status = status;
    answer->type = "text/plain; charset=utf-8";
    answer->body = body_new(&bytes);
}

/* ---- headers ---- */

/* Sets a header; a second value replaces the first. NULL sets none. */
static void put(struct MHD_Response *response, const char *name, const char *value)
{
    const char *before = MHD_get_response_header(response, name);
    if (value != NULL && before != NULL)
        (void)MHD_del_response_header(response, name, before);
    if (value != NULL)
        (void)MHD_add_response_header(response, name, value);
}

static void put_common(struct MHD_Response *response, const struct http_request *request,
                       const struct http_answer *answer)
{
    const struct web_config *config = request->connection->config->web;
    put(response, "Content-Type", answer->type);
    put(response, "Cache-Control", answer->cache != NULL ? answer->cache : "no-store");
    put(response, "X-Content-Type-Options", "nosniff");
    put(response, "X-Frame-Options", "DENY");
    put(response, "Referrer-Policy", "no-referrer");
    put(response, "Cross-Origin-Resource-Policy", "same-origin");
    put(response, "Content-Security-Policy", answer->policy != NULL ? answer->policy : NOTHING);
    for (size_t i = 0; config != NULL && i < WEB_CONFIG_HEADERS; i++)
        put(response, config->headers[i].name, config->headers[i].value);
    if (answer->status == MHD_HTTP_UNAUTHORIZED)
        put(response, "WWW-Authenticate", "Basic realm=\"vitals\", charset=\"UTF-8\"");
    if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        put(response, "Allow", "GET, HEAD");
    if (answer->status == MHD_HTTP_SERVICE_UNAVAILABLE ||
        answer->status == MHD_HTTP_TOO_MANY_REQUESTS)
        put(response, "Retry-After", "1");
    if (request_is_outdated(request) || answer->status == MHD_HTTP_BAD_REQUEST ||
        answer->status == MHD_HTTP_METHOD_NOT_ALLOWED ||
        answer->status == MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE)
        put(response, "Connection", "close");
}

enum MHD_Result answer_send(struct http_request *request, struct http_answer *answer)
{
    char tag[100];
    size_t size = 0, packed_size;
    if (answer->status == 0)
        answer->status = MHD_HTTP_OK;
    if (answer->status == MHD_HTTP_OK && answer->body == NULL)
        http_answer_text(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory\n");
    if (answer->etag != NULL && answer->status == MHD_HTTP_OK &&
        accept_has_tag(http_request_header(request, "If-None-Match"), answer->etag)) {
        answer->status = MHD_HTTP_NOT_MODIFIED;
        body_unref(answer->body);
        answer->body = NULL;
    }
    request->body = answer->body; /* released by request_end */

    /* The body is sent compressed if the client accepts that and it is smaller. */
    const void *bytes = "", *packed = NULL;
    if (request->body != NULL)
        bytes = body_bytes(request->body, &size);
    const bool varies = size >= PACK_FROM;
    if (varies && accept_encoding(http_request_header(request, "Accept-Encoding"), "gzip"))
        packed = body_packed(request->body, &packed_size);
    if (packed != NULL && packed_size < size) {
        bytes = packed;
        size = packed_size;
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(size, (void *)(uintptr_t)bytes,
                                                                    MHD_RESPMEM_PERSISTENT);
    if (response == NULL)
        return MHD_NO;
    put_common(response, request, answer);
    if (answer->etag != NULL) {
        (void)snprintf(tag, sizeof tag, "W/%s", answer->etag);
        put(response, "ETag", tag);
    }
    put(response, "Vary", varies ? "Accept, Accept-Encoding" : NULL);
    put(response, "Content-Encoding", packed != NULL && bytes == packed ? "gzip" : NULL);

    size_t code = 0;
    while (code < HTTP_CODE_OTHER && http_codes[code].status != answer->status)
        code++;
    request->serve->answered[code]++;
    enum MHD_Result queued = MHD_queue_response(request->mhd, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    return queued;
}

/* ---- event streams ----
 *
 * A stream has at most one event that is being sent and one that waits; a newer event replaces the
 * waiting one. A stream that has sent all is suspended. */

enum { BLOCK = 16 * 1024 };

#define SILENCE_NS (15 * UINT64_C(1000000000)) /* an idle stream gets a comment after this time */

static const char FIRST_EVENT[] = "retry: 2000\n\n", STILL_HERE[] = ":\n\n";

struct stream {
    struct stream *next;
    struct http_request *request;
    enum served_document events;
    bool processes;
    bool suspended, ended;
    struct body *now, *waiting; /* NULL: none */
    const char *words;          /* sent before the events; NULL: none */
    size_t offset;              /* within what is being sent */
};

/* Callback of libmicrohttpd: fills the next block. */
static ssize_t read_stream(void *data, uint64_t position UNUSED, char *out, size_t room)
{
    struct stream *stream = data;
    struct connection *connection = stream->request->connection;
    struct serve *serve = stream->request->serve;
    size_t used = 0, size;
    const char *bytes;
    if (stream->ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    connection_enter_phase(&serve->connections, connection, CONNECTION_STREAMING, clock_now_ns());
    while (used < room) {
        if (stream->words == NULL && stream->now == NULL) {
            stream->now = stream->waiting;
            stream->waiting = NULL;
        }
        if (stream->words == NULL && stream->now == NULL)
            break;
        bytes = stream->words;
        if (bytes != NULL)
            size = strlen(bytes);
        else
            bytes = body_bytes(stream->now, &size);
        size_t part = size - stream->offset < room - used ? size - stream->offset : room - used;
        memcpy(out + used, bytes + stream->offset, part);
        used += part;
        stream->offset += part;
        if (stream->offset < size)
            continue;
        stream->offset = 0;
        if (stream->words == NULL) {
            body_unref(stream->now);
            stream->now = NULL;
        }
        stream->words = NULL;
    }
    connection->paused = used == 0;
    if (used == 0) {
        stream->suspended = true;
        MHD_suspend_connection(stream->request->mhd);
    }
    return (ssize_t)used;
}

static void resume(struct stream *stream)
{
    if (!stream->suspended)
        return;
    stream->suspended = false;
    stream->request->connection->paused = false;
    MHD_resume_connection(stream->request->mhd);
}

/* Sets the waiting event of a stream. */
static void offer(struct serve *serve, struct stream *stream)
{
    struct body *body = serve_rendered(serve, stream->events);
    if (body == NULL)
        return;
    serve->events_dropped += stream->waiting != NULL;
    body_unref(stream->waiting);
    stream->waiting = body;
    resume(stream);
}

void streams_offer(struct serve *serve)
{
    for (struct stream *stream = serve->streams; stream != NULL; stream = stream->next)
        offer(serve, stream);
}

void streams_still_here(struct serve *serve, uint64_t now_ns)
{
    for (struct stream *stream = serve->streams; stream != NULL; stream = stream->next) {
        if (!stream->suspended || stream->request->connection->since_ns + SILENCE_NS > now_ns)
            continue;
        stream->words = STILL_HERE;
        resume(stream);
    }
}

void streams_end(struct serve *serve)
{
    for (struct stream *stream = serve->streams; stream != NULL; stream = stream->next) {
        stream->ended = true;
        resume(stream);
    }
}

void stream_free(struct serve *serve, struct stream *stream)
{
    if (stream == NULL)
        return;
    struct stream **at = &serve->streams;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    serve->streams_wanting -= stream->processes;
    if (stream->processes)
        serve->wanted_ns = clock_now_ns();

    body_unref(stream->now);
    body_unref(stream->waiting);
    free(stream);
}

enum MHD_Result stream_send(struct http_request *request, const struct http_answer *answer)
{
    struct serve *serve = request->serve;
    struct stream *stream = calloc(1, sizeof *stream);
    struct MHD_Response *response = stream != NULL
                                        ? MHD_create_response_from_callback(
                                              MHD_SIZE_UNKNOWN, BLOCK, read_stream, stream, NULL)
                                        : NULL;
    if (response == NULL) {
        free(stream);
        return MHD_NO;
    }
    *stream = (struct stream){.next = serve->streams,
                              .request = request,
                              .events = answer->events,
                              .processes = answer->processes,
                              .words = FIRST_EVENT};
    serve->streams = stream;
    serve->streams_wanting += stream->processes;
    request->stream = stream;
    offer(serve, stream);
    const struct http_answer head = {.status = MHD_HTTP_OK, .type = "text/event-stream"};
    put_common(response, request, &head);
    serve->answered[0]++; /* 200 */
    connection_enter_phase(&serve->connections, request->connection, CONNECTION_STREAMING,
                           clock_now_ns());
    enum MHD_Result queued = MHD_queue_response(request->mhd, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return queued;
}
