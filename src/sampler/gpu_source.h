/* gpu_source.h: the source of one vendor's devices.
 *
 * Everything that enters the driver happens here: loading it, listing devices, reading them. One
 * worker serves all devices of a vendor until a call hangs; then its device stays with that thread
 * and a new worker takes the others. What the driver costs is measured, and devices are asked so
 * seldom that all calls together take at most one hundredth of the time. */
#ifndef VITALS_SAMPLER_GPU_SOURCE_H
#define VITALS_SAMPLER_GPU_SOURCE_H

#include "gpu/table.h"
#include "sampler/source.h"

/* Whether any table of devices is wanted. */
bool gpu_source_wants_devices(const struct metric_set *set);

/* For one back end, of that number in its rows. Nothing is loaded yet. Returns 0 or
 * VITALS_EMEMORY. */
int gpu_source_add(struct sources *sources, const struct gpu_backend *backend, unsigned number);

/* Whether the users of a device can be read as soon as there is a sweep of /proc; and asks for them
 * with it. `is_old`: it is not of this tick, and there will be none; then the answer is stale, or
 * timed_out if there was never one (NULL). */
bool gpu_source_waits(const struct source *source);
void gpu_source_ask_users(struct source *source, const struct metric_set *wanted,
                          struct gpu_sweep *swept, bool is_old, uint64_t now_ns);

#endif
