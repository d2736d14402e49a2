/* marks.h: reads the marks that the processes of a run write, line by line.
 *
 *     marks_open ──► marks_read (new lines) ──► marks_next … ──► marks_close
 *
 * The lines are the job's: a line that is malformed, too long or from another run is skipped and
 * counted, and an impossible time is replaced by the file's modification time. One call reads a
 * bounded amount, so that a job that floods the file cannot stop the sampling; the next call reads
 * the rest. Thread rule: one thread at a time. */
#pragma once

#include "os/marks.h"
#include "util/cursor.h"
#include <vitals/run.h>

enum { MARKS_NAME = 200, MARKS_LINE = 1024, MARKS_READING = 1 << 16 };

struct marks;

/* The sampler's side of a file that os_marks_make made; `begin_ns`: moments before it cannot be.
 * Errors: EMEMORY, EGONE, ESYSTEM. */
int marks_open(const struct os_marks *place, uint64_t begin_ns, struct marks **out);

/* Can be read once something was written (os_watch_add it); -1: the kernel does not tell, and
 * each tick asks. It stays readable until marks_read. The first call makes it, and then it costs
 * 10 to 20 ms to close (os/marks.h). */
int marks_descriptor(struct marks *marks);

/* Reads what was written since; true: more is there than one reading takes. */
bool marks_read(struct marks *marks, uint64_t now_ns);

/* How many bytes the file had beyond those of the last reading. */
uint64_t marks_left(const struct marks *marks);

/* The next mark of the reading; false after the last. The name is safe to print and lives until the
 * next call. */
bool marks_next(struct marks *marks, vitals_mark *out);

/* Accepts NULL. */
void marks_close(struct marks *marks);

/* Bytes on their way to lines: put to marks_room, of which there are MARKS_READING, then taken. */
struct mark_lines {
    struct cursor left; /* whole lines of what was taken */
    size_t kept;        /* behind them: a line whose end is not there yet */
    bool skipping;      /* a line that is too long: until its end */
    bool cut;           /* one that begins behind `left` is */
    char bytes[MARKS_LINE + MARKS_READING];
};

/* Moves the kept part of a line to the front; the room for more begins behind it. */
char *mark_lines_room(struct mark_lines *lines);

/* `again`: the bytes do not go on where the ones before ended. */
void mark_lines_take(struct mark_lines *lines, size_t size, bool again);
bool mark_lines_next(struct mark_lines *lines, struct span *line);

/* One line without its newline. False where it is no mark. out->name points to `name`. */
bool marks_parse(struct span line, char name[static MARKS_NAME + 1], vitals_mark *out);
