/* foreign.h: the columns of other tools' files: their names, units and the measure that each holds.
 *
 * The writer and the reader of such files share the table. Pure data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

#include "record/sample.h"

/* ---- resource-tracker (dialect.c) ---- */

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
    /* The first of these minus the others; NULL ends them. Only a column of one
     * measure is read back as that measure; others keep the name in the file. */
    const char *measures[DIALECT_TERMS];
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

/* ---- gpu_tracker (gpu_tracker.c): the columns of its tracking files, in its units: gigabytes of
 * 10^9, hours, percent; of its CSV and its SQLite form ---- */

enum gpu_tracker_type { GPU_TRACKER_TEXT = 1, GPU_TRACKER_WHOLE, GPU_TRACKER_REAL };

struct gpu_tracker_column {
    const char *name;
    enum gpu_tracker_type type;
    const char *measure; /* NULL: vitals has no such measure */
    vitals_scope scope;
    double scale; /* factor from the base unit; 0: the unit of `kind` */
    enum {
        GT_AS_IT_IS,
        GT_RAM,
        GT_GPU_RAM,
        GT_TIME,
        GT_CORES,
        GT_SYSTEM_CORES,
        GT_GPUS,
        GT_EXPECTED_GPUS
    } kind;
    const char *text; /* of a text: what it says */
};

enum { GPU_TRACKER_STATIC = 9, GPU_TRACKER_DATA = 22 };
enum { GPU_TRACKER_MEASURES = GPU_TRACKER_DATA - 1 }; /* the last column is the time */
extern const struct gpu_tracker_column GPU_TRACKER_STATIC_COLUMNS[GPU_TRACKER_STATIC];
extern const struct gpu_tracker_column GPU_TRACKER_DATA_COLUMNS[GPU_TRACKER_DATA];

/* The four columns of a sub-tracking file, in order. */
extern const char *const GPU_TRACKER_SUB_COLUMNS[4];

/* Returns the value of a column; `expected_cores` of 0 means the machine's. Missing values are 0,
 * as in gpu_tracker's files. */
double gpu_tracker_value(const struct gpu_tracker_column *column,
                         const struct record_sample *sample, double expected_cores);

/* Makes the path of the sub-tracking file beside a tracking file: a.csv → a.sub.csv. */
void gpu_tracker_beside(const char *path, char *out, size_t capacity);
