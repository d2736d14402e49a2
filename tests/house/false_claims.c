/* Claims that do not hold: harness.py runs this program and sees every one of them reported.
 * Not a test of its own, and listed nowhere as one. */
#include "check.h"

#include <signal.h>

static void condition(void)
{
    CHECK(1 + 1 == 3);
}

static void integer(void)
{
    CHECK_INT(1 + 1, 3);
}

static void large_integer(void)
{
    CHECK_UINT(UINT64_MAX, 255);
}

static void near(void)
{
    CHECK_NEAR(1.5, 1.0, 0.25);
}

static void not_a_number(void)
{
    double zero = 0;
    CHECK_NEAR(zero / zero, 0.0, 1.0);
}

static void string(void)
{
    CHECK_STR("a\nb", "a b");
}

static void null_string(void)
{
    const char *nothing = NULL;
    CHECK_STR(nothing, "a");
}

static void bytes(void)
{
    CHECK_BYTES("a\0b", 3, "a\0c", 3);
}

static void part(void)
{
    CHECK_CONTAINS("hay", "needle");
}

static void result(void)
{
    struct {
        char message[32];
    } error = {"the disk is full"};
    CHECK_OK(-3, error);
}

static void table_row(void)
{
    static const struct {
        const char *name;
        int value;
    } rows[] = {{"first", 1}, {"second", 3}};
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].name);
        CHECK_INT(rows[i].value, (int)i + 1);
    }
}

static void skipped(void)
{
    CHECK_SKIP("no such hardware");
}

/* Last, as nothing comes after it. */
static void crash(void)
{
    CHECK_CASE("boom");
    raise(SIGSEGV);
}

static const check_test tests[] = {
    {"condition", condition},
    {"integer", integer},
    {"large integer", large_integer},
    {"near", near},
    {"not a number", not_a_number},
    {"string", string},
    {"null string", null_string},
    {"bytes", bytes},
    {"part", part},
    {"result", result},
    {"table row", table_row},
    {"skipped", skipped},
    {"crash", crash},
};
CHECK_TESTS(tests)
