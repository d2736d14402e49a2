/* power.c: energy, and between which limits the power may be set. */
#include "gpu/nvidia/reader.h"

enum { MILLIWATTS_MAX = 1000000000 };

void nvidia_read_energy(struct nvidia_reader *reader)
{
    uint64_t millijoules = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetTotalEnergyConsumption, &millijoules);
    reader_set(reader, VITALS_GPU_ENERGY_JOULES, code, nvml_amount(millijoules, 1e-3, EXACT_MAX));
}

void nvidia_read_power_limits(struct nvidia_reader *reader)
{
    unsigned least = 0, most = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetPowerManagementLimitConstraints, &least,
                                  &most);
    reader_set(reader, VITALS_GPU_POWER_LIMIT_MIN_WATTS, code,
               nvml_amount(least, 1e-3, MILLIWATTS_MAX));
    reader_set(reader, VITALS_GPU_POWER_LIMIT_MAX_WATTS, code,
               nvml_amount(most, 1e-3, MILLIWATTS_MAX));
}
