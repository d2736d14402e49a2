/* fill.h: what every back end does with a sample once the driver has spoken.
 *
 * Thread rule: pure; the caller owns the sample. */
#ifndef VITALS_GPU_FILL_H
#define VITALS_GPU_FILL_H

#include "gpu/backend.h"

/* Says of every wanted reading of the device that is still UNSET why it is missing. Identity,
 * texts of identity and the number of processes are not readings. */
void gpu_fill_rest(struct gpu_sample *sample, const struct metric_set *wanted,
                   vitals_availability reason);

/* The child with the label, added where it is not there yet; NULL where there is no room. */
struct gpu_child *gpu_fill_child(struct gpu_sample *sample, vitals_entity entity,
                                 const char *label);

/* percent / 100, or failed where the driver's number is above what can be. */
struct value gpu_fill_percent(uint64_t percent, uint64_t most);

#endif
