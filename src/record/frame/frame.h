/* frame.h: a snapshot as a frame of a recording, and back: whole, or what differs from a whole one
 * that stands before it. Where frames go and who finds them again is their keeper's. One thread. */
#ifndef VITALS_RECORD_FRAME_FRAME_H
#define VITALS_RECORD_FRAME_FRAME_H

#include <vitals/sys/builder.h>

#include "record/frame/delta.h"

/* Zeroed it is new. */
struct frame_encoder {
    struct text json, delta, packed;
    struct delta_base key; /* the newest that stands whole */
    size_t key_size;       /* as it was written */
    unsigned deltas;       /* since */
    bool keyed;            /* there is a key */
};

/* One frame as it is written. What an encoder gives is the encoder's until its next. */
struct frame {
    bool whole;           /* a key: the next ones are told by it */
    const char *encoding; /* a name of packed.h */
    const char *content;
    size_t size;
};

/* Errors: EMEMORY. */
int frame_encode(struct frame_encoder *encoder, const vitals_snapshot *snapshot, struct frame *out,
                 vitals_error *error);

/* The next frame will be whole: the key that the last ones are told by may be lost. */
void frame_encoder_begin_anew(struct frame_encoder *encoder);
void frame_encoder_done(struct frame_encoder *encoder);

/* Zeroed it is new. It remembers the newest whole frame that it was given. */
struct frame_decoder {
    struct text json, delta, key;
    int64_t key_number; /* of `key` */
    bool has_key;
    vitals_builder *builder;
};

/* Whether frames that are told by the whole one of that number can be decoded; else
 * frame_decode_key comes first. */
bool frame_decoder_has_key(const struct frame_decoder *decoder, int64_t number);
int frame_decode_key(struct frame_decoder *decoder, int64_t number, const struct frame *frame,
                     const char *path, vitals_error *error);

/* The snapshot of a frame. `number` is its own, which messages name.
 * Errors: EFORMAT, EUNSUPPORTED (built without zlib, an encoding of a newer vitals), EMEMORY. */
int frame_decode(struct frame_decoder *decoder, int64_t number, const struct frame *frame,
                 const char *path, vitals_snapshot **out, vitals_error *error);
void frame_decoder_done(struct frame_decoder *decoder);

#endif
