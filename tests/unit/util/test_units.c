/* Numbers for people. The boundaries are those of nvitop 1.7.0, observed. */
#include "check.h"

#include <vitals/error.h>
#include <vitals/units.h>

#include <math.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)
#define PIB (UINT64_C(1) << 50)

static void bytes_change_form_at_the_known_sizes(void)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0B"},
        {512, "512B"},
        {KIB - 1, "1023B"},
        {KIB, "1KiB"},
        {1535, "1KiB"},
        {1536, "2KiB"}, /* a half goes to the even neighbour, as Python rounds */
        {2560, "2KiB"},
        {3584, "4KiB"},
        {12 * KIB, "12KiB"},
        {MIB - 1, "1024KiB"},
        {MIB, "1.00MiB"},
        {29831987, "28.45MiB"},
        {100 * MIB - 1, "100.00MiB"},
        {100 * MIB, "100.0MiB"},
        {1000 * MIB - 1, "1000.0MiB"},
        {1000 * MIB, "1000MiB"},
        {1000 * MIB + MIB / 2, "1000MiB"},
        {1001 * MIB + MIB / 2, "1002MiB"},
        {8000 * MIB, "8000MiB"},
        {20 * GIB - 1, "20480MiB"},
        {20 * GIB, "20.00GiB"},
        {40 * GIB, "40.00GiB"},
        {100 * GIB - 1, "100.00GiB"},
        {141 * GIB, "141.0GiB"},
        {1000 * GIB - 1, "1000.0GiB"},
        {1000 * GIB, "0.98TiB"},
        {TIB, "1.00TiB"},
        {100 * TIB, "100.0TiB"},
        {1000 * TIB, "0.98PiB"},
        {100 * PIB, "100.0PiB"},
        {UINT64_MAX, "16384.0PiB"},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        char out[VITALS_HUMAN];
        CHECK(vitals_human_bytes(rows[i].bytes, out) == out);
        CHECK_STR(out, rows[i].text);
    }
}

static void durations_change_form_after_an_hour_and_four_days(void)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {
        {0, "0:00"},
        {7.9, "0:07"},
        {60, "1:00"},
        {3599.9, "59:59"},
        {3600, "1:00:00"},
        {4256, "1:10:56"},
        {4 * 86400 - 0.5, "95:59:59"},
        {4 * 86400, "4.0 days"},
        {4.2 * 86400, "4.2 days"},
        {23004000.161, "266.2 days"},
        {-5, "0:00"},
        {1e300, "1157407407407.4 days"},
        {(double)NAN, "N/A"},
        {(double)INFINITY, "N/A"},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        char out[VITALS_HUMAN];
        CHECK_CASE(rows[i].text);
        CHECK_STR(vitals_human_duration(rows[i].seconds, out), rows[i].text);
    }
}

static void sizes_are_read(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {
        {"0", 0},
        {"500", 500},
        {"500B", 500},
        {"+5", 5},
        {"5 kB", 5000},
        {"10k", 10000},
        {"10K", 10000},
        {"10ki", 10240},
        {"10kIb", 10240},
        {"1.5GiB", 1610612736},
        {"1.9999k", 1999},
        {"1.5k", 1500},
        {"1T", UINT64_C(1000000000000)},
        {"2p", UINT64_C(2000000000000000)},
        {"9007199254740993", UINT64_C(9007199254740993)},
        {"16383PiB", 16383 * PIB},
        {"18446744073709551615", UINT64_MAX},
        {"18446744073.709551615G", UINT64_MAX},
        {"16383.999999p", UINT64_C(16383999999000000000)},
        {"0.0000000000000009p", 0},
        {"0.29M", 290000},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        uint64_t bytes = 77;
        CHECK_CASE(rows[i].text);
        CHECK_INT(vitals_parse_bytes(rows[i].text, &bytes), VITALS_OK);
        CHECK_UINT(bytes, rows[i].bytes);
    }
}

static void what_is_no_size_is_refused(void)
{
    static const char *const rows[] = {"",
                                       "B",
                                       "k",
                                       "-5",
                                       "1e3",
                                       ".5",
                                       "5.",
                                       "5BB",
                                       "0x5",
                                       "1_0",
                                       "2EiB",
                                       "5 x",
                                       "1,5",
                                       "5ik",
                                       "++5",
                                       "5 5",
                                       "16384PiB",
                                       "18446744073709551616",
                                       "18446744073.709551616G",
                                       "99999999999999999999",
                                       "nan",
                                       "inf",
                                       "1.5.2",
                                       "1.5",
                                       "0.5B",
                                       " 5",
                                       "5 ",
                                       "5  k",
                                       "5\tk",
                                       "5 k ",
                                       " ",
                                       "1e300"};
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        uint64_t bytes = 77;
        CHECK_CASE(rows[i]);
        CHECK_INT(vitals_parse_bytes(rows[i], &bytes), VITALS_EARGUMENT);
        CHECK_UINT(bytes, 77);
    }
    uint64_t bytes;
    CHECK_INT(vitals_parse_bytes(NULL, &bytes), VITALS_EARGUMENT);
}

static void durations_are_read(void)
{
    static const struct {
        const char *text;
        double seconds;
    } rows[] = {
        {"2", 2},      {"0", 0},      {"0.5s", 0.5}, {"100ms", 0.1}, {"250us", 0.00025},
        {"7ns", 7e-9}, {"2min", 120}, {"2m", 120},   {"1h", 3600},   {"1.5d", 129600},
        {"3 s", 3},    {"+1.5", 1.5}, {"10S", 10},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        double seconds = -1;
        CHECK_CASE(rows[i].text);
        CHECK_INT(vitals_parse_duration(rows[i].text, &seconds), VITALS_OK);
        CHECK(seconds == rows[i].seconds);
    }
}

static void what_is_no_duration_is_refused(void)
{
    static const char *const rows[] = {"",   "s",    "-1",  "-0.1s", "nan",      "inf",    "1 2",
                                       "1w", "1e",   ".5",  "5.",    "1minutes", "1e308h", " 5",
                                       "5 ", "5  s", "1e3", "1e300", "0x1p3",    "++1"};
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        double seconds = 77;
        CHECK_CASE(rows[i]);
        CHECK_INT(vitals_parse_duration(rows[i], &seconds), VITALS_EARGUMENT);
        CHECK(seconds == 77);
    }
    double seconds;
    CHECK_INT(vitals_parse_duration(NULL, &seconds), VITALS_EARGUMENT);
}

static const check_test tests[] = {
    {"bytes change form at the known sizes", bytes_change_form_at_the_known_sizes},
    {"durations change form after an hour and four days",
     durations_change_form_after_an_hour_and_four_days},
    {"sizes are read", sizes_are_read},
    {"what is no size is refused", what_is_no_size_is_refused},
    {"durations are read", durations_are_read},
    {"what is no duration is refused", what_is_no_duration_is_refused},
};
CHECK_TESTS(tests)
