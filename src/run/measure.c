/* measure.c: see measure.h. */
#include "run/measure.h"

#include <string.h>

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

vitals_measure vitals_measure_find(const char *name)
{
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        if (strcmp(MEASURES[i].name, name) == 0)
            return MEASURES[i].number;
    }
    return 0;
}
