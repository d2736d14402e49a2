/* frame.c: see frame.h. */
#include "record/frame/frame.h"

#include <string.h>

#include "feed/feed_json.h"
#include "record/error.h"
#include "record/frame/change.h"
#include "record/frame/deflate.h"

enum { CHANGES_MAX = 60 };

static const struct {
    const char *name;
    bool packed, json, delta;
} ENCODINGS[] = {
    [FRAME_UNKNOWN] = {.name = ""},
    [FRAME_BINARY] = {.name = "binary"},
    [FRAME_BINARY_ZLIB] = {.name = "binary-zlib", .packed = true},
    [FRAME_JSON] = {.name = "json", .json = true},
    [FRAME_JSON_ZLIB] = {.name = "zlib", .json = true, .packed = true},
    [FRAME_JSON_DELTA] = {.name = "delta", .json = true, .delta = true},
    [FRAME_JSON_DELTA_ZLIB] = {.name = "delta-zlib", .json = true, .delta = true, .packed = true},
};

const char *frame_encoding_name(enum frame_encoding encoding)
{
    return ENCODINGS[encoding].name;
}

enum frame_encoding frame_encoding_find(const char *name)
{
    for (size_t i = 0; i < sizeof ENCODINGS / sizeof ENCODINGS[0]; i++)
        if (strcmp(ENCODINGS[i].name, name) == 0)
            return (enum frame_encoding)i;
    return FRAME_UNKNOWN;
}

/* ---- writing ---- */

int frame_encode(struct frame_encoder *encoder, const vitals_snapshot *snapshot, struct frame *out,
                 vitals_error *error)
{
    bool whole = encoder->key == NULL || encoder->changes >= CHANGES_MAX ||
                 !change_fits(encoder->key, snapshot);
    if (whole)
        frame_encoder_begin_anew(encoder);

    bool written = change_write(encoder->key, snapshot, &encoder->plain);
    /* The key is a copy: the snapshot itself goes back to the sampler. */
    if (written && whole)
        written = (encoder->builder != NULL || vitals_builder_new(&encoder->builder, error) == 0) &&
                  change_read(NULL, encoder->plain.bytes, encoder->plain.size, encoder->builder,
                              &encoder->key) == 0;
    if (!written) {
        frame_encoder_begin_anew(encoder);
        return record_no_memory("snapshot", error);
    }

    if (whole) {
        encoder->key_size = encoder->plain.size;
        encoder->changes = 0;
    } else {
        bool much = encoder->plain.size > encoder->key_size / 2;
        encoder->changes = much ? CHANGES_MAX : encoder->changes + 1;
    }

    bool packed = encoder->plain.size > encoder->plain_max &&
                  deflate_text(&encoder->plain, &encoder->packed);
    const struct buffer *content = packed ? &encoder->packed : &encoder->plain;
    *out = (struct frame){.whole = whole,
                          .encoding = packed ? FRAME_BINARY_ZLIB : FRAME_BINARY,
                          .content = content->bytes,
                          .size = content->size};
    return 0;
}

void frame_encoder_begin_anew(struct frame_encoder *encoder)
{
    vitals_snapshot_unref(encoder->key);
    encoder->key = NULL;
}

void frame_encoder_done(struct frame_encoder *encoder)
{
    vitals_snapshot_unref(encoder->key);
    vitals_builder_free(encoder->builder);
    buffer_done(&encoder->plain);
    buffer_done(&encoder->packed);
    *encoder = (struct frame_encoder){.plain_max = encoder->plain_max};
}

/* ---- reading ---- */

struct json_delta_reader {
    const char *bytes;
    size_t size, at;
};

static bool read_number(struct json_delta_reader *reader, size_t *out)
{
    size_t number = 0;
    for (unsigned shift = 0; shift < 35 && reader->at < reader->size; shift += 7) {
        unsigned char byte = (unsigned char)reader->bytes[reader->at++];
        number |= (size_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = number;
            return true;
        }
    }
    return false;
}

/* A delta is any number of: size of new bytes, those, offset and size of what is copied; sizes and
 * offsets in 7 bits a byte, the low ones first. */
