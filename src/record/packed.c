/* packed.c: see packed.h. */
#include "record/packed.h"

#include <stdlib.h>
#include <string.h>

#include "record/tick.h"

#if VITALS_WITH_ZLIB
#include "feed/library.h"
#include "record/zlib.h"
#endif

bool bytes_room(struct bytes *bytes, size_t size)
{
    if (bytes->capacity - bytes->size >= size)
        return true;
    size_t capacity = (bytes->size + size) * 2;
    char *data = realloc(bytes->data, capacity);
    if (data == NULL)
        return false;
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

int bytes_write(void *data, const char *bytes, size_t size)
{
    struct bytes *out = data;
    if (!bytes_room(out, size + 1))
        return -1;
    memcpy(out->data + out->size, bytes, size);
    out->size += size;
    return 0;
}

void bytes_done(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

static int no_memory(const char *path, vitals_error *error)
{
    return record_fail(VITALS_EMEMORY, path, error, "out of memory");
}

#if VITALS_WITH_ZLIB

const char *packed_version(void)
{
    return zlib_missing() == NULL ? zlibVersion() : NULL;
}

bool packed_deflate(const struct bytes *from, struct bytes *out)
{
    out->size = 0;
    if (zlib_missing() != NULL)
        return false;
    uLongf size = compressBound((uLong)from->size);
    if (!bytes_room(out, size))
        return false;
    if (compress2((Bytef *)out->data, &size, (const Bytef *)from->data, (uLong)from->size,
                  Z_BEST_SPEED) != Z_OK)
        return false;
    out->size = size;
    return true;
}

bool packed_deflate_lean(const struct bytes *from, struct bytes *out)
{
    enum { WINDOW_BITS = 12, MEMORY_LEVEL = 5 };
    z_stream stream = {.next_in = (z_const Bytef *)from->data, .avail_in = (uInt)from->size};
    out->size = 0;
    if (zlib_missing() != NULL || from->size > PACKED_MAX ||
        deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    int result = Z_OK;
    while (result == Z_OK && bytes_room(out, from->size / 4 + 64)) {
        stream.next_out = (Bytef *)(out->data + out->size);
        stream.avail_out = (uInt)(out->capacity - out->size);
        result = deflate(&stream, Z_FINISH);
        out->size = out->capacity - stream.avail_out;
    }
    (void)deflateEnd(&stream);
    return result == Z_STREAM_END;
}

/* In steps, so that a small lie does not become a large allocation. */
int packed_inflate(const void *content, size_t content_size, struct bytes *out, const char *path,
                   vitals_error *error)
{
    enum { STEP = 256 * 1024 };
    out->size = 0;
    if (content_size > PACKED_MAX)
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it is too large");
    const char *missing = zlib_missing();
    if (missing != NULL)
        return record_fail(VITALS_EUNSUPPORTED, path, error, "zlib is not there: %s", missing);
    z_stream stream = {.next_in = (z_const Bytef *)content, .avail_in = (uInt)content_size};
    int result = inflateInit(&stream);
    if (result != Z_OK)
        return no_memory(path, error);
    while (result == Z_OK && out->size <= PACKED_MAX) {
        if (!bytes_room(out, STEP)) {
            (void)inflateEnd(&stream);
            return no_memory(path, error);
        }
        stream.next_out = (Bytef *)(out->data + out->size);
        stream.avail_out = STEP;
        result = inflate(&stream, Z_NO_FLUSH);
        out->size += STEP - stream.avail_out;
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

bool packed_deflate(const struct bytes *from, struct bytes *out)
{
    (void)from;
    (void)out;
    return false;
}

bool packed_deflate_lean(const struct bytes *from, struct bytes *out)
{
    return packed_deflate(from, out);
}

int packed_inflate(const void *content, size_t content_size, struct bytes *out, const char *path,
                   vitals_error *error)
{
    (void)content;
    (void)content_size;
    (void)out;
    return record_fail(VITALS_EUNSUPPORTED, path, error,
                       "its snapshots are packed, and this vitals was built without zlib");
}

#endif

int packed_json(const vitals_snapshot *snapshot, struct bytes *out, vitals_error *error)
{
    out->size = 0;
    return vitals_snapshot_json(snapshot, bytes_write, out, NULL) < 0 ? no_memory("snapshot", error)
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
