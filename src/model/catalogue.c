/* catalogue.c: metrics.def and entities.def as tables, and what is asked of them.
 *
 * Numbers come from the two .def files alone, never from the constants in <vitals/metrics.h>: that
 * header is printed from here, so this file must compile before a new metric stands in it.
 * A number or a name that is given twice does not compile.
 * Thread rule: constant data. */
#include "model/catalogue.h"

#include <string.h>

struct entity {
    const char *name;
    const char *help;
    unsigned set;        /* one of enum vitals_set */
    vitals_table parent; /* 0: none */
};

/* The members that a row of metrics.def may set; the others are 0. */
struct metric {
    const char *name;
    const char *unit;
    const char *source;
    const char *help;
    uint64_t every_ns;
    uint64_t resolution_ns;
    uint64_t coarse_ns;
    vitals_type type;
    vitals_kind kind;
    vitals_price price;  /* 0: VITALS_PRICE_TICK */
    vitals_table target; /* 0: none */
    bool by_name;
};

/* NUMBER_HOST: the entity's number. */
enum {
    VITALS_SET_ASKED = 0, /* in entities.def: of no set */
    NUMBER_NONE = 0,
#define ENTITY(constant, number, name, set, parent, help) NUMBER_##constant = (number),
#include "model/entities.def"
#undef ENTITY
};

/* PLACE_HOST_uptime_seconds: where the metric stands in METRICS. */
enum {
#define METRIC(entity, number, name, ...) PLACE_##entity##_##name,
#include "model/metrics.def"
#undef METRIC
    METRIC_COUNT
};

