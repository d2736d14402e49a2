/* parse_status.c: /proc/PID/status, io and statm.
 *
 * All values are anchored at the beginning of a line and none is looked for in the first one, which
 * holds the name: a process may call itself "Uid:\t7\t8\t9", but the kernel escapes newlines there.
 * Pure. */
#include "os/os.h"

#include <string.h>

/* A line "label: number"; `unit` is what the number is counted in. */
struct line_field {
    const char *label;
    uint16_t place;
    uint16_t unit;
    unsigned bit;
};

/* Takes the first line of each field; `has` says which were there. */
static void take_lines(struct cursor cursor, const struct line_field *fields, size_t count,
                       void *out, unsigned *has)
{
    for (struct span line; cursor_line(&cursor, &line);) {
        for (size_t i = 0; i < count; i++) {
            const struct line_field *field = &fields[i];
            struct cursor rest = cursor_over(line.bytes, line.size);
            uint64_t number;
            if ((*has & field->bit) != 0 || !cursor_literal(&rest, field->label) ||
                !cursor_u64(&rest, &number))
                continue;
            number = saturating_mul(number, field->unit);
            memcpy((char *)out + field->place, &number, sizeof number);
            *has |= field->bit;
        }
    }
}

bool os_parse_status(const char *bytes, size_t size, struct os_status *out)
{
    static const struct line_field FIELDS[] = {
        {"Tgid:", offsetof(struct os_status, group), 1, OS_STATUS_GROUP},
        {"Uid:", offsetof(struct os_status, uid), 1, OS_STATUS_UID},
        {"VmHWM:", offsetof(struct os_status, peak_bytes), 1024, OS_STATUS_PEAK},
    };
    *out = (struct os_status){0};
    struct cursor cursor = cursor_over(bytes, size);
    struct span name;
    if (!cursor_line(&cursor, &name) || !span_starts(name, "Name:"))
        return false;
    take_lines(cursor, FIELDS, ARRAY_COUNT(FIELDS), out, &out->has);
    if (out->group < 0)
        out->has &= ~(unsigned)OS_STATUS_GROUP;
    return true;
}

bool os_parse_io(const char *bytes, size_t size, struct os_io *out)
{
    static const struct line_field FIELDS[] = {
        {"read_bytes:", offsetof(struct os_io, read_bytes), 1, OS_IO_READ},
        {"write_bytes:", offsetof(struct os_io, written_bytes), 1, OS_IO_WRITTEN},
    };
    *out = (struct os_io){0};
    take_lines(cursor_over(bytes, size), FIELDS, ARRAY_COUNT(FIELDS), out, &out->has);
    return out->has != 0;
}

bool os_parse_statm(const char *bytes, size_t size, uint64_t *resident_pages)
{
    struct cursor cursor = cursor_over(bytes, size);
    uint64_t virtual_pages, resident;
    if (!cursor_u64(&cursor, &virtual_pages) || !cursor_u64(&cursor, &resident))
        return false;
    // Another field follows: a number at the very end may have been cut.
    if (cursor_done(&cursor) || *cursor.at != ' ')
        return false;
    *resident_pages = resident;
    return true;
}
