/* What differs between two snapshots' bytes: it comes back as it was, is small where little
 * differs, and nonsense in its place is refused. */
#include "check.h"

#include "record/frame/delta.h"

static uint64_t state = 7;

static uint64_t any(uint64_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % limit;
}

static void comes_back(const char *old, size_t old_size, const char *fresh, size_t size)
{
    struct delta_base base = {.places = NULL};
    struct text delta = {0}, back = {0};
    CHECK(delta_base_set(&base, old, old_size));
    CHECK(delta_make(&base, fresh, size, &delta));
    CHECK(delta_read(&base.bytes, delta.bytes, delta.size, size, &back));
    CHECK_UINT(back.size, size);
    CHECK(size == 0 || memcmp(back.bytes, fresh, size) == 0);
    if (size > 0)
        CHECK_FALSE(delta_read(&base.bytes, delta.bytes, delta.size, size - 1, &back));
    text_done(&delta);
    text_done(&back);
    delta_base_done(&base);
}

static void everything_comes_back(void)
{
    static char old[4096], fresh[8192];
    for (int round = 0; round < 2000; round++) {
        size_t old_size = any(any(2) ? 64 : sizeof old), size = 0;
        for (size_t i = 0; i < old_size; i++)
            old[i] = (char)any(any(2) ? 3 : 256);
        while (size + 300 < sizeof fresh && any(40) != 0) {
            size_t length = any(200), from = old_size > 0 ? any(old_size) : 0;
            bool copy = any(3) != 0 && old_size > 0;
            for (size_t i = 0; i < length; i++)
                fresh[size + i] = copy ? old[(from + i) % old_size] : (char)any(256);
            size += length;
        }
        comes_back(old, old_size, fresh, size);
    }
}

static void little_that_differs_is_little(void)
{
    static char old[100000], fresh[100000];
    struct delta_base base = {.places = NULL};
    struct text delta = {0};
    for (size_t i = 0; i < sizeof old; i++)
        old[i] = fresh[i] = (char)any(256);
    for (size_t i = 0; i < 20; i++)
        fresh[any(sizeof fresh)] ^= 1;
    CHECK(delta_base_set(&base, old, sizeof old));
    CHECK(delta_make(&base, fresh, sizeof fresh, &delta));
    CHECK(delta.size < 21 * 64);
    text_done(&delta);
    delta_base_done(&base);
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
    struct text base = {0}, out = {0};
    CHECK_INT(text_write(&base, "12345678", 8), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_FALSE(delta_read(&base, cases[i].bytes, cases[i].size, 1000, &out));
    for (int round = 0; round < 20000; round++) {
        char bytes[24];
        size_t size = any(sizeof bytes);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (char)any(any(2) ? 12 : 256);
        if (delta_read(&base, bytes, size, 64, &out))
            CHECK(out.size <= 64);
    }
    text_done(&base);
    text_done(&out);
}

static const check_test tests[] = {
    {"everything comes back", everything_comes_back},
    {"little that differs is little", little_that_differs_is_little},
    {"nonsense is refused", nonsense_is_refused},
};
CHECK_TESTS(tests)
