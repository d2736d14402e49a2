/* lines.h: a file of lines, one by one, without asking for memory.
 *
 * Thread rule: any thread with 64 KiB of stack left. */
#pragma once

#include "os/linux/linux.h"

typedef void line_function(struct span line, void *data);

enum { LINES_BYTES = 32 * 1024 };

/* Hands each whole line over. One of LINES_BYTES or more is passed over; a file that is longer than
 * 64 MiB is not read to there, which is -EFBIG. Returns 0 or a negative errno. */
int lines_each(const struct os *os, int root, const char *path, line_function *take, void *data);

/* As lines_each, but of a line that is too long hands over the first LINES_BYTES. */
int lines_each_part(const struct os *os, int root, const char *path, line_function *take,
                    void *data);

/* One line, as linux_read_line, as a span of `out`; negative errno is told in *error (may be NULL),
 * and the span is empty then. */
struct span lines_read(const struct os *os, int root, const char *path, char *out, size_t capacity,
                       int *error);

/* A number that a file begins with; false where there is none, and *error (may be NULL) says why,
 * 0 where it could be read. */
bool lines_u64(const struct os *os, int root, const char *path, uint64_t *out, int *error);

/* Without blanks at both ends. */
struct span lines_trim(struct span text);
