/* shared_text.c: see shared_text.h. */
#include "util/shared_text.h"

#include "util/memory.h"

#include <string.h>

struct shared_text *shared_text_new(const char *bytes, size_t size)
{
    size = size_min(size, SHARED_TEXT_MAX);
    struct shared_text *text = memory_alloc(sizeof *text + size + 1);
    if (text == NULL)
        return NULL;
    atomic_init(&text->refs, 1);
    text->size = (uint32_t)size;
    if (size != 0)
        memcpy(text->bytes, bytes, size);
    return text;
}

struct shared_text *shared_text_ref(struct shared_text *text)
{
    if (text != NULL)
        atomic_fetch_add_explicit(&text->refs, 1, memory_order_relaxed);
    return text;
}

void shared_text_unref(struct shared_text *text)
{
    if (text == NULL)
        return;
    /* Release, so that the last reader's reads come before the free; acquire, so that it sees them.
     */
    if (atomic_fetch_sub_explicit(&text->refs, 1, memory_order_acq_rel) == 1)
        memory_free(text);
}

bool shared_text_equal(const struct shared_text *text, const char *bytes, size_t size)
{
    return text != NULL && text->size == size &&
           (size == 0 || memcmp(text->bytes, bytes, size) == 0);
}
