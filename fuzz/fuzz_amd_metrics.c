/* gpu_metrics: a record is known or not, and of one that is not nothing is told; ratios are ratios,
 * and all causes of throttling have room. */
#include "gpu/amd/metrics.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ratio(struct value value)
{
    if (value.state > 0 && !(value.as.f64 >= 0 && value.as.f64 <= 1))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct amd_metrics metrics;
    static const struct amd_metrics none;
    struct amd_throttle throttle;
    bool known = amd_metrics_parse((const char *)data, size, &metrics);
    if (!known && (metrics.format != 0 || metrics.energy.state != none.energy.state))
        abort();
    for (size_t i = 0; i < AMD_NUMBERS; i++) {
        struct value value = metrics.numbers[i];
        if (!known && value.state != VITALS_UNSET)
            abort();
        if (value.state > 0 && !(value.as.f64 >= 0 && value.as.f64 < 1e16))
            abort();
    }
    for (int i = AMD_GFX_RATIO; i <= AMD_JPEG_RATIO; i++)
        check_ratio(metrics.numbers[i]);
    if (metrics.partition_count > AMD_PARTITIONS)
        abort();
    for (uint32_t i = 0; i < metrics.partition_count; i++) {
        check_ratio(metrics.partitions[i].gfx_ratio);
        check_ratio(metrics.partitions[i].video_ratio);
        check_ratio(metrics.partitions[i].jpeg_ratio);
    }
    amd_throttle_of_bits(metrics.throttle.as.u64, &throttle);
    if (memchr(throttle.reasons, '\0', sizeof throttle.reasons) == NULL)
        abort();
    return 0;
}
