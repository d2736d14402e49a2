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

static void order_numbers(uint64_t *numbers, const struct order_place *places, size_t count,
                          uint64_t *old)
{
    memcpy(old, numbers, count * sizeof *old);
    for (size_t i = 0; i < count; i++)
        numbers[i] = old[places[i].index];
}

int table_order(struct arena *arena, struct table *table)
{
    size_t count = table->count;
    struct order_place *places = arena_array(arena, count, sizeof *places);
    struct order_place *spare = arena_array(arena, count, sizeof *spare);
    struct vitals_row *rows = arena_array(arena, count, sizeof *rows);
    union snapshot_cell *cells = arena_array(arena, count, sizeof *cells);
    vitals_text *texts = arena_array(arena, count, sizeof *texts);
    uint64_t *numbers = arena_array(arena, count, sizeof *numbers);
    signed char *states = arena_array(arena, count, 1);
    if (places == NULL || spare == NULL || rows == NULL || cells == NULL || texts == NULL ||
        numbers == NULL || states == NULL)
        return VITALS_EMEMORY;

    for (size_t i = 0; i < count; i++)
        places[i] = (struct order_place){table->keys[i], i};
    const struct order_place *sorted = sort(places, spare, count);
    for (size_t i = 0; i < count; i++)
        rows[i] = table->rows[sorted[i].index];
    table->rows = rows;
    order_numbers(table->keys, sorted, count, numbers);
    for (size_t i = 0; i < table->column_count; i++) {
        struct snapshot_column *column = &table->columns[i];
        memcpy(states, column->states, count);
        for (size_t k = 0; k < count; k++)
            column->states[k] = states[sorted[k].index];
        if (column->texts != NULL) {
            memcpy(texts, column->texts, count * sizeof *texts);
            for (size_t k = 0; k < count; k++)
                column->texts[k] = texts[sorted[k].index];
        } else {
            memcpy(cells, column->cells, count * sizeof *cells);
            for (size_t k = 0; k < count; k++)
                column->cells[k] = cells[sorted[k].index];
        }
        if (column->lags != NULL)
            order_numbers(column->lags, sorted, count, numbers);
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
