/* memory.h: the one place where the library asks for memory.
 *
 * Every allocation of libvitals passes through here, so that a test can count them
 * (a steady tick makes none) and let the n-th one fail (no path may then crash or leak).
 * A house test fails if malloc or free occurs elsewhere in the library.
 * Thread rule: any thread. */
#pragma once

#include "util/base.h"

/* Zeroed memory, or NULL. A size of 0 gives a pointer that may be freed. */
void *memory_alloc(size_t size);

/* `count` zeroed elements; NULL too where count * size overflows. */
void *memory_array(size_t count, size_t size);

/* A copy, or NULL. */
char *memory_string(const char *string);

/* Grows or shrinks as realloc does; on failure returns NULL and the old block stands.
 * Bytes beyond the old size are not zeroed. */
void *memory_resize(void *block, size_t count, size_t size);

/* Accepts NULL. */
void memory_free(void *block);

/* Makes room for one more element: `items`, a pointer that changes, has `capacity` elements and
 * `count` in use. Returns 0, or -1 if memory is out (nothing has changed). */
#define MEMORY_GROW(items, capacity, count) \
    memory_grow(&(items), &(capacity), (count), sizeof *(items))
int memory_grow(void *items, size_t *capacity, size_t count, size_t size);

/* For tests: how many allocations were asked for since the process began, how many blocks are
 * live, and which of the coming ones fails (1: the next; 0: none). */
uint64_t memory_asked(void);
int64_t memory_live(void);
void memory_fail_at(uint64_t nth);
