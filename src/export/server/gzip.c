/* gzip.c: see gzip.h. */
#include "export/server/gzip.h"

#if VITALS_WITH_ZLIB
#include <limits.h>

#include <zlib.h>

/* The fastest level: documents live for a second and compress well at any level. */
enum { LEVEL = 1, WINDOW_BITS = 15, AS_GZIP = 16, MEMORY_LEVEL = 8, FRAME = 32 };

bool gzip_pack(const void *bytes, size_t size, struct text *out)
{
    z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};
    if (size > UINT_MAX || deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW_BITS + AS_GZIP,
                                        MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    size_t room = size + size / 1000 + FRAME;
    char *place = room <= UINT_MAX ? text_reserve(out, room) : NULL;
    stream.next_out = (Bytef *)place;
    stream.avail_out = (uInt)room;
    bool packed = place != NULL && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    if (packed)
        text_advance(out, stream.total_out);
    (void)deflateEnd(&stream);
    return packed;
}
#else
bool gzip_pack(const void *bytes, size_t size, struct text *out)
{
    (void)bytes;
    (void)size;
    (void)out;
    return false;
}
#endif
