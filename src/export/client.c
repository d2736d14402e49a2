/* client.c: see client.h. */
#include "export/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export/address.h"
#include "export/clock.h"
#include "feed/built_without.h"
#include "record/sample.h"

enum { CONNECT_SECONDS = 10, TOTAL_SECONDS = 30, BILLION = 1000000000 };

/* ---- without libcurl ---- */

void client_encode(struct buffer *url, const char *bytes, size_t size, bool path)
{
    static const char PLAIN[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    static const char HEX[] = "0123456789ABCDEF";
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        char code[3] = {'%', HEX[byte >> 4], HEX[byte & 15]};
        if (byte != '\0' && (strchr(PLAIN, byte) != NULL || (path && byte == '/')))
            buffer_byte(url, bytes[i]);
        else
            buffer_append(url, code, sizeof code);
    }
}

void client_answer_done(struct client_answer *answer)
{
    buffer_done(&answer->body);
    *answer = (struct client_answer){.status = 0};
}

uint64_t retry_wait_ns(struct retry *retry, const struct client_answer *answer, uint64_t first_ns,
                       uint64_t most_ns)
{
    if (retry->state == 0)
        retry->state = clock_now_ns() ^ (uint64_t)(uintptr_t)retry;
    unsigned shift = retry->tries < 40 ? retry->tries : 40;
    uint64_t limit = first_ns <= (most_ns >> shift) ? first_ns << shift : most_ns;
    /* SplitMix64: good enough to spread the retries of many clients. */
    uint64_t mixed = (retry->state += 0x9e3779b97f4a7c15U);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    uint64_t wait = (mixed ^ (mixed >> 31)) % (limit + 1);

    uint64_t asked = answer->retry_after_ns < most_ns ? answer->retry_after_ns : most_ns;
    retry->tries++;
    return wait > asked ? wait : asked;
}

#if VITALS_WITH_CURL
#include <curl/curl.h>
#include <pthread.h>

/* A request under way. */
struct asking {
    const struct client_request *request;
    struct client_answer *answer;
    struct curl_slist *headers; /* those of the request and of the client */
    CURLM *multi;               /* of the group; NULL: none */
    size_t *room;               /* that is left to the answers of the group; NULL: no limit */
    char why[CURL_ERROR_SIZE];
};

struct client {
    CURL *easy;
    CURLM *multi; /* of client_ask; NULL before its first call */
    struct curl_slist *headers;
    char *user_agent, *user, *password, *ca_file, *certificate, *key, *netrc;
    bool insecure, direct;
    bool failed; /* memory ran out */
    uint64_t connect_ns, total_ns;
    struct asking asking;
};

/* ---- creation ---- */

static char *keep(struct client *client, const char *string)
{
    char *copy = string != NULL ? strdup(string) : NULL;
    client->failed |= string != NULL && copy == NULL;
    return copy;
}

/* Adds a header NAME VALUE, unless the value is NULL. Those with a line break are left out, since
 * they would be two headers. */
static void add_header(struct client *client, struct curl_slist **list, const char *name,
                       const char *value)
{
    struct buffer header = {.bytes = NULL};
    if (value == NULL || strpbrk(value, "\r\n") != NULL)
        return;
    buffer_format(&header, "%s%s", name, value);
    struct curl_slist *longer = header.failed ? NULL : curl_slist_append(*list, header.bytes);
    client->failed |= longer == NULL;
    *list = longer != NULL ? longer : *list;
    buffer_done(&header);
}

static CURLcode libcurl_prepared; /* written under pthread_once */

static void prepare_libcurl(void)
{
    libcurl_prepared = curl_global_init(CURL_GLOBAL_DEFAULT);
}

