/* width.c: looks a character up in the table that scripts/unicode-width makes. */
#include "util/width.h"

#include "util/search.h"

enum { ZERO = 0, WIDE = 2, HIDDEN = WIDTH_HIDDEN };

struct width_range {
    uint32_t first;
    uint32_t last;
    int width;
};

#include "util/width_table.h"

static bool ends_before(const void *range, const void *character)
{
    return ((const struct width_range *)range)->last < *(const uint32_t *)character;
}

int width_of(uint32_t character)
{
    if (character < 0x80)
        return character < 0x20 || character == 0x7F ? WIDTH_HIDDEN : 1;
    size_t place = search_place(WIDTH_RANGES, ARRAY_COUNT(WIDTH_RANGES), sizeof WIDTH_RANGES[0],
                                &character, ends_before);
    bool inside = place < ARRAY_COUNT(WIDTH_RANGES) && WIDTH_RANGES[place].first <= character;
    return inside ? WIDTH_RANGES[place].width : 1;
}
