/* metrics.h: what stands in amdgpu's file gpu_metrics.
 *
 * One binary record of everything that the card's firmware measures. Its first four bytes name its
 * size, its format (1: boards, 2 and 3: processors with graphics) and the revision of that format;
 * the layouts are the kernel's (drivers/gpu/drm/amd/include/kgd_pp_interface.h). What a card does
 * not measure is all ones there. A record of a revision that is not in the table, or whose size is
 * another, is not guessed at.
 * Thread rule: pure. */
#ifndef VITALS_GPU_AMD_METRICS_H
#define VITALS_GPU_AMD_METRICS_H

#include "model/values.h"
#include "util/cursor.h"

// clang-format off
/* In base units: degrees Celsius, ratios of 1, watts, hertz, volts. Clocks are of the fastest
 * instance; a video ratio is of all video engines together; transfers are of 10^8 a second, as the
 * driver counts them: 160 is generation 4. */
enum amd_number {
    AMD_EDGE_CELSIUS, AMD_JUNCTION_CELSIUS, AMD_MEMORY_CELSIUS, AMD_VR_GFX_CELSIUS,
    AMD_VR_SOC_CELSIUS, AMD_VR_MEMORY_CELSIUS, AMD_HBM0_CELSIUS, AMD_HBM1_CELSIUS,
    AMD_HBM2_CELSIUS, AMD_HBM3_CELSIUS, AMD_SOC_CELSIUS, AMD_SKIN_CELSIUS,
    AMD_GFX_RATIO, AMD_MEMORY_RATIO, AMD_VIDEO_RATIO, AMD_JPEG_RATIO, AMD_SOCKET_WATTS,
    AMD_GFX_HERTZ, AMD_SOC_HERTZ, AMD_MEMORY_HERTZ, AMD_FABRIC_HERTZ,
    AMD_VCLK0_HERTZ, AMD_DCLK0_HERTZ, AMD_VCLK1_HERTZ, AMD_DCLK1_HERTZ,
    AMD_FAN_RPM, AMD_GFX_VOLTS, AMD_SOC_VOLTS, AMD_MEMORY_VOLTS,
    AMD_PCIE_WORKERS, AMD_PCIE_TRANSFERS, AMD_PCIE_REPLAYS, AMD_NUMBERS
};

/* Counters of the firmware's own steps: only whether one has grown says something. */
enum amd_residency {
    AMD_RESIDENCY_PROCHOT, AMD_RESIDENCY_PPT, AMD_RESIDENCY_SOCKET_HEAT, AMD_RESIDENCY_VR_HEAT,
    AMD_RESIDENCY_HBM_HEAT, AMD_RESIDENCY_SPL, AMD_RESIDENCY_FPPT, AMD_RESIDENCY_SPPT,
    AMD_RESIDENCY_CORE_HEAT, AMD_RESIDENCY_GFX_HEAT, AMD_RESIDENCY_SOC_HEAT, AMD_RESIDENCIES
};
// clang-format on

enum { AMD_XGMI_LINKS = 8, AMD_PARTITIONS = 8 };

/* What a partition of the card does; each UNSET where the record does not tell. */
struct amd_partition {
    struct value gfx_ratio, video_ratio, jpeg_ratio;
};

/* Whatever the record does not tell, or tells as all ones, is UNSET; what cannot be is FAILED. */
struct amd_metrics {
    unsigned format, content;
    struct value numbers[AMD_NUMBERS];         /* f64 */
    struct value residencies[AMD_RESIDENCIES]; /* u64 */
    struct value throttle;                     /* u64: bits, see amd_throttle_of_bits */
    struct value energy;                       /* u64: as the firmware counts */
    bool energy_known;                         /* its unit is 2^-16 J; else it differs by card */
    struct value received[AMD_XGMI_LINKS],
        transmitted[AMD_XGMI_LINKS];          /* u64: bytes; kilobytes as told, so an estimate */
    struct value link_active[AMD_XGMI_LINKS]; /* u64: 1 or 0 */
    uint32_t partition_count;
    struct amd_partition partitions[AMD_PARTITIONS];
};

/* Reads a record; false where it is none that we know, and then *out holds nothing. Bytes beyond
 * the record's own size do not count. */
bool amd_metrics_parse(const char *bytes, size_t size, struct amd_metrics *out);

/* Of the self-describing revision 1.9, called by amd_metrics_parse: `record` is all of it. Its form
 * is known from the kernel's patches alone: the smallest surprise, and nothing of it is told. */
bool amd_metrics_parse_attributes(struct span record, struct amd_metrics *out);

/* ---- what both forms of a record share ---- */

/* A unit of the record: what it is of a base unit, and how many can be; more is nonsense. */
struct amd_unit {
    double factor;
    uint64_t most;
};

/* An unsigned little-endian number of `width` bytes; false where it is all ones. */
bool amd_metrics_number(const char *at, unsigned width, uint64_t *out);

/* How instances of one thing become one number. */
enum amd_fold { AMD_LARGEST, AMD_MEAN };

/* Folds `count` numbers of `width` bytes that follow each other, those left out that are all ones,
 * and scales. */
struct value amd_metrics_fold(const char *at, unsigned width, unsigned count, enum amd_fold fold,
                              struct amd_unit unit);

/* Takes a number into its place: a sensor's 0 is none. */
void amd_metrics_take(struct amd_metrics *out, enum amd_number number, struct value value);

/* Bytes that XGMI carried, out of its kilobytes. */
struct value amd_metrics_carried(uint64_t kilobytes);

/* ---- why a card holds its clocks down ---- */

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
