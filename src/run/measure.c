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

size_t measure_place(vitals_measure number)
{
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        if (MEASURES[i].number == number)
            return i;
    }
    return MEASURE_COUNT;
}

const struct measure *measure_of(vitals_measure number)
{
    size_t place = measure_place(number);
    return place < MEASURE_COUNT ? &MEASURES[place] : NULL;
}

const char *vitals_measure_name(vitals_measure measure)
{
    const struct measure *found = measure_of(measure);
    return found != NULL ? found->name : NULL;
}

const char *vitals_measure_unit(vitals_measure measure)
{
    const struct measure *found = measure_of(measure);
    return found != NULL ? found->unit : NULL;
}

const char *vitals_measure_help(vitals_measure measure)
{
    const struct measure *found = measure_of(measure);
    return found != NULL ? found->help : NULL;
}

int vitals_measure_is_counter(vitals_measure measure)
{
    const struct measure *found = measure_of(measure);
    return found != NULL && found->kind == MEASURE_COUNTER;
}

vitals_measure vitals_measure_find(const char *name)
{
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        if (strcmp(MEASURES[i].name, name) == 0)
            return MEASURES[i].number;
    }
    return 0;
}
