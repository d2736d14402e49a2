/* fill.h: what every back end does with a sample once the driver has spoken.
 *
 * Rows may be filled in any order: a back end reads clocks and limits in two calls, and both go
 * into the row with that label. Thread rule: pure; the caller owns the sample. */
#ifndef VITALS_GPU_FILL_H
#define VITALS_GPU_FILL_H

#include "gpu/backend.h"

/* A sample under way. Rows of facts are written one after the other, so what belongs to rows that
 * are not the newest waits here until gpu_fill_end. */
enum { GPU_FILL_MAX = 512, GPU_LABEL = 24 };
struct gpu_fill {
    struct gpu_sample *sample;
    uint32_t count;
    bool cut; /* there were more than GPU_FILL_MAX */
    struct gpu_reading {
        vitals_metric metric;
        char label[GPU_LABEL]; /* "" for the device itself */
        struct value value;    /* of a text: its state */
        char text[GPU_NAME];
    } readings[GPU_FILL_MAX];
};

/* Empties it. The sample's facts must have been reset with what is wanted. */
void gpu_fill_begin(struct gpu_fill *fill, struct gpu_sample *sample, uint64_t stamp_ns);

static inline bool gpu_fill_wants(const struct gpu_fill *fill, vitals_metric metric)
{
    return batch_wants(&fill->sample->batch, metric);
}
/* Any metric of the table. */
bool gpu_fill_wants_table(const struct gpu_fill *fill, vitals_entity entity);

/* A reading of the device, by its metric; what is not wanted is passed over. A later one of the
 * same metric takes the place of the first. */
void gpu_fill(struct gpu_fill *fill, vitals_metric metric, struct value value);
void gpu_fill_text(struct gpu_fill *fill, vitals_metric metric, struct span text);

/* Whether it was set, whatever to. */
bool gpu_fill_has(const struct gpu_fill *fill, vitals_metric metric);

/* A reading of the row of a child table that has this label. */
void gpu_fill_child(struct gpu_fill *fill, vitals_metric metric, const char *label,
                    struct value value);
void gpu_fill_child_text(struct gpu_fill *fill, vitals_metric metric, const char *label,
                         struct span text);

/* Writes all of it into the sample's facts. */
void gpu_fill_end(struct gpu_fill *fill);

/* Drops all of it: nothing can be read of the device, for this reason. */
void gpu_fill_lose(struct gpu_fill *fill, vitals_availability reason);

/* percent / 100, or failed where the driver's number is above what can be. */
struct value gpu_fill_percent(uint64_t percent, uint64_t most);

/* number × factor; failed where the driver's number is above what can be. */
struct value gpu_fill_scaled(uint64_t number, double factor, uint64_t most);

#endif
