/* answer_cache.h: what workers answered, kept until they answer again.
 *
 * A question may be only for what is due, so an answer is laid over the one before: what it was not
 * asked for stays, with the moment when it was read, of those rows that are still there. When a
 * worker does not answer in time its values become stale, and their tables with them.
 * Thread rule: one thread at a time. */
#ifndef VITALS_MODEL_ANSWER_CACHE_H
#define VITALS_MODEL_ANSWER_CACHE_H

#include "model/builder.h"

struct answer_cache {
    struct row_batch kept, spare;      /* the newest of everything; memory for the next */
    uint64_t whole_ns;                 /* when all of it was read; 0: one at a time */
    uint64_t *moments, *spare_moments; /* then when each value was read */
    size_t capacity, spare_capacity;
    struct metric_set silent; /* asked for and cache, at least once */
    bool answered;            /* at least once */
    bool overdue;             /* now */
};

void cache_done(struct answer_cache *cache);

/* Takes an answer, whose memory may be exchanged for ours. Rows are the same where entity and key
 * are, or, where the key is 0, entity and label. Returns 0 or VITALS_EMEMORY: then nothing has
 * changed. */
int cache_take(struct answer_cache *cache, struct row_batch *answer, uint64_t read_ns);

/* The worker was asked for these and did not answer in time. */
void cache_overdue(struct answer_cache *cache, const struct metric_set *asked);

/* Nothing that was read holds any more, for this reason; the rows stay. */
void cache_lose(struct answer_cache *cache, vitals_availability reason);

/* Why there is nothing: NOT_YET or TIMED_OUT. */
vitals_availability cache_reason(const struct answer_cache *cache);

/* Writes the row's values into the newest row of its table, and for what workers read of the table
 * and the row does not have, the reason. The row may be NULL. */
void cache_write(const struct answer_cache *cache, vitals_entity entity,
                 const struct batch_row *row, vitals_builder *builder, uint64_t stamp_ns);

/* Whether it was asked for at least once. */
static inline bool cache_asked(const struct answer_cache *cache, vitals_metric metric)
{
    return cache->answered && batch_wants(&cache->kept, metric);
}

/* Whether it was late and has never come. Another worker may have answered meanwhile: cache_reason
 * then does not tell. */
static inline bool cache_is_silent(const struct answer_cache *cache, vitals_metric metric)
{
    return !cache_asked(cache, metric) && metric_set_has(&cache->silent, metric);
}

/* When a fact of `kept` was read. */
uint64_t cache_moment(const struct answer_cache *cache, const struct batch_cell *cell);

/* The row with the key, or NULL. *hint makes it cheap where rows are asked for in their order; it
 * may be NULL. */
const struct batch_row *cache_find(const struct answer_cache *cache, vitals_entity entity,
                                   uint64_t key, size_t *hint);

/* The same by label, and cache_write of it. */
void cache_write_named(const struct answer_cache *cache, vitals_entity entity, vitals_text label,
                       size_t *hint, vitals_builder *builder, uint64_t stamp_ns);

/* All rows of the entity into its open table, with its state. */
void cache_write_table(const struct answer_cache *cache, vitals_entity entity,
                       vitals_builder *builder, uint64_t stamp_ns);

#endif
