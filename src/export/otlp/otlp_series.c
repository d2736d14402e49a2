/* otlp_series.c: see otlp_series.h. An open-addressing hash table, rebuilt at each turn. */
#include "export/otlp/otlp_series.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FIRST_PLACES = 256, MOST_PLACES = 1 << 22 };

struct one {
    uint64_t id; /* 0 if free */
    uint64_t start_ns, time_ns;
    double value;
    bool asked; /* used since the last turn */
};

struct otlp_series {
    struct one *places;
    size_t count, room; /* a power of two, or 0 */
};

struct otlp_series *otlp_series_new(void)
{
    return calloc(1, sizeof(struct otlp_series));
}

void otlp_series_free(struct otlp_series *series)
{
    if (series != NULL)
        free(series->places);
    free(series);
}

uint64_t otlp_series_id(uint64_t first, uint64_t second)
{
    /* The finalizer of SplitMix64, applied twice: each input bit changes half of the output's. */
    uint64_t mixed = first;
    for (int round = 0; round < 2; round++) {
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBU;
        mixed = (mixed ^ mixed >> 31) + (round == 0 ? second : 0);
    }
    return mixed;
}

/* Returns the id's place, or the free one where it belongs. One is always free. */
static struct one *place_of(struct one *places, size_t room, uint64_t id)
{
    size_t at = (size_t)otlp_series_id(id, 0) & (room - 1);
    while (places[at].id != 0 && places[at].id != id)
        at = (at + 1) & (room - 1);
    return &places[at];
}

/* Moves all entries, or those that were used, to a table of that capacity. */
static bool move_to(struct otlp_series *series, size_t room, bool asked_alone)
{
    struct one *places = room <= MOST_PLACES ? calloc(room, sizeof *places) : NULL;
    if (places == NULL)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < series->room; i++) {
        const struct one *one = &series->places[i];
        if (one->id == 0 || (asked_alone && !one->asked))
            continue;
        struct one *place = place_of(places, room, one->id);
        *place = *one;
        place->asked = place->asked && !asked_alone;
        count++;
    }
    free(series->places);
    series->places = places;
    series->room = room;
    series->count = count;
    return true;
}

uint64_t otlp_series_start(struct otlp_series *series, uint64_t id, double value, uint64_t time_ns,
                           uint64_t origin_ns)
{
    uint64_t origin = origin_ns < time_ns ? origin_ns : time_ns;
    id = id != 0 ? id : 1;
    if (2 * (series->count + 1) > series->room &&
        !move_to(series, series->room > 0 ? 2 * series->room : FIRST_PLACES, false))
        return origin;
    struct one *one = place_of(series->places, series->room, id);
    if (one->id == 0) {
        series->count++;
        *one = (struct one){.id = id, .start_ns = origin};
    } else if (value < one->value) {
        one->start_ns = one->time_ns;
    }
    one->value = value;
    one->time_ns = time_ns;
    one->asked = true;
    return one->start_ns < time_ns ? one->start_ns : time_ns;
}

void otlp_series_turn(struct otlp_series *series)
{
    size_t asked = 0, room = FIRST_PLACES;
    for (size_t i = 0; i < series->room; i++)
        asked += series->places[i].id != 0 && series->places[i].asked;
    while (room < 2 * (asked + 1))
        room *= 2;
    if (series->room > 0)
        (void)move_to(series, room, true);
}

void otlp_series_clear(struct otlp_series *series)
{
    free(series->places);
    *series = (struct otlp_series){.places = NULL};
}
