/* metrics.h: the contents of amdgpu's file gpu_metrics.
 *
 * One binary record of everything that the card's firmware measures. Its first four bytes name its
 * size, its format (1: boards, 2 and 3: processors with graphics) and the revision of that format;
 * the layouts are the kernel's (drivers/gpu/drm/amd/include/kgd_pp_interface.h). A field
 * that the card does not measure is all ones. A record of an unknown revision or size is rejected.
 * Thread rule: pure. */
#pragma once

#include "model/values.h"
#include "util/cursor.h"

// clang-format off
/* In base units: degrees Celsius, ratios of 1, watts, hertz, volts. Clocks are those of the fastest
 * instance; a video ratio is that of all video engines together; transfers are in 10^8 per second,
 * as in the driver: 160 is generation 4. */
enum amd_number {
    AMD_EDGE_CELSIUS, AMD_JUNCTION_CELSIUS, AMD_MEMORY_CELSIUS, AMD_VR_GFX_CELSIUS,
    AMD_VR_SOC_CELSIUS, AMD_VR_MEMORY_CELSIUS, AMD_HBM0_CELSIUS, AMD_HBM1_CELSIUS,
    AMD_HBM2_CELSIUS, AMD_HBM3_CELSIUS, AMD_SOC_CELSIUS, AMD_SKIN_CELSIUS,
    AMD_GFX_RATIO, AMD_MEMORY_RATIO, AMD_VIDEO_RATIO, AMD_JPEG_RATIO, AMD_SOCKET_WATTS,
    AMD_GFX_HERTZ, AMD_SOC_HERTZ, AMD_MEMORY_HERTZ, AMD_FABRIC_HERTZ,
    AMD_VCLK0_HERTZ, AMD_DCLK0_HERTZ, AMD_VCLK1_HERTZ, AMD_DCLK1_HERTZ,
    AMD_FAN_RPM, AMD_GFX_VOLTS, AMD_SOC_VOLTS, AMD_MEMORY_VOLTS,
    AMD_PCIE_LANES, AMD_PCIE_TRANSFERS, AMD_PCIE_REPLAYS, AMD_NUMBERS
};

/* Counters in the firmware's own steps: only an increase has a meaning. */
enum amd_residency {
    AMD_RESIDENCY_PROCHOT, AMD_RESIDENCY_PPT, AMD_RESIDENCY_SOCKET_HEAT, AMD_RESIDENCY_VR_HEAT,
    AMD_RESIDENCY_HBM_HEAT, AMD_RESIDENCY_SPL, AMD_RESIDENCY_FPPT, AMD_RESIDENCY_SPPT,
    AMD_RESIDENCY_CORE_HEAT, AMD_RESIDENCY_GFX_HEAT, AMD_RESIDENCY_SOC_HEAT, AMD_RESIDENCIES
};
// clang-format on

enum { AMD_XGMI_LINKS = 8, AMD_PARTITIONS = 8 };

/* Activity of a partition; each value is UNSET if the record does not report it. */
struct amd_partition {
    struct value gfx_ratio, video_ratio, jpeg_ratio;
};

/* A value that the record does not report, or reports as all ones, is UNSET; an impossible value is
 * FAILED. */
struct amd_metrics {
    unsigned format, content;
    struct value numbers[AMD_NUMBERS];         /* f64 */
    struct value residencies[AMD_RESIDENCIES]; /* u64 */
    struct value throttle;                     /* u64: bits, see amd_throttle_of_bits */
    struct value energy;                       /* u64: as the firmware counts */
    bool energy_known; /* the unit is 2^-16 J; else it depends on the card */
    struct value received[AMD_XGMI_LINKS],
        transmitted[AMD_XGMI_LINKS];          /* u64: bytes; from kilobytes, so an estimate */
    struct value link_active[AMD_XGMI_LINKS]; /* u64: 1 or 0 */
    uint32_t partition_count;
    struct amd_partition partitions[AMD_PARTITIONS];
};

/* Reads a record. Returns false if its form is not known; *out is then empty. Bytes after the
 * record's own size are ignored. */
bool amd_metrics_parse(const char *bytes, size_t size, struct amd_metrics *out);

/* ---- why a card's clocks are reduced ---- */

enum amd_cause { AMD_BY_POWER, AMD_BY_CURRENT, AMD_BY_HEAT, AMD_BY_OTHER, AMD_CAUSES };

/* Room for all reasons together. */
enum { AMD_REASONS = 512 };

struct amd_throttle {
    bool by[AMD_CAUSES];
    char reasons[AMD_REASONS]; /* separated by commas; "" if there is none */
};

/* From the bits that are the same for all cards. */
void amd_throttle_of_bits(uint64_t bits, struct amd_throttle *out);

/* From counters that have grown since an older record; returns false if no counter is in both. A
 * counter that runs backwards has not grown. */
bool amd_throttle_of_residencies(const struct value *before, const struct value *now,
                                 struct amd_throttle *out);
