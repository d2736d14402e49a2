/* otlp_answer.c: see otlp.h. Reads ExportMetricsServiceResponse (after a success) and
 * google.rpc.Status (after an error) alike, since their fields cannot be confused. */
#include "export/otlp/otlp.h"

#include <string.h>
#include <strings.h>

#include "export/otlp/protobuf.h"

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

/* ---- protobuf ---- */

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

/* ---- JSON: some gateways answer in it ---- */

static void take_json_message(struct otlp_answer *answer, const json_t *object, const char *key)
{
    const json_t *message = json_object_get(object, key);
    if (json_is_string(message))
        take_message(answer, json_string_value(message), json_string_length(message));
}

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
