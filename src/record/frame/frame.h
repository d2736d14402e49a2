/* frame.h: a snapshot as a frame of a recording or of the monitor's last hour, and back.
 *
 * A frame is whole (a key), or it holds what differs from the key before it (change.c). Large ones
 * are deflated. The caller stores frames and finds them again. One thread for each object. */
#pragma once

#include <vitals/sys/builder.h>

#include "feed/text.h"

enum frame_encoding { FRAME_UNKNOWN, FRAME_BINARY, FRAME_BINARY_ZLIB };

/* The name of an encoding in a recording, and back: FRAME_UNKNOWN if a newer vitals defines it. */
const char *frame_encoding_name(enum frame_encoding encoding);
enum frame_encoding frame_encoding_find(const char *name);

struct frame {
    bool whole; /* a key */
    enum frame_encoding encoding;
    const char *content; /* of an encoder: borrowed until its next frame */
    size_t size;
};

/* An encoder is new if it is zeroed but for `plain_max`. */
struct frame_encoder {
    size_t plain_max; /* bytes of a frame that is not deflated */
    vitals_builder *builder;
    vitals_snapshot *key; /* a copy, from the newest whole frame; NULL: the next frame is whole */
    size_t key_size;      /* bytes of that frame before it was deflated */
    unsigned changes;     /* frames since */
    struct buffer plain, packed;
};

/* Errors: EMEMORY; the next frame is whole then. */
int frame_encode(struct frame_encoder *encoder, const vitals_snapshot *snapshot, struct frame *out,
                 vitals_error *error);

/* The next frame will be whole: the caller calls it if the key may be lost. */
void frame_encoder_begin_anew(struct frame_encoder *encoder);
void frame_encoder_done(struct frame_encoder *encoder);

/* A decoder is new if it is zeroed. It holds the newest key that it was given. */
struct frame_decoder {
    vitals_builder *builder;
    vitals_snapshot *key; /* NULL: none */
    int64_t key_number;
    struct buffer plain;
};

/* True if frames that depend on the key of that number can be decoded; else call frame_decode_key
 * first. */
bool frame_decoder_has_key(const struct frame_decoder *decoder, int64_t number);
int frame_decode_key(struct frame_decoder *decoder, int64_t number, const struct frame *frame,
                     const char *path, vitals_error *error);

/* Decodes the frame of that number. Messages name `path`.
 * Errors: EFORMAT, EUNSUPPORTED (built without zlib; written by a newer vitals), EMEMORY. */
int frame_decode(struct frame_decoder *decoder, int64_t number, const struct frame *frame,
                 const char *path, vitals_snapshot **out, vitals_error *error);
void frame_decoder_done(struct frame_decoder *decoder);

/* ---- a snapshot as bytes (change.c): all of it, or what differs from an older one; and back,
 * without loss. The form is private to vitals (docs/recording.md). ---- */

/* True if `snapshot` can be written as a change of `base`: they have the same origin, tables and
 * columns. */
bool change_fits(const vitals_snapshot *base, const vitals_snapshot *snapshot);

/* `base` fits or is NULL. Compares each value; equal ones take no bytes. False: no memory. */
bool change_write(const vitals_snapshot *base, const vitals_snapshot *snapshot, struct buffer *out);

/* Reads what change_write wrote with that base. *out is the caller's to unref. Returns 0, EFORMAT
 * (the bytes are broken), EUNSUPPORTED (they hold a table or column that a newer vitals defines) or
 * EMEMORY. */
int change_read(const vitals_snapshot *base, const char *bytes, size_t size,
                vitals_builder *builder, vitals_snapshot **out);
