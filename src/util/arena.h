/* arena.h: memory that is given back all at once.
 *
 * One arena per snapshot: reset keeps its blocks, so that a steady tick allocates nothing.
 * Thread rule: one thread at a time. */
#pragma once

#include "util/base.h"

struct arena_block;

struct arena {
    struct arena_block *first;
    struct arena_block *current;
    size_t used; /* bytes of the current block */
};

/* An arena of zeros is empty and usable. */

/* Memory aligned for any type, zeroed, or NULL. Lives until reset or done. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_array(struct arena *arena, size_t count, size_t size);

/* A NUL-terminated copy of the bytes. */
char *arena_copy(struct arena *arena, const char *bytes, size_t size);

/* Forgets everything, keeps the blocks (joined to one where there were several). */
void arena_reset(struct arena *arena);

void arena_done(struct arena *arena);
