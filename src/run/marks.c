/* marks.c: see marks.h. */
#include "run/marks.h"

#include "os/os.h"
#include "util/memory.h"
#include "util/utf8.h"
#include <vitals/error.h>

#include <string.h>

struct marks {
    struct os_marks_reader reader;
    uint64_t begin_ns, now_ns;
    uint64_t left;       /* marks_left */
    uint64_t written_ns; /* when the file was written to last, by now_ns */
    uint64_t before_ns;  /* the earliest that the reading's first line can be of */
    size_t lines_read, lines_taken;
    char name[MARKS_NAME + 1];
    struct mark_lines lines;
};

/* ---- one line ---- */

/* The text between two tabs; the rest of the line if none follows. */
static struct span take_field(struct cursor *line)
{
    struct span field;
    if (cursor_until(line, '\t', &field))
        return field;
    field = (struct span){line->at, (size_t)(line->end - line->at)};
    line->at = line->end;
    return field;
}

/* A number that is the whole field, or 0. */
static uint64_t take_number(struct cursor *line)
{
    struct span field = take_field(line);
    struct cursor cursor = cursor_over(field.bytes, field.size);
    uint64_t number;
    return cursor_u64(&cursor, &number) && cursor_done(&cursor) ? number : 0;
}

bool marks_parse(struct span line, char name[static MARKS_NAME + 1], vitals_mark *out)
{
    struct cursor cursor = cursor_over(line.bytes, line.size);
    bool begins = cursor_literal(&cursor, "begin");
    if (!begins && !cursor_literal(&cursor, "end"))
        return false;
    if (cursor_done(&cursor) || (*cursor.at != ' ' && *cursor.at != '\t'))
        return false;
    cursor.at++;

    /* Controls become spaces and what is no character is left out: a name is shown in many places.
     */
    struct span field = take_field(&cursor);
    const char *at = field.bytes, *end = field.bytes + field.size;
    size_t used = 0, size;
    while (at < end) {
        uint32_t character = utf8_decode(at, end, &size);
        bool control = character < 0x20 || (character >= 0x7F && character < 0xA0);
        size_t wanted = character == UTF8_BROKEN ? 0 : control ? 1 : size;
        if (used + wanted > MARKS_NAME)
            break;
        if (control)
            name[used] = ' ';
        else
            memcpy(name + used, at, wanted);
        used += wanted;
        at += size;
    }
    while (used > 0 && name[used - 1] == ' ')
        used--;
    name[used] = '\0';
    if (used == 0)
        return false;
    *out = (vitals_mark){.begins = begins, .name = name};
    out->monotonic_ns = take_number(&cursor);
    out->told = out->monotonic_ns != 0;
    uint64_t pid = take_number(&cursor), tid = take_number(&cursor);
    out->pid = pid <= INT32_MAX ? (int64_t)pid : 0;
    out->tid = tid <= INT32_MAX ? (int64_t)tid : 0;
    return true;
}

/* ---- bytes become lines ---- */

char *mark_lines_room(struct mark_lines *lines)
{
    if (lines->kept > 0)
        memmove(lines->bytes, lines->left.end, lines->kept);
    return lines->bytes + lines->kept;
}

void mark_lines_take(struct mark_lines *lines, size_t size, bool again)
{
    size_t kept = lines->kept;
    lines->skipping |= lines->cut;
    lines->cut = false;
    if (again) { /* what was kept is no beginning of this */
        memmove(lines->bytes, lines->bytes + kept, size);
        kept = 0;
        lines->skipping = false;
    }

    /* The bytes up to the last newline are whole lines; the rest waits for its end. */
    size_t all = kept + size, whole = all;
    while (whole > 0 && lines->bytes[whole - 1] != '\n')
        whole--;
    lines->left = cursor_over(lines->bytes, whole);
    lines->kept = all - whole;
    if (lines->kept <= MARKS_LINE)
        return;
    lines->kept = 0;
    lines->cut = true;
}

bool mark_lines_next(struct mark_lines *lines, struct span *line)
{
    while (cursor_line(&lines->left, line)) {
        bool tail = lines->skipping; /* the end of one whose beginning was too long */
        lines->skipping = false;
        if (!tail && line->size <= MARKS_LINE)
            return true;
    }
    return false;
}

/* ---- the file ---- */

/* The longest time between two readings over which lines without a time are spread evenly. If it is
 * longer, the lines of a reading were written together: a waiting reader is woken at once. */
static const uint64_t SPREAD_MOST_NS = 100 * NS_PER_MS;

int marks_open(const struct os_marks *place, uint64_t begin_ns, struct marks **out)
{
    struct marks *marks = memory_alloc(sizeof(*marks));
    if (marks == NULL)
        return VITALS_EMEMORY;
    if (os_marks_open(place, &marks->reader) < 0) {
        memory_free(marks);
        return VITALS_EGONE;
    }
    marks->begin_ns = begin_ns;
    *out = marks;
    return 0;
}

int marks_descriptor(struct marks *marks)
{
    return os_marks_watch(&marks->reader);
}

bool marks_read(struct marks *marks, uint64_t now_ns)
{
    char *room = mark_lines_room(&marks->lines);
    struct os_marks_reading reading = os_marks_read(&marks->reader, room, MARKS_READING);
    uint64_t before = marks->now_ns > marks->begin_ns ? marks->now_ns : marks->begin_ns;
    marks->now_ns = now_ns;
    marks->written_ns = now_ns > reading.age_ns ? now_ns - reading.age_ns : 0;
    if (marks->written_ns < before) /* it was not there at the reading before */
        marks->written_ns = before < now_ns ? before : now_ns;
    marks->before_ns = before;
    marks->left = reading.left;
    mark_lines_take(&marks->lines, reading.size > 0 ? (size_t)reading.size : 0, reading.again);
    marks->lines_read = marks->lines_taken = 0;
    for (const char *at = marks->lines.left.at; at < marks->lines.left.end; at++)
        marks->lines_read += *at == '\n';
    return reading.size == MARKS_READING;
}

uint64_t marks_left(const struct marks *marks)
{
    return marks->left;
}

bool marks_next(struct marks *marks, vitals_mark *out)
{
    struct span line;
    while (mark_lines_next(&marks->lines, &line)) {
        marks->lines_taken++;
        if (line.size == 0 || !marks_parse(line, marks->name, out))
            continue;
        if (out->told && out->monotonic_ns >= marks->begin_ns && out->monotonic_ns <= marks->now_ns)
            return true;

        /* No time was told, or one of another time namespace or boot, or an invented one: the
         * file's modification time, which is that of its last line. Lines before it are spread
         * evenly since the reading before, if that was a short time ago. */
        uint64_t before = marks->before_ns, last = marks->written_ns;
        uint64_t span = last > before ? last - before : 0;
        bool spread = span <= SPREAD_MOST_NS && marks->lines_taken < marks->lines_read;
        out->told = 0;
        out->monotonic_ns = spread ? before + span * marks->lines_taken / marks->lines_read : last;
        return true;
    }
    return false;
}

void marks_close(struct marks *marks)
{
    if (marks == NULL)
        return;
    os_marks_close(&marks->reader);
    memory_free(marks);
}
