/* deflate.h: bytes of snapshots deflated and inflated by zlib, if the build has it. */
#pragma once

#include <stdbool.h>

#include <vitals/vitals.h>

#include "feed/text.h"

enum { INFLATED_MAX = 64 * 1024 * 1024 }; /* bytes of one snapshot */

/* Needs 32 KiB of memory, an eighth of zlib's default. False: built without zlib, or no memory. */
bool deflate_text(const struct buffer *from, struct buffer *out);

/* Errors: EMEMORY, EFORMAT (larger than INFLATED_MAX, or broken), EUNSUPPORTED (built without
 * zlib). */
int inflate_text(const void *content, size_t content_size, struct buffer *out, const char *path,
                 vitals_error *error);
