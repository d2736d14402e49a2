/* events.c: see events.h. */
#include "gpu/intel/events.h"

#include "util/number.h"

#include <string.h>

enum { BITS = 64 };

bool event_parse_field(struct span text, struct event_field *out)
{
    static const char *const words[] = {"config:", "config1:", "config2:"};
    struct cursor cursor = cursor_over(text.bytes, text.size);
    struct event_field field = {0};
    while (field.word < ARRAY_COUNT(words) && !cursor_literal(&cursor, words[field.word]))
        field.word++;
    if (field.word == ARRAY_COUNT(words))
        return false;
    do {
        /* Parse "12" or "12-19" into a mask. */
        uint64_t first, last;
        if (!number_u64(&cursor.at, cursor.end, &first))
            return false;
        last = first;
        if (cursor_literal(&cursor, "-") && !number_u64(&cursor.at, cursor.end, &last))
            return false;
        if (last >= BITS || first > last)
            return false;
        uint64_t ones = last - first == BITS - 1 ? UINT64_MAX
                                                 : (UINT64_C(1) << (last - first + 1)) - 1;
        field.mask |= ones << first;
    } while (cursor_literal(&cursor, ","));
    if (!cursor_done(&cursor))
        return false;
    *out = field;
    return true;
}

bool event_set(struct os_perf_event *event, const struct event_field *field, uint64_t number)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < BITS; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if ((field->mask & bit) == 0)
            continue;
        bits |= (number & 1) != 0 ? bit : 0;
        number >>= 1;
    }
    if (number != 0)
        return false;
    event->config[field->word] = (event->config[field->word] & ~field->mask) | bits;
    return true;
}

bool event_next_word(struct cursor *cursor, struct span *word, uint64_t *number, bool *bad)
{
    *bad = false;
    if (cursor_done(cursor))
        return false;
    const char *start = cursor->at;
    while (!cursor_done(cursor) && *cursor->at != '=' && *cursor->at != ',')
        cursor->at++;
    *word = (struct span){start, (size_t)(cursor->at - start)};
    *number = 1;
    bool told = true;
    if (cursor_literal(cursor, "=")) { /* decimal, or hexadecimal after 0x */
        struct cursor ahead = *cursor;
        bool hex = cursor_literal(&ahead, "0x") || cursor_literal(&ahead, "0X");
        told = hex ? number_hex(&cursor->at, cursor->end, number)
                   : number_u64(&cursor->at, cursor->end, number);
    }
    *bad = word->size == 0 || !told || (!cursor_done(cursor) && !cursor_literal(cursor, ","));
    return !*bad;
}

bool event_parse_busy(struct span name, struct span *kind, uint64_t *instance)
{
    struct cursor cursor = cursor_over(name.bytes, name.size);
    while (!cursor_done(&cursor) && *cursor.at >= 'a' && *cursor.at <= 'z')
        cursor.at++;
    size_t letters = (size_t)(cursor.at - name.bytes);
    if (letters == 0 || !number_u64(&cursor.at, cursor.end, instance) ||
        !cursor_literal(&cursor, "-busy") || !cursor_done(&cursor))
        return false;
    *kind = (struct span){name.bytes, letters};
    return true;
}

bool event_parse_cpu(struct span text, uint64_t *cpu)
{
    struct cursor cursor = cursor_over(text.bytes, text.size);
    return cursor_u64(&cursor, cpu) && *cpu <= INT32_MAX;
}

bool event_parse_window(struct span text, unsigned n, uint64_t *size)
{
    struct cursor lines = cursor_over(text.bytes, text.size);
    struct span line = {NULL, 0};
    for (unsigned i = 0; i <= n; i++) {
        if (!cursor_line(&lines, &line))
            return false;
    }
    struct cursor cursor = cursor_over(line.bytes, line.size);
    uint64_t first, last;
    if (!number_hex(&cursor.at, cursor.end, &first))
        return false;
    cursor_blanks(&cursor);
    if (!number_hex(&cursor.at, cursor.end, &last) || last <= first || first == 0)
        return false;
    *size = last - first + 1;
    return true;
}
