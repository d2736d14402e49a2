/* frame.c: see frame.h. */
#include "record/frame/frame.h"

#include "feed/feed_json.h"
#include "record/sample.h"

enum { DELTAS_MAX = 60 };

static int no_memory(const char *path, vitals_error *error)
{
    return record_fail(VITALS_EMEMORY, path, error, "out of memory");
}

/* ---- writing ---- */

/* Packed where that can be. */
static void pack(struct frame_encoder *encoder, const struct text *plain, struct frame *out)
{
    bool packed = packed_deflate(plain, &encoder->packed);
    const struct text *content = packed ? &encoder->packed : plain;
    out->encoding = packing_name(packed, !out->whole);
    out->content = content->bytes;
    out->size = content->size;
}

/* The next ones are told by it. */
static int encode_whole(struct frame_encoder *encoder, struct frame *out, vitals_error *error)
{
    encoder->keyed = delta_base_set(&encoder->key, encoder->json.bytes, encoder->json.size);
    if (!encoder->keyed)
        return no_memory("snapshot", error);
    pack(encoder, &encoder->json, out);
    encoder->key_size = out->size;
    encoder->deltas = 0;
    return 0;
}

static int encode_delta(struct frame_encoder *encoder, struct frame *out, vitals_error *error)
{
    encoder->deltas++;
    if (!delta_make(&encoder->key, encoder->json.bytes, encoder->json.size, &encoder->delta))
        return no_memory("snapshot", error);
    pack(encoder, &encoder->delta, out);
    if (out->size > encoder->key_size / 2)
        encoder->keyed = false; /* too much has changed */
    return 0;
}

int frame_encode(struct frame_encoder *encoder, const vitals_snapshot *snapshot, struct frame *out,
                 vitals_error *error)
{
    int code = packed_json(snapshot, &encoder->json, error);
    if (code < 0)
        return code;
    out->whole = !encoder->keyed || encoder->deltas >= DELTAS_MAX;
    return out->whole ? encode_whole(encoder, out, error) : encode_delta(encoder, out, error);
}

void frame_encoder_begin_anew(struct frame_encoder *encoder)
{
    encoder->keyed = false;
}

void frame_encoder_done(struct frame_encoder *encoder)
{
    text_done(&encoder->json);
    text_done(&encoder->delta);
    text_done(&encoder->packed);
    delta_base_done(&encoder->key);
    *encoder = (struct frame_encoder){.keyed = false};
}

/* ---- reading ---- */

/* What a frame holds, as it was before it was packed. */
static int unpack(const struct frame *frame, const char *path, struct text *out,
                  vitals_error *error)
{
    const struct packing *packing = packing_find(frame->encoding);
    if (packing == NULL)
        return record_fail(VITALS_EUNSUPPORTED, path, error,
                           "its snapshots are packed in a way that a newer vitals knows");
    if (packing->delta == frame->whole)
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it has no key");
    if (packing->packed)
        return packed_inflate(frame->content, frame->size, out, path, error);
    if (frame->size > PACKED_MAX)
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it is too large");
    text_reset(out);
    return text_write(out, frame->content, frame->size) == 0 ? 0 : no_memory(path, error);
}

bool frame_decoder_has_key(const struct frame_decoder *decoder, int64_t number)
{
    return decoder->has_key && decoder->key_number == number;
}

int frame_decode_key(struct frame_decoder *decoder, int64_t number, const struct frame *frame,
                     const char *path, vitals_error *error)
{
    decoder->has_key = false;
    int code = unpack(frame, path, &decoder->key, error);
    decoder->has_key = code == 0;
    decoder->key_number = number;
    return code;
}

static int unpack_delta(struct frame_decoder *decoder, const struct frame *frame, const char *path,
                        vitals_error *error)
{
    int code = unpack(frame, path, &decoder->delta, error);
    if (code == 0 && !delta_read(&decoder->key, decoder->delta.bytes, decoder->delta.size,
                                 PACKED_MAX, &decoder->json))
        code = record_fail(VITALS_EFORMAT, path, error, "a snapshot in it cannot be put together");
    return code;
}

int frame_decode(struct frame_decoder *decoder, int64_t number, const struct frame *frame,
                 const char *path, vitals_snapshot **out, vitals_error *error)
{
    const struct feed_place place = {path, (uint64_t)number};
    const struct text *json = frame->whole ? &decoder->key : &decoder->json;
    int code = decoder->builder != NULL ? 0 : vitals_builder_new(&decoder->builder, error);
    if (code == 0)
        code = frame->whole ? frame_decode_key(decoder, number, frame, path, error)
                            : unpack_delta(decoder, frame, path, error);
    return code < 0 ? code
                    : feed_json_read(&place, json->bytes, json->size, decoder->builder, out, error);
}

void frame_decoder_done(struct frame_decoder *decoder)
{
    vitals_builder_free(decoder->builder);
    text_done(&decoder->json);
    text_done(&decoder->delta);
    text_done(&decoder->key);
    *decoder = (struct frame_decoder){.has_key = false};
}
