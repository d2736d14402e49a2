/* parse.h: parsers for texts of amdgpu's files. Thread rule: pure. */
#pragma once

#include "model/values.h"
#include "util/cursor.h"

/* The tables pp_dpm_*: the levels of a clock or the PCIe link, one per line, with a star after the
 * one in use: "1: 500Mhz *", "1: 16.0GT/s, x16 619Mhz *". A level with a letter as index (S: deep
 * sleep) is a current state that cannot be set. If several levels are starred the last one counts,
 * and is an estimate if they differ. In hertz; UNSET if the table does not report it. */
struct amd_dpm_levels {
    struct value now, lowest, highest;
};

/* Returns false if the text has no level. */
bool amd_dpm_levels_parse(struct span text, struct amd_dpm_levels *out);

struct amd_link_levels {
    struct value generation, width; /* now */
};
bool amd_link_levels_parse(struct span text, struct amd_link_levels *out);

/* Counts of a block in the folder ras since the driver was loaded; UNSET if the block does not
 * report it. */
struct amd_errors {
    struct value uncorrected, corrected, deferred;
};

/* Parses "ue: 0", "ce: 3", "de: 1", one per line. Returns false if the text has none of them: the
 * driver writes a message instead while a card is reset. */
bool amd_errors_parse(struct span text, struct amd_errors *out);

/* The pages of ras/gpu_vram_bad_pages: "0x00000001 : 0x00001000 : R". Pages with F, which could not
 * be taken out of use, are not counted. */
struct amd_bad_pages {
    uint64_t retired, pending;
};
void amd_bad_pages_parse(struct span text, struct amd_bad_pages *out);
