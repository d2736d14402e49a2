/* serve.h: what the files of the server share: serve.c runs it, listener_config.c has what it was
 * configured with, serve_request.c lets in and answers, serve_stream.c sends events.
 *
 * All of it belongs to the server's thread, but for what says otherwise. */
#ifndef VITALS_EXPORT_SERVER_SERVE_H
#define VITALS_EXPORT_SERVER_SERVE_H

#include <microhttpd.h>
#include <pthread.h>

#include "export/prometheus/exposition.h"
#include "export/server/connections.h"
#include "export/server/host_name.h"
#include "export/server/listener.h"
#include "export/server/password.h"
#include "export/server/route.h"
#include "export/server/web_config.h"

enum { REQUEST_HEADERS_MAX = 8 * 1024, RENDERED_MAX = 8 };

/* ---- what is counted ---- */

/* Answers by their code; what is no code of ours is under the last. */
#define HTTP_CODES(CODE) \
    CODE(200)            \
    CODE(304)            \
    CODE(400)            \
    CODE(401)            \
    CODE(403)            \
    CODE(404)            \
    CODE(405)            \
    CODE(429)            \
    CODE(431)            \
    CODE(503)

enum {
#define CODE_ENUM(code) HTTP_CODE_##code,
    HTTP_CODES(CODE_ENUM)
#undef CODE_ENUM
        HTTP_CODE_OTHER,
    HTTP_CODES_COUNT
};

/* Why somebody was refused. */
#define HTTP_REASONS(REASON) \
    REASON(host)             \
    REASON(method)           \
    REASON(path)             \
    REASON(size)             \
    REASON(body)             \
    REASON(password)         \
    REASON(rate)             \
    REASON(busy)             \
    REASON(streams)

enum http_reason {
#define REASON_ENUM(name) HTTP_REFUSED_##name,
    HTTP_REASONS(REASON_ENUM)
#undef REASON_ENUM
        HTTP_REFUSED_COUNT
};

/* ---- what it was configured with ---- */

/* Counted: the server holds the current one, and each connection the one that it was accepted
 * under.
 */
struct listener_config {
    size_t references;
    struct web_config *web;      /* NULL: no --web-config */
    struct tls_credentials *tls; /* NULL: plain HTTP */
};

/* Reads the file; NULL: there is none. Errors: of the files; EUNSUPPORTED (a library is missing).
 */
int listener_config_new(const char *path, struct listener_config **out, vitals_error *error);
void listener_config_unref(struct listener_config *config); /* accepts NULL */

/* ---- a request ---- */

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
    const char *path;
    struct body *body;     /* sent now; held until it has been */
    struct stream *stream; /* of events; NULL: none */
    enum password_state password;
    struct http_request *next; /* among those whose password is to be compared */
    bool begun;                /* the library has called for it before */
    bool cut_path;             /* it holds a NUL, which would hide what is behind it */
};

/* The library's callbacks. */
enum MHD_Result request_handle(void *serve, struct MHD_Connection *mhd, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **data);
void *request_begin(void *serve, const char *line, struct MHD_Connection *mhd);
void request_end(void *serve, struct MHD_Connection *mhd, void **data,
                 enum MHD_RequestTerminationCode how);

/* If the comparison of a password is done, lets its request go on and starts the next one. */
void requests_compare(struct serve *serve);

/* Refuses the requests whose password waits, because the daemon ends. */
void requests_give_up(struct serve *serve);

/* Returns whether the request must not be let in any more: its configuration has been replaced, or
 * the daemon ends. */
bool request_is_outdated(const struct http_request *request);

/* Sends it; what it holds is given away. */
enum MHD_Result answer_send(struct http_request *request, struct http_answer *answer);

/* ---- event streams ---- */

/* Answers with one. */
enum MHD_Result stream_send(struct http_request *request, const struct http_answer *answer);
void stream_free(struct serve *serve, struct stream *stream);

/* A moment has come: gives it to all. */
void streams_offer(struct serve *serve);

/* Says to who has heard nothing for long that we are there. */
void streams_still_here(struct serve *serve, uint64_t now_ns);

/* Ends all of them, because the daemon ends. */
void streams_end(struct serve *serve);

/* ---- the whole ---- */

struct serve {
    pthread_mutex_t mutex;
    struct moment *pending;        /* guarded by mutex: the newest that the server has not seen */
    struct moment *pending_listed; /* guarded by mutex: likewise, of every process */
    bool stop;                     /* guarded by mutex */
    int wake; /* an eventfd: any of them has changed, or a password was compared */
    pthread_t thread;

    struct listener listeners[LISTENERS_MAX];
    size_t listener_count;
    uint64_t accept_again_ns; /* out of descriptors until then */
    char *config_path;        /* NULL: none */
    uint64_t config_look_ns;  /* when to look whether it has changed */
    bool config_bad;          /* it has, and cannot be used: said already */
    bool may_insecure;
    struct listener_config *config;
    uint64_t rate_full_ns; /* when its allowance of requests is full again */

    struct MHD_Daemon *daemon;
    struct listener_config *daemon_config; /* whose certificate the library has read */
    int daemon_descriptor;                 /* to be polled */
    bool ending;                           /* the daemon is being stopped */
    struct connection *accepted;           /* is being handed to the library */

    struct connections connections;
    struct password_cache *passwords;
    struct comparison *comparison;   /* runs; NULL: none */
    struct http_request *compared;   /* is suspended until then; NULL: it has ended meanwhile */
    struct http_request *uncompared; /* suspended, and wait for their turn; the oldest first */
    struct host_names *names;
    uint64_t answered[HTTP_CODES_COUNT], refused[HTTP_REFUSED_COUNT];
    uint64_t events_dropped;

    struct moment *newest;                 /* NULL: none has come */
    struct moment *listed, *listed_before; /* of every process, while that is wanted; or NULL */
    struct {
        render_function *render;
        struct body *body;    /* NULL: it could not be made */
    } rendered[RENDERED_MAX]; /* of the newest */

    struct stream *streams;
    size_t streams_wanting; /* of those, how many want every process */
    bool wants_processes;   /* that has been said */
    uint64_t wanted_ns;     /* when somebody last did */

    struct history *history;
    struct exposition *exposition;
    struct own *own;                /* NULL: nobody has asked yet */
    bool without_own;               /* it cannot be had */
    enum redact_form command_lines; /* how much of them may leave */
    bool without_processes;         /* nothing is told of them */
    struct {
        struct body *body;
        const struct moment *moment; /* not held: the newest, or it is thrown away */
    } exposed[EXPOSITION_FORMATS];
};

/* Starts the library's daemon for plain HTTP or for TLS, as the configuration wants it; then stops
 * the one before, if there is one, whose connections are cut off. */
int serve_start_daemon(struct serve *serve, struct listener_config *config, vitals_error *error);
void serve_stop_daemon(struct serve *serve); /* nothing, if none runs */

/* If the file of the configuration has changed, takes it or says why not. Looks every 2 s. */
void serve_look_at_config(struct serve *serve, uint64_t now_ns);

#endif
