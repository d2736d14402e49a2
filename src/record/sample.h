/* sample.h: what one sample brings to a recorder, and what its columns are called. Pure. */
#ifndef VITALS_RECORD_SAMPLE_H
#define VITALS_RECORD_SAMPLE_H

#include <stdbool.h>

#include <vitals/vitals.h>

#include "record/error.h"

struct sample {
    uint64_t realtime_ns, monotonic_ns;
    const vitals_snapshot *snapshot; /* NULL: the values alone */
    const vitals_usage_value *values;
    size_t count;
};

/* The value of a measure by its name, in a scope; NULL: there is none in this sample. */
const vitals_usage_value *sample_find(const struct sample *sample, const char *measure,
                                      vitals_scope scope);

/* Whether it was read, or found missing, since the sample before: what was not read anew is no
 * reading of this moment, and a rate made of it would be wrong. */
bool usage_value_is_fresh(const vitals_usage_value *value);

enum { COLUMN_WORDS = 160 };

/* "cpu_cores", "root.cpu_cores", "GPU-12ab.gpu_memory_bytes": the column of a series. */
void column_name(const char *subject, const char *name, char out[static COLUMN_WORDS]);

#endif
