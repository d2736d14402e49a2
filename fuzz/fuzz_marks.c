/* A file of marks, in pieces as a reader meets it: the first byte says how large they are. Each
 * name that comes out is printable, of at most 200 bytes, and reads back as the same. */
#include "run/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_mark(const vitals_mark *mark)
{
    char line[MARKS_NAME + 64], name[MARKS_NAME + 1];
    vitals_mark again;
    size_t size = strlen(mark->name);
    if (size == 0 || size > MARKS_NAME || mark->pid < 0 || mark->tid < 0)
        abort();
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)mark->name[i] < 0x20 || mark->name[i] == 0x7F)
            abort();
    }
    int used = snprintf(line, sizeof(line), "%s\t%s", mark->begins ? "begin" : "end", mark->name);
    if (!marks_parse((struct span){line, (size_t)used}, name, &again) ||
        strcmp(name, mark->name) != 0 || again.begins != mark->begins)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct mark_lines lines;
    static char name[MARKS_NAME + 1];
    size_t piece = size > 0 && data[0] != 0 ? data[0] : MARKS_READING;
    lines.left = (struct cursor){
        0}; /* the bytes behind stay: to clear 65 kB took nearly all time */
    lines.kept = 0;
    lines.skipping = lines.cut = false;
    for (size_t at = 0; at < size;) {
        size_t next = size_min(piece, size - at);
        memcpy(mark_lines_room(&lines), data + at, next);
        mark_lines_take(&lines, next, false);
        struct span line;
        vitals_mark mark;
        while (mark_lines_next(&lines, &line)) {
            if (line.size > MARKS_LINE)
                abort();
            if (marks_parse(line, name, &mark))
                check_mark(&mark);
        }
        at += next;
    }
    return 0;
}
