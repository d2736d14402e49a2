/* path.c: see path.h. */
#include "workload/path.h"

#include <string.h>

bool path_element(struct cursor *cursor, struct span *out)
{
    while (!cursor_done(cursor)) {
        if (!cursor_until(cursor, '/', out)) {
            *out = (struct span){cursor->at, (size_t)(cursor->end - cursor->at)};
            cursor->at = cursor->end;
        }
        if (out->size != 0)
            return true;
    }
    return false;
}

bool span_ends(struct span span, const char *suffix)
{
    size_t size = strlen(suffix);
    return span.size >= size && memcmp(span.bytes + span.size - size, suffix, size) == 0;
}

bool span_between(struct span span, const char *before, const char *behind, struct span *out)
{
    size_t first = strlen(before), last = strlen(behind);
    if (span.size <= first + last || !span_starts(span, before) || !span_ends(span, behind))
        return false;
    *out = (struct span){span.bytes + first, span.size - first - last};
    return true;
}

bool span_is_decimal(struct span span)
{
    for (size_t i = 0; i < span.size; i++)
        if (span.bytes[i] < '0' || span.bytes[i] > '9')
            return false;
    return span.size != 0;
}

bool span_is_hex(struct span span)
{
    for (size_t i = 0; i < span.size; i++)
        if (!(span.bytes[i] >= '0' && span.bytes[i] <= '9') &&
            !(span.bytes[i] >= 'a' && span.bytes[i] <= 'f'))
            return false;
    return span.size != 0;
}

bool span_copy(struct span span, char *out, size_t capacity)
{
    bool fits = span.size < capacity;
    size_t size = fits ? span.size : 0;
    if (size > 0)
        memcpy(out, span.bytes, size);
    out[size] = '\0';
    return fits;
}
