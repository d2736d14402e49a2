/* sample.h: one sample of a run, and the names of its columns. Pure. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <vitals/vitals.h>

#include "record/error.h"

struct record_sample {
    uint64_t realtime_ns, monotonic_ns;
    uint64_t boottime_ns;            /* 0: not known */
    const vitals_snapshot *snapshot; /* NULL: the values alone */
    const vitals_usage_value *const *values;
    size_t count;
};

/* Finds the value of a measure in a scope; NULL if the sample has none. */
static inline const vitals_usage_value *sample_find(const struct record_sample *sample,
                                                    const char *measure, vitals_scope scope)
{
    vitals_measure wanted = vitals_measure_find(measure);
    for (size_t i = 0; i < sample->count && wanted != 0; i++)
        if (sample->values[i]->measure == wanted && sample->values[i]->scope == scope)
            return sample->values[i];
    return NULL;
}

/* The subject of the series of a scope; "" of the tree. */
static inline const char *scope_subject(vitals_scope scope)
{
    return scope == VITALS_SCOPE_ROOT          ? "root"
           : scope == VITALS_SCOPE_DESCENDANTS ? "descendants"
           : scope == VITALS_SCOPE_SYSTEM      ? "system"
                                               : "";
}

/* True if the value was read, or found missing, since the sample before. A rate made of an older
 * value would be wrong. */
static inline bool usage_value_is_fresh(const vitals_usage_value *value)
{
    return value->state != VITALS_STALE;
}

enum { COLUMN_WORDS = 160 };

/* Makes the column name of a series: "cpu_cores", "root.cpu_cores", "GPU-12ab.gpu_memory_bytes". */
static inline void column_name(const char *subject, const char *name, char out[static COLUMN_WORDS])
{
    (void)snprintf(out, COLUMN_WORDS, "%s%s%s", subject, subject[0] != '\0' ? "." : "", name);
}

/* "memory_resident_bytes", "peak" → "memory_resident_peak_bytes"; "threads_peak". */
static inline void statistic_name(const char *name, const char *unit, const char *statistic,
                                  char out[static COLUMN_WORDS])
{
    size_t size = strlen(name), tail = strlen(unit);
    bool ends = tail > 0 && size > tail + 1 && name[size - tail - 1] == '_' &&
                strcmp(name + size - tail, unit) == 0;
    size_t stem = ends ? size - tail - 1 : size;
    (void)snprintf(out, COLUMN_WORDS, "%.*s_%s%s%s", (int)stem, name, statistic, ends ? "_" : "",
                   ends ? unit : "");
}
