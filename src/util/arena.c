/* arena.c: blocks in a row, filled from the front.
 *
 * After a few ticks there is one block that holds the largest tick so far. If many ticks in a row
 * fill less than a quarter of it, as when thousands of processes have gone, it becomes smaller. */
#include "util/arena.h"

#include "util/memory.h"

#include <stdalign.h>
#include <string.h>

enum {
    ALIGNMENT = alignof(max_align_t),
    BLOCK_MIN = 16 * 1024,
    BLOCK_DOUBLING_MAX = 4 * 1024 * 1024,
    ROOM_MIN = 256 * 1024, /* less is not worth giving back */
    ROOMY_MAX = 8
};

struct arena_block {
    struct arena_block *next;
    size_t size;
    unsigned roomy; /* of the first: resets in a row that found it hardly used */
    alignas(max_align_t) char bytes[];
};

_Static_assert(offsetof(struct arena_block, bytes) % ALIGNMENT == 0, "a block starts aligned");

static struct arena_block *block_new(size_t size)
{
    if (size > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    struct arena_block *block = memory_resize(NULL, 1, sizeof *block + size);
    if (block != NULL)
        *block = (struct arena_block){.size = size}; // arena_alloc clears the rest piece by piece
    return block;
}

static void blocks_free(struct arena_block *block)
{
    while (block != NULL) {
        struct arena_block *next = block->next;
        memory_free(block);
        block = next;
    }
}

void *arena_alloc(struct arena *arena, size_t size)
{
    struct arena_block *current = arena->current;
    if (size > SIZE_MAX - ALIGNMENT)
        return NULL;
    size = (size_max(size, 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (current == NULL || size > current->size - arena->used) {
        /* A block with room for it becomes the current one. */
        struct arena_block *next = current != NULL ? current->next : arena->first;
        if (next == NULL || next->size < size) {
            size_t wanted = current != NULL ? size_min(current->size, BLOCK_DOUBLING_MAX / 2) * 2
                                            : 0;
            struct arena_block *fresh = block_new(size_max(size_max(wanted, BLOCK_MIN), size));
            if (fresh == NULL)
                return NULL;
            fresh->next = next;
            if (current != NULL)
                current->next = fresh;
            else
                arena->first = fresh;
            next = fresh;
        }
        arena->current = next;
        arena->used = 0;
    }
    char *bytes = arena->current->bytes + arena->used;
    arena->used += size;
    return memset(bytes, 0, size); /* the block may have served an earlier tick */
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return arena_alloc(arena, count * size);
}

char *arena_copy(struct arena *arena, const char *bytes, size_t size)
{
    if (size == SIZE_MAX)
        return NULL;
    char *copy = arena_alloc(arena, size + 1);
    if (copy != NULL && size != 0)
        memcpy(copy, bytes, size);
    return copy;
}

void arena_reset(struct arena *arena)
{
    struct arena_block *first = arena->first, *block = first;
    size_t total = 0, filled = arena->used;
    for (; block != NULL && block != arena->current; block = block->next)
        filled += block->size;
    for (block = first; block != NULL; block = block->next)
        total += block->size;
    arena->current = first;
    arena->used = 0;
    if (first == NULL)
        return;

    first->roomy = total > ROOM_MIN && filled < total / 4 ? first->roomy + 1 : 0;
    bool shrinks = first->roomy == ROOMY_MAX;
    if (first->next == NULL && !shrinks)
        return;
    struct arena_block *joined = block_new(shrinks ? size_max(2 * filled, BLOCK_MIN) : total);
    if (joined == NULL)
        return; /* the pieces serve as well */
    blocks_free(first);
    arena->first = joined;
    arena->current = joined;
}

void arena_done(struct arena *arena)
{
    blocks_free(arena->first);
    *arena = (struct arena){0};
}
