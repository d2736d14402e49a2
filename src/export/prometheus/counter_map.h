/* counter_map.h: numbers that are kept from one moment to the next, by two keys.
 *
 * An array in the order of keys: what comes in that order costs no moving. One thread at a time. */
#ifndef VITALS_EXPORT_PROMETHEUS_COUNTER_MAP_H
#define VITALS_EXPORT_PROMETHEUS_COUNTER_MAP_H

#include <stddef.h>
#include <stdint.h>

struct counter_map_entry {
    uint64_t first, second; /* the keys */
    uint64_t seen;          /* the turn in which it was last asked for by counter_map_take */
    double last;            /* what the source said last */
    double value;           /* what was made of it */
    double at;              /* when, where that matters: seconds since 1970 */
};

/* Zeros are an empty one. */
struct counter_map {
    struct counter_map_entry *entries;
    size_t count, capacity;
    uint64_t turn;
};

/* The entry, which is made of zeros where there is none. NULL
 * when memory is out. Any older pointer is void. */
struct counter_map_entry *counter_map_take(struct counter_map *ledger, uint64_t first,
                                           uint64_t second);

/* NULL: there is none. */
const struct counter_map_entry *counter_map_find(const struct counter_map *ledger, uint64_t first,
                                                 uint64_t second);

/* Begins the next turn: forgets who was not taken in the last `turns` ones. */
void counter_map_turn(struct counter_map *ledger, uint64_t turns);
void counter_map_done(struct counter_map *ledger);

#endif