int client_new(const struct client_options *options, struct client **out, vitals_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, prepare_libcurl);
    if (libcurl_prepared != CURLE_OK)
        return record_fail(VITALS_EUNSUPPORTED, "libcurl", error, "cannot be used: %s",
                           curl_easy_strerror(libcurl_prepared));
    struct client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return record_fail(VITALS_EMEMORY, "libcurl", error, "out of memory");
    client->easy = curl_easy_init();

    bool basic = options->user != NULL && options->password != NULL;
    client->user_agent = keep(client, options->user_agent);
    client->user = keep(client, basic ? options->user : NULL);
    client->password = keep(client, basic ? options->password : NULL);
    client->ca_file = keep(client, options->ca_file);
    client->certificate = keep(client, options->certificate);
    client->key = keep(client, options->key);
    client->netrc = keep(client, options->netrc);
    client->insecure = options->insecure;
    client->direct = options->direct;
    client->connect_ns = options->connect_ns > 0 ? options->connect_ns
                                                 : (uint64_t)CONNECT_SECONDS * BILLION;
    client->total_ns = options->total_ns > 0 ? options->total_ns
                                             : (uint64_t)TOTAL_SECONDS * BILLION;
    for (size_t i = 0; options->headers != NULL && options->headers[i] != NULL; i++)
        add_header(client, &client->headers, "", options->headers[i]);
    if (!basic && options->token != NULL)
        add_header(client, &client->headers, "Authorization: Bearer ", options->token);
    /* Without this, libcurl waits with a long body for "100 Continue", which many servers never
     * send. */
    add_header(client, &client->headers, "Expect:", "");
    if (client->failed || client->easy == NULL) {
        client_free(client);
        return record_fail(VITALS_EMEMORY, "libcurl", error, "out of memory");
    }
    *out = client;
    return 0;
}

void client_free(struct client *client)
{
    if (client == NULL)
        return;
    if (client->asking.multi != NULL)
        (void)curl_multi_remove_handle(client->asking.multi, client->easy);
    if (client->multi != NULL)
        (void)curl_multi_cleanup(client->multi);
    curl_slist_free_all(client->asking.headers);
    if (client->easy != NULL)
        curl_easy_cleanup(client->easy);
    curl_slist_free_all(client->headers);
    char *const strings[] = {client->user_agent,  client->user, client->password, client->ca_file,
                             client->certificate, client->key,  client->netrc};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        free(strings[i]);
    free(client);
}

/* ---- requests ---- */

static size_t take_body(char *bytes, size_t one, size_t count, void *data)
{
    const struct asking *asking = data;
    struct client_answer *answer = asking->answer;
    size_t most = asking->request->most, size = one * count;
    size_t room = (most > 0 ? most : CLIENT_ANSWER_MAX) - answer->body.size;
    if (asking->room != NULL && *asking->room < room)
        room = *asking->room;
    answer->cut = size > room;
    size_t taken = answer->cut ? room : size;
    buffer_append(&answer->body, bytes, taken);
    if (asking->room != NULL)
        *asking->room -= taken;
    return answer->cut || answer->body.failed ? 0 : size;
}

/* Messages for failures. `refused`: trying again does not help. */
static const struct {
    CURLcode code;
    bool refused;
    const char *words; /* precedes the host */
    bool detail;       /* libcurl's message follows */
} FAILURES[] = {
    {CURLE_COULDNT_RESOLVE_HOST, false, "no address is known for", false},
    {CURLE_COULDNT_CONNECT, false, "could not connect to", false},
    {CURLE_OPERATION_TIMEDOUT, false, "no answer in time from", false},
    {CURLE_ABORTED_BY_CALLBACK, false, "given up while waiting for", false},
    {CURLE_GOT_NOTHING, false, "an empty answer (if it uses TLS, write https://) from", false},
    {CURLE_URL_MALFORMAT, true, "no address of a server:", false},
    {CURLE_UNSUPPORTED_PROTOCOL, true, "no HTTP with", true},
    {CURLE_PEER_FAILED_VERIFICATION, true, "not trusted, the certificate of", true},
    {CURLE_SSL_ISSUER_ERROR, true, "not trusted, the certificate of", true},
    {CURLE_SSL_CERTPROBLEM, true, "no certificate to show to", true},
    {CURLE_SSL_CACERT_BADFILE, true, "no certificate authorities to check with", true},
    {CURLE_SSL_CONNECT_ERROR, false, "no TLS with", true},
};

static void explain(const struct asking *asking, CURLcode code)
{
    struct client_answer *answer = asking->answer;
    char host[100], detail[140];
    const char *said = asking->why[0] != '\0' ? asking->why : curl_easy_strerror(code);
    size_t count = sizeof FAILURES / sizeof FAILURES[0], at = 0;
    const char *from = address_behind_login(asking->request->url);
    (void)vitals_text_format((vitals_text){from, strcspn(from, "/?#")}, VITALS_TEXT_ASCII, host,
                             sizeof host);
    (void)vitals_text_format((vitals_text){said, strcspn(said, "\n")}, VITALS_TEXT_ASCII, detail,
                             sizeof detail);
    while (at < count && FAILURES[at].code != code)
        at++;
    bool own = at < count;
    (void)snprintf(answer->why, sizeof answer->why, "%s%s%s%s%s", own ? FAILURES[at].words : "",
                   own ? " " : "", host, !own || FAILURES[at].detail ? ": " : "",
                   !own || FAILURES[at].detail ? detail : "");
    answer->status = 0;
    answer->refused = own && FAILURES[at].refused;
}

