/* errors.c: see errors.h. */
#include "gpu/amd/errors.h"

#include "util/number.h"

bool amd_errors_parse(struct span text, struct amd_errors *out)
{
    *out = (struct amd_errors){0};
    const struct {
        const char *word;
        struct value *value;
    } words[] = {{"ue:", &out->uncorrected}, {"ce:", &out->corrected}, {"de:", &out->deferred}};
    struct cursor lines = cursor_over(text.bytes, text.size);
    bool found = false;
    for (struct span line; cursor_line(&lines, &line);) {
        struct cursor cursor = cursor_over(line.bytes, line.size);
        cursor_blanks(&cursor);
        for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
            uint64_t number;
            if (!cursor_literal(&cursor, words[i].word) || !cursor_u64(&cursor, &number))
                continue;
            *words[i].value = value_u64(number);
            found = true;
        }
    }
    return found;
}

void amd_bad_pages_parse(struct span text, struct amd_bad_pages *out)
{
    struct cursor lines = cursor_over(text.bytes, text.size);
    *out = (struct amd_bad_pages){0};
    for (struct span line; cursor_line(&lines, &line);) {
        struct cursor cursor = cursor_over(line.bytes, line.size);
        struct span word;
        uint64_t number;
        cursor_blanks(&cursor);
        if (!number_hex(&cursor.at, cursor.end, &number) || !cursor_until(&cursor, ':', &word) ||
            !cursor_until(&cursor, ':', &word) || !cursor_word(&cursor, &word))
            continue;
        out->retired += span_equal(word, "R");
        out->pending += span_equal(word, "P");
        out->failed += span_equal(word, "F");
    }
}
