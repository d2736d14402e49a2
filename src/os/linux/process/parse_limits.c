/* parse_limits.c: /proc/PID/limits. Pure.
 *
 *     Max open files            1024                 524288               files */
#include "os/linux/process/process_tables.h"

static bool take_limit(struct cursor *cursor, uint64_t *out)
{
    cursor_blanks(cursor);
    if (cursor_literal(cursor, "unlimited"))
        *out = LINUX_UNLIMITED;
    else if (!cursor_u64(cursor, out))
        return false;
    return !cursor_done(cursor) && *cursor->at == ' '; // padded: else it may have been cut
}

static bool take_line(struct span line, const struct linux_limit *limit,
                      struct linux_limit_values *out)
{
    struct cursor cursor = cursor_over(line.bytes, line.size);
    struct linux_limit_values values = {.known = true};
    if (!cursor_literal(&cursor, limit->title) || cursor_done(&cursor) || *cursor.at != ' ' ||
        !take_limit(&cursor, &values.soft) || !take_limit(&cursor, &values.hard))
        return false;
    *out = values;
    return true;
}

size_t linux_parse_limits(const char *bytes, size_t size,
                          struct linux_limit_values out[static LINUX_LIMITS])
{
    size_t found = 0;
    for (size_t i = 0; i < LINUX_LIMITS; i++)
        out[i] = (struct linux_limit_values){0};
    struct cursor cursor = cursor_over(bytes, size);
    for (struct span line; cursor_line(&cursor, &line);)
        for (size_t i = 0; i < LINUX_LIMITS; i++)
            if (!out[i].known && take_line(line, &LINUX_LIMIT[i], &out[i])) {
                found++;
                break;
            }
    return found;
}
