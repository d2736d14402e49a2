/* answer_cache.h: what lanes answered, kept until they answer again.
 *
 * A question may be only for what is due, so an answer is laid over the one before: what it was not
 * asked for stays, with the moment when it was read, of those rows that are still there. When a
 * lane does not answer in time its values become stale, and their tables with them.
 * Thread rule: one thread at a time. */
#ifndef VITALS_MODEL_ANSWER_CACHE_H
#define VITALS_MODEL_ANSWER_CACHE_H

#include "model/builder.h"

struct late {
    struct facts kept, spare;          /* the newest of everything; memory for the next */
    uint64_t whole_ns;                 /* when all of it was read; 0: one at a time */
    uint64_t *moments, *spare_moments; /* then when each value was read */
    size_t capacity, spare_capacity;
    struct metric_set silent; /* asked for and late, at least once */
    bool answered;            /* at least once */
    bool overdue;             /* now */
};

void late_done(struct late *late);

/* Takes an answer, whose memory may be exchanged for ours. Rows are the same where entity and key
 * are, or, where the key is 0, entity and label. Returns 0 or VITALS_EMEMORY: then nothing has
 * changed. */
int late_take(struct late *late, struct facts *answer, uint64_t read_ns);

/* The lane was asked for these and did not answer in time. */
void late_overdue(struct late *late, const struct metric_set *asked);

/* Nothing that was read holds any more, for this reason; the rows stay. */
void late_lose(struct late *late, vitals_availability reason);

/* Why there is nothing: NOT_YET or TIMED_OUT. */
vitals_availability late_reason(const struct late *late);

/* Writes the row's values into the newest row of its table, and for what lanes read of the table
 * and the row does not have, the reason. The row may be NULL. */
void late_write(const struct late *late, vitals_entity entity, const struct fact_row *row,
                vitals_builder *builder, uint64_t stamp_ns);

/* Whether it was asked for at least once. */
static inline bool late_asked(const struct late *late, vitals_metric metric)
{
    return late->answered && facts_wants(&late->kept, metric);
}

/* Whether it was late and has never come. Another lane may have answered meanwhile: late_reason
 * then does not tell. */
static inline bool late_is_silent(const struct late *late, vitals_metric metric)
{
    return !late_asked(late, metric) && metric_set_has(&late->silent, metric);
}

/* When a fact of `kept` was read. */
uint64_t late_moment(const struct late *late, const struct fact *fact);

/* The row with the key, or NULL. *hint makes it cheap where rows are asked for in their order; it
 * may be NULL. */
const struct fact_row *late_find(const struct late *late, vitals_entity entity, uint64_t key,
                                 size_t *hint);

/* The same by label, and late_write of it. */
void late_write_named(const struct late *late, vitals_entity entity, vitals_text label,
                      size_t *hint, vitals_builder *builder, uint64_t stamp_ns);

/* All rows of the entity into its open table, with its state. */
void late_write_table(const struct late *late, vitals_entity entity, vitals_builder *builder,
                      uint64_t stamp_ns);

#endif
