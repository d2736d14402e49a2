/* route.h: what the server can be asked, and how an answer is made.
 *
 * A route is a row in routes.c: a path and a function. Who asks has been let in by then: the host,
 * the method (GET, HEAD) and the credentials are looked at before, and HEAD gets the same answer
 * without its bytes. All of it happens on the server's thread, one after another, so a function
 * must not wait, and what it keeps needs no lock. */
#ifndef VITALS_EXPORT_SERVER_ROUTE_H
#define VITALS_EXPORT_SERVER_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "export/body.h"
#include "export/redact.h"
#include "export/sample.h"

struct serve;        /* serve.c: the publisher, and what its routes share */
struct http_request; /* request.c */
struct history;      /* history.h */

/* ---- what is asked ---- */

/* Begins with a slash, without what follows a question mark; percent-decoded. */
const char *http_request_path(const struct http_request *request);

/* A header, or an argument behind the question mark (`?view=page`), decoded; the first of that
 * name. NULL: none. Borrowed until the function returns; hostile. */
const char *http_request_header(const struct http_request *request, const char *name);
const char *http_request_argument(const struct http_request *request, const char *name);

/* ---- what is answered ---- */

/* Makes something of a moment: a document, or an event (see event_of). NULL: no memory, or nothing
 * can be made of it. */
typedef struct body *render_function(struct serve *serve, struct moment *moment);

/* All strings are borrowed and must live for ever, but for those of a page file. */
struct http_answer {
    int status;         /* 200 where it stays 0 */
    struct body *body;  /* given away; NULL: none; with 200, "no memory": 503 */
    const char *type;   /* "application/json" */
    const char *etag;   /* with its quotes; NULL: none. Asked with it: 304 */
    const char *cache;  /* Cache-Control; NULL: no-store */
    const char *policy; /* Content-Security-Policy; NULL: one that allows nothing */

    /* An event stream instead: what it makes of each new moment is sent, and of the newest at once.
     * Made once per moment for all who listen; who does not keep up misses some, counted. */
    render_function *events;
    bool processes; /* while somebody listens, every process is asked for (reply_want_processes) */
};

typedef void route_function(struct serve *serve, const struct http_request *request,
                            struct http_answer *answer);

struct route {
    const char *path;
    bool below; /* and whatever begins with it */
    route_function *answer;
};

/* Ends with a path that is NULL; the first that fits is taken. */
extern const struct route routes[];

/* A short text, as an answer of that status. */
void http_answer_text(struct http_answer *answer, int status, const char *text);

/* A server-sent event: `event: NAME` (NULL: without), `data: ` and the document, which holds no
 * newline. */
struct body *event_of(const char *name, const char *document, size_t size);

/* ---- what routes share ---- */

/* The newest moment, borrowed until the function returns; NULL: none has come yet. */
struct moment *serve_moment(struct serve *serve);

/* The newest of every process, and the one before, for rates, of a sampler of their own; both
 * borrowed. NULL: there is none, and the newest moment has what there is. */
struct moment *serve_listed(struct serve *serve, struct moment **before);

/* Whether processes are told at all (--processes off). */
bool serve_tells_processes(const struct serve *serve);

/* What `render` makes of the newest moment; made once, whoever asks. A reference for the caller;
 * NULL: there is no moment, or nothing could be made. */
struct body *serve_rendered(struct serve *serve, render_function *render);

/* How much of a command line may leave this machine. */
enum redact_form serve_command_lines(const struct serve *serve);

/* Fed with every moment (history_take) on the server's thread; NULL: no memory. */
struct history *serve_history(struct serve *serve);

#endif
