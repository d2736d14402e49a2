/* The buffer: appends, always ends in NUL, and remembers that memory ran out. */
#include "check.h"

#include "util/buffer.h"
#include "util/memory.h"

static void fill(struct buffer *buffer)
{
    buffer_string(buffer, "pid ");
    buffer_u64(buffer, UINT64_MAX);
    buffer_byte(buffer, ' ');
    for (int i = 0; i < 100; i++)
        buffer_byte(buffer, '-');
    buffer_format(buffer, " %s=%d", "x", 7);
    buffer_append(buffer, NULL, 0);
    char *at = buffer_reserve(buffer, 3);
    if (at != NULL) {
        memcpy(at, "end", 3);
        buffer_advance(buffer, 3);
    }
}

static void appends_stand_in_order(void)
{
    struct buffer buffer = {0};
    fill(&buffer);
    CHECK_FALSE(buffer.failed);
    char expected[200] = "pid 18446744073709551615 ";
    memset(expected + strlen(expected), '-', 100);
    strcat(expected, " x=7end");
    CHECK_STR(buffer.bytes, expected);
    CHECK_UINT(buffer.size, strlen(expected));
    buffer_done(&buffer);
    CHECK_NULL(buffer.bytes);
}

static void it_ends_in_nul_at_every_size(void)
{
    struct buffer buffer = {0};
    for (size_t i = 0; i < 1000; i++) {
        buffer_byte(&buffer, 'x');
        CHECK_UINT(strlen(buffer.bytes), i + 1);
    }
    buffer_done(&buffer);
}

static void nothing_ends_in_nul_too(void)
{
    struct buffer buffer = {0};
    buffer_append(&buffer, NULL, 0);
    CHECK_STR(buffer.bytes, "");
    buffer_string(&buffer, "before");
    buffer.size = 0;
    buffer_string(&buffer, "");
    CHECK_STR(buffer.bytes, "");
    buffer_done(&buffer);
}

static void reset_keeps_the_memory(void)
{
    struct buffer buffer = {0};
    buffer_reset(&buffer);
    fill(&buffer);
    uint64_t asked = memory_asked();
    buffer_reset(&buffer);
    CHECK_UINT(buffer.size, 0);
    CHECK_STR(buffer.bytes, "");
    fill(&buffer);
    CHECK_UINT(memory_asked(), asked);
    buffer_done(&buffer);
}

/* After one document that was much larger than the others; not where large ones come again. */
static void reset_keeps_no_burst(void)
{
    enum { LARGE = 1 << 20, TIMES = 20 };
    struct buffer buffer = {0};
    for (int i = 0; i < TIMES; i++) {
        CHECK_NOT_NULL(buffer_reserve(&buffer, LARGE));
        buffer_advance(&buffer, i % 5 == 0 ? LARGE : 10);
        buffer_reset(&buffer);
        CHECK(buffer.capacity >= LARGE);
    }
    for (int i = 0; i < TIMES; i++) {
        fill(&buffer);
        buffer_reset(&buffer);
        CHECK_STR(buffer.bytes, "");
    }
    CHECK(buffer.capacity < LARGE / 4);
    fill(&buffer);
    CHECK_FALSE(buffer.failed);
    buffer_done(&buffer);
}

static void a_size_beyond_memory_fails(void)
{
    struct buffer buffer = {0};
    buffer_string(&buffer, "kept");
    CHECK_NULL(buffer_reserve(&buffer, SIZE_MAX));
    CHECK(buffer.failed);
    buffer_string(&buffer, " not");
    CHECK_STR(buffer.bytes, "kept");
    buffer_done(&buffer);
}

static void every_failed_allocation_is_survived(void)
{
    int64_t live = memory_live();
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        struct buffer buffer = {0};
        memory_fail_at(nth);
        fill(&buffer);
        memory_fail_at(0);
        failed = buffer.failed;
        if (buffer.bytes != NULL)
            CHECK_UINT(strlen(buffer.bytes), buffer.size);
        buffer_done(&buffer);
        CHECK_INT(memory_live(), live);
        CHECK(nth < 10);
    }
}

static const check_test tests[] = {
    {"appends stand in order", appends_stand_in_order},
    {"it ends in NUL at every size", it_ends_in_nul_at_every_size},
    {"nothing ends in NUL too", nothing_ends_in_nul_too},
    {"reset keeps the memory", reset_keeps_the_memory},
    {"reset keeps no burst", reset_keeps_no_burst},
    {"a size beyond memory fails", a_size_beyond_memory_fails},
    {"every failed allocation is survived", every_failed_allocation_is_survived},
};
CHECK_TESTS(tests)
