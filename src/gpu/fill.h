/* fill.h: fills a sample with the driver's values, for all back ends.
 *
 * Rows may be filled in any order: a back end reads clocks and limits in two calls, and both go
 * into the row with that label. Thread rule: pure; the caller owns the sample. */
#pragma once

#include "gpu/backend.h"

/* With more values or rows than this, tables are LOWER_BOUND. Labels and texts are cut. */
enum { GPU_FILL_MAX = 512, GPU_LABEL = 24, GPU_TEXT = 4096 };

/* The sample's batch must have been reset with the wanted metrics. */
void gpu_fill_begin(struct gpu_sample *sample, uint64_t stamp_ns);

static inline bool gpu_fill_wants(const struct gpu_sample *sample, vitals_metric metric)
{
    return batch_wants(&sample->batch, metric);
}
/* True if any metric of the table is wanted. */
bool gpu_fill_wants_table(const struct gpu_sample *sample, vitals_table entity);

/* Adds a reading of the device; a metric that is not wanted is ignored. A later reading of the same
 * metric replaces the first. */
void gpu_fill(struct gpu_sample *sample, vitals_metric metric, struct value value);
void gpu_fill_text(struct gpu_sample *sample, vitals_metric metric, const char *text);

/* Adds a reading of the row of a child table with this label. The row exists afterwards, even if
 * the metric is not wanted or the value is UNSET. */
void gpu_fill_child(struct gpu_sample *sample, vitals_metric metric, const char *label,
                    struct value value);
void gpu_fill_child_text(struct gpu_sample *sample, vitals_metric metric, const char *label,
                         const char *text);

/* Returns the cell that was set, or NULL. The label of the device is "". */
const struct batch_cell *gpu_fill_find(const struct gpu_sample *sample, vitals_metric metric,
                                       const char *label);
static inline bool gpu_fill_has(const struct gpu_sample *sample, vitals_metric metric)
{
    return gpu_fill_find(sample, metric, "") != NULL;
}
bool gpu_fill_has_row(const struct gpu_sample *sample, vitals_table entity, const char *label);

/* Ends the sample: the device has a row even without any requested value. */
void gpu_fill_end(struct gpu_sample *sample);

/* Drops everything: the device cannot be read, for this reason. */
void gpu_fill_lose(struct gpu_sample *sample, vitals_availability reason);

/* Returns percent / 100, or failed if the number is above the possible maximum. */
struct value gpu_fill_percent(uint64_t percent, uint64_t most);

/* Returns number × factor, or failed if the number is above the possible maximum. */
struct value gpu_fill_scaled(uint64_t number, double factor, uint64_t most);
