/* gpu_metrics_rows.c: fills rows from gpu_metrics, for values that no other file has. A read makes
 * the card's firmware measure, so the record is read only if a value of it is wanted. */
#include "gpu/amd/state.h"

#include <string.h>

/* 90010 is gfx90a, whose record has an older revision but the energy unit of the newer ones. */
enum { GFX90A = 90010 };

static const struct {
    vitals_metric metric;
    enum amd_number number; /* the first of several numbers */
} of_device[] = {
    {VITALS_GPU_UTILIZATION_RATIO, AMD_GFX_RATIO},
    {VITALS_GPU_MEMORY_BUSY_RATIO, AMD_MEMORY_RATIO},
    {VITALS_GPU_TEMPERATURE_CELSIUS, AMD_EDGE_CELSIUS},
    {VITALS_GPU_TEMPERATURE_CELSIUS, AMD_JUNCTION_CELSIUS},
    {VITALS_GPU_POWER_WATTS, AMD_SOCKET_WATTS},
};

static const struct {
    vitals_metric metric;
    enum amd_number number;
    const char *label;
} of_rows[] = {
    {VITALS_GPU_ENGINE_UTILIZATION_RATIO, AMD_GFX_RATIO, "graphics"},
    {VITALS_GPU_ENGINE_UTILIZATION_RATIO, AMD_VIDEO_RATIO, "video"},
    {VITALS_GPU_ENGINE_UTILIZATION_RATIO, AMD_JPEG_RATIO, "jpeg"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_EDGE_CELSIUS, "gpu"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_JUNCTION_CELSIUS, "junction"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_MEMORY_CELSIUS, "memory"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_VR_GFX_CELSIUS, "vr_gfx"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_VR_SOC_CELSIUS, "vr_soc"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_VR_MEMORY_CELSIUS, "vr_mem"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_HBM0_CELSIUS, "hbm0"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_HBM1_CELSIUS, "hbm1"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_HBM2_CELSIUS, "hbm2"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_HBM3_CELSIUS, "hbm3"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_SOC_CELSIUS, "soc"},
    {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, AMD_SKIN_CELSIUS, "skin"},
    {VITALS_GPU_SENSOR_FAN_RPM, AMD_FAN_RPM, "fan0"},
    {VITALS_GPU_SENSOR_VOLTAGE_VOLTS, AMD_GFX_VOLTS, "vddgfx"},
    {VITALS_GPU_SENSOR_VOLTAGE_VOLTS, AMD_SOC_VOLTS, "vddsoc"},
    {VITALS_GPU_SENSOR_VOLTAGE_VOLTS, AMD_MEMORY_VOLTS, "vddmem"},
    {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, AMD_GFX_HERTZ, "graphics"},
    {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, AMD_MEMORY_HERTZ, "memory"},
    {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, AMD_SOC_HERTZ, "soc"},
    {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, AMD_FABRIC_HERTZ, "fclk"},
    {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, AMD_VCLK0_HERTZ, "video"},
    {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, AMD_DCLK0_HERTZ, "dclk"},
    {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, AMD_VCLK1_HERTZ, "vclk1"},
    {VITALS_GPU_CLOCK_FREQUENCY_HERTZ, AMD_DCLK1_HERTZ, "dclk1"},
};

/* ---- what is still missing ---- */

static bool wants_throttle(const struct amd_reader *reader)
{
    static const vitals_metric metrics[] = {
        VITALS_GPU_THROTTLED_BY_POWER, VITALS_GPU_THROTTLED_BY_TEMPERATURE,
        VITALS_GPU_THROTTLED_BY_CURRENT, VITALS_GPU_THROTTLED_OTHERWISE,
        VITALS_GPU_THROTTLE_REASONS};
    for (size_t i = 0; i < ARRAY_COUNT(metrics); i++)
        if (amd_wants(reader, metrics[i]))
            return true;
    return false;
}

static bool is_missing(const struct amd_reader *reader, vitals_metric metric)
{
    return amd_wants(reader, metric) && !gpu_fill_has(reader->sample, metric);
}

/* Rows are listed whole: if a table is wanted, the record is read for rows that no other source
 * has. */
static bool is_wanted(const struct amd_reader *reader)
{
    for (size_t i = 0; i < ARRAY_COUNT(of_device); i++)
        if (is_missing(reader, of_device[i].metric))
            return true;
    return wants_throttle(reader) || is_missing(reader, VITALS_GPU_ENERGY_JOULES) ||
           is_missing(reader, VITALS_GPU_PCIE_REPLAYS) ||
           (amd_wants(reader, VITALS_GPU_BUSY_SECONDS) && reader->utilization.state <= 0) ||
           gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_ENGINE) ||
           gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_SENSOR) ||
           gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_CLOCK);
}

/* ---- values ---- */

static void fill_causes(struct amd_reader *reader, const struct amd_throttle *throttle)
{
    static const vitals_metric metrics[AMD_CAUSES] = {
        [AMD_BY_POWER] = VITALS_GPU_THROTTLED_BY_POWER,
        [AMD_BY_CURRENT] = VITALS_GPU_THROTTLED_BY_CURRENT,
        [AMD_BY_HEAT] = VITALS_GPU_THROTTLED_BY_TEMPERATURE,
        [AMD_BY_OTHER] = VITALS_GPU_THROTTLED_OTHERWISE,
    };
    for (size_t i = 0; i < AMD_CAUSES; i++)
        gpu_fill(reader->sample, metrics[i], value_u64(throttle->by[i]));
    gpu_fill_text(reader->sample, VITALS_GPU_THROTTLE_REASONS, throttle->reasons);
}

