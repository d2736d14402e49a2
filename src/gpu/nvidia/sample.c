/* sample.c: the table of a device's readings, and which of them are due. */
#include "gpu/nvidia/reader.h"

/* Any metric of a table: its number 0. */
#define TABLE(entity) ((vitals_metric)(entity) << 8)

/* A reading, and its metrics, of which at least one must be wanted; none: the reading checks
 * itself. */
struct sample_reading {
    nvidia_reading *read;
    bool of_partitions; /* also for a MIG instance */
    vitals_metric metrics[8];
};

static const struct sample_reading readings[] = {
    {nvidia_read_memory,
     true,
     {VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_FREE_BYTES,
      VITALS_GPU_MEMORY_RESERVED_BYTES, VITALS_GPU_UNIFIED_MEMORY}},
    {nvidia_read_utilization,
     false,
     {VITALS_GPU_UTILIZATION_RATIO, VITALS_GPU_MEMORY_BUSY_RATIO, VITALS_GPU_BUSY_SECONDS}},
    {nvidia_read_energy, false, {VITALS_GPU_ENERGY_JOULES}},
    {nvidia_read_temperature,
     false,
     {VITALS_GPU_TEMPERATURE_CELSIUS, TABLE(VITALS_TABLE_GPU_SENSOR)}},
    {nvidia_read_fans, false, {TABLE(VITALS_TABLE_GPU_SENSOR)}},
    {nvidia_read_compute_mode, false, {VITALS_GPU_COMPUTE_MODE}},
    {nvidia_read_mig_mode, false, {VITALS_GPU_MIG_MODE, VITALS_GPU_MIG_MODE_PENDING}},
    {nvidia_read_ecc_mode, false, {VITALS_GPU_ECC_MODE, VITALS_GPU_ECC_MODE_PENDING}},
    {nvidia_read_driver_model, false, {VITALS_GPU_DRIVER_MODEL}},
    {nvidia_read_ecc, false, {0}},
    {nvidia_read_retired_pages, false, {0}},
    {nvidia_read_remapped_rows,
     false,
     {VITALS_GPU_REMAPPED_ROWS_CORRECTED, VITALS_GPU_REMAPPED_ROWS_UNCORRECTED,
      VITALS_GPU_REMAPPED_ROWS_PENDING, VITALS_GPU_REMAPPED_ROWS_FAILED}},
    {nvidia_read_error_locations, false, {TABLE(VITALS_TABLE_GPU_ERROR)}},
    {nvidia_read_engines, false, {TABLE(VITALS_TABLE_GPU_ENGINE)}},
    {nvidia_read_clocks, false, {TABLE(VITALS_TABLE_GPU_CLOCK)}},
    {nvidia_read_reasons,
     false,
     {VITALS_GPU_THROTTLED_BY_POWER, VITALS_GPU_THROTTLED_BY_TEMPERATURE,
      VITALS_GPU_THROTTLED_OTHERWISE, VITALS_GPU_THROTTLE_REASONS}},
    {nvidia_read_violations, false, {0}},
    {nvidia_read_power_limits,
     false,
     {VITALS_GPU_POWER_LIMIT_MIN_WATTS, VITALS_GPU_POWER_LIMIT_MAX_WATTS}},
    {nvidia_read_bar1, true, {TABLE(VITALS_TABLE_GPU_POOL)}},
    {nvidia_read_links, false, {TABLE(VITALS_TABLE_GPU_LINK)}},
    {nvidia_read_events, false, {VITALS_GPU_XID_ERRORS, VITALS_GPU_XID_LAST}},
    {nvidia_read_gpm,
     true,
     {VITALS_GPU_SM_ACTIVE_RATIO, VITALS_GPU_SM_OCCUPANCY_RATIO, VITALS_GPU_TENSOR_ACTIVE_RATIO,
      VITALS_GPU_MEMORY_BANDWIDTH_RATIO, VITALS_GPU_UTILIZATION_RATIO, VITALS_GPU_BUSY_SECONDS}},
    {nvidia_read_accounting_pids, true, {VITALS_GPU_ACCOUNTING_PIDS}},
    {nvidia_read_pcie_throughput,
     false,
     {VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND}},
    {nvidia_read_texts, false, {0}},
    {nvidia_read_multiprocessors, false, {VITALS_GPU_MULTIPROCESSORS}},
    {nvidia_read_partition, true, {VITALS_GPU_PARTITION_KIND, VITALS_GPU_MULTIPROCESSORS}},
    {nvidia_read_numbers, false, {0}},
    {nvidia_read_place, true, {0}},
    {nvidia_read_place_of_driver,
     false,
     {VITALS_GPU_PCI_ID, VITALS_GPU_PCI_SUBSYSTEM_ID, VITALS_GPU_LOCAL_CPUS}},
};

static bool is_due(const struct nvidia_reader *reader, const struct sample_reading *reading)
{
    if (reader->device->partition && !reading->of_partitions)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(reading->metrics) && reading->metrics[i]; i++) {
        if (metric_number(reading->metrics[i]) != 0
                ? reader_wants(reader, reading->metrics[i])
                : gpu_fill_wants_table(reader->sample, reading->metrics[i] >> 8))
            return true;
    }
    return reading->metrics[0] == 0;
}

/* Returns why the device cannot be read, or HAVE. */
static vitals_availability read_all(struct nvidia_reader *reader, bool slow)
{
    if (!reader->handle)
        return (vitals_availability)atomic_load(&reader->device->missing);
    if (nvidia_is_asleep(reader->nvidia, reader->device, reader->status))
        return VITALS_SUSPENDED;
    if (!slow)
        nvidia_refresh_unsupported(reader->nvidia, reader->device);
    for (size_t i = 0; i < ARRAY_COUNT(readings) && !reader->lost; i++) {
        if (is_due(reader, &readings[i]))
            readings[i].read(reader);
    }
    if (reader->lost)
        nvidia_lose(reader->device, VITALS_GONE);
    return reader->lost ? VITALS_GONE : VITALS_HAVE;
}

void nvidia_sample(void *state, uint32_t slot, struct gpu_sample *out)
{
    struct nvidia *nvidia = state;
    struct nvidia_device *device = nvidia->devices[slot];
    vitals_availability result = VITALS_GONE;
    gpu_fill_begin(out, os_now_ns(&nvidia->context->os));
    struct nvidia_reader reader = {
        .nvidia = nvidia, .nvml = &nvidia->nvml, .device = device, .sample = out};
    /* A sample of slow metrics runs in parallel with another sample, and uses nothing of the
     * slot. */
    bool slow = reader_wants(&reader, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND) ||
                reader_wants(&reader, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND);
    if (nvidia_enter(nvidia)) {
        reader.handle = atomic_load(&device->handle);
        result = read_all(&reader, slow);
        nvidia_leave(nvidia);
    }
    if (result < 0) {
        if (!slow)
            device->utilization_ns = 0;
        gpu_fill_lose(out, result);
    }
    if (result == VITALS_SUSPENDED) /* reading values from the kernel wakes nothing */
        nvidia_read_place(&reader);
    gpu_fill_end(out);
}
