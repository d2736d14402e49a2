/* errors.h: what amdgpu's folder ras tells of errors, block by block, and of bad pages.
 * Thread rule: pure. */
#ifndef VITALS_GPU_AMD_ERRORS_H
#define VITALS_GPU_AMD_ERRORS_H

#include "model/values.h"
#include "util/cursor.h"

/* Since the driver was loaded; UNSET where the block does not tell. */
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
