/* counter_map.c: see counter_map.h. */
#include "export/counter_map.h"

#include "util/memory.h"

struct counter_map_entry *counter_map_find(const struct counter_map *map, uint64_t key)
{
    const uintptr_t *place = hash_find(&map->places, key);
    return place != NULL ? &map->entries[*place] : NULL;
}

struct counter_map_entry *counter_map_take(struct counter_map *map, uint64_t key)
{
    struct counter_map_entry *entry = counter_map_find(map, key);
    if (entry == NULL) {
        if (MEMORY_GROW(map->entries, map->capacity, map->count) != 0 ||
            hash_set(&map->places, key, map->count) != 0)
            return NULL;
        entry = &map->entries[map->count++];
        *entry = (struct counter_map_entry){.key = key};
    }
    entry->turn = map->turn;
    return entry;
}

void counter_map_turn(struct counter_map *map, uint64_t turns)
{
    size_t kept = 0;
    hash_reset(&map->places);
    for (size_t i = 0; i < map->count; i++) {
        if (map->turn - map->entries[i].turn >= turns)
            continue;
        (void)hash_set(&map->places, map->entries[i].key, kept); /* its memory is kept */
        map->entries[kept++] = map->entries[i];
    }
    map->count = kept;
    map->turn++;
}

void counter_map_done(struct counter_map *map)
{
    hash_done(&map->places);
    memory_free(map->entries);
    *map = (struct counter_map){.entries = NULL};
}
