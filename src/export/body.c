/* body.c: see body.h. */
#include "export/body.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#if VITALS_WITH_ZLIB
#include <zlib.h>
#endif

struct body {
    atomic_size_t holders;
    void *owned;
    const void *bytes;
    size_t size;
    pthread_mutex_t mutex;
    bool tried;         /* guarded by mutex: compression was tried */
    void *packed;       /* guarded by mutex; NULL: not possible */
    size_t packed_size; /* guarded by mutex */
};

static struct body *make(void *owned, const void *bytes, size_t size)
{
    struct body *body = calloc(1, sizeof *body);
    if (body == NULL)
        return NULL;
    atomic_init(&body->holders, 1);
    pthread_mutex_init(&body->mutex, NULL);
    body->owned = owned;
    body->bytes = bytes;
    body->size = size;
    return body;
}

struct body *body_new(struct buffer *text)
{
    struct body *body = text->failed ? NULL : make(text->bytes, text->bytes, text->size);
    if (body == NULL)
        buffer_done(text);
    *text = (struct buffer){.bytes = NULL};
    return body;
}

struct body *body_of_constant(const void *bytes, size_t size)
{
    return make(NULL, bytes, size);
}

struct body *body_ref(struct body *body)
{
    (void)atomic_fetch_add_explicit(&body->holders, 1, memory_order_relaxed);
    return body;
}

void body_unref(struct body *body)
{
    if (body == NULL || atomic_fetch_sub_explicit(&body->holders, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&body->mutex);
    free(body->owned);
    free(body->packed);
    free(body);
}

const void *body_bytes(const struct body *body, size_t *size)
{
    *size = body->size;
    return body->bytes;
}

/* Appends the bytes as a gzip file. Returns false without zlib or memory. */
static bool gzip_pack(const void *bytes, size_t size, struct buffer *out)
{
#if VITALS_WITH_ZLIB
    /* The fastest level: documents live for a second and compress well at any level. */
    enum { LEVEL = 1, WINDOW_BITS = 15, AS_GZIP = 16, MEMORY_LEVEL = 8, FRAME = 32 };
    z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};
    if (size > UINT_MAX || deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW_BITS + AS_GZIP,
                                        MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    size_t room = size + size / 1000 + FRAME;
    char *place = room <= UINT_MAX ? buffer_reserve(out, room) : NULL;
    stream.next_out = (Bytef *)place;
    stream.avail_out = (uInt)room;
    bool packed = place != NULL && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    if (packed)
        buffer_advance(out, stream.total_out);
    (void)deflateEnd(&stream);
    return packed;
#else
    (void)bytes, (void)size, (void)out;
    return false;
#endif
}

const void *body_packed(struct body *body, size_t *size)
{
    pthread_mutex_lock(&body->mutex);
    if (!body->tried) {
        struct buffer packed = {.bytes = NULL};
        body->tried = true;
        if (gzip_pack(body->bytes, body->size, &packed)) {
            body->packed = packed.bytes;
            body->packed_size = packed.size;
        } else {
            buffer_done(&packed);
        }
    }
    const void *bytes = body->packed;
    *size = body->packed_size;
    pthread_mutex_unlock(&body->mutex);
    return bytes;
}
