/* otlp_sender.c: see otlp.h. */
#include "export/otlp/otlp.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export/address.h"
#include "export/body.h"
#include "export/client.h"
#include "export/clock.h"
#include "export/export_thread.h"
#include "export/otlp/protobuf.h"
#include "export/reply.h"
#include "util/error.h"

/* ---- a collector's answer ----
 *
 * ExportMetricsServiceResponse (after a success) and google.rpc.Status (after an error) are read
 * alike, since their fields cannot be confused. */

enum { RESPONSE_PARTIAL = 1, STATUS_MESSAGE = 2 };
enum { PARTIAL_REJECTED = 1, PARTIAL_MESSAGE };

static void take_message(struct otlp_answer *answer, const char *bytes, size_t size)
{
    enum { COLUMNS = 120 };
    size_t used;
    if (size > 0)
        (void)vitals_text_fit((vitals_text){bytes, size}, VITALS_TEXT_TERMINAL, COLUMNS,
                              answer->message, sizeof answer->message, &used);
}

/* A negative count is invalid, and counts as 0. */
static void take_rejected(struct otlp_answer *answer, int64_t rejected)
{
    answer->rejected = rejected > 0 ? (uint64_t)rejected : 0;
}

static void read_protobuf(struct otlp_answer *answer, const void *bytes, size_t size)
{
    struct protobuf_reader reader, partial;
    struct protobuf_field field, inner;
    protobuf_read(&reader, bytes, size);
    while (protobuf_next(&reader, &field)) {
        if (field.wire == PROTOBUF_BYTES && field.number == STATUS_MESSAGE)
            take_message(answer, field.bytes, field.size);
        if (field.wire != PROTOBUF_BYTES || field.number != RESPONSE_PARTIAL)
            continue;
        protobuf_read(&partial, field.bytes, field.size);
        while (protobuf_next(&partial, &inner)) {
            if (inner.number == PARTIAL_REJECTED && inner.wire == PROTOBUF_VARINT)
                take_rejected(answer, (int64_t)inner.value);
            if (inner.number == PARTIAL_MESSAGE && inner.wire == PROTOBUF_BYTES)
                take_message(answer, inner.bytes, inner.size);
        }
    }
}

static void take_json_message(struct otlp_answer *answer, const json_t *object, const char *key)
{
    const json_t *message = json_object_get(object, key);
    if (json_is_string(message))
        take_message(answer, json_string_value(message), json_string_length(message));
}

/* Some gateways answer in JSON. */
static void read_json(struct otlp_answer *answer, const void *bytes, size_t size)
{
    json_t *document = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *partial = json_object_get(document, "partialSuccess");
    const json_t *rejected = json_object_get(partial, "rejectedDataPoints");
    const char *digits = json_string_value(rejected);
    int64_t count = json_integer_value(rejected);
    /* 64-bit integers are strings in this form; numbers are accepted too. */
    for (size_t i = 0; digits != NULL && digits[i] >= '0' && digits[i] <= '9' && i < 18; i++)
        count = count * 10 + (digits[i] - '0');
    take_rejected(answer, count);
    take_json_message(answer, document, "message");
    take_json_message(answer, partial, "errorMessage");
    json_decref(document);
}

void otlp_answer_read(const char *content_type, const void *bytes, size_t size,
                      struct otlp_answer *answer)
{
    static const struct {
        const char *type;
        void (*read)(struct otlp_answer *answer, const void *bytes, size_t size);
    } FORMS[] = {{"application/x-protobuf", read_protobuf}, {"application/json", read_json}};
    *answer = (struct otlp_answer){.rejected = 0};
    if (bytes == NULL || size == 0)
        return;
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++) {
        if (strncasecmp(content_type, FORMS[i].type, strlen(FORMS[i].type)) == 0) {
            FORMS[i].read(answer, bytes, size);
            return;
        }
    }
    const char *end = memchr(bytes, '\n', size);
    take_message(answer, bytes, end != NULL ? (size_t)(end - (const char *)bytes) : size);
}

/* ---- the sender ---- */

/* The wait after the first failure, its maximum, and the maximum if the server asks for more. */
#define FIRST_WAIT (1 * NS_PER_SECOND)
#define MOST_WAIT  (32 * NS_PER_SECOND)
#define ASKED_WAIT (600 * NS_PER_SECOND)

/* The time that a cancelled request may take to end. */
#define CANCEL_ROOM (NS_PER_SECOND / 4)

enum { WHY = 400 };

struct otlp_sender {
    const struct otlp_settings *settings;
    char shown[200]; /* the address, without a login */
    char agent[64];
    atomic_bool cancel;

    struct export_thread thread;
    struct body *queue[OTLP_QUEUE]; /* guarded by its mutex, like all down to `closing` */
    size_t first, count, bytes;
    uint64_t first_number; /* of queue[first], counted from the start */
    uint64_t pushed, dropped;
    bool closing;
    uint64_t deadline_ns; /* set before closing */

