/* parse_task.c: schedstat and status of one thread; the addresses of arguments and environment in
 * stat of a process. Pure.
 *
 * As in status of a process, nothing is looked for in the first line, which holds the name. */
#include "os/linux/process/process_tables.h"

#include <string.h>

bool linux_parse_schedstat(const char *bytes, size_t size, struct linux_schedstat *out)
{
    struct cursor cursor = cursor_over(bytes, size);
    struct linux_schedstat parsed;
    // A newline follows: a number at the very end may have been cut.
    if (!cursor_u64(&cursor, &parsed.run_ns) || !cursor_u64(&cursor, &parsed.delay_ns) ||
        !cursor_u64(&cursor, &parsed.runs) || cursor_done(&cursor) || *cursor.at != '\n')
        return false;
    *out = parsed;
    return true;
}

static bool take_switches(struct cursor line, const char *label, uint64_t *out)
{
    return cursor_literal(&line, label) && cursor_u64(&line, out);
}

void linux_parse_task_status(const char *bytes, size_t size, struct linux_task_status *out)
{
    *out = (struct linux_task_status){0};
    struct cursor cursor = cursor_over(bytes, size);
    struct span line;
    if (!cursor_line(&cursor, &line) || !span_starts(line, "Name:"))
        return;
    while (cursor_line(&cursor, &line)) {
        struct cursor rest = cursor_over(line.bytes, line.size);
        if (line.bytes + line.size == bytes + size)
            return; // no newline: it may have been cut
        if (take_switches(rest, "voluntary_ctxt_switches:", &out->voluntary))
            out->has |= TASK_VOLUNTARY;
        else if (take_switches(rest, "nonvoluntary_ctxt_switches:", &out->involuntary))
            out->has |= TASK_INVOLUNTARY;
        else if (cursor_literal(&rest, "Cpus_allowed_list:") && cursor_word(&rest, &out->cpus))
            out->has |= TASK_CPUS;
    }
}

static bool take_area(struct cursor *cursor, struct linux_area *out)
{
    uint64_t start, end;
    if (!cursor_u64(cursor, &start) || !cursor_u64(cursor, &end))
        return false;
    *out = (struct linux_area){start, end > start ? end - start : 0};
    return true;
}

/* Fields 48 to 51 since Linux 3.5. A program that the kernel is just beginning has a start of its
 * arguments alone. The name may hold anything: it ends at the last ')'. */
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
