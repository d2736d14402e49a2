/* Numbers: what is read is correctly rounded, what is printed is the shortest that reads back. */
#include "check.h"

#include "util/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vitals/units.h>

struct unsigned_row {
    const char *text;
    bool found;
    uint64_t value;
    size_t taken;
};

typedef bool read_unsigned(const char **at, const char *end, uint64_t *value);

static bool reads_whole(const char *text, double *out)
{
    const char *end = text + strlen(text);
    double value;
    if (!number_f64(&text, end, &value) || text != end)
        return false;
    *out = value;
    return true;
}

static void check_unsigned(read_unsigned *read, const struct unsigned_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK_CASE(rows[i].text);
        const char *at = rows[i].text;
        uint64_t value = 0;
        CHECK(read(&at, at + strlen(at), &value) == rows[i].found);
        CHECK_UINT(value, rows[i].value);
        CHECK_INT(at - rows[i].text, (intmax_t)rows[i].taken);
    }
}

static void unsigned_numbers_saturate(void)
{
    static const struct unsigned_row rows[] = {
        {"0", true, 0, 1},
        {"007x", true, 7, 3},
        {"18446744073709551615", true, UINT64_MAX, 20},
        {"18446744073709551616", true, UINT64_MAX, 20},
        {"99999999999999999999999 ", true, UINT64_MAX, 23},
        {"", false, 0, 0},
        {"-1", false, 0, 0},
        {" 1", false, 0, 0},
        {"+1", false, 0, 0},
    };
    check_unsigned(number_u64, rows, CHECK_COUNT(rows));
}

static void signed_numbers_saturate(void)
{
    static const struct {
        const char *text;
        bool found;
        int64_t value;
    } rows[] = {
        {"-5", true, -5},
        {"5", true, 5},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", true, INT64_MIN},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", true, INT64_MAX},
        {"-", false, 0},
        {"--1", false, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].text);
        const char *at = rows[i].text;
        int64_t value = 0;
        CHECK(number_i64(&at, at + strlen(at), &value) == rows[i].found);
        CHECK_INT(value, rows[i].value);
    }
}

static void hexadecimal_has_an_optional_prefix(void)
{
    static const struct unsigned_row rows[] = {
        {"ff", true, 255, 2},
        {"0xFFg", true, 255, 4},
        {"0x", true, 0, 1},
        {"0xg", true, 0, 1},
        {"7f00deadbeef", true, 0x7f00deadbeef, 12},
        {"123456789abcdef01", true, UINT64_MAX, 17},
        {"ffffffffffffffff", true, UINT64_MAX, 16},
        {"x1", false, 0, 0},
        {"", false, 0, 0},
    };
    check_unsigned(number_hex, rows, CHECK_COUNT(rows));
}

static void decimals_are_read_as_the_compiler_reads_them(void)
{
    static const struct {
        const char *text;
        double value;
        size_t left; /* bytes that are no part of it */
    } rows[] = {
        {"0", 0, 0},
        {"12", 12, 0},
        {"0.5", 0.5, 0},
        {"-1e3", -1000, 0},
        {"1E+2", 100, 0},
        {"12.", 12, 1},
        {"12.x", 12, 2},
        {"12e", 12, 1},
        {"12e+", 12, 2},
        {"00012.50", 12.5, 0},
        {"0.1", 0.1, 0},
        {"1e22", 1e22, 0},
        {"1e23", 1e23, 0},
        {"9007199254740993", 9007199254740992.0, 0},
        {"9007199254740993.00000000000000000000000000000000000000001", 9007199254740994.0, 0},
        {"2.2250738585072011e-308", 2.2250738585072011e-308, 0},
        {"2.2250738585072014e-308", DBL_MIN, 0},
        {"4.9406564584124654e-324", 0x1p-1074, 0},
        {"2.5e-324", 0x1p-1074, 0},
        {"2.4e-324", 0, 0},
        {"1e-400", 0, 0},
        {"0e999999999999999999999", 0, 0},
        {"0.000e5", 0, 0},
        {"1.7976931348623157e308", DBL_MAX, 0},
        {"1e400", DBL_MAX, 0},
        {"-1e99999999999999999999", -DBL_MAX, 0},
        {"1e-99999999999999999999", 0, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].text);
        const char *at = rows[i].text;
        const char *end = at + strlen(at);
        double value = (double)NAN;
        CHECK(number_f64(&at, end, &value));
        CHECK(value == rows[i].value);
        CHECK_INT(end - at, (intmax_t)rows[i].left);
    }
}

