/* catalogue.h: what the library itself needs of the catalogue, beside <vitals/catalogue.h>.
 *
 * Constant data, any thread. */
#pragma once

#include "util/base.h"
#include <vitals/catalogue.h>

/* Entities are 1 … ENTITY_MAX, metrics of one entity 1 … METRIC_NUMBERS - 1. */
#define ENTITY_MAX 32u /* no enumerator: it is compared with tables */
enum { METRIC_NUMBERS = 128, METRICS_MAX = 1023 };

/* A metric's number within its entity. */
static inline unsigned metric_number(vitals_metric metric)
{
    return metric & 0xffu;
}

static inline vitals_metric metric_of(vitals_table entity, unsigned number)
{
    return (entity << 8) | number;
}

/* Writes a number as vitals_metric_format does, by its unit alone; `whole`: a count without a unit
 * has no decimals if it is whole. */
char *unit_format(const char *unit, double value, bool whole, vitals_text_form form, char *out);

/* The tables' columns that belong to a set of enum vitals_set. */
bool metric_in_sets(vitals_metric metric, unsigned sets);

/* Whether only a live handle answers for the table: its rows are a process's own. */
static inline bool entity_is_of_handle(vitals_table entity)
{
    return entity != VITALS_TABLE_PROCESS && vitals_table_parent(entity) == VITALS_TABLE_PROCESS;
}

/* True if the metric is read with its table: all metrics of a table, but if some belong to a set,
 * only those. */
bool metric_in_table(vitals_metric metric, vitals_table entity);

/* A set of metrics. */
struct metric_set {
    uint64_t bits[ENTITY_MAX + 1][METRIC_NUMBERS / 64];
};

void metric_set_add(struct metric_set *set, vitals_metric metric);
void metric_set_remove(struct metric_set *set, vitals_metric metric);
void metric_set_join(struct metric_set *set, const struct metric_set *more);
bool metric_set_is_empty(const struct metric_set *set);
bool metric_set_has_entity(const struct metric_set *set, vitals_table entity);

/* Writes those of one table in ascending order. Returns how many. */
size_t metric_set_list(const struct metric_set *set, vitals_table entity,
                       vitals_metric out[METRIC_NUMBERS]);

/* Adds all metrics of the entity that identify a row. */
void metric_set_add_identities(struct metric_set *set, vitals_table entity);

static inline bool metric_set_has(const struct metric_set *set, vitals_metric metric)
{
    vitals_table entity = metric >> 8;
    unsigned number = metric_number(metric);
    return entity <= ENTITY_MAX && number < METRIC_NUMBERS &&
           (set->bits[entity][number / 64] >> (number % 64) & 1) != 0;
}
