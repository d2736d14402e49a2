/* wire.c: see wire.h. */
#include "export/wire.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/buffer.h"

enum { CHUNK = 64 * 1024 };

struct wire {
    int descriptor;
    size_t most; /* bytes of a line */
    bool ended;
    bool skipping; /* inside a line that is too long */
    struct buffer read;
    size_t begin;  /* start of the next line */
    size_t looked; /* there is no newline between begin and here */
    uint64_t passed_over;
};

struct wire *wire_new(int descriptor, size_t most)
{
    struct wire *wire = calloc(1, sizeof *wire);
    if (wire != NULL)
        *wire = (struct wire){.descriptor = descriptor, .most = most};
    return wire;
}

void wire_free(struct wire *wire)
{
    if (wire == NULL)
        return;
    buffer_done(&wire->read);
    free(wire);
}

/* Returns a complete line of the bytes that were read. */
static bool take_line(struct wire *wire, char **line, size_t *size)
{
    while (wire->looked < wire->read.size) {
        char *from = wire->read.bytes + wire->looked;
        char *newline = memchr(from, '\n', wire->read.size - wire->looked);
        if (newline == NULL) {
            wire->looked = wire->read.size;
            return false;
        }
        *line = wire->read.bytes + wire->begin;
        *size = (size_t)(newline - *line);
        *newline = '\0';
        wire->begin = wire->looked = (size_t)(newline - wire->read.bytes) + 1;
        bool skipped = wire->skipping;
        wire->skipping = false;
        wire->passed_over += !skipped && *size > wire->most;
        if (!skipped && *size <= wire->most)
            return true;
    }
    return false;
}

int wire_next(struct wire *wire, char **line, size_t *size)
{
    if (take_line(wire, line, size))
        return 1;
    if (wire->ended)
        return -1;

    /* Makes room by removing returned lines and lines that are too long. */
    struct buffer *text = &wire->read;
    if (wire->begin > 0 && wire->begin == text->size) {
        buffer_reset(text);
    } else if (wire->begin > 0) {
        memmove(text->bytes, text->bytes + wire->begin, text->size - wire->begin);
        text->size -= wire->begin;
    }
    wire->looked -= wire->begin;
    wire->begin = 0;
    if (text->size > wire->most || (wire->skipping && text->size > 0)) {
        wire->passed_over += !wire->skipping;
        wire->skipping = true;
        text->size = wire->looked = 0;
    }
    char *room = buffer_reserve(text, CHUNK);
    if (room == NULL)
        return -1;

    ssize_t count;
    do {
        count = read(wire->descriptor, room, text->capacity - text->size - 1);
    } while (count < 0 && errno == EINTR);
    if (count < 0 && errno == EAGAIN) {
        if (text->size == 0)
            buffer_done(text);
        return 0;
    }
    if (count <= 0) {
        wire->ended = true;
        wire->passed_over += text->size > wire->begin;
        return -1;
    }
    buffer_advance(text, (size_t)count);
    return take_line(wire, line, size) ? 1 : 0;
}

uint64_t wire_passed_over(const struct wire *wire)
{
    return wire->passed_over;
}

size_t wire_held(const struct wire *wire)
{
    return wire->read.capacity;
}