bool json_delta_read(const struct buffer *base, const char *delta, size_t size, size_t most,
                     struct buffer *out)
{
    struct json_delta_reader reader = {delta, size, 0};
    buffer_reset(out);
    while (reader.at < size) {
        size_t fresh, offset, copied;
        if (!read_number(&reader, &fresh) || fresh > size - reader.at || fresh > most - out->size ||
            text_write(out, delta + reader.at, fresh) != 0)
            return false;
        reader.at += fresh;
        if (!read_number(&reader, &offset) || !read_number(&reader, &copied) ||
            offset > base->size || copied > base->size - offset || copied > most - out->size)
            return false;
        if (copied > 0 && text_write(out, base->bytes + offset, copied) != 0)
            return false;
    }
    return true;
}

/* Copies the content of a frame as it was before it was deflated. */
static int unpack(const struct frame *frame, const char *path, struct buffer *out,
                  vitals_error *error)
{
    if (frame->encoding == FRAME_UNKNOWN)
        return record_fail(
            VITALS_EUNSUPPORTED, path, error,
            "its snapshots are packed in the form of a newer vitals; update vitals to read it");
    if (ENCODINGS[frame->encoding].json && ENCODINGS[frame->encoding].delta == frame->whole)
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it has no key");
    if (ENCODINGS[frame->encoding].packed)
        return inflate_text(frame->content, frame->size, out, path, error);
    if (frame->size > INFLATED_MAX)
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it is too large");
    buffer_reset(out);
    return text_write(out, frame->content, frame->size) == 0 ? 0 : record_no_memory(path, error);
}

/* Reads decoder->plain. */
static int read_binary(struct frame_decoder *decoder, const vitals_snapshot *key, const char *path,
                       vitals_snapshot **out, vitals_error *error)
{
    int code = change_read(key, decoder->plain.bytes, decoder->plain.size, decoder->builder, out);
    if (code == VITALS_EMEMORY)
        return record_fail(code, path, error, "out of memory");
    if (code == VITALS_EUNSUPPORTED)
        return record_fail(
            code, path, error,
            "a snapshot in it was written by a newer vitals; update vitals to read it");
    return code < 0 ? record_fail(code, path, error, "a snapshot in it is broken") : 0;
}

bool frame_decoder_has_key(const struct frame_decoder *decoder, int64_t number)
{
    return decoder->has_key && decoder->key_number == number;
}

int frame_decode_key(struct frame_decoder *decoder, int64_t number, const struct frame *frame,
                     const char *path, vitals_error *error)
{
    vitals_snapshot_unref(decoder->key);
    decoder->key = NULL;
    decoder->has_key = false;
    decoder->key_number = number;

    int code = decoder->builder != NULL ? 0 : vitals_builder_new(&decoder->builder, error);
    if (code == 0 && ENCODINGS[frame->encoding].json) {
        code = unpack(frame, path, &decoder->key_json, error);
    } else if (code == 0) {
        code = unpack(frame, path, &decoder->plain, error);
        if (code == 0)
            code = read_binary(decoder, NULL, path, &decoder->key, error);
    }
    decoder->has_key = code == 0;
    return code;
}

int frame_decode(struct frame_decoder *decoder, int64_t number, const struct frame *frame,
                 const char *path, vitals_snapshot **out, vitals_error *error)
{
    const struct feed_place place = {path, (uint64_t)number};
    bool is_json = ENCODINGS[frame->encoding].json;
    int code;

    if (frame->whole) {
        code = frame_decode_key(decoder, number, frame, path, error);
        if (code == 0 && !is_json)
            *out = vitals_snapshot_ref(decoder->key);
        if (code < 0 || !is_json)
            return code;
        return feed_json_read(&place, decoder->key_json.bytes, decoder->key_json.size,
                              decoder->builder, out, error);
    }

    code = unpack(frame, path, &decoder->plain, error);
    if (code < 0)
        return code;
    if (!decoder->has_key || is_json != (decoder->key == NULL))
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it has no key");
    if (!is_json)
        return read_binary(decoder, decoder->key, path, out, error);
    if (!json_delta_read(&decoder->key_json, decoder->plain.bytes, decoder->plain.size,
                         INFLATED_MAX, &decoder->json))
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it cannot be restored");
    return feed_json_read(&place, decoder->json.bytes, decoder->json.size, decoder->builder, out,
                          error);
}

void frame_decoder_done(struct frame_decoder *decoder)
{
    vitals_snapshot_unref(decoder->key);
    vitals_builder_free(decoder->builder);
    buffer_done(&decoder->key_json);
    buffer_done(&decoder->plain);
    buffer_done(&decoder->json);
    *decoder = (struct frame_decoder){.has_key = false};
}
