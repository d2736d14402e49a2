/* deflate.c: see deflate.h. */
#include "record/frame/deflate.h"

#include "feed/built_without.h"
#include "record/error.h"

#if VITALS_WITH_ZLIB
#include <zlib.h>

bool deflate_text(const struct buffer *from, struct buffer *out)
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
int inflate_text(const void *content, size_t content_size, struct buffer *out, const char *path,
                 vitals_error *error)
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

bool deflate_text(const struct buffer *from UNUSED, struct buffer *out UNUSED)
{
    return false;
}

int inflate_text(const void *content UNUSED, size_t content_size UNUSED, struct buffer *out UNUSED,
                 const char *path, vitals_error *error)
{
    return record_fail(VITALS_EUNSUPPORTED, path, error,
                       "its snapshots are compressed; " BUILT_WITHOUT_ZLIB);
}

#endif
