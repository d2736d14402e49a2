/* parse_stat.c: /proc/PID/stat, as proc_pid_stat(5) numbers its fields; schedstat and status of one
 * thread.
 *
 * The name may hold anything, ')' and newlines too, so it ends at the last ')'. Kernels differ in
 * how many fields follow (41 in 2.4, 52 now); what is not there stays out of `has`. Every process
 * is parsed at every tick, so the walk looks at each byte once. Pure. */
#include "os/linux/process/process_tables.h"

#include "util/number.h"

#include <string.h>

enum { FIRST_NUMBER = 4, LAST_NUMBER = 42 };

/* By its number; those without a bit are passed over. */
static const struct stat_field {
    uint16_t place; /* in os_stat */
    bool is_signed;
    unsigned bit;
} FIELDS[LAST_NUMBER + 1] = {
    [4] = {offsetof(struct os_stat, parent_pid), false, OS_STAT_PARENT},
    [5] = {offsetof(struct os_stat, process_group), false, OS_STAT_GROUP},
    [6] = {offsetof(struct os_stat, session), false, OS_STAT_SESSION},
    [7] = {offsetof(struct os_stat, terminal), true, OS_STAT_TERMINAL},
    [8] = {offsetof(struct os_stat, foreground_group), true, OS_STAT_FOREGROUND},
    [9] = {offsetof(struct os_stat, flags), false, OS_STAT_FLAGS},
    [10] = {offsetof(struct os_stat, minor_faults), false, OS_STAT_FAULTS},
    [12] = {offsetof(struct os_stat, major_faults), false, OS_STAT_FAULTS},
    [14] = {offsetof(struct os_stat, user_ticks), false, OS_STAT_TIMES},
    [15] = {offsetof(struct os_stat, system_ticks), false, OS_STAT_TIMES},
    [16] = {offsetof(struct os_stat, children_user_ticks), false, OS_STAT_CHILDREN},
    [17] = {offsetof(struct os_stat, children_system_ticks), false, OS_STAT_CHILDREN},
    [18] = {offsetof(struct os_stat, priority), true, OS_STAT_PRIORITY},
    [19] = {offsetof(struct os_stat, nice), true, OS_STAT_NICE},
    [20] = {offsetof(struct os_stat, threads), false, OS_STAT_THREADS},
    [22] = {offsetof(struct os_stat, start_ticks), false, OS_STAT_START},
    [23] = {offsetof(struct os_stat, virtual_bytes), false, OS_STAT_VIRTUAL},
    [24] = {offsetof(struct os_stat, resident_pages), false, OS_STAT_RESIDENT},
    [39] = {offsetof(struct os_stat, cpu), false, OS_STAT_CPU},
    [40] = {offsetof(struct os_stat, realtime_priority), false, OS_STAT_POLICY},
    [41] = {offsetof(struct os_stat, policy), false, OS_STAT_POLICY},
    [42] = {offsetof(struct os_stat, blocked_ticks), false, OS_STAT_BLOCKED},
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* The fields behind the state. Where the line has no end, its last word may have been cut. */
static unsigned take_numbers(const char *at, const char *end, bool ended, struct os_stat *out)
{
    enum { SAFE_DIGITS = 18 };
    unsigned has = 0, missing = 0;
    unsigned number = FIRST_NUMBER;
    for (; number <= LAST_NUMBER; number++) {
        while (at < end && is_blank(*at))
            at++;
        const char *from = at;
        uint64_t value = 0;
        unsigned digit;
        for (; at < end && (digit = (unsigned)*at - '0') < 10; at++)
            value = value * 10 + digit; // wraps in what is too long, and is not used then
        bool plain = (at == end || is_blank(*at)) && at - from <= SAFE_DIGITS;
        while (at < end && !is_blank(*at))
            at++;
        if (from == at || (at == end && !ended))
            break;
        const struct stat_field *field = &FIELDS[number];
        if (field->bit == 0)
            continue;
        if (!plain) {
            int64_t integer = 0;
            bool read = field->is_signed ? number_i64(&from, at, &integer)
                                         : number_u64(&from, at, &value);
            if (!read || from != at)
                missing |= field->bit;
            value = field->is_signed ? (uint64_t)integer : value;
        }
        if ((missing & field->bit) == 0)
            memcpy((char *)out + field->place, &value, sizeof value);
        has |= field->bit;
    }
    for (; number <= LAST_NUMBER; number++)
        missing |= FIELDS[number].bit;
    return has & ~missing;
}

bool os_parse_stat(const char *bytes, size_t size, struct os_stat *out)
{
    *out = (struct os_stat){0};
    const char *open = size != 0 ? memchr(bytes, '(', size) : NULL;
    const char *close = size != 0 ? memrchr(bytes, ')', size) : NULL;
    if (open == NULL || close == NULL || close < open)
        return false;
    out->name = (struct span){open + 1, (size_t)(close - open - 1)};
    out->has = OS_STAT_NAME;

    struct cursor rest = cursor_over(close + 1, size - (size_t)(close + 1 - bytes));
    struct span line = {rest.at, 0}, state;
    cursor_line(&rest, &line);
    bool ended = line.bytes + line.size < bytes + size; // a newline stands there
    struct cursor cursor = cursor_over(line.bytes, line.size);
    if (!cursor_word(&cursor, &state) || state.size != 1)
        return true;
    out->state = state.bytes[0];
    out->has |= OS_STAT_STATE | take_numbers(cursor.at, cursor.end, ended, out);
    if (out->parent_pid < 0)
        out->has &= ~(unsigned)OS_STAT_PARENT;
    return true;
}

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

/* As in status of a process, nothing is looked for in the first line, which holds the name. */
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
