/* client.c: see client.h. */
#include "export/client.h"

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

bool retry_helps(const struct client_answer *answer, const int *statuses)
{
    if (answer->status == 0)
        return !answer->refused;
    while (*statuses != 0 && *statuses != answer->status)
        statuses++;
    return *statuses != 0;
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

struct client {
    CURL *easy;
    CURLM *multi;
    struct curl_slist *headers;
    char *user_agent, *user, *password, *authorization, *ca_file, *certificate, *key;
    bool insecure;
    bool failed; /* memory ran out during client_new */
    uint64_t connect_ns, total_ns;
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
        return record_fail(VITALS_EUNSUPPORTED, "libcurl", error, "it cannot be used: %s",
                           curl_easy_strerror(libcurl_prepared));
    struct client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return record_fail(VITALS_EMEMORY, "libcurl", error, "out of memory");
    client->easy = curl_easy_init();
    client->multi = curl_multi_init();

    bool basic = options->user != NULL && options->password != NULL;
    client->user_agent = keep(client, options->user_agent);
    client->user = keep(client, basic ? options->user : NULL);
    client->password = keep(client, basic ? options->password : NULL);
    client->ca_file = keep(client, options->ca_file);
    client->certificate = keep(client, options->certificate);
    client->key = keep(client, options->key);
    client->insecure = options->insecure;
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
    if (client->failed || client->easy == NULL || client->multi == NULL) {
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
    if (client->multi != NULL)
        (void)curl_multi_cleanup(client->multi);
    if (client->easy != NULL)
        curl_easy_cleanup(client->easy);
    curl_slist_free_all(client->headers);
    char *const strings[] = {client->user_agent, client->user,        client->password,
                             client->ca_file,    client->certificate, client->key};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        free(strings[i]);
    free(client);
}

/* ---- requests ---- */

/* A request under way. */
struct asking {
    struct client *client;
    const struct client_request *request;
    struct client_answer *answer;
    struct curl_slist *headers; /* those of the request and of the client */
    bool cut;                   /* the answer was longer than CLIENT_ANSWER_MAX */
    char why[CURL_ERROR_SIZE];
};

static size_t take_body(char *bytes, size_t one, size_t count, void *data)
{
    struct asking *asking = data;
    size_t size = one * count, room = CLIENT_ANSWER_MAX - asking->answer->body.size;
    asking->cut = size > room;
    buffer_append(&asking->answer->body, bytes, asking->cut ? room : size);
    return asking->cut || asking->answer->body.failed ? 0 : size;
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
    {CURLE_GOT_NOTHING, false, "an empty answer from", false},
    {CURLE_URL_MALFORMAT, true, "no address of a server:", false},
    {CURLE_UNSUPPORTED_PROTOCOL, true, "no HTTP with", true},
    {CURLE_PEER_FAILED_VERIFICATION, true, "not trusted, the certificate of", true},
    {CURLE_SSL_ISSUER_ERROR, true, "not trusted, the certificate of", true},
    {CURLE_SSL_CERTPROBLEM, true, "no certificate to show to", true},
    {CURLE_SSL_CACERT_BADFILE, true, "no certificate authorities to check with", true},
    {CURLE_SSL_CONNECT_ERROR, false, "no TLS with", true},
};

static void explain(struct asking *asking, CURLcode code)
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
static void prepare(struct asking *asking)
{
    const struct client_request *request = asking->request;
    struct client *client = asking->client;
    CURL *easy = client->easy;
    const struct {
        CURLoption option;
        const char *value;
    } strings[] = {
        {CURLOPT_USERAGENT, client->user_agent}, {CURLOPT_USERNAME, client->user},
        {CURLOPT_PASSWORD, client->password},    {CURLOPT_CAINFO, client->ca_file},
        {CURLOPT_SSLCERT, client->certificate},  {CURLOPT_SSLKEY, client->key},
    };
    curl_easy_reset(easy);
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        if (strings[i].value != NULL)
            (void)curl_easy_setopt(easy, strings[i].option, strings[i].value);
    }
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

/* Runs the request. Returns CURLE_ABORTED_BY_CALLBACK if it is cancelled. */
static CURLcode carry_out(const struct asking *asking)
{
    enum { LOOK_MS = 50 };
    const atomic_bool *cancel = asking->request->cancel;
    CURLM *multi = asking->client->multi;
    CURLcode result = CURLE_ABORTED_BY_CALLBACK;
    int running = 1, left;
    if (curl_multi_add_handle(multi, asking->client->easy) != CURLM_OK)
        return CURLE_OUT_OF_MEMORY;
    while (running > 0 && (cancel == NULL || !atomic_load_explicit(cancel, memory_order_relaxed))) {
        if (curl_multi_perform(multi, &running) != CURLM_OK)
            break;
        if (running > 0)
            (void)curl_multi_poll(multi, NULL, 0, LOOK_MS, NULL);
    }
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
        if (message->msg == CURLMSG_DONE)
            result = message->data.result;
    }
    (void)curl_multi_remove_handle(multi, asking->client->easy);
    return result;
}

void client_ask(struct client *client, const struct client_request *request,
                struct client_answer *answer)
{
    struct asking asking = {.client = client, .request = request, .answer = answer};
    CURL *easy = client->easy;
    *answer = (struct client_answer){.status = 0};
    if (strncasecmp(request->url, "http://", 7) != 0 &&
        strncasecmp(request->url, "https://", 8) != 0) {
        explain(&asking, CURLE_UNSUPPORTED_PROTOCOL);
        return;
    }
    prepare(&asking);
    CURLcode code = client->failed ? CURLE_OUT_OF_MEMORY : carry_out(&asking);

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
        (void)vitals_text_format((vitals_text){type, strlen(type)}, VITALS_TEXT_ASCII,
                                 answer->content_type, sizeof answer->content_type);
    if (code != CURLE_OK && !(asking.cut && answer->status > 0))
        explain(&asking, code);

    client->failed = false;
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(asking.headers);
}
#else
int client_new(const struct client_options *options, struct client **out, vitals_error *error)
{
    (void)options;
    (void)out;
    return record_fail(VITALS_EUNSUPPORTED, "libcurl", error, BUILT_WITHOUT_CLIENT);
}

void client_free(struct client *client)
{
    (void)client;
}

void client_ask(struct client *client, const struct client_request *request,
                struct client_answer *answer)
{
    (void)client;
    (void)request;
    *answer = (struct client_answer){.refused = true, .why = BUILT_WITHOUT_CLIENT};
}
#endif
