/* The wire: whatever is written comes out as the same lines, in whatever pieces it came, and a
 * usage that stands in one is read without harm. The first byte says how large the pieces are. */
#include "export/usage_line.h"
#include "export/wire.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_usage(const char *line, size_t size)
{
    double value;
    json_t *document = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    struct usage_line *told = usage_line_new(json_object_get(document, "usage"));
    const struct usage_line_subject *tree = usage_line_find(told, VITALS_SCOPE_TREE, "");
    if (usage_value(tree, VITALS_MEASURE_CPU_SECONDS, &value) > 0 && value != value)
        abort();
    usage_line_unref(told);
    json_decref(document);
}

/* The next line is the next of the input; all of it up to `at` was given. */
static void check_line(const uint8_t *data, size_t size, size_t *at, const char *line, size_t count)
{
    const uint8_t *newline = memchr(data + *at, '\n', size - *at);
    if (newline == NULL || (size_t)(newline - data) - *at != count || line[count] != '\0' ||
        memcmp(data + *at, line, count) != 0)
        abort();
    *at += count + 1;
    read_usage(line, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    if (size < 1 || size > 32768 || pipe2(ends, O_NONBLOCK) < 0)
        return 0;
    size_t piece = (size_t)data[0] + 1, sent = 1, at = 1, count;
    struct wire *wire = wire_new(ends[0], WIRE_LINE_MAX);
    char *line;
    int got = 0;
    while (wire != NULL && got >= 0) {
        size_t step = size - sent < piece ? size - sent : piece;
        if (step > 0 && write(ends[1], data + sent, step) != (ssize_t)step)
            abort();
        sent += step;
        if (step == 0 && ends[1] >= 0) {
            close(ends[1]);
            ends[1] = -1;
        }
        while ((got = wire_next(wire, &line, &count)) > 0)
            check_line(data, size, &at, line, count);
    }
    if (wire != NULL && memchr(data + at, '\n', size - at) != NULL)
        abort(); /* a line was not given */
    wire_free(wire);
    close(ends[0]);
    if (ends[1] >= 0)
        close(ends[1]);
    return 0;
}
