/* devices.h: which Intel devices there are. Thread rule: the scanning thread. */
#ifndef VITALS_GPU_INTEL_DEVICES_H
#define VITALS_GPU_INTEL_DEVICES_H

#include "gpu/intel/state.h"

/* Whether i915 or xe has a card; *error is why none could be looked for, or 0. */
bool intel_has_card(const struct os *os, int *error);

void intel_scan(void *state, struct gpu_scan *out);

#endif
