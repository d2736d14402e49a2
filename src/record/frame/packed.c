/* packed.c: see packed.h. */
#include "record/frame/packed.h"

#include <string.h>

#include "feed/built_without.h"
#include "record/sample.h"

#if VITALS_WITH_ZLIB
#include <zlib.h>
#endif

static int no_memory(const char *path, vitals_error *error)
{
    return record_fail(VITALS_EMEMORY, path, error, "out of memory");
}

#if VITALS_WITH_ZLIB

const char *packed_version(void)
{
    return zlibVersion();
}

bool packed_deflate(const struct text *from, struct text *out)
{
    text_reset(out);
    uLongf size = compressBound((uLong)from->size);
    char *place = text_reserve(out, size);
    if (place == NULL)
        return false;
    if (compress2((Bytef *)place, &size, (const Bytef *)from->bytes, (uLong)from->size,
                  Z_BEST_SPEED) != Z_OK)
        return false;
    text_advance(out, size);
    return true;
}

bool packed_deflate_lean(const struct text *from, struct text *out)
{
    enum { WINDOW_BITS = 12, MEMORY_LEVEL = 5 };
    z_stream stream = {.next_in = (z_const Bytef *)from->bytes, .avail_in = (uInt)from->size};
    text_reset(out);
    if (from->size > PACKED_MAX || deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS,
                                                MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    int result = Z_OK;
    const size_t step = from->size / 4 + 64;
    char *place;
    while (result == Z_OK && (place = text_reserve(out, step)) != NULL) {
        stream.next_out = (Bytef *)place;
        stream.avail_out = (uInt)step;
        result = deflate(&stream, Z_FINISH);
        text_advance(out, step - stream.avail_out);
    }
    (void)deflateEnd(&stream);
    return result == Z_STREAM_END;
}

/* In steps, so that a small lie does not become a large allocation. */
int packed_inflate(const void *content, size_t content_size, struct text *out, const char *path,
                   vitals_error *error)
{
    enum { STEP = 256 * 1024 };
    text_reset(out);
    if (content_size > PACKED_MAX)
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it is too large");
    z_stream stream = {.next_in = (z_const Bytef *)content, .avail_in = (uInt)content_size};
    int result = inflateInit(&stream);
    if (result != Z_OK)
        return no_memory(path, error);
    while (result == Z_OK && out->size <= PACKED_MAX) {
        char *place = text_reserve(out, STEP);
        if (place == NULL) {
            (void)inflateEnd(&stream);
            return no_memory(path, error);
        }
        stream.next_out = (Bytef *)place;
        stream.avail_out = STEP;
        result = inflate(&stream, Z_NO_FLUSH);
        text_advance(out, STEP - stream.avail_out);
    }
    (void)inflateEnd(&stream);
    return result == Z_STREAM_END
               ? 0
               : record_fail(VITALS_EFORMAT, path, error, "a snapshot in it cannot be unpacked");
}

#else

const char *packed_version(void)
{
    return NULL;
}

bool packed_deflate(const struct text *from, struct text *out)
{
    (void)from;
    (void)out;
    return false;
}

bool packed_deflate_lean(const struct text *from, struct text *out)
{
    return packed_deflate(from, out);
}

int packed_inflate(const void *content, size_t content_size, struct text *out, const char *path,
                   vitals_error *error)
{
    (void)content;
    (void)content_size;
    (void)out;
    return record_fail(VITALS_EUNSUPPORTED, path, error,
                       "its snapshots are compressed; " BUILT_WITHOUT_ZLIB);
}

#endif

int packed_json(const vitals_snapshot *snapshot, struct text *out, vitals_error *error)
{
    text_reset(out);
    return vitals_snapshot_json(snapshot, text_write, out, NULL) < 0 ? no_memory("snapshot", error)
                                                                     : 0;
}

static const struct packing PACKINGS[] = {{"json", false, false},
                                          {"zlib", true, false},
                                          {"delta", false, true},
                                          {"delta-zlib", true, true}};

const struct packing *packing_find(const char *name)
{
    for (size_t i = 0; i < sizeof PACKINGS / sizeof PACKINGS[0]; i++)
        if (strcmp(PACKINGS[i].name, name) == 0)
            return &PACKINGS[i];
    return NULL;
}

const char *packing_name(bool packed, bool delta)
{
    return PACKINGS[(delta ? 2 : 0) + (packed ? 1 : 0)].name;
}
