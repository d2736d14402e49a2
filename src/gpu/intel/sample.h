/* sample.h: one reading of an Intel device. Thread rule: a worker's. */
#ifndef VITALS_GPU_INTEL_SAMPLE_H
#define VITALS_GPU_INTEL_SAMPLE_H

#include "gpu/intel/state.h"

void intel_sample(void *state, uint32_t slot, struct gpu_sample *out);

#endif
