/* throttle.h: why an AMD card holds its clocks down, in the driver's words and in ours.
 * Thread rule: pure. */
#ifndef VITALS_GPU_AMD_THROTTLE_H
#define VITALS_GPU_AMD_THROTTLE_H

#include "gpu/amd/metrics.h"

enum amd_cause { AMD_BY_POWER, AMD_BY_CURRENT, AMD_BY_HEAT, AMD_BY_OTHER, AMD_CAUSES };

/* The most that all words take together. */
enum { AMD_REASONS = 512 };

struct amd_throttle {
    bool by[AMD_CAUSES];
    char reasons[AMD_REASONS]; /* with commas between; "" where there is none */
};

/* Of the bits that are the same for all cards. */
void amd_throttle_of_bits(uint64_t bits, struct amd_throttle *out);

/* Of counters of which some have grown since an older record; false where not one of them is told
 * in both. One that runs backwards has not grown. */
bool amd_throttle_of_residencies(const struct value *before, const struct value *now,
                                 struct amd_throttle *out);

#endif
