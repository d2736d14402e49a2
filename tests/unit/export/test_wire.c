/* Lines that come over the pipe, in pieces, too long, and without an end. */
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

#include "export/wire.h"

struct pipe {
    int ends[2];
    struct wire *wire;
};

static void open_pipe(struct pipe *pipe_of)
{
    CHECK_INT(pipe2(pipe_of->ends, O_NONBLOCK), 0);
    pipe_of->wire = wire_new(pipe_of->ends[0], WIRE_LINE_MAX);
    CHECK_NOT_NULL(pipe_of->wire);
}

static void put(struct pipe *pipe_of, const char *bytes)
{
    CHECK_INT(write(pipe_of->ends[1], bytes, strlen(bytes)), (long)strlen(bytes));
}

static void close_pipe(struct pipe *pipe_of)
{
    wire_free(pipe_of->wire);
    close(pipe_of->ends[0]);
}

static void lines_come_whole(void)
{
    struct pipe pipe_of;
    char *line;
    size_t size;
    open_pipe(&pipe_of);
    CHECK_INT(wire_next(pipe_of.wire, &line, &size), 0);
    put(&pipe_of, "on");
    CHECK_INT(wire_next(pipe_of.wire, &line, &size), 0);
    put(&pipe_of, "e\n\ntwo\nthr");
    CHECK_INT(wire_next(pipe_of.wire, &line, &size), 1);
    CHECK_STR(line, "one");
    CHECK_UINT(size, 3);
    CHECK_INT(wire_next(pipe_of.wire, &line, &size), 1);
    CHECK_STR(line, "");
    CHECK_INT(wire_next(pipe_of.wire, &line, &size), 1);
    CHECK_STR(line, "two");
    CHECK_INT(wire_next(pipe_of.wire, &line, &size), 0);
    close(pipe_of.ends[1]);
    CHECK_INT(wire_next(pipe_of.wire, &line, &size), -1);
    CHECK_INT(wire_next(pipe_of.wire, &line, &size), -1);
    CHECK_UINT(wire_passed_over(pipe_of.wire), 1); /* what had no end */
    close_pipe(&pipe_of);
}

/* Without an end to what is kept of it. */
static void a_line_that_is_too_long_is_passed_over(void)
{
    enum { PIECE = 32 * 1024 };
    static char piece[PIECE + 1];
    struct pipe pipe_of;
    char *line;
    size_t size;
    open_pipe(&pipe_of);
    memset(piece, 'x', PIECE);
    for (size_t sent = 0; sent <= (size_t)WIRE_LINE_MAX + 8 * PIECE; sent += PIECE) {
        put(&pipe_of, piece);
        CHECK_INT(wire_next(pipe_of.wire, &line, &size), 0);
    }
    put(&pipe_of, "end of it\nnext\n");
    int got;
    while ((got = wire_next(pipe_of.wire, &line, &size)) == 0)
        ;
    CHECK_INT(got, 1);
    CHECK_STR(line, "next");
    CHECK_UINT(wire_passed_over(pipe_of.wire), 1);
    close(pipe_of.ends[1]);
    close_pipe(&pipe_of);
}

static void a_line_may_be_large(void)
{
    enum { LARGE = 3 * 1024 * 1024, PIECE = 60 * 1000 };
    static char large[LARGE + 1];
    struct pipe pipe_of;
    char *line;
    size_t size;
    int got = 0;
    open_pipe(&pipe_of);
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)('a' + i % 26);
    large[LARGE - 1] = '\n';
    for (size_t sent = 0; sent < LARGE; sent += PIECE) {
        size_t step = LARGE - sent < PIECE ? LARGE - sent : PIECE;
        CHECK_INT(got, 0);
        CHECK_INT(write(pipe_of.ends[1], large + sent, step), (long)step);
        got = wire_next(pipe_of.wire, &line, &size);
    }
    while (got == 0)
        got = wire_next(pipe_of.wire, &line, &size);
    CHECK_INT(got, 1);
    CHECK_UINT(size, LARGE - 1);
    CHECK(memcmp(line, large, size) == 0);
    close(pipe_of.ends[1]);
    close_pipe(&pipe_of);
}

/* As between two answers of each of a thousand machines. */
static void what_is_empty_takes_no_memory(void)
{
    struct pipe pipe_of;
    char *line;
    size_t size;
    open_pipe(&pipe_of);
    for (int i = 0; i < 3; i++) {
        put(&pipe_of, "one\nt");
        CHECK_INT(wire_next(pipe_of.wire, &line, &size), 1);
        CHECK_INT(wire_next(pipe_of.wire, &line, &size), 0);
        CHECK(wire_held(pipe_of.wire) > 0); /* half a line */
        put(&pipe_of, "wo\n");
        CHECK_INT(wire_next(pipe_of.wire, &line, &size), 1);
        CHECK_STR(line, "two");
        CHECK_INT(wire_next(pipe_of.wire, &line, &size), 0);
        CHECK_UINT(wire_held(pipe_of.wire), 0);
    }
    close(pipe_of.ends[1]);
    close_pipe(&pipe_of);
}

static const check_test tests[] = {
    {"lines come whole", lines_come_whole},
    {"a line that is too long is passed over", a_line_that_is_too_long_is_passed_over},
    {"a line may be large", a_line_may_be_large},
    {"what is empty takes no memory", what_is_empty_takes_no_memory},
};
CHECK_TESTS(tests)
