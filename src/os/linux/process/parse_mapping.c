/* parse_mapping.c: the lines of /proc/PID/maps and smaps. Pure.
 *
 *     7f1c0000-7f1c2000 r--p 00001000 fe:00 247278      /usr/lib/a file (deleted)
 *     Rss:                   8 kB
 *
 * The path is all that follows the fifth field, blanks within included. Newer kernels add lines,
 * and some lines have no number: both are passed over. */
#include "os/linux/process/process_tables.h"

#include "util/number.h"

#include <string.h>

static bool take_hex(struct cursor *cursor, char end, uint64_t *out)
{
    // Only digits: number_hex would take 0x too.
    if (cursor_done(cursor) || !number_hex(&cursor->at, cursor->end, out) || cursor_done(cursor) ||
        *cursor->at != end)
        return false;
    cursor->at++;
    return true;
}

bool linux_parse_mapping(struct span line, struct linux_mapping *out)
{
    struct cursor cursor = cursor_over(line.bytes, line.size);
    struct linux_mapping parsed = {0};
    if (!take_hex(&cursor, '-', &parsed.start) || !take_hex(&cursor, ' ', &parsed.end) ||
        parsed.end < parsed.start)
        return false;
    parsed.addresses = (struct span){line.bytes, (size_t)(cursor.at - line.bytes) - 1};
    if (!cursor_word(&cursor, &parsed.permissions) || cursor_done(&cursor))
        return false;
    cursor.at++;
    if (!take_hex(&cursor, ' ', &parsed.offset) || !take_hex(&cursor, ':', &parsed.major) ||
        !take_hex(&cursor, ' ', &parsed.minor) || !cursor_u64(&cursor, &parsed.inode))
        return false;
    if (!cursor_done(&cursor) && *cursor.at != ' ')
        return false;
    // Aligned with blanks; a path begins with '/' and a name of the kernel's with none either.
    cursor_blanks(&cursor);
    parsed.path = (struct span){cursor.at, (size_t)(cursor.end - cursor.at)};
    *out = parsed;
    return true;
}

#define LABEL(text)            \
    {                          \
        sizeof(text) - 1, text \
    }

static const struct {
    size_t size;
    const char *text;
} LABELS[MAPPING_SIZES] = {
    [MAPPING_RESIDENT] = LABEL("Rss:"),
    [MAPPING_PSS] = LABEL("Pss:"),
    [MAPPING_SHARED_CLEAN] = LABEL("Shared_Clean:"),
    [MAPPING_SHARED_DIRTY] = LABEL("Shared_Dirty:"),
    [MAPPING_PRIVATE_CLEAN] = LABEL("Private_Clean:"),
    [MAPPING_PRIVATE_DIRTY] = LABEL("Private_Dirty:"),
    [MAPPING_REFERENCED] = LABEL("Referenced:"),
    [MAPPING_ANONYMOUS] = LABEL("Anonymous:"),
    [MAPPING_SWAP] = LABEL("Swap:"),
    [MAPPING_THP] = LABEL("AnonHugePages:"),
    [MAPPING_LOCKED] = LABEL("Locked:"),
    [MAPPING_SHARED_HUGETLB] = LABEL("Shared_Hugetlb:"),
    [MAPPING_PRIVATE_HUGETLB] = LABEL("Private_Hugetlb:"),
};

/* Each mapping has twenty such lines. */
static bool starts_with_label(struct span line, size_t which)
{
    return line.size > LABELS[which].size && line.bytes[0] == LABELS[which].text[0] &&
           memcmp(line.bytes, LABELS[which].text, LABELS[which].size) == 0;
}

bool linux_parse_mapping_size(struct span line, enum linux_mapping_size *which, uint64_t *bytes)
{
    size_t found = 0;
    while (found < MAPPING_SIZES && !starts_with_label(line, found))
        found++;
    if (found == MAPPING_SIZES)
        return false;
    size_t label = LABELS[found].size;
    struct cursor cursor = cursor_over(line.bytes + label, line.size - label);
    uint64_t number;
    if (!cursor_u64(&cursor, &number))
        return false;
    *which = (enum linux_mapping_size)found;
    *bytes = saturating_mul(number, 1024);
    return true;
}

/* The kernel escapes the newline alone, not the backslash: a file whose name holds these four
 * characters reads the same as one with a newline, which is what is meant nearly always. */
bool linux_mapping_path(struct span text, struct buffer *out, struct span *path)
{
    static const char NEWLINE[] = "\\012";
    const size_t size = sizeof NEWLINE - 1;
    *path = text;
    if (text.size == 0 || memmem(text.bytes, text.size, NEWLINE, size) == NULL)
        return true;
    buffer_reset(out);
    const char *at = text.bytes, *end = text.bytes + text.size;
    for (const char *found; (found = memmem(at, (size_t)(end - at), NEWLINE, size)) != NULL;) {
        buffer_append(out, at, (size_t)(found - at));
        buffer_byte(out, '\n');
        at = found + size;
    }
    buffer_append(out, at, (size_t)(end - at));
    *path = (struct span){out->bytes, out->size};
    return !out->failed;
}
