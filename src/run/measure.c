/* measure.c: see measure.h. */
#include "run/measure.h"

#include "util/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vitals/error.h>

#define TREE    MEASURE_OF_TREE
#define SYSTEM  MEASURE_OF_SYSTEM
#define GPU     MEASURE_OF_GPU
#define GAUGE   MEASURE_GAUGE
#define COUNTER MEASURE_COUNTER

#define COLLECTOR 0

const struct measure MEASURES[MEASURE_COUNT] = {
#define MEASURE(number_, name_, unit_, kind_, scopes_, help_) \
    {.number = (number_),                                     \
     .kind = (kind_),                                         \
     .scopes = (scopes_),                                     \
     .name = #name_,                                          \
     .unit = (unit_),                                         \
     .help = (help_)},
#include "run/measures.def"
#undef MEASURE
};

/* All zeros where there is none of that number. */
static const struct measure *measure_of(vitals_measure number)
{
    static const struct measure NONE = {0};
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        if (MEASURES[i].number == number)
            return &MEASURES[i];
    }
    return &NONE;
}

const char *vitals_measure_name(vitals_measure measure)
{
    return measure_of(measure)->name;
}

const char *vitals_measure_unit(vitals_measure measure)
{
    return measure_of(measure)->unit;
}

const char *vitals_measure_help(vitals_measure measure)
{
    return measure_of(measure)->help;
}

int vitals_measure_is_counter(vitals_measure measure)
{
    return measure_of(measure)->kind == MEASURE_COUNTER;
}

vitals_measure vitals_measure_next(vitals_measure previous)
{
    size_t next = 0;
    for (size_t i = 0; previous != 0 && i < MEASURE_COUNT; i++) {
        if (MEASURES[i].number == previous)
            next = i + 1;
    }
    bool none = next == MEASURE_COUNT || (previous != 0 && next == 0);
    return none ? VITALS_MEASURE_NONE : (vitals_measure)MEASURES[next].number;
}

vitals_measure vitals_measure_find(const char *name)
{
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        if (strcmp(MEASURES[i].name, name) == 0)
            return (vitals_measure)MEASURES[i].number;
    }
    return VITALS_MEASURE_NONE;
}

/* ---- figures in the unit that a reader asked for ---- */

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
