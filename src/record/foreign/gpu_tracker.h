/* gpu_tracker.h: the columns of gpu_tracker's tracking files, in its units: gigabytes of 10^9,
 * hours, percent. One table for its CSV and its SQLite form, and for writing and reading. Pure. */
#pragma once

#include "record/sample.h"

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
