/* UTF-8, strictly: the well-formed sequences of the Unicode standard and nothing else. */
#include "check.h"

#include "util/utf8.h"

static size_t encode(uint32_t character, char *out)
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3F));
    out[0] = (char)((0xF00u >> size & 0xFF) | character);
    return size;
}

static void every_character_is_read(void)
{
    for (uint32_t character = 0; character < 0x110000; character++) {
        char bytes[4];
        size_t size = encode(character, bytes);
        size_t taken = 0;
        uint32_t read = utf8_decode(bytes, bytes + size, &taken);
        bool surrogate = character >= 0xD800 && character <= 0xDFFF;
        CHECK_UINT(read, surrogate ? UTF8_BROKEN : character);
        CHECK_UINT(taken, surrogate ? 1 : size);
        if (size == 1 || surrogate)
            continue;
        CHECK_UINT(utf8_decode(bytes, bytes + size - 1, &taken), UTF8_BROKEN);
        CHECK_UINT(taken, size - 1);
    }
}

static void what_is_broken_counts_what_could_have_begun(void)
{
    static const struct {
        const char *bytes;
        size_t taken;
    } rows[] = {
        {"\x80", 1},          {"\xBF", 1},
        {"\xC0\x80", 1},      {"\xC1\xBF", 1},
        {"\xE0\x80\x80", 1},  {"\xE0\xA0x", 2},
        {"\xED\xA0\x80", 1},  {"\xF0\x8F\xBF\xBF", 1},
        {"\xF0\x90\x80x", 3}, {"\xF4\x90\x80\x80", 1},
        {"\xF5\x80", 1},      {"\xFF", 1},
        {"\xC3(", 1},         {"\xE2\x82(", 2},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        size_t taken = 0;
        CHECK_CASE(rows[i].bytes);
        CHECK_UINT(utf8_decode(rows[i].bytes, rows[i].bytes + strlen(rows[i].bytes), &taken),
                   UTF8_BROKEN);
        CHECK_UINT(taken, rows[i].taken);
    }
}

static const check_test tests[] = {
    {"every character is read", every_character_is_read},
    {"what is broken counts what could have begun", what_is_broken_counts_what_could_have_begun},
};
CHECK_TESTS(tests)
