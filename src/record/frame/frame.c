/* frame.c: see frame.h. */
#include "record/frame/frame.h"

#include <string.h>

#include "feed/built_without.h"
#include "record/error.h"

enum { CHANGES_MAX = 60, INFLATED_MAX = 64 * 1024 * 1024 }; /* bytes of one snapshot */

static const char *const ENCODINGS[] = {
    [FRAME_UNKNOWN] = "",
    [FRAME_BINARY] = "binary",
    [FRAME_BINARY_ZLIB] = "binary-zlib",
};

const char *frame_encoding_name(enum frame_encoding encoding)
{
    return ENCODINGS[encoding];
}

enum frame_encoding frame_encoding_find(const char *name)
{
    for (size_t i = 0; i < sizeof ENCODINGS / sizeof ENCODINGS[0]; i++)
        if (strcmp(ENCODINGS[i], name) == 0)
            return (enum frame_encoding)i;
    return FRAME_UNKNOWN;
}

/* ---- deflated ---- */

#if VITALS_WITH_ZLIB
#include <zlib.h>

/* Needs 32 KiB of memory, an eighth of zlib's default. */
static bool deflate_text(const struct buffer *from, struct buffer *out)
{
    enum { WINDOW_BITS = 12, MEMORY_LEVEL = 5 };
    z_stream stream = {.next_in = (z_const Bytef *)from->bytes, .avail_in = (uInt)from->size};
    buffer_reset(out);
    if (from->size > INFLATED_MAX || deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS,
                                                  MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    int result = Z_OK;
    const size_t step = from->size / 4 + 64;
    char *place;
    while (result == Z_OK && (place = buffer_reserve(out, step)) != NULL) {
        stream.next_out = (Bytef *)place;
        stream.avail_out = (uInt)step;
        result = deflate(&stream, Z_FINISH);
        buffer_advance(out, step - stream.avail_out);
    }
    (void)deflateEnd(&stream);
    return result == Z_STREAM_END;
}

/* Grows in steps: the size that the content claims is not trusted. */
static int inflate_text(const void *content, size_t content_size, struct buffer *out,
                        const char *path, vitals_error *error)
{
    enum { STEP = 256 * 1024 };
    buffer_reset(out);
    if (content_size > INFLATED_MAX)
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it is too large");
    z_stream stream = {.next_in = (z_const Bytef *)content, .avail_in = (uInt)content_size};
    int result = inflateInit(&stream);
    if (result != Z_OK)
        return record_no_memory(path, error);
    while (result == Z_OK && out->size <= INFLATED_MAX) {
        char *place = buffer_reserve(out, STEP);
        if (place == NULL) {
            (void)inflateEnd(&stream);
            return record_no_memory(path, error);
        }
        stream.next_out = (Bytef *)place;
        stream.avail_out = STEP;
        result = inflate(&stream, Z_NO_FLUSH);
        buffer_advance(out, STEP - stream.avail_out);
    }
    (void)inflateEnd(&stream);
    return result == Z_STREAM_END
               ? 0
               : record_fail(VITALS_EFORMAT, path, error, "a snapshot in it cannot be unpacked");
}

#else

static bool deflate_text(const struct buffer *from UNUSED, struct buffer *out UNUSED)
{
    return false;
}

static int inflate_text(const void *content UNUSED, size_t content_size UNUSED,
                        struct buffer *out UNUSED, const char *path, vitals_error *error)
{
    return record_fail(VITALS_EUNSUPPORTED, path, error,
                       "its snapshots are compressed; " BUILT_WITHOUT_ZLIB);
}

#endif

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
    /* The builder too: keys are so rare that the memory of a large one would be reused for long. */
    vitals_snapshot_unref(encoder->key);
    vitals_builder_free(encoder->builder);
    encoder->key = NULL;
    encoder->builder = NULL;
}

void frame_encoder_done(struct frame_encoder *encoder)
{
    frame_encoder_begin_anew(encoder);
    buffer_done(&encoder->plain);
    buffer_done(&encoder->packed);
    *encoder = (struct frame_encoder){.plain_max = encoder->plain_max};
}

/* ---- reading ---- */

/* Copies the content of a frame as it was before it was deflated. */
static int unpack(const struct frame *frame, const char *path, struct buffer *out,
                  vitals_error *error)
{
    if (frame->encoding == FRAME_UNKNOWN)
        return record_fail(
            VITALS_EUNSUPPORTED, path, error,
            "its snapshots are packed in a form that this version does not read: that of a newer "
            "vitals, or of one before version 0.1");
    if (frame->encoding == FRAME_BINARY_ZLIB)
        return inflate_text(frame->content, frame->size, out, path, error);
    if (frame->size > INFLATED_MAX)
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it is too large");
    buffer_reset(out);
    return text_write(out, frame->content, frame->size) == 0 ? 0 : record_no_memory(path, error);
}

/* Reads a frame that is whole (without a key), or that holds what differs from the key. */
static int read_frame(struct frame_decoder *decoder, const vitals_snapshot *key,
                      const struct frame *frame, const char *path, vitals_snapshot **out,
                      vitals_error *error)
{
    int code = unpack(frame, path, &decoder->plain, error);
    if (code < 0)
        return code;
    code = change_read(key, decoder->plain.bytes, decoder->plain.size, decoder->builder, out);
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
    return decoder->key != NULL && decoder->key_number == number;
}

int frame_decode_key(struct frame_decoder *decoder, int64_t number, const struct frame *frame,
                     const char *path, vitals_error *error)
{
    vitals_snapshot_unref(decoder->key);
    decoder->key = NULL;
    decoder->key_number = number;
    int code = decoder->builder != NULL ? 0 : vitals_builder_new(&decoder->builder, error);
    return code < 0 ? code : read_frame(decoder, NULL, frame, path, &decoder->key, error);
}

int frame_decode(struct frame_decoder *decoder, int64_t number, const struct frame *frame,
                 const char *path, vitals_snapshot **out, vitals_error *error)
{
    if (!frame->whole && decoder->key == NULL)
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it has no key");
    if (!frame->whole)
        return read_frame(decoder, decoder->key, frame, path, out, error);

    int code = frame_decode_key(decoder, number, frame, path, error);
    if (code == 0)
        *out = vitals_snapshot_ref(decoder->key);
    return code;
}

void frame_decoder_done(struct frame_decoder *decoder)
{
    vitals_snapshot_unref(decoder->key);
    vitals_builder_free(decoder->builder);
    buffer_done(&decoder->plain);
    *decoder = (struct frame_decoder){.key = NULL};
}
