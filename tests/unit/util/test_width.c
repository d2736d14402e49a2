/* The width of characters that people meet; the table itself is made from Unicode's own data, and
 * scripts/unicode-width --check says whether it still is. */
#include "check.h"

#include "util/utf8.h"

static void characters_have_their_width(void)
{
    static const struct {
        uint32_t character;
        int width;
        const char *name;
    } rows[] = {
        {'a', 1, "a letter"},
        {' ', 1, "a blank"},
        {0x00, WIDTH_HIDDEN, "NUL"},
        {0x1B, WIDTH_HIDDEN, "escape"},
        {0x7F, WIDTH_HIDDEN, "delete"},
        {0x9B, WIDTH_HIDDEN, "the one-byte control sequence introducer"},
        {0xA0, 1, "a no-break space"},
        {0xAD, WIDTH_HIDDEN, "a soft hyphen"},
        {0xE9, 1, "e with acute"},
        {0x301, 0, "a combining acute"},
        {0x61C, WIDTH_HIDDEN, "the Arabic letter mark"},
        {0x1100, 2, "a leading jamo"},
        {0x1161, 0, "a jamo that joins it"},
        {0x115F, WIDTH_HIDDEN, "a Hangul filler"},
        {0x200B, WIDTH_HIDDEN, "a zero-width space"},
        {0x200D, WIDTH_HIDDEN, "a zero-width joiner"},
        {0x200F, WIDTH_HIDDEN, "a right-to-left mark"},
        {0x2028, WIDTH_HIDDEN, "a line separator"},
        {0x202E, WIDTH_HIDDEN, "a right-to-left override"},
        {0x2066, WIDTH_HIDDEN, "an isolate"},
        {0x2500, 1, "a line to draw with"},
        {0x28FF, 1, "a braille pattern"},
        {0x3042, 2, "hiragana a"},
        {0x4E00, 2, "a Han character"},
        {0xAC00, 2, "a Hangul syllable"},
        {0xFE0F, 0, "a variation selector"},
        {0xFEFF, WIDTH_HIDDEN, "a byte order mark"},
        {0xFF21, 2, "a fullwidth A"},
        {0xFF71, 1, "a halfwidth katakana"},
        {0xE000, 1, "a private character"},
        {0xFFFE, WIDTH_HIDDEN, "no character"},
        {0x1F600, 2, "a grinning face"},
        {0x1FAE8, 2, "an emoji younger than the table"},
        {0x20000, 2, "a Han character of plane 2"},
        {0xE0041, WIDTH_HIDDEN, "an invisible tag"},
        {0xE0100, 0, "a variation selector of plane 14"},
        {0x10FFFF, WIDTH_HIDDEN, "the last one"},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].name);
        CHECK_INT(width_of(rows[i].character), rows[i].width);
    }
}

static const check_test tests[] = {
    {"characters have their width", characters_have_their_width},
};
CHECK_TESTS(tests)
