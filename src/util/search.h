/* search.h: binary search: the position of an item in a sorted list, or where it would be inserted.
 *
 * Does not sort. To test for membership with a comparison function for qsort, use bsearch. All
 * functions are inline, so that a search costs no more than a loop written in place.
 * Thread rule: pure. */
#pragma once

#include "util/base.h"

#include <string.h>

typedef bool search_is_before(const void *item, const void *wanted);

/* The first place whose item is not before what is wanted; the count where all are. */
static inline size_t search_place(const void *items, size_t count, size_t size, const void *wanted,
                                  search_is_before *is_before)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before((const char *)items + middle * size, wanted))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A number of 64 bits that a list is in the order of: a key, or a pid, which is never negative. */
struct search_number {
    size_t offset; /* in the item */
    uint64_t wanted;
};

static inline uint64_t search_number_of(const void *item, size_t offset)
{
    uint64_t number;
    memcpy(&number, (const char *)item + offset, sizeof number);
    return number;
}

static inline bool search_is_less(const void *item, const void *wanted)
{
    const struct search_number *number = wanted;
    return search_number_of(item, number->offset) < number->wanted;
}

/* The item that has exactly that number; NULL where there is none. */
static inline void *search_find(const void *items, size_t count, size_t size,
                                struct search_number number)
{
    size_t place = search_place(items, count, size, &number, search_is_less);
    const char *item = place < count ? (const char *)items + place * size : NULL;
    bool found = item != NULL && search_number_of(item, number.offset) == number.wanted;
    return found ? (void *)(uintptr_t)item : NULL;
}
