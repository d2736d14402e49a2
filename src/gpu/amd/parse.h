/* parse.h: texts of amdgpu's files. Thread rule: pure. */
#ifndef VITALS_GPU_AMD_PARSE_H
#define VITALS_GPU_AMD_PARSE_H

#include "model/values.h"
#include "util/cursor.h"

/* The tables pp_dpm_*: the levels that a clock or the PCIe link can run at, one a line, a star
 * behind the one in use: "1: 500Mhz *", "1: 16.0GT/s, x16 619Mhz *". A level whose index is a
 * letter (S: deep sleep) is where a clock is, not where it can be set to. Where several are starred
 * the last counts, and says that it is an estimate if they differ.
 *
 * In hertz; UNSET where the table does not tell. */
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

/* What a block of the folder ras counted since the driver was loaded; UNSET where the block does
 * not tell. */
struct amd_errors {
    struct value uncorrected, corrected, deferred;
};

/* "ue: 0", "ce: 3", "de: 1", a line each. False where the text holds none of them: the driver says
 * so in words while a card is reset. */
bool amd_errors_parse(struct span text, struct amd_errors *out);

/* The pages of ras/gpu_vram_bad_pages: "0x00000001 : 0x00001000 : R". Those of which a line says F
 * could not be taken out of use. */
struct amd_bad_pages {
    uint64_t retired, pending, failed;
};
void amd_bad_pages_parse(struct span text, struct amd_bad_pages *out);

#endif
