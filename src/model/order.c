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

/* Merges two sorted runs, [0, middle) and [middle, count), into `out`. */
static void merge(const struct order_place *places, size_t middle, size_t count,
                  struct order_place *out)
{
    size_t left = 0;
    size_t right = middle;
    for (size_t i = 0; i < count; i++) {
        bool from_left = right == count || (left < middle && places[left].key <= places[right].key);
        out[i] = places[from_left ? left++ : right++];
    }
}

/* Returns whichever of the two holds the sorted places in the end. */
static const struct order_place *sort(struct order_place *places, struct order_place *spare,
                                      size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t size = size_min(2 * width, count - start);
            merge(places + start, size_min(width, size), size, spare + start);
        }
        struct order_place *sorted = spare;
        spare = places;
        places = sorted;
    }
    return places;
}

static void order_numbers(uint64_t *numbers, const struct order_place *places, size_t count,
                          uint64_t *old)
{
    memcpy(old, numbers, count * sizeof *old);
    for (size_t i = 0; i < count; i++)
        numbers[i] = old[places[i].index];
}

static void order_column(struct snapshot_column *column, const struct order_place *places,
                         size_t count, union snapshot_cell *old_cells, signed char *old_states)
{
    memcpy(old_cells, column->cells, count * sizeof *old_cells);
    memcpy(old_states, column->states, count);
    for (size_t i = 0; i < count; i++) {
        column->cells[i] = old_cells[places[i].index];
        column->states[i] = old_states[places[i].index];
    }
}

int table_order(struct arena *arena, struct table *table)
{
    size_t count = table->count;
    struct order_place *places = arena_array(arena, count, sizeof *places);
    struct order_place *spare = arena_array(arena, count, sizeof *spare);
    struct vitals_row *rows = arena_array(arena, count, sizeof *rows);
    union snapshot_cell *cells = arena_array(arena, count, sizeof *cells);
    uint64_t *numbers = arena_array(arena, count, sizeof *numbers);
    signed char *states = arena_array(arena, count, 1);
    if (places == NULL || spare == NULL || rows == NULL || cells == NULL || numbers == NULL ||
        states == NULL)
        return VITALS_EMEMORY;

    for (size_t i = 0; i < count; i++)
        places[i] = (struct order_place){table->keys[i], i};
    const struct order_place *sorted = sort(places, spare, count);
    for (size_t i = 0; i < count; i++)
        rows[i] = table->rows[sorted[i].index];
    table->rows = rows;
    order_numbers(table->keys, sorted, count, numbers);
    for (size_t i = 0; i < table->column_count; i++) {
        order_column(&table->columns[i], sorted, count, cells, states);
        if (table->columns[i].lags != NULL)
            order_numbers(table->columns[i].lags, sorted, count, numbers);
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
