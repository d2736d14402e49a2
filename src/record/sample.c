/* sample.c: see sample.h. */
#include "record/sample.h"

#include <stdio.h>

const vitals_usage_value *sample_find(const struct record_sample *sample, const char *measure,
                                      vitals_scope scope)
{
    vitals_measure wanted = vitals_measure_find(measure);
    for (size_t i = 0; i < sample->count && wanted != 0; i++) {
        const vitals_usage_value *value = &sample->values[i];
        if (value->measure == wanted && value->scope == scope)
            return value;
    }
    return NULL;
}

bool usage_value_is_fresh(const vitals_usage_value *value)
{
    return value->state != VITALS_STALE;
}

void column_name(const char *subject, const char *name, char out[static COLUMN_WORDS])
{
    (void)snprintf(out, COLUMN_WORDS, "%s%s%s", subject, subject[0] != '\0' ? "." : "", name);
}
