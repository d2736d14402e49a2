/* hash.c: linear probing at three quarters full at most.
 *
 * Removal moves later slots back and leaves no tombstones: tables of processes live for weeks. */
#include "util/hash.h"

#include "util/memory.h"

#include <string.h>

enum { CAPACITY_MIN = 16 };

struct hash_slot {
    uint64_t key;
    uintptr_t value;
    bool taken;
};

/* Spreads the low bits of pids and inodes over all bits (the finalizer of splitmix64). */
static uint64_t spread(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static size_t home(const struct hash *hash, uint64_t key)
{
    return (size_t)spread(key) & (hash->capacity - 1);
}

/* The slot of the key, or the free one where it belongs. The table is never full. */
static struct hash_slot *slot_for(const struct hash *hash, uint64_t key)
{
    size_t at = home(hash, key);
    while (hash->slots[at].taken && hash->slots[at].key != key)
        at = (at + 1) & (hash->capacity - 1);
    return &hash->slots[at];
}

static bool has_room(size_t capacity, size_t count)
{
    return count <= capacity / 4 * 3;
}

int hash_reserve(struct hash *hash, size_t count)
{
    if (has_room(hash->capacity, count))
        return 0;
    struct hash larger = {.capacity = size_max(hash->capacity, CAPACITY_MIN), .count = hash->count};
    while (!has_room(larger.capacity, count)) {
        if (larger.capacity > SIZE_MAX / 2 / sizeof(struct hash_slot))
            return -1;
        larger.capacity *= 2;
    }
    larger.slots = memory_array(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return -1;
    for (size_t i = 0; i < hash->capacity; i++)
        if (hash->slots[i].taken)
            *slot_for(&larger, hash->slots[i].key) = hash->slots[i];
    memory_free(hash->slots);
    *hash = larger;
    return 0;
}

uintptr_t *hash_find(const struct hash *hash, uint64_t key)
{
    if (hash->count == 0)
        return NULL;
    struct hash_slot *slot = slot_for(hash, key);
    return slot->taken ? &slot->value : NULL;
}

int hash_set(struct hash *hash, uint64_t key, uintptr_t value)
{
    uintptr_t *present = hash_find(hash, key);
    if (present != NULL) {
        *present = value;
        return 0;
    }
    if (hash_reserve(hash, hash->count + 1) < 0)
        return -1;
    *slot_for(hash, key) = (struct hash_slot){.key = key, .value = value, .taken = true};
    hash->count++;
    return 0;
}

void hash_remove(struct hash *hash, uint64_t key)
{
    if (hash_find(hash, key) == NULL)
        return;
    size_t mask = hash->capacity - 1;
    size_t hole = (size_t)(slot_for(hash, key) - hash->slots);
    for (size_t at = (hole + 1) & mask; hash->slots[at].taken; at = (at + 1) & mask) {
        /* A slot may move into the hole unless that lies before its home. */
        size_t from_home = (at - home(hash, hash->slots[at].key)) & mask;
        size_t from_hole = (at - hole) & mask;
        if (from_home >= from_hole) {
            hash->slots[hole] = hash->slots[at];
            hole = at;
        }
    }
    hash->slots[hole] = (struct hash_slot){0};
    hash->count--;
}

void hash_reset(struct hash *hash)
{
    if (hash->count != 0)
        memset(hash->slots, 0, hash->capacity * sizeof *hash->slots);
    hash->count = 0;
}

void hash_done(struct hash *hash)
{
    memory_free(hash->slots);
    *hash = (struct hash){0};
}

uint64_t hash_join(uint64_t hash, uint64_t next)
{
    return spread(hash * UINT64_C(0x9e3779b97f4a7c15) ^ next); // multiplied: the order counts
}

/* Eight bytes at a time. The size comes first, or zeros at the end would not count.
 *
 * The owner of files or mounts can choose names with equal hashes; 60,000 mappings of such files
 * took twenty times as long. So the hash of a text starts from an address, which differs in each
 * process and is not known to others. */
uint64_t hash_bytes(const void *bytes, size_t size)
{
    static const char place;
    const char *at = bytes;
    uint64_t value = spread((uintptr_t)&place) + size, word;
    for (; size >= sizeof word; size -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        value = hash_join(value, word);
    }
    word = 0;
    if (size != 0)
        memcpy(&word, at, size);
    return hash_join(value, word);
}
