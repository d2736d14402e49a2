/* answer_cache.h: the last answer of a worker, kept until the next one.
 *
 * A query asks only for metrics that are due, so an answer is merged into the one before: for rows
 * that still exist, values that were not asked for stay, with the time when they were read. If a
 * worker does not answer in time, its values and their tables become stale.
 * Thread rule: one thread at a time. */
#pragma once

#include "model/builder.h"
#include "model/request.h"

struct answer_cache {
    struct row_batch kept, spare;      /* the newest values; memory for the next answer */
    uint64_t whole_ns;                 /* when all values were read; 0: see moments */
    uint64_t *moments, *spare_moments; /* when each value was read */
    size_t capacity, spare_capacity;
    struct metric_set silent; /* asked for and cache, at least once */
    bool answered;            /* at least once */
    bool overdue;             /* now */
};

void cache_done(struct answer_cache *cache);

/* Takes an answer; its memory may be swapped for the cache's. Rows match by entity and key, or by
 * entity and label if the key is 0. Returns 0, or VITALS_EMEMORY with nothing changed. */
int cache_take(struct answer_cache *cache, struct row_batch *answer, uint64_t read_ns);

/* Marks these as asked for and not answered in time. */
void cache_overdue(struct answer_cache *cache, const struct metric_set *asked);

/* Marks values as stale that were not read for longer than the request's interval, or the metric's
 * own cadence if that is longer, and a quarter of the interval. */
void cache_age(struct answer_cache *cache, const struct vitals_request *request, uint64_t now_ns);

/* Replaces every value by this reason, but for constant ones (VITALS_IDENTITY), which become stale;
 * the rows stay. */
void cache_lose(struct answer_cache *cache, vitals_availability reason);

/* Returns why there is no answer: NOT_YET or TIMED_OUT. */
vitals_availability cache_reason(const struct answer_cache *cache);

/* Writes the row's values into the newest row of its table, and a reason for each metric of the
 * worker that the row lacks. The row may be NULL. */
void cache_write(const struct answer_cache *cache, vitals_table entity, const struct batch_row *row,
                 vitals_builder *builder, uint64_t stamp_ns);

/* True if the metric was answered at least once. */
static inline bool cache_asked(const struct answer_cache *cache, vitals_metric metric)
{
    return cache->answered && batch_wants(&cache->kept, metric);
}

/* When a cell of `kept` was read. */
uint64_t cache_moment(const struct answer_cache *cache, const struct batch_cell *cell);

/* Returns the row with the key, or NULL. *hint makes lookups in row order cheap; it may be NULL. */
const struct batch_row *cache_find(const struct answer_cache *cache, vitals_table entity,
                                   uint64_t key, size_t *hint);

/* Finds the row by its label and writes it as cache_write does. */
void cache_write_named(const struct answer_cache *cache, vitals_table entity, vitals_text label,
                       size_t *hint, vitals_builder *builder, uint64_t stamp_ns);

/* Writes all rows of the entity into its open table, and the table's state. */
void cache_write_table(const struct answer_cache *cache, vitals_table entity,
                       vitals_builder *builder, uint64_t stamp_ns);
