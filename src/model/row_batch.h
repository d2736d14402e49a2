/* row_batch.h: rows on their way from an operating system to a snapshot.
 *
 * A flat list of rows and of their values, without a pointer in it but to its own memory: a lane
 * hands it over whole, and one day a process can. Who reads offers all that it found; what nobody
 * wants is passed over, and a reader asks facts_wants before it opens a file for it.
 * The memory is kept from reading to reading. What fails for want of memory sets `failed`, and
 * every later call does nothing. Thread rule: one thread at a time. */
#ifndef VITALS_MODEL_ROW_BATCH_H
#define VITALS_MODEL_ROW_BATCH_H

#include "model/values.h"
#include "util/buffer.h"
#include "util/cursor.h"

struct fact {
    vitals_metric metric;
    signed char state; /* a vitals_availability */
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        struct {
            uint32_t at, size; /* in facts.text */
        } text;
    } as;
};

struct fact_row {
    vitals_entity entity;
    uint64_t key;    /* 0: by who the row is, its IDENTITY metrics; host/identities.c gives it */
    uint64_t parent; /* 0: none */
    size_t label_at, label_size; /* in facts.text */
    size_t first, count;         /* in facts.items */
};

struct facts {
    struct metric_set wanted;
    struct fact *items;
    size_t count, capacity;
    struct fact_row *rows;
    size_t row_count, row_capacity;
    signed char states[ENTITY_MAX + 1]; /* of each table: how complete its rows are */
    struct buffer text;
    uint32_t text_max; /* no more of it is kept; 0: FACTS_TEXT_MAX */
    bool failed;
};

/* A table of paths can be as large as who names files wants it: what lies beyond is left out, and
 * the value and its table are LOWER_BOUND. A label is kept to a length that no snapshot shows. */
enum { FACTS_TEXT_MAX = 256 << 20, FACTS_LABEL_MAX = 1024 };

/* One of zeros is empty and wants nothing. Empties it, with every table HAVE; keeps its memory. */
void facts_reset(struct facts *facts, const struct metric_set *wanted);
void facts_done(struct facts *facts);

static inline bool facts_wants(const struct facts *facts, vitals_metric metric)
{
    return metric_set_has(&facts->wanted, metric);
}

/* How complete the table's rows are, or why there are none. */
void facts_state(struct facts *facts, vitals_entity entity, vitals_availability state);

/* Makes room for that many rows more of the table, each with every value that is wanted: for who
 * knows how many come, and has many. */
void facts_reserve(struct facts *facts, vitals_entity entity, size_t rows);

/* Makes room for as much as another holds; what has no memory for it does without. */
void facts_reserve_like(struct facts *facts, const struct facts *like);

/* Begins a row; values that are set next go into it. The label is copied. Valid until the next row
 * begins; NULL after a failure. */
struct fact_row *facts_row(struct facts *facts, vitals_entity entity, uint64_t key,
                           struct span label);

/* Sets a value of the newest row; one that is not wanted is passed over. */
void fact_value(struct facts *facts, vitals_metric metric, struct value value);
void fact_u64(struct facts *facts, vitals_metric metric, uint64_t number);
void fact_i64(struct facts *facts, vitals_metric metric, int64_t number);
void fact_f64(struct facts *facts, vitals_metric metric, double number);
void fact_text(struct facts *facts, vitals_metric metric, struct span text);
void fact_string(struct facts *facts, vitals_metric metric, const char *string);
void fact_text_as(struct facts *facts, vitals_metric metric, struct span text,
                  vitals_availability state);
void fact_missing(struct facts *facts, vitals_metric metric, vitals_availability reason);

/* Takes back what was added since: a table that is read once more. */
struct facts_mark {
    size_t count, row_count, text_size;
};
static inline struct facts_mark facts_mark(const struct facts *facts)
{
    return (struct facts_mark){facts->count, facts->row_count, facts->text.size};
}
void facts_rewind(struct facts *facts, struct facts_mark mark);

/* The value of a row, or NULL where it was not set. */
const struct fact *fact_find(const struct facts *facts, const struct fact_row *row,
                             vitals_metric metric);
static inline struct span fact_span(const struct facts *facts, const struct fact *fact)
{
    return (struct span){facts->text.bytes + fact->as.text.at, fact->as.text.size};
}
static inline struct span fact_label(const struct facts *facts, const struct fact_row *row)
{
    return (struct span){facts->text.bytes + row->label_at, row->label_size};
}

#endif
