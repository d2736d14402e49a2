/* otlp_series.c: see otlp_series.h. */
#include "export/otlp/otlp_series.h"

#include <stdbool.h>
#include <stdlib.h>

#include "util/memory.h"

struct one {
    uint64_t id, start_ns, time_ns;
    double value;
    bool asked; /* used since the last turn */
};

struct otlp_series {
    struct hash places; /* of ids in `list` */
    struct one *list;
    size_t count, capacity;
};

struct otlp_series *otlp_series_new(void)
{
    return calloc(1, sizeof(struct otlp_series));
}

void otlp_series_free(struct otlp_series *series)
{
    if (series != NULL)
        otlp_series_clear(series);
    free(series);
}

uint64_t otlp_series_start(struct otlp_series *series, uint64_t id, double value, uint64_t time_ns,
                           uint64_t origin_ns)
{
    uint64_t origin = origin_ns < time_ns ? origin_ns : time_ns;
    const uintptr_t *place = hash_find(&series->places, id);
    if (place == NULL) {
        if (MEMORY_GROW(series->list, series->capacity, series->count) != 0 ||
            hash_set(&series->places, id, series->count) != 0)
            return origin;
        series->list[series->count++] = (struct one){.id = id, .start_ns = origin, .value = value};
    }
    struct one *one = &series->list[place != NULL ? *place : series->count - 1];
    if (value < one->value)
        one->start_ns = one->time_ns;
    one->value = value;
    one->time_ns = time_ns;
    one->asked = true;
    return one->start_ns < time_ns ? one->start_ns : time_ns;
}

void otlp_series_turn(struct otlp_series *series)
{
    size_t kept = 0;
    hash_reset(&series->places);
    for (size_t i = 0; i < series->count; i++) {
        struct one one = series->list[i];
        if (!one.asked)
            continue;
        one.asked = false;
        series->list[kept] = one;
        (void)hash_set(&series->places, one.id, kept++); /* its memory is kept */
    }
    series->count = kept;
}

void otlp_series_clear(struct otlp_series *series)
{
    hash_done(&series->places);
    memory_free(series->list);
    *series = (struct otlp_series){.list = NULL};
}
