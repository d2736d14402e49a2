/* number.c: numbers from text and to text, the same in every locale.
 *
 * Decimals are read by strtod_l in the C locale. They are printed as the shortest text that reads
 * back: from 1e-5 to 1e17, where measured values lie, by integer arithmetic, which takes a tenth of
 * the time of the C library (docs/decisions.md); elsewhere by the C library. */
#include "util/number.h"

#include "util/memory.h"

#include <float.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "doubles are IEEE 754 binary64");

static bool digit_of(const char *at, const char *end, unsigned *digit)
{
    if (at >= end || *at < '0' || *at > '9')
        return false;
    *digit = (unsigned)(*at - '0');
    return true;
}

bool number_u64(const char **cursor, const char *end, uint64_t *out)
{
    const char *at = *cursor;
    uint64_t value = 0;
    unsigned digit;
    for (; digit_of(at, end, &digit); at++) {
        bool fits = value < UINT64_MAX / 10 ||
                    (value == UINT64_MAX / 10 && digit <= UINT64_MAX % 10);
        value = fits ? value * 10 + digit : UINT64_MAX;
    }
    if (at == *cursor)
        return false;
    *cursor = at;
    *out = value;
    return true;
}

bool number_i64(const char **cursor, const char *end, int64_t *out)
{
    const char *at = *cursor;
    bool negative = at < end && *at == '-';
    if (negative)
        at++;
    uint64_t size;
    if (!number_u64(&at, end, &size))
        return false;
    *cursor = at;
    if (negative)
        *out = size > INT64_MAX ? INT64_MIN : -(int64_t)size;
    else
        *out = size > INT64_MAX ? INT64_MAX : (int64_t)size;
    return true;
}

static bool hex_digit_of(const char *at, const char *end, unsigned *digit)
{
    if (digit_of(at, end, digit))
        return true;
    if (at >= end)
        return false;
    unsigned letter = (unsigned)(unsigned char)*at | 0x20;
    if (letter < 'a' || letter > 'f')
        return false;
    *digit = letter - 'a' + 10;
    return true;
}

bool number_hex(const char **cursor, const char *end, uint64_t *out)
{
    const char *at = *cursor;
    unsigned digit;
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') &&
        hex_digit_of(at + 2, end, &digit))
        at += 2;
    const char *first = at;
    uint64_t value = 0;
    for (; hex_digit_of(at, end, &digit); at++)
        value = value > UINT64_MAX >> 4 ? UINT64_MAX : value << 4 | digit;
    if (at == first)
        return false;
    *cursor = at;
    *out = value;
    return true;
}

static locale_t c_locale;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* The end of the digits at `at`. */
static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* The end of the decimal at `at`, or `at`. "12e" and "12." are 12 and something else. */
static const char *skip_decimal(const char *at, const char *end)
{
    const char *first = at < end && *at == '-' ? at + 1 : at;
    const char *taken = skip_digits(first, end);
    if (taken == first)
        return at;
    if (end - taken >= 2 && *taken == '.' && skip_digits(taken + 1, end) > taken + 1)
        taken = skip_digits(taken + 1, end);
    if (taken < end && (*taken == 'e' || *taken == 'E')) {
        const char *exponent = taken + 1;
        if (exponent < end && (*exponent == '-' || *exponent == '+'))
            exponent++;
        if (skip_digits(exponent, end) > exponent)
            taken = skip_digits(exponent, end);
    }
    return taken;
}

bool number_f64(const char **cursor, const char *end, double *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char few[64], *text = few;
    size_t size = (size_t)(skip_decimal(*cursor, end) - *cursor);
    if (size == 0)
        return false;
    (void)pthread_once(&once, make_locale);
    if (size >= sizeof few && (text = memory_alloc(size + 1)) == NULL)
        return false;
    memcpy(text, *cursor, size);
    text[size] = '\0';
    double value = strtod_l(text, NULL, c_locale);
    if (text != few)
        memory_free(text);
    *cursor += size;
    *out = value > DBL_MAX ? DBL_MAX : value < -DBL_MAX ? -DBL_MAX : value;
    return true;
}

bool number_is_u64(const char *string, uint64_t *out)
{
    const char *end = string + strlen(string);
    uint64_t value;
    if (!number_u64(&string, end, &value) || string != end)
        return false;
    *out = value;
    return true;
}

