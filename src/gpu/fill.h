/* fill.h: what every back end does with a sample once the driver has spoken.
 *
 * Rows may be filled in any order: a back end reads clocks and limits in two calls, and both go
 * into the row with that label. Thread rule: pure; the caller owns the sample. */
#ifndef VITALS_GPU_FILL_H
#define VITALS_GPU_FILL_H

#include "gpu/backend.h"

/* Beyond so many values or rows, tables are LOWER_BOUND. Labels and texts are cut. */
enum { GPU_FILL_MAX = 512, GPU_LABEL = 24 };

/* The sample's batch must have been reset with what is wanted. */
void gpu_fill_begin(struct gpu_sample *sample, uint64_t stamp_ns);

static inline bool gpu_fill_wants(const struct gpu_sample *sample, vitals_metric metric)
{
    return batch_wants(&sample->batch, metric);
}
/* Any metric of the table. */
bool gpu_fill_wants_table(const struct gpu_sample *sample, vitals_table entity);

/* A reading of the device, by its metric; what is not wanted is passed over. A later one of the
 * same metric takes the place of the first. */
void gpu_fill(struct gpu_sample *sample, vitals_metric metric, struct value value);
void gpu_fill_text(struct gpu_sample *sample, vitals_metric metric, const char *text);

/* A reading of the row of a child table that has this label; there is such a row then, even if the
 * metric is not wanted. */
void gpu_fill_child(struct gpu_sample *sample, vitals_metric metric, const char *label,
                    struct value value);
void gpu_fill_child_text(struct gpu_sample *sample, vitals_metric metric, const char *label,
                         const char *text);

/* What was set; NULL where nothing was. The label of the device is "". */
const struct batch_cell *gpu_fill_find(const struct gpu_sample *sample, vitals_metric metric,
                                       const char *label);
static inline bool gpu_fill_has(const struct gpu_sample *sample, vitals_metric metric)
{
    return gpu_fill_find(sample, metric, "") != NULL;
}
bool gpu_fill_has_row(const struct gpu_sample *sample, vitals_table entity, const char *label);

/* The device is there even where it has nothing of what was asked for. */
void gpu_fill_end(struct gpu_sample *sample);

/* Drops all of it: nothing can be read of the device, for this reason. */
void gpu_fill_lose(struct gpu_sample *sample, vitals_availability reason);

/* percent / 100, or failed where the driver's number is above what can be. */
struct value gpu_fill_percent(uint64_t percent, uint64_t most);

/* number × factor; failed where the driver's number is above what can be. */
struct value gpu_fill_scaled(uint64_t number, double factor, uint64_t most);

#endif
