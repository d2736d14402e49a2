/* change_layout.h: how the bytes of change.h are laid out. Inside of change_*.c only.
 *
 * Numbers stand in 7 bits a byte, the low ones first; those with a sign have it in their lowest
 * bit. First the moment and, without a base, the origin. Then of each table its state and its rows;
 * without a base also its number and columns, a column as its metric's number and type.
 *
 * A row is so many slots, its head and its columns. A slot that is as the base has it takes no
 * byte: what stands there is a number of such slots, a step, what comes with the step, and so on to
 * the last step of the table. A slot that is alike opens the base's next row where the row before
 * is through. */
#ifndef VITALS_RECORD_FRAME_CHANGE_LAYOUT_H
#define VITALS_RECORD_FRAME_CHANGE_LAYOUT_H

#include "record/frame/change.h"

enum change_step {
    STEP_END,   /* of the table; what the base has left has gone */
    STEP_GONE,  /* so many rows of the base */
    STEP_FRESH, /* a row that the base does not have: key, age, parent, label */
    STEP_AGE,   /* the base's next row, of another age than the row before */
    STEP_CELL   /* and above: a column; with these flags */
};
enum change_flag {
    CELL_STATE = 8,  /* its state follows */
    CELL_VALUE = 16, /* its value follows, of a number what it grew by */
    /* When it was read; below it in the column likewise, until another is said. */
    CELL_THEN = 32,  /* how long before its row follows; the next ones at that moment too */
    CELL_NOW = 64,   /* with its row, which is what a column begins with */
    CELL_SINCE = 128 /* not since the base */
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
    const vitals_snapshot *snapshot; /* NULL: there is none, and no row */
    vitals_entity entity;
    size_t count; /* rows */
};

struct change_cell {
    int state;
    uint64_t bits; /* of a number that is there */
    vitals_text text;
    uint64_t read_ns; /* of a value that is there; change_cell_get leaves it out */
};

/* How the column's last value was read. */
struct change_reading {
    unsigned way; /* of CELL_READ; 0: CELL_NOW */
    uint64_t read_ns;
};

/* When a value was read, if so. `base` is of the same row. */
static inline uint64_t change_read_ns(const struct change_reading *reading, unsigned way,
                                      const struct change_cell *base, uint64_t stamp_ns)
{
    return way == CELL_THEN ? reading->read_ns : way == CELL_SINCE ? base->read_ns : stamp_ns;
}

/* The metrics of an entity that a snapshot has columns of; at most CHANGE_COLUMNS. */
size_t change_columns(const vitals_snapshot *snapshot, vitals_entity entity,
                      struct change_column *out);

/* A value of a row, `place` from 0, of that snapshot. */
void change_cell_get(const struct change_column *column, const vitals_row *row, size_t place,
                     struct change_cell *out);

#endif
