/* serve.h: what the files of the server share: serve.c runs it with its configuration and
 * libmicrohttpd's daemon, serve_request.c admits requests, serve_answer.c sends answers and events.
 *
 * Only the server's thread uses it, unless a comment says otherwise. */
#pragma once

#include <microhttpd.h>
#include <pthread.h>

#include "export/body.h"
#include "export/prometheus/exposition.h"
#include "export/server/connections.h"
#include "export/server/listener.h"
#include "export/server/password.h"
#include "export/server/request_headers.h"
#include "export/server/web_config.h"

enum { REQUEST_HEADERS_MAX = 8 * 1024 };

/* ---- counters ---- */

/* Answers are counted by status code; those that are not listed together, last. */
enum { HTTP_CODES = 11, HTTP_CODE_OTHER = HTTP_CODES - 1 };

extern const struct http_code {
    int status;
    const char *name;
} http_codes[HTTP_CODES];

/* Reasons to refuse a request, and their names. */
enum http_reason {
    REFUSED_HOST,
    REFUSED_SITE,
    REFUSED_METHOD,
    REFUSED_PATH,
    REFUSED_SIZE,
    REFUSED_HEADER,
    REFUSED_BODY,
    REFUSED_PASSWORD,
    REFUSED_RATE,
    REFUSED_BUSY,
    REFUSED_STREAMS,
    REFUSED_REASONS
};
extern const char *const http_reasons[REFUSED_REASONS];

/* ---- configuration ---- */

/* Reference-counted: the server holds the current one, each connection the one that it was
 * accepted under. */
struct listener_config {
    size_t references;
    struct web_config *web;      /* NULL: no --web-config */
    struct tls_credentials *tls; /* NULL: plain HTTP */
};

/* ---- certificates and versions of TLS, as the configuration has them (tls.c) ---- */

struct tls_credentials;

/* Loads certificate, key and authority. Borrows the configuration. Errors: EFORMAT (which file
 * cannot be used, and why), EMEMORY. */
int tls_credentials_new(const struct web_config *config, struct tls_credentials **out,
                        vitals_error *error);
void tls_credentials_free(struct tls_credentials *tls); /* accepts NULL */

/* Gives them to a session before its handshake: certificate, versions, and what is asked of the
 * client, which does not get through the handshake if it fails that. They must outlive the session.
 * Returns false if GnuTLS refuses; the session must not be used then. */
bool tls_credentials_use(const struct tls_credentials *tls, void *session);

/* ---- requests ---- */

struct serve;
struct stream;

enum password_state { PASSWORD_NOT_LOOKED_AT, PASSWORD_WAITS, PASSWORD_RIGHT, PASSWORD_WRONG };

enum {
    PASSWORDS_WAITING = 32,   /* requests whose password waits or is being compared */
    PASSWORDS_OF_ADDRESS = 2, /* of one address */
};

struct http_request {
    struct MHD_Connection *mhd;
    struct serve *serve;
    struct connection *connection;
    const char *path;      /* begins with a slash; percent-decoded, without the query */
    struct body *body;     /* the body being sent */
    struct stream *stream; /* NULL: not an event stream */
    enum password_state password;
    struct http_request *next; /* in the queue of passwords to compare */
    bool begun;                /* request_handle has been called for it, and these were counted: */
    unsigned hosts, lengths;   /* Host and Content-Length headers */
    bool has_body;
    bool malformed; /* a proxy may have read a header otherwise */
    bool cut_path;  /* contains an encoded NUL, which ends the string early */
};

/* Returns the first header of that name, or NULL. Untrusted; borrowed while the request lives. */
static inline const char *http_request_header(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->mhd, MHD_HEADER_KIND, name);
}

/* Callbacks of libmicrohttpd. */
enum MHD_Result request_handle(void *serve, struct MHD_Connection *mhd, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **data);
void *request_begin(void *serve, const char *line, struct MHD_Connection *mhd);
void request_end(void *serve, struct MHD_Connection *mhd, void **data,
                 enum MHD_RequestTerminationCode how);

/* If a password comparison is done, resumes its request and starts the next comparison. */
void requests_compare(struct serve *serve);

/* Refuses all requests that wait for a comparison, because the daemon ends. */
void requests_give_up(struct serve *serve);

/* Returns whether the request must be refused, because its configuration has been replaced or the
 * daemon ends. */
bool request_is_outdated(const struct http_request *request);

/* ---- routes ----
 *
 * A route is a row in routes.c: a path and a function. Host, method (GET or HEAD) and credentials
 * have been checked before it is called; HEAD gets the same answer without its body. Routes run one
 * after another, so a function must not wait. */

