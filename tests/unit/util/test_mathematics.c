/* Rounding and comparing, which the command does without libm (feed/mathematics.c). */
#include "check.h"

#include <float.h>
#include <limits.h>
#include <math.h>

static void halves_go_away_from_zero(void)
{
    static const double GIVEN[][2] = {
        {0, 0},
        {0.5, 1},
        {-0.5, -1},
        {2.5, 3},
        {-2.5, -3},
        {0.49999999999999994, 0}, /* where adding a half would give 1 */
        {-0.49999999999999994, 0},
        {4503599627370495.5, 4503599627370496},
        {4503599627370497.0, 4503599627370497},
        {-9007199254740993.0, -9007199254740992},
        {DBL_MAX, DBL_MAX},
        {DBL_MIN, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(GIVEN); i++) {
        volatile double given = GIVEN[i][0];
        CHECK(!(round(given) < GIVEN[i][1]) && !(round(given) > GIVEN[i][1]));
        CHECK(!!signbit(round(given)) == !!signbit(given));
        if (fabs(given) < 1e15) {
            CHECK_INT(llround(given), (long long)GIVEN[i][1]);
            CHECK_INT(lround(given), (long)GIVEN[i][1]);
        }
    }
}

static void what_is_no_number_stays_so(void)
{
    volatile double nan = (double)NAN, all = (double)INFINITY;
    CHECK(isnan(round(nan)));
    CHECK(isinf(round(all)) && isinf(round(-all)));
    CHECK_INT(llround(nan), LLONG_MIN);
    CHECK_INT(llround(all), LLONG_MIN);
    CHECK_INT(lround(-all), LONG_MIN);
}

static void a_number_is_more_than_none(void)
{
    volatile double nan = (double)NAN, one = 1, two = 2;
    CHECK_NEAR(fmax(one, two), 2, 0);
    CHECK_NEAR(fmax(two, one), 2, 0);
    CHECK_NEAR(fmin(one, two), 1, 0);
    CHECK_NEAR(fmin(two, one), 1, 0);
    CHECK_NEAR(fmax(nan, one), 1, 0);
    CHECK_NEAR(fmax(one, nan), 1, 0);
    CHECK_NEAR(fmin(nan, one), 1, 0);
    CHECK_NEAR(fmin(one, nan), 1, 0);
    CHECK(isnan(fmax(nan, nan)) && isnan(fmin(nan, nan)));
}

static const check_test tests[] = {
    {"halves go away from zero", halves_go_away_from_zero},
    {"what is no number stays so", what_is_no_number_stays_so},
    {"a number is more than none", a_number_is_more_than_none},
};

CHECK_TESTS(tests)
