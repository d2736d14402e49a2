/* buffer.c: see buffer.h. Doubles, so that n appends cost n. */
#include "util/buffer.h"

#include "util/memory.h"
#include "util/number.h"

#include <stdio.h>
#include <string.h>

enum { CAPACITY_MIN = 64, LARGE = 256 * 1024, CALM = 6 };

char *buffer_reserve(struct buffer *buffer, size_t extra)
{
    if (buffer->failed)
        return NULL;
    if (extra < buffer->capacity - buffer->size)
        return buffer->bytes + buffer->size;
    if (extra >= PTRDIFF_MAX - buffer->size) {
        buffer->failed = true;
        return NULL;
    }
    size_t capacity = size_max(size_max(buffer->capacity * 2, buffer->size + extra + 1),
                               CAPACITY_MIN);
    char *bytes = memory_resize(buffer->bytes, capacity, 1);
    if (bytes == NULL) {
        buffer->failed = true;
        return NULL;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    bytes[buffer->size] = '\0';
    return bytes + buffer->size;
}

void buffer_advance(struct buffer *buffer, size_t written)
{
    buffer->size += written;
    buffer->bytes[buffer->size] = '\0';
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
    char *at = buffer_reserve(buffer, size);
    if (at == NULL)
        return;
    if (size != 0)
        memcpy(at, bytes, size);
    buffer_advance(buffer, size); /* of nothing too: the caller may have set the size back */
}

void buffer_string(struct buffer *buffer, const char *string)
{
    buffer_append(buffer, string, strlen(string));
}

void buffer_byte(struct buffer *buffer, char byte)
{
    buffer_append(buffer, &byte, 1);
}

void buffer_u64(struct buffer *buffer, uint64_t value)
{
    char *at = buffer_reserve(buffer, NUMBER_TEXT);
    if (at != NULL)
        buffer_advance(buffer, number_print_u64(at, value));
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    char *at = size < 0 ? NULL : buffer_reserve(buffer, (size_t)size);
    if (at != NULL) {
        vsnprintf(at, (size_t)size + 1, format, again);
        buffer_advance(buffer, (size_t)size);
    } else {
        buffer->failed = true;
    }
    va_end(again);
    va_end(arguments);
}

void buffer_reset(struct buffer *buffer)
{
    bool calm = buffer->capacity >= LARGE && buffer->size < buffer->capacity / 8;
    buffer->calm = calm ? buffer->calm + 1 : 0;
    struct buffer less = {.capacity = buffer->capacity / 8};
    if (buffer->calm == CALM && (less.bytes = memory_resize(buffer->bytes, less.capacity, 1)))
        *buffer = less;
    buffer->size = 0;
    buffer->failed = false;
    if (buffer->bytes != NULL)
        buffer->bytes[0] = '\0';
}

void buffer_done(struct buffer *buffer)
{
    memory_free(buffer->bytes);
    *buffer = (struct buffer){0};
}
