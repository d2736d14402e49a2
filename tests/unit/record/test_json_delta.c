/* Deltas of JSON in recordings of earlier versions: read, and refused if they are broken. */
#include "check.h"

#include "record/frame/frame.h"

static uint64_t state = 7;

static uint64_t any(uint64_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % limit;
}

static void parts_are_copied_and_inserted(void)
{
    struct buffer base = {0}, out = {0};
    CHECK_INT(text_write(&base, "12345678", 8), 0);
    CHECK(json_delta_read(&base, "\x00\x00\x03\x02zz\x06\x02\x01!\x00\x00", 12, 8, &out));
    CHECK_UINT(out.size, 8);
    CHECK(memcmp(out.bytes, "123zz78!", 8) == 0);
    CHECK_FALSE(json_delta_read(&base, "\x00\x00\x08", 3, 7, &out)); /* larger than `most` */
    buffer_done(&base);
    buffer_done(&out);
}

static void nonsense_is_refused(void)
{
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
        {"\x01", 1},
        {"\x05"
         "ab",
         3},
        {"\x00\x00", 2},
        {"\x00\x09\x01", 3},
        {"\x00\x00\x09", 3},
        {"\x80\x80\x80\x80\x80\x80\x01", 7},
        {"\xff", 1},
        {"\x01z\x07\x02", 4},
    };
    struct buffer base = {0}, out = {0};
    CHECK_INT(text_write(&base, "12345678", 8), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_FALSE(json_delta_read(&base, cases[i].bytes, cases[i].size, 1000, &out));
    for (int round = 0; round < 20000; round++) {
        char bytes[24];
        size_t size = any(sizeof bytes);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (char)any(any(2) ? 12 : 256);
        if (json_delta_read(&base, bytes, size, 64, &out))
            CHECK(out.size <= 64);
    }
    buffer_done(&base);
    buffer_done(&out);
}

static const check_test tests[] = {
    {"parts are copied and inserted", parts_are_copied_and_inserted},
    {"nonsense is refused", nonsense_is_refused},
};
CHECK_TESTS(tests)
