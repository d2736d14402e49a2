/* packed.h: a snapshot as bytes of a recording and back: JSON, made small by zlib where it is
 * there. */
#ifndef VITALS_RECORD_FRAME_PACKED_H
#define VITALS_RECORD_FRAME_PACKED_H

#include <stdbool.h>

#include <vitals/vitals.h>

#include "feed/text.h"

enum { PACKED_MAX = 64 * 1024 * 1024 }; /* of one snapshot's JSON */

/* The JSON of a snapshot. Errors: EMEMORY. */
int packed_json(const vitals_snapshot *snapshot, struct text *out, vitals_error *error);

/* Bytes made small. False: built without zlib, or memory is out. */
bool packed_deflate(const struct text *from, struct text *out);

/* The same in an eighth of the memory (32 KiB), and a little less small. */
bool packed_deflate_lean(const struct text *from, struct text *out);

/* How a frame is written: whole, or as what differs from its key; packed or not. */
struct packing {
    const char *name; /* "zlib", "json", "delta-zlib", "delta" */
    bool packed, delta;
};

/* The packing with that name, or NULL. */
const struct packing *packing_find(const char *name);
const char *packing_name(bool packed, bool delta);

/* What was packed. Errors: EMEMORY, EFORMAT (it is larger than PACKED_MAX or broken),
 * EUNSUPPORTED (built without zlib). */
int packed_inflate(const void *content, size_t content_size, struct text *out, const char *path,
                   vitals_error *error);

/* "1.2.13", or NULL where it was built without. */
const char *packed_version(void);

#endif
