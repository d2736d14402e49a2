/* cursor.c: see cursor.h. */
#include "util/cursor.h"

#include "util/number.h"

#include <string.h>

/* memchr that allows an empty range whose pointer may be NULL. */
static const char *find_byte(const struct cursor *cursor, char byte)
{
    return cursor_done(cursor) ? NULL
                               : memchr(cursor->at, byte, (size_t)(cursor->end - cursor->at));
}

bool cursor_line(struct cursor *cursor, struct span *line)
{
    if (cursor_done(cursor))
        return false;
    const char *newline = find_byte(cursor, '\n');
    const char *stop = newline != NULL ? newline : cursor->end;
    *line = (struct span){cursor->at, (size_t)(stop - cursor->at)};
    cursor->at = newline != NULL ? newline + 1 : cursor->end;
    return true;
}

void cursor_blanks(struct cursor *cursor)
{
    while (!cursor_done(cursor) && (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
}

bool cursor_word(struct cursor *cursor, struct span *word)
{
    cursor_blanks(cursor);
    const char *from = cursor->at;
    while (!cursor_done(cursor) && *cursor->at != ' ' && *cursor->at != '\t')
        cursor->at++;
    if (cursor->at == from)
        return false;
    *word = (struct span){from, (size_t)(cursor->at - from)};
    return true;
}

bool cursor_literal(struct cursor *cursor, const char *literal)
{
    size_t size = strlen(literal);
    if (size == 0)
        return true;
    if ((size_t)(cursor->end - cursor->at) < size || memcmp(cursor->at, literal, size) != 0)
        return false;
    cursor->at += size;
    return true;
}

bool cursor_until(struct cursor *cursor, char byte, struct span *out)
{
    const char *found = find_byte(cursor, byte);
    if (found == NULL)
        return false;
    *out = (struct span){cursor->at, (size_t)(found - cursor->at)};
    cursor->at = found + 1;
    return true;
}

bool cursor_u64(struct cursor *cursor, uint64_t *out)
{
    struct cursor ahead = *cursor;
    cursor_blanks(&ahead);
    if (!number_u64(&ahead.at, ahead.end, out))
        return false;
    *cursor = ahead;
    return true;
}

bool cursor_i64(struct cursor *cursor, int64_t *out)
{
    struct cursor ahead = *cursor;
    cursor_blanks(&ahead);
    if (!number_i64(&ahead.at, ahead.end, out))
        return false;
    *cursor = ahead;
    return true;
}

bool span_equal(struct span span, const char *string)
{
    size_t size = strlen(string);
    return span.size == size && (size == 0 || memcmp(span.bytes, string, size) == 0);
}

bool span_starts(struct span span, const char *prefix)
{
    size_t size = strlen(prefix);
    return span.size >= size && (size == 0 || memcmp(span.bytes, prefix, size) == 0);
}
