/* protobuf.c: see protobuf.h. */
#include "export/otlp/protobuf.h"

#include <string.h>

/* ---- writing ---- */

enum { VARINT_MAX = 10, LENGTH_ROOM = 1 };

static size_t put_varint(unsigned char *out, uint64_t value)
{
    size_t size = 0;
    while (value >= 0x80) {
        out[size++] = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    out[size++] = (unsigned char)value;
    return size;
}

static void append_varint(struct buffer *text, uint64_t value)
{
    unsigned char bytes[VARINT_MAX];
    buffer_append(text, bytes, put_varint(bytes, value));
}

static void append_tag(struct buffer *text, uint32_t field, unsigned wire)
{
    append_varint(text, (uint64_t)field << 3 | wire);
}

/* Least significant byte first, on every machine. */
static void append_fixed(struct buffer *text, uint64_t value, size_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    buffer_append(text, bytes, size);
}

void protobuf_number(struct buffer *text, uint32_t field, uint64_t value)
{
    append_tag(text, field, PROTOBUF_VARINT);
    append_varint(text, value);
}

void protobuf_fixed64(struct buffer *text, uint32_t field, uint64_t value)
{
    append_tag(text, field, PROTOBUF_FIXED64);
    append_fixed(text, value, 8);
}

void protobuf_double(struct buffer *text, uint32_t field, double value)
{
    uint64_t bits;
    _Static_assert(sizeof bits == sizeof value, "a double is 64 bits");
    memcpy(&bits, &value, sizeof bits);
    protobuf_fixed64(text, field, bits);
}

void protobuf_float(struct buffer *text, uint32_t field, float value)
{
    uint32_t bits;
    _Static_assert(sizeof bits == sizeof value, "a float is 32 bits");
    memcpy(&bits, &value, sizeof bits);
    append_tag(text, field, PROTOBUF_FIXED32);
    append_fixed(text, bits, 4);
}

void protobuf_bytes(struct buffer *text, uint32_t field, const void *bytes, size_t size)
{
    append_tag(text, field, PROTOBUF_BYTES);
    append_varint(text, size);
    buffer_append(text, bytes, size);
}

void protobuf_string(struct buffer *text, uint32_t field, const char *string)
{
    protobuf_bytes(text, field, string, strlen(string));
}

/* Reserves one byte for the length; a message of 128 bytes or more is moved when it is closed. */
size_t protobuf_open(struct buffer *text, uint32_t field)
{
    append_tag(text, field, PROTOBUF_BYTES);
    buffer_byte(text, 0);
    return text->size;
}

void protobuf_close(struct buffer *text, size_t mark)
{
    if (text->failed || mark > text->size)
        return;
    unsigned char length[VARINT_MAX];
    size_t size = text->size - mark;
    size_t more = put_varint(length, size) - LENGTH_ROOM;
    if (more > 0) {
        if (buffer_reserve(text, more) == NULL)
            return;
        memmove(text->bytes + mark + more, text->bytes + mark, size);
        buffer_advance(text, more);
    }
    memcpy(text->bytes + mark - LENGTH_ROOM, length, LENGTH_ROOM + more);
}

/* ---- reading ---- */

void protobuf_read(struct protobuf_reader *reader, const void *bytes, size_t size)
{
    static const unsigned char NOTHING[1];
    const unsigned char *at = bytes != NULL ? bytes : NOTHING;
    *reader = (struct protobuf_reader){.at = at, .end = at + (bytes != NULL ? size : 0)};
}

static bool take_varint(struct protobuf_reader *reader, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        unsigned char byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool take_fixed(struct protobuf_reader *reader, size_t size, uint64_t *out)
{
    if ((size_t)(reader->end - reader->at) < size)
        return false;
    *out = 0;
    for (size_t i = 0; i < size; i++)
        *out |= (uint64_t)reader->at[i] << (8 * i);
    reader->at += size;
    return true;
}

bool protobuf_next(struct protobuf_reader *reader, struct protobuf_field *field)
{
    enum { NUMBER_MAX = (1 << 29) - 1 };
    uint64_t tag;
    *field = (struct protobuf_field){.bytes = ""};
    if (reader->broken || reader->at >= reader->end)
        return false;
    if (!take_varint(reader, &tag) || tag >> 3 == 0 || tag >> 3 > NUMBER_MAX) {
        reader->broken = true;
        return false;
    }
    field->number = (uint32_t)(tag >> 3);
    field->wire = (unsigned)(tag & 7);
    bool good = false;
    if (field->wire == PROTOBUF_VARINT) {
        good = take_varint(reader, &field->value);
    } else if (field->wire == PROTOBUF_FIXED64 || field->wire == PROTOBUF_FIXED32) {
        good = take_fixed(reader, field->wire == PROTOBUF_FIXED64 ? 8 : 4, &field->value);
    } else if (field->wire == PROTOBUF_BYTES) {
        uint64_t size;
        good = take_varint(reader, &size) && size <= (uint64_t)(reader->end - reader->at);
        if (good) {
            field->bytes = (const char *)reader->at;
            field->size = (size_t)size;
            reader->at += size;
        }
    }
    reader->broken = !good;
    return good;
}
