/* counter_map.c: see counter_map.h. */
#include "export/prometheus/counter_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns the place of the keys, or the place to insert them. */
static size_t place_of(const struct counter_map *map, uint64_t first, uint64_t second)
{
    size_t low = 0, high = map->count;
    if (high > 0 && map->entries[high - 1].first < first)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct counter_map_entry *entry = &map->entries[middle];
        if (entry->first < first || (entry->first == first && entry->second < second))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct counter_map *map, size_t place, uint64_t first, uint64_t second)
{
    return place < map->count && map->entries[place].first == first &&
           map->entries[place].second == second;
}

static bool has_room(struct counter_map *map)
{
    if (map->count < map->capacity)
        return true;
    size_t capacity = map->capacity > 0 ? map->capacity * 2 : 64;
    struct counter_map_entry *entries = realloc(map->entries, capacity * sizeof *entries);
    if (entries == NULL)
        return false;
    map->entries = entries;
    map->capacity = capacity;
    return true;
}

struct counter_map_entry *counter_map_take(struct counter_map *map, uint64_t first, uint64_t second)
{
    size_t place = place_of(map, first, second);
    if (!is_at(map, place, first, second)) {
        if (!has_room(map))
            return NULL;
        memmove(&map->entries[place + 1], &map->entries[place],
                (map->count - place) * sizeof *map->entries);
        map->entries[place] = (struct counter_map_entry){.first = first, .second = second};
        map->count++;
    }
    map->entries[place].seen = map->turn;
    return &map->entries[place];
}

const struct counter_map_entry *counter_map_find(const struct counter_map *map, uint64_t first,
                                                 uint64_t second)
{
    size_t place = place_of(map, first, second);
    return is_at(map, place, first, second) ? &map->entries[place] : NULL;
}

void counter_map_turn(struct counter_map *map, uint64_t turns)
{
    size_t kept = 0;
    for (size_t i = 0; i < map->count; i++) {
        if (map->turn - map->entries[i].seen < turns)
            map->entries[kept++] = map->entries[i];
    }
    map->count = kept;
    map->turn++;
}

void counter_map_done(struct counter_map *map)
{
    free(map->entries);
    *map = (struct counter_map){.entries = NULL};
}
