/* counter_map.c: see counter_map.h. */
#include "export/prometheus/counter_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns the place of the keys, or the place to insert them. */
static size_t place_of(const struct counter_map *ledger, uint64_t first, uint64_t second)
{
    size_t low = 0, high = ledger->count;
    if (high > 0 && ledger->entries[high - 1].first < first)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct counter_map_entry *entry = &ledger->entries[middle];
        if (entry->first < first || (entry->first == first && entry->second < second))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct counter_map *ledger, size_t place, uint64_t first, uint64_t second)
{
    return place < ledger->count && ledger->entries[place].first == first &&
           ledger->entries[place].second == second;
}

static bool has_room(struct counter_map *ledger)
{
    if (ledger->count < ledger->capacity)
        return true;
    size_t capacity = ledger->capacity > 0 ? ledger->capacity * 2 : 64;
    struct counter_map_entry *entries = realloc(ledger->entries, capacity * sizeof *entries);
    if (entries == NULL)
        return false;
    ledger->entries = entries;
    ledger->capacity = capacity;
    return true;
}

struct counter_map_entry *counter_map_take(struct counter_map *ledger, uint64_t first,
                                           uint64_t second)
{
    size_t place = place_of(ledger, first, second);
    if (!is_at(ledger, place, first, second)) {
        if (!has_room(ledger))
            return NULL;
        memmove(&ledger->entries[place + 1], &ledger->entries[place],
                (ledger->count - place) * sizeof *ledger->entries);
        ledger->entries[place] = (struct counter_map_entry){.first = first, .second = second};
        ledger->count++;
    }
    ledger->entries[place].seen = ledger->turn;
    return &ledger->entries[place];
}

const struct counter_map_entry *counter_map_find(const struct counter_map *ledger, uint64_t first,
                                                 uint64_t second)
{
    size_t place = place_of(ledger, first, second);
    return is_at(ledger, place, first, second) ? &ledger->entries[place] : NULL;
}

void counter_map_turn(struct counter_map *ledger, uint64_t turns)
{
    size_t kept = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        if (ledger->turn - ledger->entries[i].seen < turns)
            ledger->entries[kept++] = ledger->entries[i];
    }
    ledger->count = kept;
    ledger->turn++;
}

void counter_map_done(struct counter_map *ledger)
{
    free(ledger->entries);
    *ledger = (struct counter_map){.entries = NULL};
}
