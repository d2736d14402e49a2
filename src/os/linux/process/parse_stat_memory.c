/* parse_stat_memory.c: the addresses of arguments and environment in /proc/PID/stat. Pure.
 *
 * Fields 48 to 51 since Linux 3.5. They are 0 for a reader without permission, for a zombie, for a
 * kernel thread, and for a program that the kernel is just beginning, whose arguments then only
 * have a start. The name may hold anything: it ends at the last ')'. */
#include "os/linux/process/process_tables.h"

#include <string.h>

static bool take_area(struct cursor *cursor, struct linux_area *out)
{
    uint64_t start, end;
    if (!cursor_u64(cursor, &start) || !cursor_u64(cursor, &end))
        return false;
    *out = (struct linux_area){start, end > start ? end - start : 0};
    return true;
}

bool linux_parse_stat_memory(const char *bytes, size_t size, struct linux_stat_memory *out)
{
    enum { STATE = 3, ARGUMENTS = 48 };
    const char *close = size != 0 ? memrchr(bytes, ')', size) : NULL;
    if (close == NULL)
        return false;
    struct cursor cursor = cursor_over(close + 1, size - (size_t)(close + 1 - bytes));
    struct span word;
    for (int field = STATE; field < ARGUMENTS; field++)
        if (!cursor_word(&cursor, &word))
            return false;
    struct linux_stat_memory parsed;
    // A blank follows: a number at the very end may have been cut.
    if (!take_area(&cursor, &parsed.arguments) || !take_area(&cursor, &parsed.environment) ||
        cursor_done(&cursor) || (*cursor.at != ' ' && *cursor.at != '\n'))
        return false;
    *out = parsed;
    return true;
}
