/* client.h: an HTTP client, by libcurl.
 *
 * A request blocks, so clients belong to threads of their own. Redirects are not followed, since
 * they would send credentials elsewhere. A client keeps its connection open. One thread at a time
 * per client. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed/text.h"

struct client;

/* Borrowed until client_new returns. NULL: not set. */
struct client_options {
    const char *user_agent;
    const char *user, *password;   /* both set: basic authentication */
    const char *token;             /* otherwise: bearer token */
    const char *ca_file;           /* PEM */
    const char *certificate, *key; /* PEM; the key may be in the file of the certificate */
    const char *const *headers;    /* "Name: value", for every request; ends with NULL */
    const char *netrc;             /* file of logins by machine, for URLs without one */
    bool insecure;                 /* do not verify the server's certificate */
    bool direct;                   /* without a proxy, whatever the environment says */
    uint64_t connect_ns, total_ns; /* limits; 0: 10 s, 30 s */
};

/* Errors: EUNSUPPORTED (built without libcurl, or it fails), EMEMORY. */
int client_new(const struct client_options *options, struct client **out, vitals_error *error);
void client_free(struct client *client); /* accepts NULL */

struct client_request {
    const char *method; /* "GET", "POST", "PUT" */
    const char *url;
    const char *content_type, *content_encoding; /* NULL: none */
    const void *body;
    size_t size;
    const atomic_bool *cancel; /* ends the request soon after it is set; may be NULL */
    bool large;  /* `total_ns` limits how long nothing is transferred, not the whole request */
    size_t most; /* bytes of an answer; 0: CLIENT_ANSWER_MAX */
};

enum { CLIENT_ANSWER_MAX = 4 * 1024 * 1024 };

struct client_answer {
    int status;              /* HTTP status; 0: no answer, see `why` */
    bool refused;            /* no answer, and trying again does not help */
    bool lacking;            /* no answer: this process may open no further descriptor */
    uint64_t retry_after_ns; /* header Retry-After; 0: none */
    struct buffer body;      /* cut at the request's limit */
    bool cut;                /* the server sent more */
    char content_type[80];
    char why[256]; /* one printable line: "could not connect to 127.0.0.1:5000" */
};

/* Sends a request. The caller frees the answer with client_answer_done. */
void client_ask(struct client *client, const struct client_request *request,
                struct client_answer *answer);
void client_answer_done(struct client_answer *answer);

/* ---- many servers at once ---- */

/* Requests of several clients under way in one thread: none waits for another. */
struct client_group;

/* Has at most so many connections, open and under way, and holds at most `room` bytes of answers at
 * once: an answer that does not fit is cut. Returns NULL without memory or libcurl. */
struct client_group *client_group_new(size_t connections, size_t room);
void client_group_free(struct client_group *group); /* accepts NULL; after its clients */

/* Begins a request of a client that has none under way; all is borrowed until the answer is
 * returned. Returns false if it has failed at once, with the answer filled in. */
bool client_group_begin(struct client_group *group, struct client *client,
                        const struct client_request *request, struct client_answer *answer);

/* Returns an answer that is complete; NULL if none is within the time, or if `wake`, a descriptor
 * (-1: none), can be read. */
struct client_answer *client_group_next(struct client_group *group, uint64_t wait_ns, int wake);

/* Appends to a URL, percent-encoded except letters, digits and -._~ (and / if `path`). */
void client_encode(struct buffer *url, const char *bytes, size_t size, bool path);

/* ---- retries ---- */

/* Exponential back-off with full jitter. Initialized with zeros. */
struct retry {
    unsigned tries;
    uint64_t state; /* of the random generator */
};

/* Returns the wait before the next try: random between 0 and min(`most_ns`, `first_ns` << tries),
 * but at least what the server asks for, within `most_ns`. */
uint64_t retry_wait_ns(struct retry *retry, const struct client_answer *answer, uint64_t first_ns,
                       uint64_t most_ns);
