/* wire.c: see wire.h. */
#include "export/wire.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024 };

struct wire {
    int descriptor;
    size_t most; /* bytes of a line */
    bool ended;
    bool skipping; /* inside a line that is too long */
    char *bytes;
    size_t capacity, used;
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
    free(wire->bytes);
    free(wire);
}

/* Returns a complete line of the bytes that were read. */
static bool take_line(struct wire *wire, char **line, size_t *size)
{
    while (wire->looked < wire->used) {
        char *from = wire->bytes + wire->looked;
        char *newline = memchr(from, '\n', wire->used - wire->looked);
        if (newline == NULL) {
            wire->looked = wire->used;
            return false;
        }
        *line = wire->bytes + wire->begin;
        *size = (size_t)(newline - *line);
        *newline = '\0';
        wire->begin = wire->looked = (size_t)(newline - wire->bytes) + 1;
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
    if (wire->begin > 0) {
        memmove(wire->bytes, wire->bytes + wire->begin, wire->used - wire->begin);
        wire->used -= wire->begin;
        wire->looked -= wire->begin;
        wire->begin = 0;
    }
    if (wire->used > wire->most || (wire->skipping && wire->used > 0)) {
        wire->passed_over += !wire->skipping;
        wire->skipping = true;
        wire->used = wire->looked = 0;
    }
    if (wire->capacity - wire->used < CHUNK) {
        size_t capacity = wire->capacity > 0 ? wire->capacity * 2 : 2 * (size_t)CHUNK;
        char *bytes = realloc(wire->bytes, capacity);
        if (bytes == NULL)
            return -1;
        wire->bytes = bytes;
        wire->capacity = capacity;
    }

    ssize_t count;
    do {
        count = read(wire->descriptor, wire->bytes + wire->used, wire->capacity - wire->used);
    } while (count < 0 && errno == EINTR);
    if (count < 0 && errno == EAGAIN) {
        if (wire->used == 0) {
            free(wire->bytes);
            wire->bytes = NULL;
            wire->capacity = 0;
        }
        return 0;
    }
    if (count <= 0) {
        wire->ended = true;
        wire->passed_over += wire->used > wire->begin;
        return -1;
    }
    wire->used += (size_t)count;
    return take_line(wire, line, size) ? 1 : 0;
}

uint64_t wire_passed_over(const struct wire *wire)
{
    return wire->passed_over;
}

size_t wire_held(const struct wire *wire)
{
    return wire->capacity;
}