static const char PAIRS[] = "0001020304050607080910111213141516171819"
                            "2021222324252627282930313233343536373839"
                            "4041424344454647484950515253545556575859"
                            "6061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

/* Writes the digits so that they end before `end`; returns where they begin. */
static char *digits_before(char *end, uint64_t value)
{
    for (; value >= 100; value /= 100)
        memcpy(end -= 2, PAIRS + value % 100 * 2, 2);
    if (value >= 10)
        return memcpy(end - 2, PAIRS + value * 2, 2);
    *--end = (char)('0' + value);
    return end;
}

size_t number_print_u64(char *out, uint64_t value)
{
    char digits[20];
    char *end = digits + sizeof digits;
    size_t size = (size_t)(end - digits_before(end, value));
    memcpy(out, end - size, size);
    out[size] = '\0';
    return size;
}

size_t number_print_i64(char *out, int64_t value)
{
    if (value >= 0)
        return number_print_u64(out, (uint64_t)value);
    *out = '-';
    return 1 + number_print_u64(out + 1, -(uint64_t)value);
}

enum { FIXED_MIN = -4, FIXED_MAX = 17 }; /* 0.00001 and 17 digits before the point */

/* value = 0.d1d2… × 10^point: as people write it, or with an exponent where that would be long. */
static size_t print_decimal(char *out, const char *digits, size_t count, int point)
{
    char *at = out;
    if (point > FIXED_MAX || point < FIXED_MIN) {
        *at++ = digits[0];
        if (count > 1) {
            *at++ = '.';
            memcpy(at, digits + 1, count - 1);
            at += count - 1;
        }
        *at++ = 'e';
        at += number_print_i64(at, point - 1);
    } else if (point <= 0) {
        memcpy(at, "0.0000", 6);
        at += 2 - point;
        memcpy(at, digits, count);
        at += count;
    } else {
        size_t whole = size_min(count, (size_t)point);
        memcpy(at, digits, whole);
        memset(at + whole, '0', (size_t)point - whole);
        at += point;
        if (count > whole) {
            *at++ = '.';
            memcpy(at, digits + whole, count - whole);
            at += count - whole;
        }
    }
    *at = '\0';
    return (size_t)(at - out);
}

/* Do the digits, as 0.d1d2… × 10^point, read back as the value? */
static bool reads_back(const char *digits, size_t count, int point, double value)
{
    char text[NUMBER_TEXT];
    memcpy(text, digits, count);
    text[count] = 'e';
    number_print_i64(text + count + 1, point - (int)count);
    return strtod(text, NULL) == value;
}

/* The fallback. A normal double that 15 digits can say shows them all at precision 15, and 17
 * always do; among the subnormal ones fewer may do. The lower neighbour of a power of two is nearer
 * than the upper one, so there the decimal above may read back where the nearest does not. */
static size_t print_by_library(char *out, double value)
{
    char text[48];
    char digits[20];
    size_t count = 0;
    int point = 0;
    for (int precision = value < DBL_MIN ? 1 : 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, value);
        const char *mark = strrchr(text, 'e');
        count = 0;
        for (const char *at = text; at < mark; at++) /* whatever stands for the point is no digit */
            if (*at >= '0' && *at <= '9')
                digits[count++] = *at;
        point = atoi(mark + 1) + 1;
        if (reads_back(digits, count, point, value))
            break;
        char last = digits[count - 1];
        digits[count - 1] = (char)(last + (last < '9'));
        if (reads_back(digits, count, point, value))
            break;
        digits[count - 1] = last;
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    return print_decimal(out, digits, count, point);
}

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 wide;

// clang-format off
static const uint64_t TENS[] = {
    UINT64_C(1), UINT64_C(10), UINT64_C(100), UINT64_C(1000), UINT64_C(10000), UINT64_C(100000),
    UINT64_C(1000000), UINT64_C(10000000), UINT64_C(100000000), UINT64_C(1000000000),
    UINT64_C(10000000000), UINT64_C(100000000000), UINT64_C(1000000000000),
    UINT64_C(10000000000000), UINT64_C(100000000000000), UINT64_C(1000000000000000),
    UINT64_C(10000000000000000), UINT64_C(100000000000000000),
};
// clang-format on

