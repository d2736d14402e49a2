/* What holds for the assertions themselves where they agree; that they fail where they must is
 * shown by the test "check_fails", which runs a program full of false claims. */
#include "check.h"

static void agreement_passes(void)
{
    CHECK(1 + 1 == 2);
    CHECK_FALSE(1 + 1 == 3);
    CHECK_NULL(NULL);
    CHECK_INT(-7, -7);
    CHECK_UINT(UINT64_MAX, UINT64_MAX);
    CHECK_NEAR(0.1 + 0.2, 0.3, 1e-12);
    CHECK_STR("abc", "abc");
    CHECK_STR(NULL, NULL);
    CHECK_CONTAINS("a needle in hay", "needle");
    CHECK_BYTES("a\0b", 3, "a\0b", 3);
    CHECK_BYTES(NULL, 0, NULL, 0);
}

static const check_test tests[] = {
    {"every assertion passes where both sides agree", agreement_passes},
};
CHECK_TESTS(tests)
