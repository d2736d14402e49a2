/* counter_map.h: what is kept of counters from sample to sample, by key. One thread. */
#pragma once

#include "util/hash.h"

struct counter_map_entry {
    uint64_t key;
    uint64_t turn;            /* the last in which counter_map_take returned it */
    double last;              /* the source's last value */
    double value;             /* what was computed of it */
    uint64_t at_ns, start_ns; /* since 1970, if they matter */
};

/* All zeros is an empty map. */
struct counter_map {
    struct hash places; /* of keys in `entries` */
    struct counter_map_entry *entries;
    size_t count, capacity;
    uint64_t turn;
};

/* Returns NULL if it is not there. Invalid after the next call that changes the map. */
struct counter_map_entry *counter_map_find(const struct counter_map *map, uint64_t key);

/* Returns the entry, which is added as zeros if it is not there. NULL if memory is out. */
struct counter_map_entry *counter_map_take(struct counter_map *map, uint64_t key);

/* Begins the next turn: forgets the entries that were not taken in the last so many. */
void counter_map_turn(struct counter_map *map, uint64_t turns);

void counter_map_done(struct counter_map *map);
