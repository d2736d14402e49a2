/* parse_status.c: /proc/PID/status, io and statm.
 *
 * All values are anchored at the beginning of a line and none is looked for in the first one, which
 * holds the name: a process may call itself "Uid:\t7\t8\t9", but the kernel escapes newlines there.
 * A line that the end of the text cuts is not a line: half a number would be a wrong one. Pure. */
#include "os/os.h"

#include "util/number.h"

#include <string.h>

/* How the number of a line is written: the first to the fourth of several, the last, … */
enum number_form { FIRST, SECOND, THIRD, FOURTH, LAST, KIBIBYTES, PID, HEX, OCTAL };

static bool take_number(struct cursor line, enum number_form form, uint64_t *out)
{
    enum { OCTAL_DIGITS = 8 };
    bool any = false;
    switch (form) {
    case FIRST:
    case SECOND:
    case THIRD:
    case FOURTH:
        for (unsigned i = 0; i <= (unsigned)form; i++)
            if (!cursor_u64(&line, out))
                return false;
        return true;
    case LAST:
        while (cursor_u64(&line, out))
            any = true;
        cursor_blanks(&line);
        return any && cursor_done(&line);
    case KIBIBYTES:
        any = cursor_u64(&line, out);
        *out = any ? saturating_mul(*out, 1024) : 0;
        return any;
    case PID: return cursor_u64(&line, out) && *out <= INT64_MAX;
    case HEX: cursor_blanks(&line); return number_hex(&line.at, line.end, out);
    case OCTAL: break;
    }

    cursor_blanks(&line);
    size_t size = (size_t)(line.end - line.at);
    *out = 0;
    for (size_t i = 0; i < size; i++) {
        if (line.at[i] < '0' || line.at[i] > '7')
            return false;
        *out = *out * 8 + (uint64_t)(line.at[i] - '0');
    }
    return size != 0 && size <= OCTAL_DIGITS;
}

/* A line "label: number". Several fields may be read from one line. */
struct line_field {
    const char *label;
    uint16_t size;  /* of the label */
    uint16_t place; /* of the number in the struct */
    enum number_form form;
};

/* Sets the numbers of a line that `has` lacks of those that are wanted, and their bits, which are
 * in the order of fields. */
static void take_line(struct span line, const struct line_field *fields, unsigned wanted, void *out,
                      unsigned *has)
{
    uint64_t number;
    unsigned i = 0;
    for (unsigned left = wanted & ~*has; left >> i != 0; i++) {
        const struct line_field *field = &fields[i];
        if ((left >> i & 1) == 0 || field->label[0] != line.bytes[0] || line.size <= field->size ||
            memcmp(line.bytes, field->label, field->size) != 0 ||
            !take_number(cursor_over(line.bytes + field->size, line.size - field->size),
                         field->form, &number))
            continue;
        memcpy((char *)out + field->place, &number, sizeof number);
        *has |= 1u << i;
    }
}

bool os_parse_status(const char *bytes, size_t size, unsigned wanted, struct os_status *out)
{
#define FIELD(name, member, label, form, metric) \
    {label, sizeof(label) - 1, offsetof(struct os_status, member), form},
    static const struct line_field FIELDS[] = {OS_STATUS_NUMBERS(FIELD)};
#undef FIELD
    *out = (struct os_status){0};
    struct cursor cursor = cursor_over(bytes, size);
    struct span line, word;
    if (!cursor_line(&cursor, &line) || !span_starts(line, "Name:"))
        return false;
    const unsigned numbers = wanted & ((unsigned)OS_STATUS_CPUS - 1);
    while ((out->state == '\0' || (out->has & wanted) != wanted) && cursor_line(&cursor, &line)) {
        if (line.size == 0 || line.bytes + line.size == bytes + size)
            continue;
        struct cursor rest = cursor_over(line.bytes, line.size);
        if (cursor_literal(&rest, "State:")) {
            if (out->state == '\0' && cursor_word(&rest, &word) && word.size == 1)
                out->state = word.bytes[0];
        } else if (cursor_literal(&rest, "Cpus_allowed_list:")) {
            if ((out->has & OS_STATUS_CPUS) == 0 && cursor_word(&rest, &out->cpus))
                out->has |= OS_STATUS_CPUS;
        } else if (cursor_literal(&rest, "Groups:")) {
            if ((out->has & OS_STATUS_GROUPS) == 0)
                out->groups = (struct span){rest.at, (size_t)(rest.end - rest.at)};
            out->has |= OS_STATUS_GROUPS;
        } else {
            take_line(line, FIELDS, numbers, out, &out->has);
        }
    }
    return true;
}

bool os_parse_io(const char *bytes, size_t size, struct os_io *out)
{
#define FIELD(name, member, label, metric) \
    {label, sizeof(label) - 1, offsetof(struct os_io, member), FIRST},
    static const struct line_field FIELDS[] = {OS_IO_NUMBERS(FIELD)};
#undef FIELD
    *out = (struct os_io){0};
    struct cursor cursor = cursor_over(bytes, size);
    for (struct span line; cursor_line(&cursor, &line);)
        if (line.size != 0 && line.bytes + line.size != bytes + size)
            take_line(line, FIELDS, OS_IO_ALL, out, &out->has);
    return out->has != 0;
}

bool os_parse_statm(const char *bytes, size_t size, struct os_statm *out)
{
    // size, resident, shared, text, library, data, dirty
    static const struct {
        uint16_t place;
        unsigned bit;
    } PAGES[] = {
        {offsetof(struct os_statm, size), 0},
        {offsetof(struct os_statm, resident), OS_STATM_RESIDENT},
        {offsetof(struct os_statm, shared), OS_STATM_SHARED},
        {offsetof(struct os_statm, text), OS_STATM_TEXT},
        {0, 0},
        {offsetof(struct os_statm, data), OS_STATM_DATA},
    };
    *out = (struct os_statm){0};
    struct cursor cursor = cursor_over(bytes, size);
    uint64_t number;
    for (size_t i = 0; i < ARRAY_COUNT(PAGES) && cursor_u64(&cursor, &number); i++) {
        // A number at the very end may have been cut.
        if (cursor_done(&cursor) || (*cursor.at != ' ' && *cursor.at != '\n'))
            break;
        if (PAGES[i].bit != 0 || i == 0)
            memcpy((char *)out + PAGES[i].place, &number, sizeof number);
        out->has |= PAGES[i].bit;
    }
    return (out->has & OS_STATM_RESIDENT) != 0;
}
