/* change_layout.h: the layout of the bytes of change.h. For change_*.c only.
 *
 * Numbers have 7 bits a byte, the low ones first; signed ones have the sign in their lowest bit.
 * First come the times and, without a base, the origin. Each table follows with its state and rows;
 * without a base also with its entity and columns, each column as the number and the type of its
 * metric.
 *
 * A row is a list of slots: its head and its columns. A slot that equals the base's takes no byte:
 * each step begins with the number of equal slots before it, and the last step ends the table. If a
 * row is complete, an equal slot opens the next row of the base. */
#ifndef VITALS_RECORD_FRAME_CHANGE_LAYOUT_H
#define VITALS_RECORD_FRAME_CHANGE_LAYOUT_H

#include "record/frame/change.h"

enum change_step {
    STEP_END,   /* of the table; the base's remaining rows have gone */
    STEP_GONE,  /* so many rows of the base */
    STEP_FRESH, /* a row that the base lacks: key, age, parent, label */
    STEP_AGE,   /* the base's next row, with another age than the row before */
    STEP_CELL   /* and above: a column, with these flags */
};
enum change_flag {
    CELL_STATE = 8,  /* its state follows */
    CELL_VALUE = 16, /* its value follows; of an integer the difference */
    /* The read time; it holds for the rows below in the column until another is given. */
    CELL_THEN = 32, /* how long before its row follows; the rows below were read at the same time */
    CELL_NOW = 64,  /* with its row: the default of a column */
    CELL_SINCE = 128 /* not read since the base */
};
enum { CELL_READ = CELL_THEN | CELL_NOW | CELL_SINCE };

/* A table of one snapshot, column by column. */
enum { CHANGE_COLUMNS = 256 };
struct change_column {
    vitals_metric metric;
    vitals_type type;
    const uint64_t *cells; /* NULL of text */
    const signed char *states;
};
struct change_table {
    const vitals_snapshot *snapshot; /* NULL: none, and no rows */
    vitals_entity entity;
    size_t count; /* rows */
};

struct change_cell {
    int state;
    uint64_t bits; /* of a number that is available */
    vitals_text text;
    uint64_t read_ns; /* of an available value; change_cell_get does not set it */
};

/* How the column's last value was read. */
struct change_reading {
    unsigned way; /* of CELL_READ; 0: CELL_NOW */
    uint64_t read_ns;
};

/* Returns when a value was read. `base` is of the same row. */
static inline uint64_t change_read_ns(const struct change_reading *reading, unsigned way,
                                      const struct change_cell *base, uint64_t stamp_ns)
{
    return way == CELL_THEN ? reading->read_ns : way == CELL_SINCE ? base->read_ns : stamp_ns;
}

/* Lists the columns of an entity that a snapshot has; at most CHANGE_COLUMNS. */
size_t change_columns(const vitals_snapshot *snapshot, vitals_entity entity,
                      struct change_column *out);

/* Gets a value of a row of that snapshot, `place` from 0. */
void change_cell_get(const struct change_column *column, const vitals_row *row, size_t place,
                     struct change_cell *out);

#endif
