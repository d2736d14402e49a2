/* units.c: see units.h. No locale: the point is always a point. */
#include <vitals/units.h>

#include "util/base.h"
#include "util/number.h"

#include <float.h>
#include <stdio.h>
#include <string.h>
#include <vitals/error.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)
#define PIB (UINT64_C(1) << 50)

/* About four digits at any size; the last row has no end. */
static const struct {
    uint64_t below;
    uint64_t unit;
    int decimals;
    const char *name;
} STEPS[] = {
    {KIB, 1, 0, "B"},
    {MIB, KIB, 0, "KiB"},
    {100 * MIB, MIB, 2, "MiB"},
    {1000 * MIB, MIB, 1, "MiB"},
    {20 * GIB, MIB, 0, "MiB"},
    {100 * GIB, GIB, 2, "GiB"},
    {1000 * GIB, GIB, 1, "GiB"},
    {100 * TIB, TIB, 2, "TiB"},
    {1000 * TIB, TIB, 1, "TiB"},
    {100 * PIB, PIB, 2, "PiB"},
    {UINT64_MAX, PIB, 1, "PiB"},
};

char *vitals_human_bytes(uint64_t bytes, char *out)
{
    static const uint64_t TENS[] = {1, 10, 100};
    size_t step = 0;
    while (step + 1 < ARRAY_COUNT(STEPS) && bytes >= STEPS[step].below)
        step++;
    uint64_t unit = STEPS[step].unit;
    uint64_t ten = TENS[STEPS[step].decimals];
    uint64_t rest = bytes % unit * ten;
    uint64_t scaled = bytes / unit * ten + rest / unit;
    rest %= unit;
    scaled += rest * 2 > unit || (rest * 2 == unit && (scaled & 1)); /* half to even, as printf */
    size_t size = number_print_u64(out, scaled / ten);
    if (ten > 1) {
        out[size++] = '.';
        if (ten > 10)
            out[size++] = (char)('0' + scaled / 10 % 10);
        out[size++] = (char)('0' + scaled % 10);
    }
    strcpy(out + size, STEPS[step].name);
    return out;
}

enum { SECONDS_PER_DAY = 86400, DAYS_FROM = 4 };

char *vitals_human_duration(double seconds, char *out)
{
    if (!(seconds <= DBL_MAX)) {
        strcpy(out, "N/A");
        return out;
    }
    /* Whole seconds first, as nvitop; no one waits for 10^17 of them. */
    uint64_t whole = seconds >= 1e17 ? UINT64_C(100000000000000000)
                     : seconds > 0   ? (uint64_t)seconds
                                     : 0;
    if (whole >= (uint64_t)DAYS_FROM * SECONDS_PER_DAY) {
        /* One decimal as printf rounds it; what a locale writes for the point is passed over. */
        char text[32];
        double days = (double)whole / SECONDS_PER_DAY;
        size_t size = (size_t)snprintf(text, sizeof text, "%.1f", days);
        size_t digits = strspn(text, "0123456789");
        snprintf(out, VITALS_HUMAN, "%.*s.%c days", (int)digits, text, text[size - 1]);
        return out;
    }
    unsigned left = (unsigned)whole;
    if (left < 3600)
        snprintf(out, VITALS_HUMAN, "%u:%02u", left / 60, left % 60);
    else
        snprintf(out, VITALS_HUMAN, "%u:%02u:%02u", left / 3600, left / 60 % 60, left % 60);
    return out;
}

static const char DIGITS[] = "0123456789";

/* How many bytes the digits take, with a fraction or without; 0: there are none. */
static size_t digits_size(const char *at, bool *fraction)
{
    size_t whole = strspn(at, DIGITS);
    size_t behind = at[whole] == '.' ? strspn(at + whole + 1, DIGITS) : 0;
    *fraction = behind != 0;
    return whole == 0 ? 0 : whole + (behind != 0 ? behind + 1 : 0);
}

/* A unit in lower case, perhaps behind one space. False if it is too long to be one. */
static bool unit_word(const char *at, char word[8])
{
    at += at[0] == ' ' && at[1] != '\0';
    size_t size = strlen(at);
    if (size >= 8)
        return false;
    for (size_t i = 0; i < size; i++)
        word[i] = (char)(at[i] >= 'A' && at[i] <= 'Z' ? at[i] + ('a' - 'A') : at[i]);
    word[size] = '\0';
    return true;
}

int vitals_parse_bytes(const char *string, uint64_t *out)
{
    if (string == NULL)
        return VITALS_EARGUMENT;
    const char *from = string + (*string == '+');
    bool fraction;
    size_t size = digits_size(from, &fraction);
    char word[8];
    if (size == 0 || !unit_word(from + size, word))
        return VITALS_EARGUMENT;

    /* "", "b", "k", "kb", "ki", "kib", … */
    static const char PREFIXES[] = "kmgtp";
    const char *left = word, *prefix = *word != '\0' ? strchr(PREFIXES, *word) : NULL;
    uint64_t unit = 1;
    if (prefix != NULL) {
        left++;
        uint64_t base = *left == 'i' ? 1024 : 1000;
        left += *left == 'i';
        for (const char *power = PREFIXES; power <= prefix; power++)
            unit *= base;
    }
    left += *left == 'b';
    if (*left != '\0' || (fraction && unit == 1))
        return VITALS_EARGUMENT;

    /* Digit by digit, so that the cut is exact: behind the point from the last one on. */
    const char *at = from;
    uint64_t bytes = 0, part = 0;
    bool over = false;
    for (; *at >= '0' && *at <= '9'; at++)
        over = over || __builtin_mul_overflow(bytes, 10, &bytes) ||
               __builtin_add_overflow(bytes, (uint64_t)(*at - '0'), &bytes);
    over = over || __builtin_mul_overflow(bytes, unit, &bytes);
    for (const char *digit = from + size - 1; fraction && digit > at; digit--)
        part = (part + (uint64_t)(*digit - '0') * unit) / 10;
    if (over || __builtin_add_overflow(bytes, part, &bytes))
        return VITALS_EARGUMENT;
    *out = bytes;
    return 0;
}

static const struct {
    const char *name;
    double multiply;
    double divide; /* 100ms is 0.1, which 100 * 0.001 is not always */
} DURATIONS[] = {
    {"", 1, 1},     {"s", 1, 1},  {"sec", 1, 1},  {"ms", 1, 1e3}, {"us", 1, 1e6},
    {"ns", 1, 1e9}, {"m", 60, 1}, {"min", 60, 1}, {"h", 3600, 1}, {"d", 86400, 1},
};

int vitals_parse_duration(const char *string, double *seconds)
{
    if (string == NULL)
        return VITALS_EARGUMENT;
    const char *at = string + (*string == '+');
    bool fraction;
    double number;
    char word[8];
    size_t size = digits_size(at, &fraction);
    if (size == 0 || !number_f64(&at, at + size, &number) || !unit_word(at, word))
        return VITALS_EARGUMENT;
    for (size_t i = 0; i < ARRAY_COUNT(DURATIONS); i++) {
        double value = number * DURATIONS[i].multiply / DURATIONS[i].divide;
        if (strcmp(word, DURATIONS[i].name) != 0 || value >= DBL_MAX)
            continue;
        *seconds = value;
        return 0;
    }
    return VITALS_EARGUMENT;
}