static void what_is_no_decimal_is_refused(void)
{
    static const char *const rows[] = {"", "-", ".5", "inf", "nan", "e5", "+1", " 1", "-.5", "0x"};
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i]);
        double value = 7;
        CHECK_FALSE(reads_whole(rows[i], &value));
        CHECK(value == 7);
    }
    uint64_t whole = 7;
    CHECK_FALSE(number_is_u64("12 ", &whole));
    CHECK_UINT(whole, 7);
}

/* One half of the last place above 1, and then something or nothing far behind. */
static void a_digit_far_behind_breaks_a_tie(void)
{
    static const char tie[] = "1.00000000000000011102230246251565404236316680908203125";
    char text[2000];
    memset(text, '0', sizeof text);
    memcpy(text, tie, sizeof tie - 1);
    const char *at = text;
    double value;
    CHECK(number_f64(&at, text + sizeof text, &value));
    CHECK(value == 1.0);
    text[sizeof text - 1] = '1';
    at = text;
    CHECK(number_f64(&at, text + sizeof text, &value));
    CHECK(value == 1.0 + DBL_EPSILON);
}

static void the_shortest_decimal_is_printed(void)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {-0.0, "-0"},
        {12, "12"},
        {-7, "-7"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {123456.789, "123456.789"},
        {99.99, "99.99"},
        {1e-5, "0.00001"},
        {9.5e-6, "9.5e-6"},
        {0.000123456789012345, "0.000123456789012345"},
        {0x1p-24, "5.960464477539063e-8"},
        {0x1p-44, "5.684341886080802e-14"},
        {0.5, "0.5"},
        {4503599627370495.5, "4503599627370495.5"},
        {9007199254740991, "9007199254740991"},
        {9007199254740992, "9007199254740992"},
        {9007199254740994, "9007199254740994"},
        {1e16, "10000000000000000"},
        {1e17, "1e17"},
        {1.5e300, "1.5e300"},
        {1e22, "1e22"},
        {1e23, "1e23"},
        {9.5e-323, "9.4e-323"},
        {0x1p-1074, "5e-324"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {DBL_MAX, "1.7976931348623157e308"},
        {-1.2345678901234567e-300, "-1.2345678901234568e-300"},
        {(double)INFINITY, "null"},
        {-(double)INFINITY, "null"},
        {(double)NAN, "null"},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        char text[NUMBER_TEXT];
        CHECK_CASE(rows[i].text);
        CHECK_UINT(number_print_f64(text, rows[i].value), strlen(rows[i].text));
        CHECK_STR(text, rows[i].text);
    }
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Ratios, decimals, counters, every exponent, and any bits at all. */
static double random_double(uint64_t *state)
{
    uint64_t bits = random_next(state);
    double value;
    switch (bits % 5) {
    case 0: return ldexp((double)(bits >> 11), -53);
    case 1: return (double)(bits >> 20) / 1000;
    case 2: return -(double)(bits >> 11);
    case 3: return ldexp((double)(bits >> 11), (int)(random_next(state) % 140) - 100);
    default: memcpy(&value, &bits, sizeof value); return value;
    }
}

static void a_million_doubles_read_back(void)
{
    uint64_t state = UINT64_C(88172645463325252);
    for (int i = 0; i < 1000000; i++) {
        double value = random_double(&state);
        char text[NUMBER_TEXT];
        size_t size = number_print_f64(text, value);
        CHECK_CASE(text);
        CHECK_UINT(strlen(text), size);
        if (!isfinite(value))
            continue;
        double again;
        CHECK(reads_whole(text, &again));
        CHECK_BYTES(&again, sizeof again, &value, sizeof value);
        if (i % 16 == 0) /* the C library is the second opinion */
            CHECK(strtod(text, NULL) == value);
    }
}

static void no_shorter_decimal_reads_back(void)
{
    uint64_t state = 99;
    for (int i = 0; i < 100000; i++) {
        double value = fabs(random_double(&state));
        if (!isfinite(value) || value == 0 || value == floor(value))
            continue;
        char text[NUMBER_TEXT];
        number_print_f64(text, value);
        CHECK_CASE(text);
        int digits = 0;
        for (const char *at = text; *at != '\0' && *at != 'e'; at++)
            digits += *at >= '0' && *at <= '9' && (digits > 0 || *at != '0');
        if (digits < 2)
            continue;
        char shorter[64];
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        CHECK_FALSE(strtod(shorter, NULL) == value);
    }
}

static void whole_numbers_are_printed(void)
{
    char text[NUMBER_TEXT];
    uint64_t value = 1;
    for (int digits = 1; digits <= 19; digits++, value *= 10) {
        char expected[NUMBER_TEXT];
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
        CHECK_UINT(number_print_u64(text, value), (size_t)digits);
        CHECK_STR(text, expected);
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)value - 1);
        number_print_u64(text, value - 1);
        CHECK_STR(text, expected);
    }
    number_print_u64(text, UINT64_MAX);
    CHECK_STR(text, "18446744073709551615");
    number_print_i64(text, INT64_MIN);
    CHECK_STR(text, "-9223372036854775808");
}