/* Resets the handle, which keeps its connections, resolved names and TLS sessions. */
static void prepare(struct client *client)
{
    struct asking *asking = &client->asking;
    const struct client_request *request = asking->request;
    CURL *easy = client->easy;
    const struct {
        CURLoption option;
        const char *value;
    } strings[] = {
        {CURLOPT_USERAGENT, client->user_agent}, {CURLOPT_USERNAME, client->user},
        {CURLOPT_PASSWORD, client->password},    {CURLOPT_CAINFO, client->ca_file},
        {CURLOPT_SSLCERT, client->certificate},  {CURLOPT_SSLKEY, client->key},
        {CURLOPT_NETRC_FILE, client->netrc},     {CURLOPT_NOPROXY, client->direct ? "*" : NULL},
    };
    curl_easy_reset(easy);
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        if (strings[i].value != NULL)
            (void)curl_easy_setopt(easy, strings[i].option, strings[i].value);
    }
    if (client->netrc != NULL)
        (void)curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, client->insecure ? 0L : 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, client->insecure ? 0L : 2L);

    for (struct curl_slist *each = client->headers; each != NULL; each = each->next)
        add_header(client, &asking->headers, "", each->data);
    add_header(client, &asking->headers, "Content-Type: ", request->content_type);
    add_header(client, &asking->headers, "Content-Encoding: ", request->content_encoding);
    (void)curl_easy_setopt(easy, CURLOPT_URL, request->url);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, asking->headers);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, asking->why);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, asking);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(client->connect_ns / 1000000));
    if (request->large) {
        (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 100L);
        (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                               (long)(client->total_ns / BILLION) + 1);
    } else {
        (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(client->total_ns / 1000000));
    }
#if LIBCURL_VERSION_NUM >= 0x075700
    /* Do not wait for a name server at the end. */
    (void)curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    if (request->body != NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_POST, 1L);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->size);
    }
    (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

/* Fills in the answer of a request that has ended. */
static void finish(struct client *client, CURLcode code)
{
    CURL *easy = client->easy;
    struct client_answer *answer = client->asking.answer;
    long status = 0;
    curl_off_t seconds = 0;
    char *type = NULL;
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
    (void)curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    answer->status = (int)status;
    if (seconds > 0)
        answer->retry_after_ns = (uint64_t)(seconds < 86400 ? seconds : 86400) * BILLION;
    if (type != NULL)
        (void)vitals_text_format(vitals_text_of(type), VITALS_TEXT_ASCII, answer->content_type,
                                 sizeof answer->content_type);
    if (code != CURLE_OK && !(answer->cut && answer->status > 0))
        explain(&client->asking, code);
    long number = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
    answer->lacking = code == CURLE_COULDNT_CONNECT && (number == EMFILE || number == ENFILE);
    if (client->asking.room != NULL)
        *client->asking.room += answer->body.size;

    client->failed = false;
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(client->asking.headers);
    client->asking = (struct asking){.request = NULL};
}

/* Begins a request. Returns false if it has failed at once, with the answer filled in. */
static bool begin(struct client *client, const struct client_request *request,
                  struct client_answer *answer)
{
    client->asking = (struct asking){.request = request, .answer = answer};
    *answer = (struct client_answer){.status = 0};
    if (strncasecmp(request->url, "http://", 7) != 0 &&
        strncasecmp(request->url, "https://", 8) != 0) {
        explain(&client->asking, CURLE_UNSUPPORTED_PROTOCOL);
        return false;
    }
    prepare(client);
    if (client->failed)
        finish(client, CURLE_OUT_OF_MEMORY);
    return client->asking.request != NULL;
}

/* Runs the request. Returns CURLE_ABORTED_BY_CALLBACK if it is cancelled. */
static CURLcode carry_out(struct client *client)
{
    enum { LOOK_MS = 50 };
    const atomic_bool *cancel = client->asking.request->cancel;
    CURLcode result = CURLE_ABORTED_BY_CALLBACK;
    int running = 1, left;
    if (client->multi == NULL)
        client->multi = curl_multi_init();
    if (client->multi == NULL || curl_multi_add_handle(client->multi, client->easy) != CURLM_OK)
        return CURLE_OUT_OF_MEMORY;
    while (running > 0 && (cancel == NULL || !atomic_load_explicit(cancel, memory_order_relaxed))) {
        if (curl_multi_perform(client->multi, &running) != CURLM_OK)
            break;
        if (running > 0)
            (void)curl_multi_poll(client->multi, NULL, 0, LOOK_MS, NULL);
    }
    for (CURLMsg *message; (message = curl_multi_info_read(client->multi, &left)) != NULL;) {
        if (message->msg == CURLMSG_DONE)
            result = message->data.result;
    }
    (void)curl_multi_remove_handle(client->multi, client->easy);
    return result;
}

void client_ask(struct client *client, const struct client_request *request,
                struct client_answer *answer)
{
    if (begin(client, request, answer))
        finish(client, carry_out(client));
}

/* ---- many servers at once ---- */

struct client_group {
    CURLM *multi;
    size_t room;
    bool begun; /* a request since curl_multi_perform */
};

struct client_group *client_group_new(size_t connections, size_t room)
{
    struct client_group *group = calloc(1, sizeof *group);
    if (group == NULL || (group->multi = curl_multi_init()) == NULL) {
        free(group);
        return NULL;
    }
    group->room = room;
    (void)curl_multi_setopt(group->multi, CURLMOPT_MAXCONNECTS, (long)connections);
    (void)curl_multi_setopt(group->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)connections);
    return group;
}