static const struct entity ENTITIES[ENTITY_MAX + 1] = {
#define ENTITY(constant, number, name, set, parent, help) \
    [number] = {name, help, VITALS_SET_##set, (vitals_table)NUMBER_##parent},
#include "model/entities.def"
#undef ENTITY
};

static const struct metric METRICS[METRIC_COUNT] = {
#define METRIC(entity, number, label, form, behavior, ...) \
    {.name = #label, .type = VITALS_##form, .kind = VITALS_##behavior, __VA_ARGS__},
#include "model/metrics.def"
#undef METRIC
};

/* 1 + the place in METRICS, by entity and number; 0: no such metric. */
static const uint16_t PLACES[ENTITY_MAX + 1][METRIC_NUMBERS] = {
#define METRIC(entity, number, name, ...) [NUMBER_##entity][number] = PLACE_##entity##_##name + 1,
#include "model/metrics.def"
#undef METRIC
};

_Static_assert((int)METRIC_COUNT <= (int)METRICS_MAX, "a place fits");
_Static_assert(METRIC_NUMBERS <= 256 && METRIC_NUMBERS % 64 == 0, "a number fits its byte");

/* All zeros for a number that is none. */
static const struct entity *entity_at(vitals_table entity)
{
    static const struct entity NONE = {0};
    return entity <= ENTITY_MAX ? &ENTITIES[entity] : &NONE;
}

static const struct metric *metric_at(vitals_metric metric)
{
    static const struct metric NONE = {0};
    vitals_table entity = metric >> 8;
    unsigned number = metric_number(metric);
    if (entity > ENTITY_MAX || number >= METRIC_NUMBERS || PLACES[entity][number] == 0)
        return &NONE;
    return &METRICS[PLACES[entity][number] - 1];
}

vitals_table vitals_table_next(vitals_table previous)
{
    for (vitals_table entity = previous; entity < ENTITY_MAX;)
        if (ENTITIES[++entity].name != NULL)
            return entity;
    return 0;
}

vitals_metric vitals_metric_next(vitals_metric previous)
{
    vitals_metric last = metric_of(ENTITY_MAX, METRIC_NUMBERS - 1);
    for (vitals_metric metric = previous; metric < last;)
        if (metric_at(++metric)->name != NULL)
            return metric;
    return 0;
}

vitals_metric vitals_metric_next_of(vitals_table entity, vitals_metric previous)
{
    bool first = previous == VITALS_METRIC_NONE;
    vitals_metric next = vitals_metric_next(first ? metric_of(entity, 0) : previous);
    return vitals_metric_table(next) == entity ? next : VITALS_METRIC_NONE;
}

const char *vitals_table_name(vitals_table entity)
{
    return entity_at(entity)->name;
}

const char *vitals_table_help(vitals_table entity)
{
    return entity_at(entity)->help;
}

vitals_table vitals_table_parent(vitals_table entity)
{
    return entity_at(entity)->parent;
}

const char *vitals_metric_name(vitals_metric metric)
{
    return metric_at(metric)->name;
}

const char *vitals_metric_unit(vitals_metric metric)
{
    const struct metric *found = metric_at(metric);
    return found->name != NULL && found->unit == NULL ? "" : found->unit;
}

const char *vitals_metric_source(vitals_metric metric)
{
    return metric_at(metric)->source;
}

const char *vitals_metric_help(vitals_metric metric)
{
    return metric_at(metric)->help;
}

vitals_table vitals_metric_table(vitals_metric metric)
{
    return metric_at(metric)->name != NULL ? metric >> 8 : 0;
}

vitals_table vitals_metric_target(vitals_metric metric)
{
    return metric_at(metric)->target;
}

vitals_type vitals_metric_type(vitals_metric metric)
{
    return metric_at(metric)->type;
}

vitals_kind vitals_metric_kind(vitals_metric metric)
{
    return metric_at(metric)->kind;
}

vitals_price vitals_metric_price(vitals_metric metric)
{
    const struct metric *found = metric_at(metric);
    return found->name != NULL && found->price == 0 ? VITALS_PRICE_TICK : found->price;
}

uint64_t vitals_metric_every_ns(vitals_metric metric)
{
    return metric_at(metric)->every_ns;
}

uint64_t vitals_metric_resolution_ns(vitals_metric metric, int estimate)
{
    const struct metric *found = metric_at(metric);
    return estimate && found->coarse_ns != 0 ? found->coarse_ns : found->resolution_ns;
}

vitals_table vitals_table_find(const char *name)
{
    for (vitals_table entity = 1; name != NULL && entity <= ENTITY_MAX; entity++)
        if (ENTITIES[entity].name != NULL && strcmp(ENTITIES[entity].name, name) == 0)
            return entity;
    return 0;
}

vitals_metric vitals_metric_find(vitals_table entity, const char *name)
{
    if (entity_at(entity)->name == NULL || name == NULL)
        return 0;
    for (unsigned number = 0; number < METRIC_NUMBERS; number++) {
        unsigned place = PLACES[entity][number];
        if (place != 0 && strcmp(METRICS[place - 1].name, name) == 0)
            return metric_of(entity, number);
    }
    return 0;
}

bool metric_in_sets(vitals_metric metric, unsigned sets)
{
    const struct metric *found = metric_at(metric);
    return found->name != NULL && !found->by_name && (ENTITIES[metric >> 8].set & sets) != 0;
}

bool metric_in_table(vitals_metric metric, vitals_table entity)
{
    const struct metric *found = metric_at(metric);
    return found->name != NULL && !found->by_name && metric >> 8 == entity;
}

void metric_set_add(struct metric_set *set, vitals_metric metric)
{
    unsigned number = metric_number(metric);
    if (metric_at(metric)->name != NULL)
        set->bits[metric >> 8][number / 64] |= UINT64_C(1) << (number % 64);
}

void metric_set_remove(struct metric_set *set, vitals_metric metric)
{
    unsigned number = metric_number(metric);
    if (metric_at(metric)->name != NULL)
        set->bits[metric >> 8][number / 64] &= ~(UINT64_C(1) << (number % 64));
}

void metric_set_join(struct metric_set *set, const struct metric_set *more)
{
    for (size_t i = 0; i < ARRAY_COUNT(set->bits); i++)
        for (size_t j = 0; j < ARRAY_COUNT(set->bits[i]); j++)
            set->bits[i][j] |= more->bits[i][j];
}

bool metric_set_is_empty(const struct metric_set *set)
{
    uint64_t any = 0;
    for (size_t i = 0; i < ARRAY_COUNT(set->bits); i++)
        for (size_t j = 0; j < ARRAY_COUNT(set->bits[i]); j++)
            any |= set->bits[i][j];
    return any == 0;
}

bool metric_set_has_entity(const struct metric_set *set, vitals_table entity)
{
    uint64_t any = 0;
    for (size_t i = 0; entity_at(entity)->name != NULL && i < METRIC_NUMBERS / 64; i++)
        any |= set->bits[entity][i];
    return any != 0;
}

size_t metric_set_list(const struct metric_set *set, vitals_table entity,
                       vitals_metric out[METRIC_NUMBERS])
{
    size_t count = 0;
    for (unsigned word = 0; word < METRIC_NUMBERS / 64; word++)
        for (uint64_t bits = set->bits[entity][word]; bits != 0; bits &= bits - 1)
            out[count++] = metric_of(entity, word * 64 + (unsigned)__builtin_ctzll(bits));
    return count;
}

void metric_set_add_identities(struct metric_set *set, vitals_table entity)
{
    for (unsigned number = 1; number < METRIC_NUMBERS; number++) {
        vitals_metric metric = metric_of(entity, number);
        if (vitals_metric_name(metric) != NULL && vitals_metric_kind(metric) == VITALS_IDENTITY)
            metric_set_add(set, metric);
    }
}
