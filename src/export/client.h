/* client.h: asks a server of others, over HTTP, with libcurl.
 *
 * Blocks for as long as the request may take, so it is for threads of their own. Redirects are not
 * followed, since they would carry credentials elsewhere. A client keeps its connection. One thread
 * at a time per client. */
#ifndef VITALS_EXPORT_CLIENT_H
#define VITALS_EXPORT_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed/text.h"

struct client;

/* All borrowed until client_new returns; NULL: none. */
struct client_options {
    const char *user_agent;
    const char *user, *password;   /* both: basic */
    const char *token;             /* else: bearer */
    const char *ca_file;           /* PEM */
    const char *certificate, *key; /* PEM; the key may stand in the certificate's file */
    const char *const *headers;    /* "Name: value", NULL at the end; sent with every request */
    bool insecure;                 /* not to look at the server's certificate */
    uint64_t connect_ns, total_ns; /* how long it may take; 0: 10 s, 30 s */
};

/* Errors: EUNSUPPORTED (no libcurl, and why), EMEMORY. */
int client_new(const struct client_options *options, struct client **out, vitals_error *error);
void client_free(struct client *client); /* accepts NULL */

struct client_request {
    const char *method; /* "GET", "POST", "PUT" */
    const char *url;
    const char *content_type, *content_encoding; /* NULL: none */
    const void *body;
    size_t size;
    const atomic_bool *cancel; /* NULL, or: ends it soon once it is true */
    bool large; /* as long as it moves it may take longer than `total_ns`, which then is how long
                 * it may stand still */
};

enum { CLIENT_ANSWER_MAX = 4 * 1024 * 1024 };

struct client_answer {
    int status;              /* of HTTP; 0: no answer came, `why` says why */
    bool refused;            /* without an answer: for good (a certificate, a malformed URL) */
    uint64_t retry_after_ns; /* as the server asks; 0: it does not */
    struct text body;        /* at most CLIENT_ANSWER_MAX bytes; what is longer is cut */
    char content_type[80];
    char why[256]; /* one safe line: "could not connect to 127.0.0.1:5000" */
};

/* Sends one request; the answer's body is the caller's to text_done. */
void client_ask(struct client *client, const struct client_request *request,
                struct client_answer *answer);
void client_answer_done(struct client_answer *answer);

/* Appends to a URL, percent-encoded but for letters, digits and -._~ (and / where `path`). */
void client_encode(struct text *url, const char *bytes, size_t size, bool path);

/* ---- when to try again ---- */

/* Exponential back-off with full jitter. Zeros are a new one. */
struct retry {
    unsigned tries;
    uint64_t state; /* of the random numbers */
};

/* Whether the answer says that trying again may help: no answer that is not `refused`, and the
 * statuses that are given (0 ends them). */
bool retry_helps(const struct client_answer *answer, const int *statuses);

/* How long to wait before the next try: between 0 and min(`most_ns`, `first_ns` << tries), and not
 * before the server asks for it, within `most_ns`. */
uint64_t retry_wait_ns(struct retry *retry, const struct client_answer *answer, uint64_t first_ns,
                       uint64_t most_ns);

#endif
