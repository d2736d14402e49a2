/* utf8.c: see utf8.h. */
#include "util/utf8.h"

#include "util/search.h"

enum { ZERO = 0, WIDE = 2, HIDDEN = WIDTH_HIDDEN };

struct width_range {
    uint32_t first;
    uint32_t last;
    int width;
};

#include "util/width_table.h" /* made by scripts/unicode-width */

/* Which bytes may follow a first byte; the later ones are always 80..BF. */
struct lead {
    unsigned char low, high; /* of the first byte */
    unsigned char more;      /* bytes that follow */
    unsigned char from, to;  /* of the second byte */
};

static const struct lead LEADS[] = {
    {0xC2, 0xDF, 1, 0x80, 0xBF}, {0xE0, 0xE0, 2, 0xA0, 0xBF}, {0xE1, 0xEC, 2, 0x80, 0xBF},
    {0xED, 0xED, 2, 0x80, 0x9F}, {0xEE, 0xEF, 2, 0x80, 0xBF}, {0xF0, 0xF0, 3, 0x90, 0xBF},
    {0xF1, 0xF3, 3, 0x80, 0xBF}, {0xF4, 0xF4, 3, 0x80, 0x8F},
};

uint32_t utf8_decode(const char *at, const char *end, size_t *size)
{
    const unsigned char *bytes = (const unsigned char *)at;
    size_t left = (size_t)(end - at);
    *size = 1;
    if (bytes[0] < 0x80)
        return bytes[0];
    const struct lead *lead = LEADS;
    while (lead < LEADS + ARRAY_COUNT(LEADS) && bytes[0] > lead->high)
        lead++;
    if (lead == LEADS + ARRAY_COUNT(LEADS) || bytes[0] < lead->low)
        return UTF8_BROKEN;
    uint32_t character = bytes[0] & (0x3Fu >> lead->more);
    for (size_t i = 1; i <= lead->more; i++) {
        unsigned char from = i == 1 ? lead->from : 0x80;
        unsigned char to = i == 1 ? lead->to : 0xBF;
        if (i >= left || bytes[i] < from || bytes[i] > to)
            return UTF8_BROKEN;
        character = character << 6 | (bytes[i] & 0x3Fu);
        *size = i + 1;
    }
    return character;
}

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
