/* snapshot.h: what a snapshot is made of. Inside this room only.
 *
 * A table is a set of columns; a column is an array of cells and an array of states, in the order
 * of rows; of a text column an array of texts instead of cells. Everything but the snapshot itself
 * lies in its arena, but for the bytes of shared texts: `shared` holds these until the snapshot is
 * given up. Behind the bytes of every text is a NUL.
 * Thread rule: builder.c alone writes, and only while it has the only reference. */
#pragma once

#include "model/catalogue.h"
#include "util/arena.h"
#include "util/shared_text.h"
#include <stdatomic.h>
#include <vitals/snapshot.h>

union snapshot_cell {
    uint64_t u64;
    int64_t i64;
    double f64;
};

_Static_assert(sizeof(union snapshot_cell) == 8,
               "vitals_snapshot_column promises cells of 8 bytes");

struct snapshot_column {
    vitals_metric metric;
    vitals_type type;
    vitals_kind kind;
    const char *name;
    size_t name_size;
    union snapshot_cell *cells; /* NULL: it is of text */
    vitals_text *texts;         /* NULL: it is of numbers; a missing text is empty */
    signed char *states;        /* vitals_availability */
    uint64_t *lags; /* how long before its row each was read, modulo 2^64; NULL: all with it */
};

struct vitals_row {
    const struct table *table;
    uint64_t parent;
    uint64_t stamp_ns;
    const char *label;
};

struct table {
    const vitals_snapshot *snapshot;
    vitals_table entity;
    bool open;
    signed char state; /* a vitals_availability: how complete the rows are */
    bool ordered;      /* rows came in the order of keys so far, none twice */
    size_t column_count;
    struct snapshot_column *columns; /* in the order of metrics */
    size_t count, capacity;
    struct vitals_row *rows;
    uint64_t *keys;
    const size_t *by_parent; /* rows in the order of parents, then keys; NULL: they stand so */
    unsigned char places[METRIC_NUMBERS]; /* 1 + place in columns, by number; 0: not there */
};

struct shared_texts {
    struct shared_text **items;
    size_t count, capacity;
};

/* References of callers are counted by ones; those of the builder and of a sampler's slot by this.
 * So a caller that releases one twice is found while the library holds the snapshot. */
static const uint64_t SNAPSHOT_OURS = UINT64_C(1) << 32;

struct vitals_snapshot {
    _Atomic uint64_t refs;
    struct arena arena;
    struct shared_texts shared; /* one reference each */
    vitals_text host, boot_id;
    uint64_t pid_namespace;
    uint64_t realtime_ns, boottime_ns, monotonic_ns;
    uint64_t stream, sequence;
    struct table tables[ENTITY_MAX + 1];
};

/* An empty one with one reference of ours, or NULL when memory is out. */
vitals_snapshot *snapshot_new(void);

/* Makes a reference of ours of a caller's, and releases one of ours. Drop accepts NULL. */
void snapshot_hold(vitals_snapshot *snapshot);
void snapshot_drop(vitals_snapshot *snapshot);

/* Empties it and keeps its memory. The caller must hold the only reference. */
void snapshot_reset(vitals_snapshot *snapshot);

/* The open table, or NULL. */
static inline const struct table *snapshot_table(const vitals_snapshot *snapshot,
                                                 vitals_table entity)
{
    return entity <= ENTITY_MAX && snapshot->tables[entity].open ? &snapshot->tables[entity] : NULL;
}

/* The column of a metric of this table's entity, or NULL. */
static inline struct snapshot_column *table_column(const struct table *table, vitals_metric metric)
{
    unsigned number = metric_number(metric);
    if (number >= METRIC_NUMBERS || table->places[number] == 0)
        return NULL;
    return &table->columns[table->places[number] - 1];
}

static inline size_t row_index(const vitals_row *row)
{
    return (size_t)(row - row->table->rows);
}

static inline uint64_t row_key(const vitals_row *row)
{
    return row->table->keys[row_index(row)];
}

/* Whether the value has a moment of its own. A reason why there is none has that of its row. */
static inline bool column_lags(const struct snapshot_column *column, size_t index)
{
    return column->lags != NULL && column->lags[index] != 0 && column->states[index] > 0;
}

/* When the value was read. */
static inline uint64_t column_read_ns(const struct snapshot_column *column, const vitals_row *row)
{
    size_t index = row_index(row);
    return row->stamp_ns - (column_lags(column, index) ? column->lags[index] : 0);
}

/* order.c: puts rows and cells in the order of keys. Returns 0 or VITALS_EMEMORY. */
int table_order(struct arena *arena, struct table *table);

/* Fills in by_parent, once rows are in the order of keys. Returns 0 or VITALS_EMEMORY. */
int table_index_parents(struct arena *arena, struct table *table);
