/* What a sample says, for the tests of src/gpu. */
#ifndef TESTS_UNIT_GPU_SAMPLE_H
#define TESTS_UNIT_GPU_SAMPLE_H

#include "check.h"

#include "gpu/backend.h"

/* The row of a table with that label; NULL where there is none. */
static inline const struct fact_row *gpu_sample_row(const struct gpu_sample *sample,
                                                    vitals_entity entity, const char *label)
{
    for (size_t i = 0; i < sample->facts.row_count; i++) {
        const struct fact_row *row = &sample->facts.rows[i];
        if (row->entity == entity && span_equal(fact_label(&sample->facts, row), label))
            return row;
    }
    return NULL;
}

static inline size_t gpu_sample_rows(const struct gpu_sample *sample, vitals_entity entity)
{
    size_t count = 0;
    for (size_t i = 0; i < sample->facts.row_count; i++)
        count += sample->facts.rows[i].entity == entity;
    return count;
}

static inline const struct fact *gpu_sample_fact(const struct gpu_sample *sample,
                                                 vitals_metric metric, const char *label)
{
    const struct fact_row *row = gpu_sample_row(sample, vitals_metric_entity(metric), label);
    return row != NULL ? fact_find(&sample->facts, row, metric) : NULL;
}

static inline double gpu_sample_number(const struct gpu_sample *sample, vitals_metric metric,
                                       const char *label)
{
    const struct fact *fact = gpu_sample_fact(sample, metric, label);
    if (fact == NULL || fact->state <= 0)
        CHECK_FAIL("%s.%s of \"%s\" is %s", vitals_entity_name(vitals_metric_entity(metric)),
                   vitals_metric_name(metric), label,
                   fact == NULL ? "not there"
                                : vitals_availability_name((vitals_availability)fact->state));
    return vitals_metric_type(metric) == VITALS_F64 ? fact->as.f64 : (double)fact->as.u64;
}

/* "" where there is none; valid until the next call. */
static inline const char *gpu_sample_text(const struct gpu_sample *sample, vitals_metric metric,
                                          const char *label)
{
    static char text[512];
    const struct fact *fact = gpu_sample_fact(sample, metric, label);
    struct span span = fact != NULL && fact->state > 0 ? fact_span(&sample->facts, fact)
                                                       : (struct span){"", 0};
    snprintf(text, sizeof text, "%.*s", (int)span.size, span.bytes);
    return text;
}

#endif
