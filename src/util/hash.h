/* hash.h: from a 64-bit key to a pointer-sized value, open addressing.
 *
 * Iteration order is not offered: output order is the order of keys, never of a hash.
 * Thread rule: one thread at a time. */
#pragma once

#include "util/base.h"

struct hash_slot;

struct hash {
    struct hash_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

/* A hash of zeros is empty and usable. Key 0 is allowed. */

/* Where the value of the key stands, or NULL. */
uintptr_t *hash_find(const struct hash *hash, uint64_t key);

/* Makes room for `count` keys in advance. Returns 0, or -1 if memory is out. */
int hash_reserve(struct hash *hash, size_t count);

/* Sets; returns 0, or -1 when memory is out. */
int hash_set(struct hash *hash, uint64_t key, uintptr_t value);

void hash_remove(struct hash *hash, uint64_t key);

/* Empties, keeps the memory. */
void hash_reset(struct hash *hash);
void hash_done(struct hash *hash);

/* A 64-bit hash of bytes, for keys made of text. Another run of the program gives another one. */
uint64_t hash_bytes(const void *bytes, size_t size);

/* A hash of what was there and what comes, in this order. */
uint64_t hash_join(uint64_t hash, uint64_t next);