/* What is rendered of a sample, once for all clients. */
enum served_document {
    DOCUMENT_NONE,
    DOCUMENT_SNAPSHOT,
    DOCUMENT_FLEET,
    DOCUMENT_HISTORY,
    DOCUMENT_METRICS,
    DOCUMENT_OPENMETRICS,
    EVENT_SNAPSHOT,
    EVENT_SNAPSHOT_ALL, /* followed by one with every process */
    EVENT_VIEW,
    EVENT_VIEW_ALL,
    DOCUMENTS
};

/* All strings are static or belong to a page file. */
struct http_answer {
    int status;         /* 0 means 200 */
    struct body *body;  /* the server takes the reference; NULL with status 200: 503 "no memory" */
    const char *type;   /* "application/json" */
    const char *etag;   /* with its quotes; NULL: none. A matching If-None-Match gets 304 */
    const char *cache;  /* Cache-Control; NULL: "no-store" */
    const char *policy; /* Content-Security-Policy; NULL: nothing is allowed */

    /* If set, the answer is an event stream: that of each new sample is sent, of the newest one at
     * once. Slow clients miss events, which are counted. */
    enum served_document events;
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

/* Sends the answer and takes over its body. */
enum MHD_Result answer_send(struct http_request *request, struct http_answer *answer);

/* Sets a short text as the answer. */
void http_answer_text(struct http_answer *answer, int status, const char *text);

/* Returns a document of the newest sample. The caller gets a reference. NULL without memory, or if
 * there is no sample or it cannot be rendered. */
struct body *serve_rendered(struct serve *serve, enum served_document document);

/* Drops what was rendered, because there is a new sample. */
void serve_forget_rendered(struct serve *serve);

/* ---- event streams ---- */

/* Starts an event stream as the answer. */
enum MHD_Result stream_send(struct http_request *request, const struct http_answer *answer);
void stream_free(struct serve *serve, struct stream *stream);

/* Renders the new sample for all streams. */
void streams_offer(struct serve *serve);

/* Sends a comment to streams that were idle for 15 s. */
void streams_still_here(struct serve *serve, uint64_t now_ns);

/* Ends all streams, because the daemon ends. */
void streams_end(struct serve *serve);

/* ---- the server ---- */

struct serve {
    pthread_mutex_t mutex;
    struct sample *pending; /* guarded by mutex: newest sample that the thread has not taken */
    struct sample *pending_listed; /* guarded by mutex: likewise, of every process */
    bool stop;                     /* guarded by mutex */
    int wake; /* eventfd: one of these has changed, or a password was compared */
    pthread_t thread;

    struct listener listeners[LISTENERS_MAX];
    size_t listener_count;
    uint64_t accept_again_ns; /* no accept before, as descriptors ran out */
    char *config_path;        /* NULL: none */
    uint64_t config_look_ns;  /* when to check the file next */
    bool config_bad;          /* the changed file is unusable, and that was reported */
    bool may_insecure;
    struct listener_config *config;
    uint64_t rate_full_ns; /* rate limit: when the allowance is full again */

    struct MHD_Daemon *daemon;
    struct listener_config *daemon_config; /* with which the daemon was started */
    int daemon_descriptor;                 /* to be polled */
    bool ending;                           /* the daemon is being stopped */
    struct connection *accepted;           /* being handed to libmicrohttpd */

    struct connections connections;
    struct password_cache passwords;
    struct password_comparison *comparison; /* running; NULL: none */
    struct http_request *compared;          /* its request, suspended; NULL: has ended meanwhile */
    struct http_request *uncompared;        /* suspended requests that wait, the oldest first */
    struct host_names names;
    uint64_t answered[HTTP_CODES], refused[REFUSED_REASONS];
    uint64_t events_dropped;

    struct sample *newest;                 /* NULL: none yet */
    struct sample *listed, *listed_before; /* of every process, while that is wanted; NULL */
    struct body *rendered[DOCUMENTS];      /* of the newest sample; NULL: not yet */

    struct stream *streams;
    size_t streams_wanting; /* number of streams that want every process */
    bool wants_processes;   /* every process has been requested from the command */
    uint64_t wanted_ns;     /* when the last such stream ended */

    struct history_store *history; /* history.h: the last hour */
    struct exposition *exposition;
    struct self_metrics *own;       /* NULL: none yet, or not available */
    enum redact_form command_lines; /* --cmdline */
    bool without_processes;         /* --processes off */
};
