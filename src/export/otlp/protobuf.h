/* protobuf.h: the wire format of Protocol Buffers, as far as OTLP and TensorBoard need it.
 *
 * Writing appends to a text, which remembers a failure. Reading walks the fields of one message,
 * never beyond its end, whatever the bytes are. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed/text.h"

enum { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 };

/* ---- writing ---- */

/* uint64, int64, bool, an enum. */
void protobuf_number(struct buffer *text, uint32_t field, uint64_t value);

/* fixed64, and sfixed64 as its bits. */
void protobuf_fixed64(struct buffer *text, uint32_t field, uint64_t value);
void protobuf_double(struct buffer *text, uint32_t field, double value);
void protobuf_float(struct buffer *text, uint32_t field, float value);

/* bytes, and string, which must be UTF-8. */
void protobuf_bytes(struct buffer *text, uint32_t field, const void *bytes, size_t size);
void protobuf_string(struct buffer *text, uint32_t field, const char *string);

/* Open and close a nested message; what is written between the calls is its content. */
size_t protobuf_open(struct buffer *text, uint32_t field);
void protobuf_close(struct buffer *text, size_t mark);

/* ---- reading ---- */

struct protobuf_reader {
    const unsigned char *at, *end;
    bool broken; /* it ends within a field, or a field is invalid */
};

struct protobuf_field {
    uint32_t number;
    unsigned wire;     /* PROTOBUF_… */
    uint64_t value;    /* of all wire types but bytes */
    const char *bytes; /* borrowed from the message */
    size_t size;
};

void protobuf_read(struct protobuf_reader *reader, const void *bytes, size_t size);

/* Returns false at the end, or if the rest is broken. */
bool protobuf_next(struct protobuf_reader *reader, struct protobuf_field *field);
