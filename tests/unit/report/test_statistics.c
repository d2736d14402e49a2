/* Means, spreads and Welch's t-test, against values of tables and of other programs. */
#include "check.h"

#include "report/statistics.h"

#include <math.h>

static struct statistics of(const double *values, size_t count)
{
    struct statistics statistics = {0};
    for (size_t i = 0; i < count; i++)
        statistics_add(&statistics, values[i]);
    return statistics;
}

static void sums_up(void)
{
    static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct statistics found = of(values, 8);
    CHECK_UINT(found.count, 8);
    CHECK_NEAR(found.min, 2, 0);
    CHECK_NEAR(found.max, 9, 0);
    CHECK_NEAR(found.mean, 5, 1e-12);
    CHECK_NEAR(found.total, 40, 1e-12);
    CHECK_NEAR(statistics_gpu_tracker_std(&found), 2, 1e-12);
    CHECK_NEAR(statistics_deviation(&found), 2.13808993529939, 1e-12);
}

static void large_numbers_keep_their_spread(void)
{
    static const double values[] = {1e15 + 1, 1e15 + 2, 1e15 + 3};
    struct statistics found = of(values, 3);
    CHECK_NEAR(statistics_deviation(&found), 1, 1e-6);
}

static void one_value_has_no_spread(void)
{
    static const double value[] = {-7};
    struct statistics found = of(value, 1);
    CHECK_NEAR(found.min, -7, 0);
    CHECK_NEAR(found.max, -7, 0);
    CHECK(isnan(statistics_deviation(&found)));
    CHECK_NEAR(statistics_gpu_tracker_std(&found), 0, 0);
}

/* Sums of twelve uniform numbers less 6: nearly normal, from one generator with a fixed seed. */
static double drawn(uint64_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*seed >> 11) * 0x1p-53;
    }
    return sum;
}

/* Sets of one distribution are told different at most once in 100, whatever their sizes. */
static void chance_is_kept_for_unequal_sets(void)
{
    enum { PAIRS = 20000 };
    static const size_t SIZES[][2] = {{2, 2}, {3, 3}, {2, 3}, {2, 5}, {2, 10}, {3, 10}, {5, 20}};
    uint64_t seed = 17;
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        size_t told = 0;
        for (size_t pair = 0; pair < PAIRS; pair++) {
            struct statistics sets[2] = {{0}};
            for (size_t set = 0; set < 2; set++)
                for (size_t k = 0; k < SIZES[i][set]; k++)
                    statistics_add(&sets[set], drawn(&seed));
            told += statistics_welch(&sets[0], &sets[1]) < 0.01;
        }
        CHECK(told <= PAIRS / 100);
    }
}

/* scipy.stats.ttest_ind(a, b, equal_var=False).pvalue */
static void welch_as_others_calculate_it(void)
{
    static const struct {
        double a[6], b[6];
        size_t na, nb;
        double probability;
    } CASES[] = {
        {{27.5, 21.0, 19.0, 23.6, 17.0, 17.9},
         {27.1, 22.0, 20.8, 23.4, 23.4, 23.5},
         6,
         6,
         0.23486175},
        {{10.0, 10.1, 9.9}, {12.0, 12.1, 11.9}, 3, 3, 1.6483089e-5},
        {{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, 5, 5, 1.0},
        {{1, 2}, {1, 5}, 2, 2, 0.58829503},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct statistics a = of(CASES[i].a, CASES[i].na), b = of(CASES[i].b, CASES[i].nb);
        CHECK_NEAR(statistics_welch(&a, &b), CASES[i].probability,
                   CASES[i].probability * 0.01 + 1e-9);
    }
}

static void too_few_tell_nothing(void)
{
    static const double one[] = {5}, two[] = {1, 1}, others[] = {2, 2};
    struct statistics a = of(one, 1), b = of(two, 2), c = of(others, 2);
    CHECK_NEAR(statistics_welch(&a, &b), 1, 0);
    CHECK_NEAR(statistics_welch(&b, &b), 1, 0);
    CHECK_NEAR(statistics_welch(&b, &c), 0, 0); // neither varies, and they differ
}

static const check_test tests[] = {
    {"sums up", sums_up},
    {"large numbers keep their spread", large_numbers_keep_their_spread},
    {"one value has no spread", one_value_has_no_spread},
    {"Welch's test as others calculate it", welch_as_others_calculate_it},
    {"chance is kept for unequal sets", chance_is_kept_for_unequal_sets},
    {"too few tell nothing", too_few_tell_nothing},
};
CHECK_TESTS(tests)
