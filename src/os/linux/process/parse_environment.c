/* parse_environment.c: the strings of /proc/PID/environ. Pure. */
#include "os/linux/process/process_tables.h"

#include <string.h>

/* The next string that is not empty, ended by NUL or by the end. */
static bool next_string(struct cursor *cursor, struct span *out)
{
    while (!cursor_done(cursor) && *cursor->at == '\0')
        cursor->at++;
    if (cursor_done(cursor))
        return false;
    if (cursor_until(cursor, '\0', out))
        return true;
    *out = (struct span){cursor->at, (size_t)(cursor->end - cursor->at)};
    cursor->at = cursor->end;
    return true;
}

bool linux_parse_variable(struct cursor *cursor, struct linux_variable *out)
{
    struct span string;
    if (!next_string(cursor, &string))
        return false;
    const char *equals = memchr(string.bytes, '=', string.size);
    size_t size = equals != NULL ? (size_t)(equals - string.bytes) : string.size;
    out->name = (struct span){string.bytes, size};
    out->value = equals != NULL ? (struct span){equals + 1, string.size - size - 1}
                                : (struct span){string.bytes + size, 0};
    return true;
}
