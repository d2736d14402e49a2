/* dpm_levels.h: amdgpu's tables pp_dpm_*: the levels that a clock or the PCIe link can run at, one
 * a line, a star behind the one in use: "1: 500Mhz *", "1: 16.0GT/s, x16 619Mhz *".
 *
 * A level whose index is a letter (S: deep sleep) is where a clock is, not where it can be set to.
 * Where several are starred the last counts, and says that it is an estimate if they differ.
 * Thread rule: pure. */
#ifndef VITALS_GPU_AMD_DPM_LEVELS_H
#define VITALS_GPU_AMD_DPM_LEVELS_H

#include "model/values.h"
#include "util/cursor.h"

/* In hertz; UNSET where the table does not tell. */
struct amd_dpm_levels {
    struct value now, lowest, highest;
};

/* False where the text holds not one level. */
bool amd_dpm_levels_parse(struct span text, struct amd_dpm_levels *out);

struct amd_link_levels {
    struct value generation, width;                 /* now */
    struct value generation_highest, width_highest; /* over all levels */
};
bool amd_link_levels_parse(struct span text, struct amd_link_levels *out);

#endif
