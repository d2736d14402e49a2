/* order.c: rows that came in any order, put in the order of their keys, and found by their parent.
 *
 * A merge sort with memory of the arena: qsort may ask malloc, and need not be n log n.
 * Thread rule: the builder's thread. */
#include "model/snapshot.h"

#include <string.h>
#include <vitals/error.h>

struct order_place {
    uint64_t key; /* of the row, or of its parent */
    size_t index; /* where the row stands now */
};

/* Merges sorted runs that grow. Returns whichever of the two holds the sorted places in the end. */
static const struct order_place *sort(struct order_place *places, struct order_place *spare,
                                      size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t left = start, middle = size_min(start + width, count);
            size_t right = middle, end = size_min(start + 2 * width, count);
            for (size_t i = start; i < end; i++) {
                bool from_left = right == end ||
                                 (left < middle && places[left].key <= places[right].key);
                spare[i] = places[from_left ? left++ : right++];
            }
        }
        struct order_place *sorted = spare;
        spare = places;
        places = sorted;
    }
    return places;
}

/* Puts an array in that order; `old` has room for it. */
static void put_in_order(void *items, size_t size, const struct order_place *places, size_t count,
                         char *old)
{
    memcpy(old, items, count * size);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)items + i * size, old + places[i].index * size, size);
}

int table_order(struct arena *arena, struct table *table)
{
    enum { WIDEST = sizeof(struct vitals_row) }; /* of the items of all arrays */
    size_t count = table->count;
    struct order_place *places = arena_array(arena, count, sizeof *places);
    struct order_place *spare = arena_array(arena, count, sizeof *spare);
    char *old = arena_array(arena, count, WIDEST);
    if (places == NULL || spare == NULL || old == NULL)
        return VITALS_EMEMORY;

    for (size_t i = 0; i < count; i++)
        places[i] = (struct order_place){table->keys[i], i};
    const struct order_place *sorted = sort(places, spare, count);
    put_in_order(table->rows, sizeof *table->rows, sorted, count, old);
    put_in_order(table->keys, sizeof *table->keys, sorted, count, old);
    for (size_t i = 0; i < table->column_count; i++) {
        struct snapshot_column *column = &table->columns[i];
        put_in_order(column->states, 1, sorted, count, old);
        if (column->texts != NULL)
            put_in_order(column->texts, sizeof *column->texts, sorted, count, old);
        else
            put_in_order(column->cells, sizeof *column->cells, sorted, count, old);
        if (column->lags != NULL)
            put_in_order(column->lags, sizeof *column->lags, sorted, count, old);
    }
    return 0;
}

int table_index_parents(struct arena *arena, struct table *table)
{
    size_t count = table->count;
    size_t first = 1; /* the first row that does not stand so already */
    while (first < count && table->rows[first - 1].parent <= table->rows[first].parent)
        first++;
    if (first >= count)
        return 0;
    struct order_place *places = arena_array(arena, count, sizeof *places);
    struct order_place *spare = arena_array(arena, count, sizeof *spare);
    size_t *by_parent = arena_array(arena, count, sizeof *by_parent);
    if (places == NULL || spare == NULL || by_parent == NULL)
        return VITALS_EMEMORY;

    for (size_t i = 0; i < count; i++)
        places[i] = (struct order_place){table->rows[i].parent, i};
    const struct order_place *sorted = sort(places, spare, count); /* keeps the order of keys */
    for (size_t i = 0; i < count; i++)
        by_parent[i] = sorted[i].index;
    table->by_parent = by_parent;
    return 0;
}
