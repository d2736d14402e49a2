/* buffer.h: bytes that grow at the end; what files are read into and documents are written to.
 *
 * An append that fails for want of memory sets `failed` and every later one does nothing, so a
 * writer checks once, at the end. Always NUL-terminated where bytes is not NULL.
 * Thread rule: one thread at a time. */
#pragma once

#include "util/base.h"
#include <stdarg.h>

struct buffer {
    char *bytes;
    size_t size;
    size_t capacity;
    unsigned calm; /* times in a row that it was emptied while it was large and hardly used */
    bool failed;
};

/* A buffer of zeros is empty and usable. */

/* Room for `extra` more bytes after `size` and a NUL; returns where they go, or NULL. */
char *buffer_reserve(struct buffer *buffer, size_t extra);

/* Counts `written` of the bytes that were reserved, and puts the NUL behind them. */
void buffer_advance(struct buffer *buffer, size_t written);

void buffer_append(struct buffer *buffer, const void *bytes, size_t size);
void buffer_string(struct buffer *buffer, const char *string);
void buffer_byte(struct buffer *buffer, char byte);
void buffer_u64(struct buffer *buffer, uint64_t value);
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Empties, and keeps the memory, but not for ever that of one document that was much larger. */
void buffer_reset(struct buffer *buffer);
void buffer_done(struct buffer *buffer);
