/* lines.c: see lines.h. */
#include "os/linux/lines.h"

#include "os/linux/machine/host_files.h"

#include <errno.h>
#include <string.h>

// A file that never ends, as /dev/zero in the place of one, must not keep a thread for ever.
enum { FILE_BYTES = 64 * 1024 * 1024 };

static int each(const struct os *os, int root, const char *path, line_function *take, void *data,
                bool parts)
{
    char bytes[LINES_BYTES];
    size_t held = 0;
    uint64_t offset = 0;
    bool skipping = false;
    int64_t size;
    int descriptor = linux_open(os, root, path, 0);
    if (descriptor < 0)
        return descriptor;
    while ((size = linux_read(descriptor, bytes + held, sizeof bytes - held, offset)) > 0) {
        if ((uint64_t)size > FILE_BYTES - offset) {
            linux_trace(os, path, EFBIG);
            size = -EFBIG;
            break;
        }
        offset += (uint64_t)size;
        held += (size_t)size;
        struct cursor text = cursor_over(bytes, held);
        const char *rest = bytes;
        for (struct span line; host_line(&text, &line); rest = text.at) {
            if (!skipping)
                take(line, data);
            skipping = false;
        }
        held = (size_t)(bytes + held - rest);
        if (held == sizeof bytes) {
            if (parts && !skipping)
                take((struct span){bytes, held}, data);
            held = 0;
            skipping = true;
        }
        memmove(bytes, rest, held);
    }
    os_close_descriptor(descriptor);
    return (int)size;
}

int lines_each(const struct os *os, int root, const char *path, line_function *take, void *data)
{
    return each(os, root, path, take, data, false);
}

int lines_each_part(const struct os *os, int root, const char *path, line_function *take,
                    void *data)
{
    return each(os, root, path, take, data, true);
}

struct span lines_read(const struct os *os, int root, const char *path, char *out, size_t capacity,
                       int *error)
{
    int64_t size = root >= 0 ? linux_read_line(os, root, path, out, capacity) : -ENOENT;
    if (error != NULL)
        *error = size < 0 ? (int)size : 0;
    return (struct span){out, size > 0 ? (size_t)size : 0};
}

bool lines_u64(const struct os *os, int root, const char *path, uint64_t *out, int *error)
{
    char text[64];
    struct span line = lines_read(os, root, path, text, sizeof text, error);
    struct cursor at = cursor_over(line.bytes, line.size);
    return cursor_u64(&at, out);
}

struct span lines_trim(struct span text)
{
    while (text.size > 0 && (*text.bytes == ' ' || *text.bytes == '\t')) {
        text.bytes++;
        text.size--;
    }
    while (text.size > 0 && (text.bytes[text.size - 1] == ' ' || text.bytes[text.size - 1] == '\t'))
        text.size--;
    return text;
}