/* Bits show the present state; counters the time since the last record. */
static void fill_throttle(struct amd_reader *reader, const struct amd_metrics *record)
{
    struct amd_device *device = reader->device;
    struct amd_throttle throttle;
    bool counted = false, first = true;
    for (size_t i = 0; i < AMD_RESIDENCIES; i++) {
        counted |= record->residencies[i].state > 0;
        first &= device->residencies[i].state <= 0;
    }
    if (record->throttle.state > 0) {
        amd_throttle_of_bits(record->throttle.as.u64, &throttle);
        fill_causes(reader, &throttle);
    } else if (counted && first) {
        static const vitals_metric metrics[] = {VITALS_GPU_THROTTLED_BY_POWER,
                                                VITALS_GPU_THROTTLED_BY_TEMPERATURE,
                                                VITALS_GPU_THROTTLE_REASONS};
        for (size_t i = 0; i < ARRAY_COUNT(metrics); i++)
            gpu_fill(reader->sample, metrics[i], value_missing(VITALS_NOT_YET));
    } else if (amd_throttle_of_residencies(device->residencies, record->residencies, &throttle)) {
        fill_causes(reader, &throttle);
    }
    memcpy(device->residencies, record->residencies, sizeof device->residencies);
}

void amd_read_record(struct amd_reader *reader)
{
    if (!is_wanted(reader))
        return;
    const struct amd_metrics *record = amd_record(reader);
    if (record == NULL)
        return;

    for (size_t i = 0; i < ARRAY_COUNT(of_device); i++) {
        struct value value = record->numbers[of_device[i].number];
        if (value.state != VITALS_UNSET && !gpu_fill_has(reader->sample, of_device[i].metric))
            gpu_fill(reader->sample, of_device[i].metric, value);
    }
    for (size_t i = 0; i < ARRAY_COUNT(of_rows); i++) {
        struct value value = record->numbers[of_rows[i].number];
        if (value.state == VITALS_UNSET ||
            amd_has_child(reader, of_rows[i].metric, of_rows[i].label))
            continue;
        amd_list_child(reader, of_rows[i].metric, of_rows[i].label);
        if (amd_wants(reader, of_rows[i].metric))
            gpu_fill_child(reader->sample, of_rows[i].metric, of_rows[i].label, value);
    }
    struct value replays = record->numbers[AMD_PCIE_REPLAYS];
    if (replays.state > 0 && !gpu_fill_has(reader->sample, VITALS_GPU_PCIE_REPLAYS))
        gpu_fill(reader->sample, VITALS_GPU_PCIE_REPLAYS, value_u64((uint64_t)replays.as.f64));

    const struct amd_device *device = reader->device;
    bool known = record->energy_known || (device->node_count > 0 &&
                                          device->nodes[0].properties.gfx_target_version == GFX90A);
    if (known && record->energy.state > 0)
        gpu_fill(reader->sample, VITALS_GPU_ENERGY_JOULES,
                 value_f64((double)record->energy.as.u64 / 65536.0));

    if (reader->utilization.state <= 0)
        reader->utilization = record->numbers[AMD_GFX_RATIO];
    if (wants_throttle(reader)) {
        fill_throttle(reader, record);

        /* The counters do not report these. */
        if (record->throttle.state <= 0) {
            gpu_fill(reader->sample, VITALS_GPU_THROTTLED_BY_CURRENT,
                     value_missing(VITALS_UNSUPPORTED));
            gpu_fill(reader->sample, VITALS_GPU_THROTTLED_OTHERWISE,
                     value_missing(VITALS_UNSUPPORTED));
        }
    }
}

void amd_read_partition(struct amd_reader *reader)
{
    uint32_t number = (uint32_t)reader->device->partition;
    bool of_engine = gpu_fill_wants_table(reader->sample, VITALS_TABLE_GPU_ENGINE);
    if (!of_engine && !amd_wants(reader, VITALS_GPU_UTILIZATION_RATIO) &&
        !amd_wants(reader, VITALS_GPU_BUSY_SECONDS))
        return;
    const struct amd_metrics *record = amd_record(reader);
    if (record == NULL || number >= record->partition_count)
        return;
    const struct amd_partition *partition = &record->partitions[number];
    const struct {
        const char *label;
        struct value value;
    } engines[] = {
        {"graphics", partition->gfx_ratio},
        {"video", partition->video_ratio},
        {"jpeg", partition->jpeg_ratio},
    };
    reader->utilization = partition->gfx_ratio;
    if (partition->gfx_ratio.state != VITALS_UNSET)
        gpu_fill(reader->sample, VITALS_GPU_UTILIZATION_RATIO, partition->gfx_ratio);
    for (size_t i = 0; i < ARRAY_COUNT(engines); i++)
        if (engines[i].value.state != VITALS_UNSET)
            gpu_fill_child(reader->sample, VITALS_GPU_ENGINE_UTILIZATION_RATIO, engines[i].label,
                           engines[i].value);
}