    /* The thread's own. */
    struct client *client;
    struct retry retry;
    char said[WHY]; /* the last message, which is not repeated */
};

/* ---- messages ---- */

/* Says a message unless `about`, which is the message without its numbers, is that of the last one.
 */
static void say_once(struct otlp_sender *sender, const char *what, const char *about)
{
    if (strcmp(sender->said, about) == 0)
        return;
    (void)snprintf(sender->said, sizeof sender->said, "%s", about);
    reply_say("otlp: %s: %s", sender->shown, what);
}

/* ---- the queue ---- */

/* With the mutex held. */
static void drop_first(struct otlp_sender *sender)
{
    size_t size;
    (void)body_bytes(sender->queue[sender->first], &size);
    body_unref(sender->queue[sender->first]);
    sender->bytes -= size;
    sender->first = (sender->first + 1) % OTLP_QUEUE;
    sender->first_number++;
    sender->count--;
}

void otlp_sender_push(struct otlp_sender *sender, struct buffer *document)
{
    struct body *body = body_new(document);
    size_t size = 0;
    if (body != NULL)
        (void)body_bytes(body, &size);
    pthread_mutex_lock(&sender->thread.mutex);
    sender->pushed++;
    while (sender->count > 0 && body != NULL &&
           (sender->count == OTLP_QUEUE || sender->bytes + size > OTLP_QUEUE_BYTES)) {
        drop_first(sender);
        sender->dropped++;
    }
    if (body != NULL) {
        sender->queue[(sender->first + sender->count) % OTLP_QUEUE] = body;
        sender->count++;
        sender->bytes += size;
    } else {
        sender->dropped++;
    }
    pthread_cond_signal(&sender->thread.changed);
    pthread_mutex_unlock(&sender->thread.mutex);
}

/* Waits for the next try. Returns false if the deadline comes first. */
static bool wait_for(struct otlp_sender *sender, uint64_t wait_ns)
{
    uint64_t until = clock_now_ns() + wait_ns;
    bool worth = true;
    pthread_mutex_lock(&sender->thread.mutex);
    while (worth && clock_now_ns() < until) {
        worth = !sender->closing || until < sender->deadline_ns;
        if (worth)
            (void)export_thread_wait(&sender->thread, until);
    }
    pthread_mutex_unlock(&sender->thread.mutex);
    return worth;
}

/* ---- one document ---- */

/* Formats why a document did not arrive, in a line. */
static void explain(const struct client_answer *answer, const char *what, char *out)
{
    struct otlp_answer read;
    otlp_answer_read(answer->content_type, answer->body.bytes, answer->body.size, &read);
    if (answer->status == 0)
        (void)snprintf(out, WHY, "%s%s", answer->why, what);
    else
        (void)snprintf(out, WHY, "it answers %d%s%s%s", answer->status,
                       read.message[0] != '\0' ? ": " : "", read.message, what);
}

/* Returns false if the document is to be sent again. */
static bool is_settled(struct otlp_sender *sender, const struct client_answer *answer,
                       uint64_t number)
{
    char line[WHY], about[WHY];
    const int status = answer->status;
    bool arrived = status >= 200 && status < 300;
    bool again = status == 0 ? !answer->refused : status == 429 || (status >= 502 && status <= 504);
    if (again) {
        explain(answer, "; it is tried again", line);
        if (!atomic_load(&sender->cancel))
            say_once(sender, line, line);
        return false;
    }

    if (arrived) {
        struct otlp_answer read;
        otlp_answer_read(answer->content_type, answer->body.bytes, answer->body.size, &read);
        (void)snprintf(about, sizeof about, "%s%s", read.rejected > 0 ? "points: " : "success",
                       read.message);
        if (read.rejected > 0)
            (void)snprintf(line, sizeof line, "it refuses %llu points: %s",
                           (unsigned long long)read.rejected, read.message);
        else if (read.message[0] != '\0')
            (void)snprintf(line, sizeof line, "it says: %s", read.message);
        else
            (void)snprintf(line, sizeof line, "it is there again");
        if (read.rejected > 0 || read.message[0] != '\0' || sender->said[0] != '\0')
            say_once(sender, line, about);
    } else {
        explain(answer, "; what it refuses is dropped", line);
        say_once(sender, line, line);
    }

    /* The document may have been dropped from the queue meanwhile; then it counts as dropped unless
     * it has arrived. */
    pthread_mutex_lock(&sender->thread.mutex);
    bool there = sender->count > 0 && sender->first_number == number;
    if (there)
        drop_first(sender);
    if (there && !arrived)
        sender->dropped++;
    if (!there && arrived && sender->dropped > 0)
        sender->dropped--;
    pthread_mutex_unlock(&sender->thread.mutex);
    sender->retry.tries = 0;
    return true;
}

/* ---- the thread ---- */

