/* parse_stat.c: /proc/PID/stat, as proc_pid_stat(5) numbers its fields.
 *
 * The name may hold anything, ')' and newlines too, so it ends at the last ')'. Kernels differ in
 * how many fields follow (41 in 2.4, 52 now); what is not there stays out of `has`. Pure. */
#include "os/os.h"

#include "core/number.h"

#include <string.h>

static const struct field {
    unsigned char number;
    bool is_signed;
    uint16_t place; /* in os_stat */
    unsigned bit;
} FIELDS[] = {
    {4, false, offsetof(struct os_stat, parent_pid), OS_STAT_PARENT},
    {10, false, offsetof(struct os_stat, minor_faults), OS_STAT_FAULTS},
    {12, false, offsetof(struct os_stat, major_faults), OS_STAT_FAULTS},
    {14, false, offsetof(struct os_stat, user_ticks), OS_STAT_TIMES},
    {15, false, offsetof(struct os_stat, system_ticks), OS_STAT_TIMES},
    {19, true, offsetof(struct os_stat, nice), OS_STAT_NICE},
    {20, false, offsetof(struct os_stat, threads), OS_STAT_THREADS},
    {22, false, offsetof(struct os_stat, start_ticks), OS_STAT_START},
    {23, false, offsetof(struct os_stat, virtual_bytes), OS_STAT_VIRTUAL},
    {24, false, offsetof(struct os_stat, resident_pages), OS_STAT_RESIDENT},
    {39, false, offsetof(struct os_stat, cpu), OS_STAT_CPU},
};

enum { FIRST_NUMBER = 4 };

static bool take_number(const struct field *field, struct span word, struct os_stat *out)
{
    const char *at = word.bytes, *end = word.bytes + word.size;
    char *place = (char *)out + field->place;
    uint64_t natural;
    int64_t integer;
    if (field->is_signed) {
        if (!number_i64(&at, end, &integer) || at != end)
            return false;
        memcpy(place, &integer, sizeof integer);
    } else {
        if (!number_u64(&at, end, &natural) || at != end)
            return false;
        memcpy(place, &natural, sizeof natural);
    }
    return true;
}

/* The fields behind the state. Where the line has no end, its last word may have been cut. */
static void take_numbers(struct cursor *cursor, bool ended, struct os_stat *out)
{
    unsigned missing = 0;
    size_t next = 0;
    struct span word;
    for (unsigned number = FIRST_NUMBER; next < ARRAY_COUNT(FIELDS); number++) {
        if (!cursor_word(cursor, &word) || (cursor_done(cursor) && !ended))
            break;
        const struct field *field = &FIELDS[next];
        if (number != field->number)
            continue;
        if (!take_number(field, word, out))
            missing |= field->bit;
        out->has |= field->bit;
        next++;
    }
    for (; next < ARRAY_COUNT(FIELDS); next++)
        missing |= FIELDS[next].bit;
    out->has &= ~missing;
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
    struct span line = {rest.at, 0};
    cursor_line(&rest, &line);
    bool ended = line.bytes + line.size < bytes + size; // a newline stands there
    struct cursor cursor = cursor_over(line.bytes, line.size);
    struct span state;
    if (!cursor_word(&cursor, &state) || state.size != 1)
        return true;
    out->state = state.bytes[0];
    out->has |= OS_STAT_STATE;
    take_numbers(&cursor, ended, out);
    if (out->parent_pid < 0)
        out->has &= ~(unsigned)OS_STAT_PARENT;
    return true;
}
