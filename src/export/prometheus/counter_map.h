/* counter_map.h: values that are kept between snapshots, by two keys.
 *
 * A sorted array: inserting keys in their order moves nothing. One thread at a time. */
#ifndef VITALS_EXPORT_PROMETHEUS_COUNTER_MAP_H
#define VITALS_EXPORT_PROMETHEUS_COUNTER_MAP_H

#include <stddef.h>
#include <stdint.h>

struct counter_map_entry {
    uint64_t first, second; /* the keys */
    uint64_t seen;          /* the last turn in which counter_map_take returned it */
    double last;            /* the source's last value */
    double value;           /* what was computed of it */
    double at;              /* seconds since 1970, if it matters */
};

/* All zeros is an empty map. */
struct counter_map {
    struct counter_map_entry *entries;
    size_t count, capacity;
    uint64_t turn;
};

/* Returns the entry, which is added as zeros if it is not there. NULL if memory is out. Invalidates
 * older pointers. */
struct counter_map_entry *counter_map_take(struct counter_map *map, uint64_t first,
                                           uint64_t second);

/* Returns NULL if it is not there. */
const struct counter_map_entry *counter_map_find(const struct counter_map *map, uint64_t first,
                                                 uint64_t second);

/* Begins the next turn: removes entries that were not taken in the last `turns` turns. */
void counter_map_turn(struct counter_map *map, uint64_t turns);
void counter_map_done(struct counter_map *map);

#endif
