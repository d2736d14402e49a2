/* width.c: looks a character up in the table that scripts/unicode-width makes. */
#include "util/width.h"

enum { ZERO = 0, WIDE = 2, HIDDEN = WIDTH_HIDDEN };

struct width_range {
    uint32_t first;
    uint32_t last;
    int width;
};

#include "util/width_table.h"

int width_of(uint32_t character)
{
    if (character < 0x80)
        return character < 0x20 || character == 0x7F ? WIDTH_HIDDEN : 1;
    size_t low = 0;
    size_t high = ARRAY_COUNT(WIDTH_RANGES);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct width_range *range = &WIDTH_RANGES[middle];
        if (character < range->first)
            high = middle;
        else if (character > range->last)
            low = middle + 1;
        else
            return range->width;
    }
    return 1;
}
