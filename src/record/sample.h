/* sample.h: one sample of a run, and the names of its columns. Pure. */
#ifndef VITALS_RECORD_SAMPLE_H
#define VITALS_RECORD_SAMPLE_H

#include <stdbool.h>

#include <vitals/vitals.h>

#include "record/error.h"

struct record_sample {
    uint64_t realtime_ns, monotonic_ns;
    const vitals_snapshot *snapshot; /* NULL: the values alone */
    const vitals_usage_value *values;
    size_t count;
};

/* Finds the value of a measure in a scope; NULL if the sample has none. */
const vitals_usage_value *sample_find(const struct record_sample *sample, const char *measure,
                                      vitals_scope scope);

/* True if the value was read, or found missing, since the sample before. A rate made of an older
 * value would be wrong. */
bool usage_value_is_fresh(const vitals_usage_value *value);

enum { COLUMN_WORDS = 160 };

/* Makes the column name of a series: "cpu_cores", "root.cpu_cores", "GPU-12ab.gpu_memory_bytes". */
void column_name(const char *subject, const char *name, char out[static COLUMN_WORDS]);

#endif
