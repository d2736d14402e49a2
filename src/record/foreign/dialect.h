/* dialect.h: the columns of other tools' files: their names, units and the measure that each holds.
 *
 * The writer and the reader of such files share the table. Pure data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

enum dialect_kind {
    DIALECT_GAUGE = 1,
    DIALECT_GROWTH,   /* growth since the row before, never below 0 */
    DIALECT_TIME,     /* Unix seconds */
    DIALECT_PID,      /* of the root */
    DIALECT_CHILDREN, /* a gauge; an empty text if it is 0 */
    DIALECT_BOOT      /* a counter since boot, which only a snapshot has; not read back */
};

enum { DIALECT_TERMS = 4 };

struct dialect_column {
    const char *name;
    enum dialect_kind kind;
    vitals_scope scope;
    /* The sum of the first `plus` of these minus the others; NULL ends them. Only a column of one
     * measure is read back as that measure; others keep the name in the file. */
    const char *measures[DIALECT_TERMS];
    int plus;             /* 0: one */
    double scale;         /* base units in one unit of the column; 0: one */
    int decimals;         /* -1: integer; -2: as many as needed */
    bool real;            /* a whole number that is not 0 ends in .0 */
    vitals_metric metric; /* DIALECT_BOOT */
    const char *human;    /* its title after "System " or "Process " */
};

struct dialect {
    const char *name;   /* of the format */
    const char *prefix; /* NULL, or "system_": prefix of every column but the first */
    const struct dialect_column *columns;
    size_t count;
    const struct dialect *then; /* columns that follow, without their first; NULL: none */
};

/* resource-tracker 0.5, 0.1 (old), and 0.2 to 0.4 (middle: only read). */
extern const struct dialect DIALECT_PROCESS, DIALECT_SYSTEM, DIALECT_COMBINED, DIALECT_OLD_PROCESS,
    DIALECT_OLD_SYSTEM, DIALECT_MIDDLE_PROCESS, DIALECT_MIDDLE_SYSTEM;

/* Finds a column of a dialect by its name, or by its title if the file holds both a machine and a
 * process. Returns NULL if there is none. */
const struct dialect_column *dialect_find(const struct dialect *dialect, const char *name);
