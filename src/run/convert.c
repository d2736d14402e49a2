/* convert.c: converts a figure to the unit that a reader asked for. Pure. */
#include "util/base.h"
#include "util/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vitals/error.h>
#include <vitals/usage.h>

enum convert_kind { KIND_BYTES = 1, KIND_SECONDS };

static const struct {
    const char *name;
    enum convert_kind kind;
    double size; /* in the base unit */
} UNITS[] = {
    {"bytes", KIND_BYTES, 1},          {"kilobytes", KIND_BYTES, 1e3},
    {"megabytes", KIND_BYTES, 1e6},    {"gigabytes", KIND_BYTES, 1e9},
    {"terabytes", KIND_BYTES, 1e12},   {"kibibytes", KIND_BYTES, 0x1p10},
    {"mebibytes", KIND_BYTES, 0x1p20}, {"gibibytes", KIND_BYTES, 0x1p30},
    {"tebibytes", KIND_BYTES, 0x1p40}, {"seconds", KIND_SECONDS, 1},
    {"minutes", KIND_SECONDS, 60},     {"hours", KIND_SECONDS, 3600},
    {"days", KIND_SECONDS, 86400},
};

static size_t find_unit(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(UNITS); i++) {
        if (strcmp(UNITS[i].name, name) == 0)
            return i;
    }
    return ARRAY_COUNT(UNITS);
}

int vitals_usage_convert(double value, const char *from, const char *to, double *out)
{
    if (to[0] == '\0' || strcmp(from, to) == 0) {
        *out = value;
        return 0;
    }
    size_t source = find_unit(from), target = find_unit(to);
    if (source == ARRAY_COUNT(UNITS) || target == ARRAY_COUNT(UNITS) ||
        UNITS[source].kind != UNITS[target].kind)
        return VITALS_EARGUMENT;
    *out = value * UNITS[source].size / UNITS[target].size;
    return 0;
}

/* Six digits, or all digits before the point. */
int vitals_usage_format(double value, const char *from, const char *to, char *out, size_t capacity)
{
    static const double SIX_DIGITS = 1e5, WHOLE_MOST = 1e15, SCALE_MOST = 1e15;
    char digits[NUMBER_TEXT];
    const char *unit = to[0] != '\0' ? to : from;
    double converted, scale = 1;
    int code = vitals_usage_convert(value, from, to, &converted);
    if (code < 0 || !isfinite(converted))
        return VITALS_EARGUMENT;
    double magnitude = fabs(converted);
    while (magnitude * scale < SIX_DIGITS && scale < SCALE_MOST)
        scale *= 10;
    if (magnitude < WHOLE_MOST)
        magnitude = (double)(int64_t)(magnitude * scale + 0.5) / scale;
    converted = converted < 0 ? -magnitude : magnitude;
    digits[number_print_f64(digits, converted)] = '\0';
    return snprintf(out, capacity, "%s%s%s", digits, unit[0] != '\0' ? " " : "", unit);
}
