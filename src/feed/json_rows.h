/* json_rows.h: where the rows of a document stand, so that each can be read by itself.
 *
 * A tree of a whole document takes ten times its bytes; that of a row is gone before the next one
 * is made. The rest of the document, the frame, holds the number of a row in each row's place, so
 * the document is JSON exactly where the frame is and each row is. Only bytes are looked at:
 * whether any of it is JSON is for the reader of the pieces to say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct json_row {
    size_t at, size; /* in the document */
    bool read;       /* the reader's: it has been */
};

struct json_rows {
    struct json_row *rows;
    size_t count;
    char *frame;
    size_t frame_size;
};

/* Finds the objects that are elements of the lists in the member "tables". 1: all of them are in
 * *out, yours to json_rows_done. 0: there is nothing to take out, or an element is no object.
 * EMEMORY. */
int json_rows_find(const char *bytes, size_t size, struct json_rows *out);

void json_rows_done(struct json_rows *rows); /* accepts zeros */
