/* serve_request.c: admits or refuses a request, and calls its route.
 *
 * Cheap checks come first, and a client without a password learns nothing of routes. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export/clock.h"
#include "export/server/serve.h"

bool request_is_outdated(const struct http_request *request)
{
    return request->serve->ending || request->connection->config != request->serve->config;
}

/* ---- checks ---- */

static enum MHD_Result look_at_header(void *data, enum MHD_ValueKind kind UNUSED, const char *name,
                                      const char *value)
{
    static const char TOKEN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "!#$%&'*+-.^_`|~";
    struct http_request *request = data;
    bool length = strcasecmp(name, "Content-Length") == 0;
    request->hosts += strcasecmp(name, "Host") == 0;
    request->lengths += length;
    request->has_body |= strcasecmp(name, "Transfer-Encoding") == 0 ||
                         (length && (value == NULL || strcmp(value, "0") != 0));
    request->malformed |= name[0] == '\0' || name[strspn(name, TOKEN)] != '\0' ||
                          request->lengths > 1;
    return MHD_YES;
}

/* Whether a page of another site asks. A browser says so, or names the site; a link that a person
 * follows to a page is no such request. What a browser calls same-origin is believed, as a proxy
 * may have changed Host. */
static bool is_other_site(const struct http_request *request)
{
    const char *site = http_request_header(request, "Sec-Fetch-Site");
    const char *mode = http_request_header(request, "Sec-Fetch-Mode");
    const char *into = http_request_header(request, "Sec-Fetch-Dest");
    const char *origin = http_request_header(request, "Origin");
    const char *host = http_request_header(request, "Host");
    if (site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return mode == NULL || into == NULL || strcmp(mode, "navigate") != 0 ||
               strcmp(into, "document") != 0;
    const char *behind = origin != NULL ? strstr(origin, "://") : NULL;
    return site == NULL && origin != NULL &&
           (behind == NULL || host == NULL || strcasecmp(behind + 3, host) != 0);
}

/* Requests without Host are of HTTP/1.0 and not from browsers. With TLS and a login any name is
 * accepted: a foreign page fails at the certificate, which is of another name. */
static bool is_other_host(const struct http_request *request)
{
    struct sockaddr_storage local = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof local;
    if (request->hosts == 0 ||
        (request->hosts == 1 && web_config_protects(request->connection->config->web)))
        return false;
    const char *host = http_request_header(request, "Host");
    return request->hosts > 1 || host == NULL ||
           getsockname(request->connection->descriptor, (struct sockaddr *)&local, &size) != 0 ||
           !host_names_allow(&request->serve->names, host, (const struct sockaddr *)&local);
}

/* A token bucket. */
static bool is_over_rate(struct serve *serve, const struct web_config *config)
{
    uint64_t now = clock_now_ns();
    if (config == NULL || config->rate_interval_ns == 0)
        return false;
    uint64_t interval = config->rate_interval_ns;
    uint64_t full = serve->rate_full_ns > now ? serve->rate_full_ns : now;
    if (full + interval > now + interval * config->rate_burst)
        return true;
    serve->rate_full_ns = full + interval;
    return false;
}

static bool is_read(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* Returns the reason to refuse the request, or REFUSED_REASONS. */
static enum http_reason refusal(const struct http_request *request, const char *method)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        request->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (info == NULL || info->header_size > REQUEST_HEADERS_MAX)
        return REFUSED_SIZE;
    if (!is_read(method))
        return REFUSED_METHOD;
    if (request->cut_path)
        return REFUSED_PATH;
    if (request->malformed)
        return REFUSED_HEADER;
    if (request->has_body)
        return REFUSED_BODY;
    if (is_other_host(request))
        return REFUSED_HOST;
    if (is_other_site(request))
        return REFUSED_SITE;
    if (is_over_rate(request->serve, request->connection->config->web))
        return REFUSED_RATE;
    return connections_make_room(&request->serve->connections) ? REFUSED_REASONS : REFUSED_BUSY;
}

static const struct {
    int status;
    const char *text;
} REFUSALS[REFUSED_REASONS] = {
    [REFUSED_SIZE] = {431, "the request's headers are too large\n"},
    [REFUSED_METHOD] = {405, "only GET and HEAD are answered\n"},
    [REFUSED_PATH] = {400, "a path has no NUL\n"},
    [REFUSED_BODY] = {400, "a request here has no body\n"},
    [REFUSED_HOST] = {403, "this is not a name of this server; vitals serve --allow-host NAME "
                           "makes it one\n"},
    [REFUSED_SITE] = {403, "a page of another site asks\n"},
    [REFUSED_HEADER] = {400, "a header is malformed, or stands there twice\n"},
    [REFUSED_RATE] = {429, "too many requests\n"},
    [REFUSED_BUSY] = {503, "too many requests at once\n"},
};

/* ---- passwords ---- */

static bool start_comparison(struct http_request *request, const struct password_given *given)
{
    struct serve *serve = request->serve;
    serve->comparison = comparison_start(&request->connection->config->web->users, given,
                                         serve->wake);
    serve->compared = serve->comparison != NULL ? request : NULL;
    return serve->comparison != NULL;
}

static void resume_request(struct http_request *request, enum password_state password)
{
    request->password = password;
    request->connection->paused = false;
    MHD_resume_connection(request->mhd);
}

void requests_compare(struct serve *serve)
{
    if (serve->comparison == NULL || !comparison_is_done(serve->comparison))
        return;
    bool right = comparison_finish(serve->comparison, &serve->passwords);
    struct http_request *request = serve->compared;
    serve->comparison = NULL;
    serve->compared = NULL;
    if (request != NULL)
        resume_request(request, right ? PASSWORD_RIGHT : PASSWORD_WRONG);

    /* One comparison runs at a time, so that guesses cost one core at most. The password is read
     * from the request again, so that none is kept in memory meanwhile. */
    while (serve->comparison == NULL && serve->uncompared != NULL) {
        struct password_given given;
        request = serve->uncompared;
        serve->uncompared = request->next;
        bool runs = !request->connection->cut &&
                    password_parse(http_request_header(request, "Authorization"), &given) &&
                    start_comparison(request, &given);
        explicit_bzero(&given, sizeof given);
        if (!runs)
            resume_request(request, PASSWORD_WRONG);
    }
}

/* Suspends the request until its password has been compared. Returns false if too many wait
 * already, of this address (so that guesses from one machine do not keep others out) or of all. */
static bool wait_for_comparison(struct http_request *request, const struct password_given *given)
{
    struct serve *serve = request->serve;
    struct http_request **last = &serve->uncompared;
    unsigned waiting = 0, of_address = 0;
    if (serve->compared != NULL) {
        waiting++;
        of_address += connection_same_address(serve->compared->connection, request->connection);
    }
    for (; *last != NULL; last = &(*last)->next) {
        waiting++;
        of_address += connection_same_address((*last)->connection, request->connection);
    }
    if (waiting >= PASSWORDS_WAITING || of_address >= PASSWORDS_OF_ADDRESS)
        return false;

    if (serve->comparison != NULL) {
        *last = request;
        request->next = NULL;
    } else if (!start_comparison(request, given)) {
        return false;
    }
    request->password = PASSWORD_WAITS;
    request->connection->paused = true;
    MHD_suspend_connection(request->mhd);
    return true;
}

void requests_give_up(struct serve *serve)
{
    struct http_request *next, *request = serve->compared;
    if (request != NULL)
        request->next = serve->uncompared;
    else
        request = serve->uncompared;
    serve->compared = NULL;
    serve->uncompared = NULL;
    for (; request != NULL; request = next) {
        next = request->next;
        resume_request(request, PASSWORD_WRONG);
    }
}

/* Decides whether the password is right, or lets the request wait; an answer is set if too many
 * wait. */
static void look_at_password(struct http_request *request, struct http_answer *answer)
{
    struct serve *serve = request->serve;
    const struct web_config *config = request->connection->config->web;
    struct password_given given;
    if (config == NULL || config->users.count == 0) {
        request->password = PASSWORD_RIGHT;
    } else if (!password_parse(http_request_header(request, "Authorization"), &given)) {
        request->password = PASSWORD_WRONG;
    } else {
        if (password_is_known(&serve->passwords, &config->users, &given)) {
            request->password = PASSWORD_RIGHT;
        } else if (!wait_for_comparison(request, &given)) {
            serve->refused[REFUSED_BUSY]++;
            http_answer_text(answer, 503, "too many passwords to be looked at\n");
        }
        explicit_bzero(&given, sizeof given);
    }
}

/* ---- routes ---- */

static enum MHD_Result follow_route(struct http_request *request)
{
    struct http_answer answer = {.status = 0};
    struct serve *serve = request->serve;
    const struct route *route = routes;
    for (; route->path != NULL; route++) {
        size_t size = strlen(route->path);
        if (strncmp(route->path, request->path, size) == 0 &&
            (route->below || request->path[size] == '\0'))
            break;
    }

    if (route->path != NULL) {
        route->answer(serve, request, &answer);
    } else { /* lists the routes, except those below a path */
        struct buffer words = {.bytes = NULL};
        buffer_string(&words, "there is nothing at this path; there is:");
        for (route = routes; route->path != NULL; route++) {
            if (!route->below)
                buffer_format(&words, " %s", route->path);
        }
        buffer_append(&words, "\n", 2);
        http_answer_text(&answer, 404,
                         words.failed ? "there is nothing at this path\n" : words.bytes);
        buffer_done(&words);
    }

    if (answer.events != DOCUMENT_NONE &&
        connections_may_stream(&serve->connections, request->connection))
        return stream_send(request, &answer);
    if (answer.events != DOCUMENT_NONE) {
        serve->refused[REFUSED_STREAMS]++;
        http_answer_text(&answer, 503, "too many listen already\n");
    }
    return answer_send(request, &answer);
}

static enum MHD_Result answer_request(struct http_request *request, const char *method)
{
    struct serve *serve = request->serve;
    struct http_answer answer = {.status = 0};
    if (request_is_outdated(request)) {
        serve->refused[REFUSED_BUSY]++;
        http_answer_text(&answer, 503, "the configuration has changed; please connect again\n");
        return answer_send(request, &answer);
    }

    if (request->password == PASSWORD_NOT_LOOKED_AT) {
        enum http_reason reason = refusal(request, method);
        if (reason < REFUSED_REASONS) {
            serve->refused[reason]++;
            http_answer_text(&answer, REFUSALS[reason].status, REFUSALS[reason].text);
            return answer_send(request, &answer);
        }
        connection_enter_phase(&serve->connections, request->connection, CONNECTION_ANSWERED,
                               clock_now_ns());
        look_at_password(request, &answer);
    }

    if (answer.status != 0)
        return answer_send(request, &answer);
    if (request->password == PASSWORD_WAITS)
        return MHD_YES;
    if (request->password == PASSWORD_RIGHT)
        return follow_route(request);
    serve->refused[REFUSED_PASSWORD]++;
    http_answer_text(&answer, 401, "a user and a password, please\n");
    return answer_send(request, &answer);
}

/* ---- callbacks of libmicrohttpd ---- */

void *request_begin(void *data, const char *line, struct MHD_Connection *mhd)
{
    struct serve *serve = data;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_request *request = info != NULL && info->socket_context != NULL
                                       ? calloc(1, sizeof *request)
                                       : NULL;
    if (request == NULL)
        return NULL;
    request->cut_path = strstr(line, "%00") != NULL;
    request->mhd = mhd;
    request->serve = serve;
    request->connection = info->socket_context;
    connection_enter_phase(&serve->connections, request->connection, CONNECTION_READING,
                           clock_now_ns());
    return request;
}

/* Called after the headers, after the body, and when a suspended request is resumed. A request
 * with a body is refused before the body is read. */
enum MHD_Result request_handle(void *serve UNUSED, struct MHD_Connection *mhd, const char *url,
                               const char *method, const char *version UNUSED,
                               const char *upload UNUSED, size_t *upload_size, void **data)
{
    struct http_request *request = *data;
    (void)mhd;
    if (request == NULL || *upload_size != 0)
        return MHD_NO;
    request->path = url;
    if (!request->begun) {
        request->begun = true;
        (void)MHD_get_connection_values(request->mhd, MHD_HEADER_KIND, look_at_header, request);
        if (!request->has_body && !request->malformed && is_read(method))
            return MHD_YES;
    }
    return answer_request(request, method);
}

void request_end(void *data, struct MHD_Connection *mhd UNUSED, void **context,
                 enum MHD_RequestTerminationCode how UNUSED)
{
    struct serve *serve = data;
    struct http_request *request = *context;
    if (request == NULL)
        return;

    /* Removes it from the queue of comparisons. */
    struct http_request **at = &serve->uncompared;
    if (serve->compared == request)
        serve->compared = NULL;
    while (*at != NULL && *at != request)
        at = &(*at)->next;
    if (*at != NULL)
        *at = request->next;

    connection_enter_phase(&serve->connections, request->connection, CONNECTION_WAITING,
                           clock_now_ns());
    if (request_is_outdated(request))
        connection_cut(&serve->connections, request->connection);
    stream_free(serve, request->stream);
    body_unref(request->body);
    free(request);
    *context = NULL;
}