/* Machines that test seldom have one installed, so it is made: all that it says is the comma. */
static locale_t comma_locale(void)
{
    static const char make[] =
        "cd \"$LOCPATH\" && printf 'LC_NUMERIC\\n%s\\n%s\\nEND LC_NUMERIC\\n'"
        " 'decimal_point \"<U002C>\"' 'thousands_sep \"<U002E>\"' >source &&"
        " { localedef -c -i ./source ./comma >log 2>&1 || true; }";
    char folder[] = "/tmp/vitals-locale-XXXXXX";
    if (mkdtemp(folder) == NULL || setenv("LOCPATH", folder, 1) != 0)
        return (locale_t)0;
    locale_t comma = (locale_t)0;
    if (system(make) == 0)
        comma = newlocale(LC_NUMERIC_MASK, "comma", (locale_t)0);
    if (system("rm -rf \"$LOCPATH\"") != 0)
        return (locale_t)0;
    unsetenv("LOCPATH");
    return comma;
}

/* The number of the first claim that does not hold, from 1; 0: all hold; -1: no such locale. */
static int under_a_comma(void)
{
    locale_t comma = comma_locale();
    if (comma == (locale_t)0)
        return -1;
    uselocale(comma);
    char text[4][NUMBER_TEXT];
    snprintf(text[0], NUMBER_TEXT, "%.1f", 1.5);
    number_print_f64(text[1], 1.5);
    number_print_f64(text[2], 1.2345678901234567e-300);
    number_print_f64(text[3], 0x1p-1074);
    double read[2] = {0};
    char days[VITALS_HUMAN];
    const bool claims[] = {
        strcmp(text[0], "1,5") == 0, /* the locale is as it should be */
        strcmp(text[1], "1.5") == 0,
        strcmp(text[2], "1.2345678901234568e-300") == 0,
        strcmp(text[3], "5e-324") == 0,
        reads_whole("1.5", &read[0]) && read[0] == 1.5,
        reads_whole("1.2345678901234567e-300", &read[1]) && read[1] == 1.2345678901234567e-300,
        strcmp(vitals_human_duration(8.5 * 86400, days), "8.5 days") == 0,
    };
    for (size_t i = 0; i < CHECK_COUNT(claims); i++)
        if (!claims[i])
            return (int)i + 1;
    return 0;
}

/* In a child, since glibc never gives back what it read from LOCPATH. */
static void a_locale_with_a_comma_changes_nothing(void)
{
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(under_a_comma() & 0xFF);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) == 0xFF)
        CHECK_SKIP("localedef cannot make a locale with a decimal comma");
    CHECK_INT(WEXITSTATUS(status), 0);
}

static const check_test tests[] = {
    {"unsigned numbers saturate", unsigned_numbers_saturate},
    {"signed numbers saturate", signed_numbers_saturate},
    {"hexadecimal has an optional prefix", hexadecimal_has_an_optional_prefix},
    {"decimals are read as the compiler reads them", decimals_are_read_as_the_compiler_reads_them},
    {"what is no decimal is refused", what_is_no_decimal_is_refused},
    {"a digit far behind breaks a tie", a_digit_far_behind_breaks_a_tie},
    {"the shortest decimal is printed", the_shortest_decimal_is_printed},
    {"a million doubles read back", a_million_doubles_read_back},
    {"no shorter decimal reads back", no_shorter_decimal_reads_back},
    {"whole numbers are printed", whole_numbers_are_printed},
    {"a locale with a comma changes nothing", a_locale_with_a_comma_changes_nothing},
};
CHECK_TESTS(tests)