void client_group_free(struct client_group *group)
{
    if (group == NULL)
        return;
    (void)curl_multi_cleanup(group->multi);
    free(group);
}

bool client_group_begin(struct client_group *group, struct client *client,
                        const struct client_request *request, struct client_answer *answer)
{
    if (!begin(client, request, answer))
        return false;
    (void)curl_easy_setopt(client->easy, CURLOPT_PRIVATE, client);
    if (curl_multi_add_handle(group->multi, client->easy) != CURLM_OK) {
        finish(client, CURLE_OUT_OF_MEMORY);
        return false;
    }
    client->asking.multi = group->multi;
    client->asking.room = &group->room;
    return group->begun = true;
}

static struct client_answer *next_ended(const struct client_group *group)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(group->multi, &left)) != NULL) {
        char *owner = NULL;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE ||
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner) != CURLE_OK)
            continue;
        struct client *client = (struct client *)(void *)owner;
        struct client_answer *answer = client->asking.answer;
        (void)curl_multi_remove_handle(group->multi, client->easy);
        finish(client, code);
        return answer;
    }
    return NULL;
}

struct client_answer *client_group_next(struct client_group *group, uint64_t wait_ns, int wake)
{
    struct client_answer *ended = next_ended(group);
    struct curl_waitfd other = {.fd = wake, .events = CURL_WAIT_POLLIN};
    int running;
    if (ended != NULL)
        return ended;
    if (!group->begun)
        (void)curl_multi_poll(group->multi, &other, wake >= 0, (int)((wait_ns + 999999) / 1000000),
                              NULL);
    (void)curl_multi_perform(group->multi, &running);
    group->begun = false;
    return next_ended(group);
}
#else
int client_new(const struct client_options *options UNUSED, struct client **out UNUSED,
               vitals_error *error)
{
    return record_fail(VITALS_EUNSUPPORTED, "libcurl", error, BUILT_WITHOUT_CLIENT);
}

void client_free(struct client *client UNUSED)
{
}

void client_ask(struct client *client UNUSED, const struct client_request *request UNUSED,
                struct client_answer *answer)
{
    *answer = (struct client_answer){.refused = true, .why = BUILT_WITHOUT_CLIENT};
}

struct client_group *client_group_new(size_t connections, size_t room)
{
    (void)connections, (void)room;
    return NULL;
}

void client_group_free(struct client_group *group)
{
    (void)group;
}

bool client_group_begin(struct client_group *group, struct client *client,
                        const struct client_request *request, struct client_answer *answer)
{
    (void)group;
    client_ask(client, request, answer);
    return false;
}

struct client_answer *client_group_next(struct client_group *group, uint64_t wait_ns, int wake)
{
    (void)group, (void)wait_ns, (void)wake;
    return NULL;
}
#endif
