/* measure.h: what a run measures, as a table. measures.def says what. Thread rule: pure. */
#pragma once

#include "util/base.h"
#include <vitals/usage.h>

/* MEASURE_cpu_seconds = 1, … */
enum measure_number {
#define MEASURE(number, name, unit, kind, scopes, help) MEASURE_##name = (number),
#include "run/measures.def"
#undef MEASURE
};

enum measure_kind { MEASURE_GAUGE, MEASURE_COUNTER };

/* Which scopes of a usage a measure has (0: a collector alone tells it); TREE means the tree, its
 * root and its descendants. */
enum { MEASURE_OF_TREE = 1, MEASURE_OF_SYSTEM = 2, MEASURE_OF_GPU = 4 };

struct measure {
    unsigned char number;
    unsigned char kind;
    unsigned char scopes;
    const char *name;
    const char *unit;
    const char *help;
};

/* Their places: MEASURE_AT_cpu_seconds = 0, …, for arrays that hold one of each. */
enum measure_place {
#define MEASURE(number, name, unit, kind, scopes, help) MEASURE_AT_##name,
#include "run/measures.def"
#undef MEASURE
    MEASURE_COUNT
};

/* In the order of measures.def. */
extern const struct measure MEASURES[MEASURE_COUNT];
