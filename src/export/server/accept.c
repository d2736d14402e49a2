/* accept.c: see accept.h. Malformed parts of a header are ignored. */
#include "export/server/accept.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

enum { FULL = 1000 };

/* A part of the header, without the spaces around it. */
struct accept_piece {
    const char *bytes;
    size_t size;
};

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t';
}

static struct accept_piece trimmed(const char *from, const char *to)
{
    while (from < to && is_space(*from))
        from++;
    while (to > from && is_space(to[-1]))
        to--;
    return (struct accept_piece){from, (size_t)(to - from)};
}

/* Returns the next piece up to the separator or the end, and moves *rest behind it. Separators
 * within quotes do not count. Returns false if none is left. */
static bool next_piece(const char **rest, const char *end, char separator, struct accept_piece *out)
{
    const char *from = *rest;
    bool quoted = false;
    if (from == NULL)
        return false;
    const char *at = from;
    for (; at < end && (quoted || *at != separator); at++)
        quoted ^= *at == '"';
    *out = trimmed(from, at);
    *rest = at < end ? at + 1 : NULL;
    return true;
}

static bool equals(struct accept_piece piece, const char *word)
{
    return strlen(word) == piece.size && strncasecmp(piece.bytes, word, piece.size) == 0;
}

/* "1", "0.8" or "0.333", in thousandths. Returns 0 for anything else. */
static int read_quality(struct accept_piece piece)
{
    int value = 0, unit = FULL;
    for (size_t i = 0; i < piece.size; i++) {
        char byte = piece.bytes[i];
        if (i == 1 && byte == '.')
            continue;
        if (byte < '0' || byte > '9' || unit == 0)
            return 0;
        value += (byte - '0') * unit;
        unit /= 10;
    }
    return value > FULL ? 0 : value;
}

/* Returns true for `name=value`, such as `q=0.5`. */
static bool is_parameter(struct accept_piece piece, const char *name, struct accept_piece *value)
{
    const char *end = piece.bytes + piece.size;
    const char *equal = memchr(piece.bytes, '=', piece.size);
    if (equal == NULL || !equals(trimmed(piece.bytes, equal), name))
        return false;
    *value = trimmed(equal + 1, end);
    if (value->size >= 2 && value->bytes[0] == '"' && value->bytes[value->size - 1] == '"')
        *value = (struct accept_piece){value->bytes + 1, value->size - 2};
    return true;
}

/* Returns the quality of a range from its parameters, or -1 if it asks for an unknown version. */
static int parameters(const char *rest, const char *end, const char *const *versions)
{
    int quality = FULL;
    struct accept_piece parameter, value;
    while (next_piece(&rest, end, ';', &parameter)) {
        if (is_parameter(parameter, "q", &value)) {
            quality = read_quality(value);
        } else if (versions != NULL && is_parameter(parameter, "version", &value)) {
            size_t i = 0;
            while (versions[i] != NULL && !equals(value, versions[i]))
                i++;
            if (versions[i] == NULL)
                return -1;
        }
    }
    return quality;
}

static int exactness_of(struct accept_piece range, const char *type)
{
    const char *slash = strchr(type, '/');
    size_t kind = slash != NULL ? (size_t)(slash - type) + 1 : 0;
    if (equals(range, type))
        return 3;
    if (kind > 0 && range.size == kind + 1 && range.bytes[kind] == '*' &&
        strncasecmp(range.bytes, type, kind) == 0)
        return 2;
    return equals(range, slash != NULL ? "*/*" : "*") ? 1 : 0;
}

struct accept_quality accept_type(const char *header, const char *type, const char *const *versions)
{
    struct accept_quality best = {0, 0};
    struct accept_piece element, range;
    const char *end = header != NULL ? header + strlen(header) : NULL;
    while (next_piece(&header, end, ',', &element)) {
        const char *rest = element.bytes, *element_end = element.bytes + element.size;
        if (!next_piece(&rest, element_end, ';', &range))
            continue;
        int exactness = exactness_of(range, type);
        int quality = exactness > 0 ? parameters(rest, element_end, versions) : -1;
        if (quality >= 0 &&
            (exactness > best.exactness || (exactness == best.exactness && quality > best.quality)))
            best = (struct accept_quality){quality, exactness};
    }
    return best;
}

bool accept_encoding(const char *header, const char *coding)
{
    return accept_type(header, coding, NULL).quality > 0;
}

bool accept_has_tag(const char *header, const char *tag)
{
    struct accept_piece element;
    const char *end = header != NULL ? header + strlen(header) : NULL;
    while (next_piece(&header, end, ',', &element)) {
        if (element.size > 2 && strncmp(element.bytes, "W/", 2) == 0)
            element = (struct accept_piece){element.bytes + 2, element.size - 2};
        if (equals(element, "*") ||
            (strlen(tag) == element.size && memcmp(element.bytes, tag, element.size) == 0))
            return true;
    }
    return false;
}
