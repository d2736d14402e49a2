/* parse_task.c: schedstat and status of one thread. Pure.
 *
 * As in status of a process, nothing is looked for in the first line, which holds the name. */
#include "os/linux/process/process_tables.h"

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

static bool take_cpus(struct cursor line, struct span *out)
{
    return cursor_literal(&line, "Cpus_allowed_list:") && cursor_word(&line, out);
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
        else if (take_cpus(rest, &out->cpus))
            out->has |= TASK_CPUS;
    }
}
