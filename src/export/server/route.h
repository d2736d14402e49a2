/* route.h: the interface of routes: the request, the answer, and the data that routes share.
 *
 * A route is a row in routes.c: a path and a function. Host, method (GET or HEAD) and credentials
 * have been checked before it is called; HEAD gets the same answer without its body. All routes
 * run on the server's thread, one after another, so a function must not wait and needs no locks. */
#ifndef VITALS_EXPORT_SERVER_ROUTE_H
#define VITALS_EXPORT_SERVER_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "export/body.h"
#include "export/redact.h"
#include "export/sample.h"

struct serve;         /* serve.c: the publisher, and what its routes share */
struct http_request;  /* serve_request.c */
struct history_store; /* history.h */

/* ---- the request ---- */

/* Begins with a slash; percent-decoded, without the query. */
const char *http_request_path(const struct http_request *request);

/* Returns the first header or query argument (`?view=page`) of that name, decoded, or NULL.
 * Untrusted; borrowed until the route returns. */
const char *http_request_header(const struct http_request *request, const char *name);
const char *http_request_argument(const struct http_request *request, const char *name);

/* ---- the answer ---- */

/* Renders a sample as a document or an event (see event_of). Returns NULL without memory, or if
 * the sample cannot be rendered. */
typedef struct body *render_function(struct serve *serve, struct sample *sample);

/* All strings are static or belong to a page file. */
struct http_answer {
    int status;         /* 0 means 200 */
    struct body *body;  /* the server takes the reference; NULL with status 200: 503 "no memory" */
    const char *type;   /* "application/json" */
    const char *etag;   /* with its quotes; NULL: none. A matching If-None-Match gets 304 */
    const char *cache;  /* Cache-Control; NULL: "no-store" */
    const char *policy; /* Content-Security-Policy; NULL: nothing is allowed */

    /* If set, the answer is an event stream: each new sample is rendered by this function and
     * sent, the newest one at once. Rendered once for all clients. Slow clients miss events, which
     * are counted. */
    render_function *events;
    bool processes; /* sample every process while this stream is open */
};

typedef void route_function(struct serve *serve, const struct http_request *request,
                            struct http_answer *answer);

struct route {
    const char *path;
    bool below; /* also matches paths that begin with it */
    route_function *answer;
};

/* Ends with a NULL path; the first match is used. */
extern const struct route routes[];

/* Sets a short text as the answer. */
void http_answer_text(struct http_answer *answer, int status, const char *text);

/* Makes a server-sent event: `event: NAME` (unless NULL), `data: ` and the document, which has no
 * newline. */
struct body *event_of(const char *name, const char *document, size_t size);

/* ---- data that routes share ---- */

/* Returns the newest sample, borrowed until the route returns, or NULL before the first one. */
struct sample *serve_sample(struct serve *serve);

/* Returns the newest sample of every process, from a sampler of its own, and in *before the one
 * before it, for rates. Both borrowed. NULL if there is none; then use serve_sample. */
struct sample *serve_listed(struct serve *serve, struct sample **before);

/* Returns false with --processes off. */
bool serve_tells_processes(const struct serve *serve);

/* Returns the newest sample as rendered by `render`, which is called once per sample. The caller
 * gets a reference. NULL if there is no sample or it cannot be rendered. */
struct body *serve_rendered(struct serve *serve, render_function *render);

/* Returns how much of a command line may leave this machine (--cmdline). */
enum redact_form serve_command_lines(const struct serve *serve);

/* Returns the history of the last hour. */
struct history_store *serve_history(struct serve *serve);

#endif
