/* row_batch.h: rows on their way from a reader to a snapshot.
 *
 * A flat list of rows and of their cells. It points only to its own memory, so that a worker hands
 * it over whole. A reader offers everything that it found; a cell that is not requested is dropped.
 * A reader calls batch_wants before it opens a file for one metric.
 * The memory is kept from one reading to the next. If memory runs out, `failed` is set and every
 * later call does nothing. Thread rule: one thread at a time. */
#pragma once

#include "model/values.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include <vitals/table.h>

struct batch_cell {
    vitals_metric metric;
    signed char state; /* a vitals_availability */
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        struct {
            uint32_t at, size; /* in row_batch.text */
        } text;
    } as;
};

struct batch_row {
    vitals_table entity;
    uint64_t key;                /* 0: host/identities.c makes one from the IDENTITY metrics */
    uint64_t parent;             /* 0: none */
    size_t label_at, label_size; /* in row_batch.text */
    size_t first, count;         /* in row_batch.items */
};

struct row_batch {
    struct metric_set wanted;
    struct batch_cell *items;
    size_t count, capacity;
    struct batch_row *rows;
    size_t row_count, row_capacity;
    signed char states[ENTITY_MAX + 1]; /* of each table: how complete its rows are */
    struct buffer text;
    uint32_t text_max; /* no more of it is kept; 0: BATCH_TEXT_MAX */
    bool failed;
};

/* The owner of files chooses by their names how large a table of paths is: text past the limit is
 * dropped, and the cell and its table become LOWER_BOUND. A label is cut at a length that no
 * snapshot shows. */
enum { BATCH_TEXT_MAX = 256 << 20, BATCH_LABEL_MAX = 1024 };

/* Empties the batch and keeps its memory; every table is HAVE. A zeroed batch is empty and wants
 * nothing. */
void batch_reset(struct row_batch *batch, const struct metric_set *wanted);
void batch_done(struct row_batch *batch);

static inline bool batch_wants(const struct row_batch *batch, vitals_metric metric)
{
    return metric_set_has(&batch->wanted, metric);
}

/* How complete the table's rows are, or why there are none. */
void batch_state(struct row_batch *batch, vitals_table entity, vitals_availability state);

/* Reserves as much as another batch holds; does nothing if memory runs out. */
void batch_reserve_like(struct row_batch *batch, const struct row_batch *like);

/* Begins a row; values that are set next go into it. The label is copied. Valid until the next row
 * begins; NULL after a failure. */
struct batch_row *batch_add_row(struct row_batch *batch, vitals_table entity, uint64_t key,
                                struct span label);

/* Sets a cell of the newest row; a metric that is not requested is ignored. */
void batch_set_value(struct row_batch *batch, vitals_metric metric, struct value value);
void batch_set_u64(struct row_batch *batch, vitals_metric metric, uint64_t number);
void batch_set_i64(struct row_batch *batch, vitals_metric metric, int64_t number);
void batch_set_f64(struct row_batch *batch, vitals_metric metric, double number);
void batch_set_text(struct row_batch *batch, vitals_metric metric, struct span text);
void batch_set_string(struct row_batch *batch, vitals_metric metric, const char *string);
void batch_set_text_as(struct row_batch *batch, vitals_metric metric, struct span text,
                       vitals_availability state);
void batch_set_missing(struct row_batch *batch, vitals_metric metric, vitals_availability reason);

/* Removes what was added since the mark, so that a table can be read again. */
struct batch_mark {
    size_t count, row_count, text_size;
};
static inline struct batch_mark batch_mark(const struct row_batch *batch)
{
    return (struct batch_mark){batch->count, batch->row_count, batch->text.size};
}
void batch_rewind(struct row_batch *batch, struct batch_mark mark);

/* Returns the cell of a row, or NULL if it was not set. */
const struct batch_cell *batch_find(const struct row_batch *batch, const struct batch_row *row,
                                    vitals_metric metric);
static inline struct span batch_span(const struct row_batch *batch, const struct batch_cell *cell)
{
    return (struct span){batch->text.bytes + cell->as.text.at, cell->as.text.size};
}
static inline struct span batch_label(const struct row_batch *batch, const struct batch_row *row)
{
    return (struct span){batch->text.bytes + row->label_at, row->label_size};
}

/* Wants the metrics alone: returns their table, or 0 if they are of two or there is none. */
vitals_table batch_want(struct row_batch *batch, const vitals_metric *metrics, size_t count);

/* Hands the rows of the table over, as <vitals/table.h> says. Returns what vitals_table_read does
 * where nothing failed. */
int batch_hand_over(const struct row_batch *batch, const vitals_metric *metrics, size_t count,
                    vitals_row_fn *row, void *data);
