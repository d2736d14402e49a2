/* What a sample says, for the tests of src/gpu. */
#ifndef TESTS_UNIT_GPU_SAMPLE_H
#define TESTS_UNIT_GPU_SAMPLE_H

#include "check.h"

#include "gpu/backend.h"

/* The row of a table with that label; NULL where there is none. */
static inline const struct batch_row *gpu_sample_row(const struct gpu_sample *sample,
                                                     vitals_table entity, const char *label)
{
    for (size_t i = 0; i < sample->batch.row_count; i++) {
        const struct batch_row *row = &sample->batch.rows[i];
        if (row->entity == entity && span_equal(batch_label(&sample->batch, row), label))
            return row;
    }
    return NULL;
}

static inline size_t gpu_sample_rows(const struct gpu_sample *sample, vitals_table entity)
{
    size_t count = 0;
    for (size_t i = 0; i < sample->batch.row_count; i++)
        count += sample->batch.rows[i].entity == entity;
    return count;
}

static inline const struct batch_cell *gpu_sample_fact(const struct gpu_sample *sample,
                                                       vitals_metric metric, const char *label)
{
    const struct batch_row *row = gpu_sample_row(sample, vitals_metric_table(metric), label);
    return row != NULL ? batch_find(&sample->batch, row, metric) : NULL;
}

static inline double gpu_sample_number(const struct gpu_sample *sample, vitals_metric metric,
                                       const char *label)
{
    const struct batch_cell *cell = gpu_sample_fact(sample, metric, label);
    if (cell == NULL || cell->state <= 0)
        CHECK_FAIL("%s.%s of \"%s\" is %s", vitals_table_name(vitals_metric_table(metric)),
                   vitals_metric_name(metric), label,
                   cell == NULL ? "not there"
                                : vitals_availability_name((vitals_availability)cell->state));
    return vitals_metric_type(metric) == VITALS_F64 ? cell->as.f64 : (double)cell->as.u64;
}

/* "" where there is none; valid until the next call. */
static inline const char *gpu_sample_text(const struct gpu_sample *sample, vitals_metric metric,
                                          const char *label)
{
    static char text[512];
    const struct batch_cell *cell = gpu_sample_fact(sample, metric, label);
    struct span span = cell != NULL && cell->state > 0 ? batch_span(&sample->batch, cell)
                                                       : (struct span){"", 0};
    snprintf(text, sizeof text, "%.*s", (int)span.size, span.bytes);
    return text;
}

#endif