/* For values from 1e-5 (scale 21) to 1e17 (scale 0): there four times the mantissa times 10^scale
 * fits 128 bits, so that all of this is exact: 2^55 × 10^21 < 2^125. */
static size_t print_exactly(char *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int shift = 2 + 1075 - (int)(bits >> 52); /* everything below is 2^shift times too large */
    int point = 17; /* where the decimal point stands, so that 17 digits are asked for */
    while (point > 1 && value < (double)TENS[point - 1])
        point--;
    for (double scaled = value; scaled < 1; scaled *= 10) /* a rounding here asks for 16 or 18 */
        point--;
    int scale = 17 - point < 0 ? 0 : 17 - point;

    /* Every decimal of 17 digits that reads back as the double, in units of 10^-scale. One on the
     * edge does so only where the mantissa is even. */
    wide ten = scale <= FIXED_MAX ? (wide)TENS[scale]
                                  : (wide)TENS[FIXED_MAX] * TENS[scale - FIXED_MAX];
    wide middle = (wide)(mantissa * 4) * ten;
    wide below = middle - ten * (mantissa == UINT64_C(1) << 52 ? 1 : 2);
    wide above = middle + ten * 2;
    for (; shift < 0; shift++) {
        middle <<= 1;
        below <<= 1;
        above <<= 1;
    }
    wide unit = (wide)1 << shift, mask = unit - 1, edge = mantissa & 1, rest = middle & mask;
    uint64_t low = (uint64_t)((below + edge + mask) >> shift);
    uint64_t high = (uint64_t)((above - edge) >> shift);
    uint64_t nearest = (uint64_t)(middle >> shift);

    /* Drops digits while a decimal remains that reads back, and takes the one nearest to the
     * double; of two the even one. */
    int dropped = 0;
    while ((low + 9) / 10 <= high / 10 && high >= 10) {
        low = (low + 9) / 10;
        high /= 10;
        dropped++;
    }
    if (dropped == 0) {
        nearest += rest * 2 > unit || (rest * 2 == unit && (nearest & 1));
    } else {
        uint64_t power = TENS[dropped], left = nearest % power;
        bool tie = left == power / 2 && rest == 0;
        nearest /= power;
        nearest += tie ? nearest & 1 : left >= power / 2;
    }
    nearest = nearest < low ? low : nearest > high ? high : nearest;

    char text[20];
    char *end = text + sizeof text, *digits = digits_before(end, nearest);
    size_t count = (size_t)(end - digits);
    return print_decimal(out, digits, count, (int)count - scale + dropped);
}

#endif

static size_t print_positive(char *out, double value)
{
    if (value <= (double)EXACT_MAX && value == (double)(uint64_t)value)
        return number_print_u64(out, (uint64_t)value);
#ifdef __SIZEOF_INT128__
    if (value >= 1e-5 && value < 1e17)
        return print_exactly(out, value);
#endif
    return print_by_library(out, value);
}

size_t number_print_f64(char *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits >> 52 & 0x7ff) == 0x7ff) {
        memcpy(out, "null", 5);
        return 4;
    }
    if (bits >> 63 == 0)
        return print_positive(out, value);
    *out = '-'; /* of -0.0 too, so that it reads back */
    return 1 + print_positive(out + 1, -value);
}

size_t number_print_date(char *out, uint64_t seconds)
{
    static const uint64_t LAST = 253402300799; /* 9999-12-31T23:59:59 */
    seconds = seconds < LAST ? seconds : LAST;
    /* Days since 1970 become a date of the Gregorian calendar, counted in eras of 400 years that
     * begin with March, so that the leap day is a year's last. */
    uint64_t since = seconds / 86400 + 719468; /* 0000-03-01 */
    unsigned of_era = (unsigned)(since % 146097);
    unsigned year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    unsigned from_march = (5 * of_year + 2) / 153;
    unsigned day = of_year - (153 * from_march + 2) / 5 + 1;
    unsigned month = from_march < 10 ? from_march + 3 : from_march - 9;
    unsigned year = (unsigned)(since / 146097 * 400) + year_of_era + (month <= 2);
    unsigned clock = (unsigned)(seconds % 86400);
    return (size_t)snprintf(out, NUMBER_TEXT, "%04u-%02u-%02uT%02u:%02u:%02u", year % 10000, month,
                            day, clock / 3600, clock / 60 % 60, clock % 60);
}
