/* dialect.h: the columns of other tools' files: their names, their units, and what of ours each is.
 *
 * One table serves both ways: what writes such a file and what reads it. Pure data. */
#ifndef VITALS_RECORD_FOREIGN_DIALECT_H
#define VITALS_RECORD_FOREIGN_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

enum dialect_kind {
    DIALECT_GAUGE = 1,
    DIALECT_GROWTH,   /* since the row before, never below 0 */
    DIALECT_TIME,     /* Unix seconds */
    DIALECT_PID,      /* of the root */
    DIALECT_CHILDREN, /* a gauge that is an empty text where it is 0 */
    DIALECT_BOOT      /* a counter since boot, which only a snapshot has */
};

enum { DIALECT_TERMS = 4 };

struct dialect_column {
    const char *name;
    enum dialect_kind kind;
    vitals_scope scope;
    /* The sum of the first `plus` of these less the others; NULL behind the last. Only a column of
     * one measure is read back as that; others keep the name that their file gives. */
    const char *measures[DIALECT_TERMS];
    int plus;             /* 0: one */
    double scale;         /* base units in one of the column's; 0: one */
    int decimals;         /* -1: whole; -2: as many as there are */
    bool real;            /* a whole number that is not 0 ends in .0 */
    vitals_metric metric; /* DIALECT_BOOT */
    const char *human;    /* what it is called for people, behind "System " or "Process " */
};

struct dialect {
    const char *name;   /* of the format */
    const char *prefix; /* NULL; "system_": of every column but the first */
    const struct dialect_column *columns;
    size_t count;
    const struct dialect *then; /* columns that follow, their first left out; NULL: none */
};

/* resource-tracker 0.5 and up to 0.3. */
extern const struct dialect DIALECT_PROCESS, DIALECT_SYSTEM, DIALECT_COMBINED, DIALECT_OLD_PROCESS,
    DIALECT_OLD_SYSTEM;

/* The column of a dialect by its whole name, or by that for people where it is of a machine and a
 * process, or NULL. */
const struct dialect_column *dialect_find(const struct dialect *dialect, const char *name);

#endif