static bool open_client(struct otlp_sender *sender)
{
    const struct otlp_settings *settings = sender->settings;
    const char *headers[OTLP_PAIRS + 1] = {NULL};
    struct buffer words = {.bytes = NULL};
    size_t at[OTLP_PAIRS];
    vitals_error error = {.code = 0};
    for (size_t i = 0; i < settings->headers.count; i++) {
        at[i] = words.size;
        buffer_string(&words, settings->headers.list[i].key);
        buffer_string(&words, ": ");
        buffer_string(&words, settings->headers.list[i].value);
        buffer_byte(&words, '\0');
    }
    for (size_t i = 0; i < settings->headers.count && !words.failed; i++)
        headers[i] = words.bytes + at[i];
    struct client_options options = {
        .user_agent = sender->agent,
        .ca_file = settings->ca_file,
        .certificate = settings->certificate,
        .key = settings->key,
        .headers = headers,
        .connect_ns = settings->timeout_ns,
        .total_ns = settings->timeout_ns,
    };
    int code = words.failed ? VITALS_EMEMORY : client_new(&options, &sender->client, &error);
    buffer_done(&words);
    if (code < 0)
        reply_failed("otlp", "%s", error.code != 0 ? error.message : "out of memory");
    return code == 0;
}

static void work(void *data)
{
    struct otlp_sender *sender = data;
    const struct otlp_settings *settings = sender->settings;
    bool going = open_client(sender);
    if (going)
        reply_opened("otlp", "endpoint", sender->shown);
    while (going) {
        struct body *body = NULL;
        uint64_t number = 0;
        pthread_mutex_lock(&sender->thread.mutex);
        while (sender->count == 0 && !sender->closing)
            pthread_cond_wait(&sender->thread.changed, &sender->thread.mutex);
        if (sender->count > 0 && !atomic_load(&sender->cancel)) {
            body = body_ref(sender->queue[sender->first]);
            number = sender->first_number;
        }
        pthread_mutex_unlock(&sender->thread.mutex);
        if (body == NULL)
            break;

        size_t size, packed_size = 0;
        const void *bytes = body_bytes(body, &size);
        const void *packed = settings->gzip ? body_packed(body, &packed_size) : NULL;
        struct client_answer answer = {.status = 0};
        const struct client_request request = {
            .method = "POST",
            .url = settings->url,
            .content_type = "application/x-protobuf",
            .content_encoding = packed != NULL ? "gzip" : NULL,
            .body = packed != NULL ? packed : bytes,
            .size = packed != NULL ? packed_size : size,
            .cancel = &sender->cancel,
        };
        client_ask(sender->client, &request, &answer);

        /* The rest of the queue is lost if the deadline comes before the next try. */
        bool settled = is_settled(sender, &answer, number);
        uint64_t wait = 0;
        if (!settled) {
            uint64_t asked = answer.retry_after_ns < ASKED_WAIT ? answer.retry_after_ns
                                                                : ASKED_WAIT;
            wait = retry_wait_ns(&sender->retry, &answer, FIRST_WAIT, MOST_WAIT);
            wait = wait > asked ? wait : asked;
        }
        client_answer_done(&answer);
        going = settled || wait_for(sender, wait);
        body_unref(body);
    }
    client_free(sender->client);
}

int otlp_sender_new(const struct otlp_settings *settings, struct otlp_sender **out,
                    vitals_error *error)
{
    struct otlp_sender *sender = calloc(1, sizeof *sender);
    if (sender == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    sender->settings = settings;
    sender->retry.state = clock_realtime_ns();

    /* The address for messages, without a login. */
    char address[100];
    address_show(settings->url, address, sizeof address);
    (void)snprintf(sender->shown, sizeof sender->shown, "%s", strstr(address, "://") + 3);
    (void)snprintf(sender->agent, sizeof sender->agent, "vitals/%s OTel-OTLP-Exporter-C/%s",
                   vitals_version_text(), vitals_version_text());
    int code = export_thread_start(&sender->thread, work, sender, error);
    if (code < 0) {
        free(sender);
        return code;
    }
    *out = sender;
    return 0;
}

bool otlp_sender_close(struct otlp_sender *sender, uint64_t deadline_ns)
{
    uint64_t now = clock_now_ns();
    uint64_t room = deadline_ns > now + CANCEL_ROOM ? CANCEL_ROOM : 0;
    pthread_mutex_lock(&sender->thread.mutex);
    sender->deadline_ns = deadline_ns - room;
    sender->closing = true;
    pthread_cond_broadcast(&sender->thread.changed);
    (void)export_thread_wait_for_end(&sender->thread, deadline_ns - room);
    atomic_store(&sender->cancel, true);
    (void)export_thread_wait_for_end(&sender->thread, deadline_ns);
    uint64_t lost = sender->dropped + sender->count;
    if (lost > 0)
        reply_lost("otlp: %s: %llu of %llu documents did not get there", sender->shown,
                   (unsigned long long)lost, (unsigned long long)sender->pushed);
    if (!export_thread_leave(&sender->thread)) /* it hangs in the client */
        return false;
    while (sender->count > 0)
        drop_first(sender);
    free(sender);
    return true;
}
