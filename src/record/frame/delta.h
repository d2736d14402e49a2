/* delta.h: bytes told by what they share with older bytes: parts to copy and parts that are new.
 * Pure but for memory. */
#ifndef VITALS_RECORD_FRAME_DELTA_H
#define VITALS_RECORD_FRAME_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#include "record/frame/packed.h"

/* Old bytes, and where in them each block is found again. Zeroed it is empty. */
struct delta_base {
    struct text bytes;
    uint32_t *places; /* by hash: offset + 1 of a block; 0: none */
    unsigned bits;
};

/* Takes a copy of what others are to be told by. False: no memory. */
bool delta_base_set(struct delta_base *base, const char *bytes, size_t size);
void delta_base_done(struct delta_base *base);

/* False: no memory. */
bool delta_make(const struct delta_base *base, const char *bytes, size_t size, struct text *out);

/* The bytes again. False: it is no delta of that base, is larger than `most`, or memory is out. */
bool delta_read(const struct text *base, const char *delta, size_t size, size_t most,
                struct text *out);

#endif
