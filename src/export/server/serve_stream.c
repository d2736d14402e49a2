/* serve_stream.c: event streams, which send each sample to their clients.
 *
 * A stream has at most one event that is being sent and one that waits; a newer event replaces the
 * waiting one. A stream that has sent all is suspended. */
#include <stdlib.h>
#include <string.h>

#include "export/clock.h"
#include "export/server/serve.h"

enum { BLOCK = 16 * 1024 };

#define SILENCE_NS (15 * UINT64_C(1000000000)) /* an idle stream gets a comment after this time */

static const char HELLO[] = "retry: 2000\n\n", STILL_HERE[] = ":\n\n";

struct stream {
    struct stream *next;
    struct http_request *request;
    render_function *render;
    bool processes;
    bool suspended, ended;
    struct body *now, *waiting; /* NULL: none */
    const char *words;          /* sent before the events; NULL: none */
    size_t offset;              /* within what is being sent */
};

/* Callback of libmicrohttpd: fills the next block. */
static ssize_t read_stream(void *data, uint64_t position, char *out, size_t room)
{
    struct stream *stream = data;
    struct connection *connection = stream->request->connection;
    struct serve *serve = stream->request->serve;
    size_t used = 0, size;
    const char *bytes;
    (void)position;
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
    struct body *body = serve_rendered(serve, stream->render);
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
                              .render = answer->events,
                              .processes = answer->processes,
                              .words = HELLO};
    serve->streams = stream;
    serve->streams_wanting += stream->processes;
    request->stream = stream;
    offer(serve, stream);
    (void)MHD_add_response_header(response, "Content-Type", "text/event-stream");
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    serve->answered[0]++; /* 200 */
    connection_enter_phase(&serve->connections, request->connection, CONNECTION_STREAMING,
                           clock_now_ns());
    enum MHD_Result queued = MHD_queue_response(request->mhd, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return queued;
}
