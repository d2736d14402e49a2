/* gpu_tracker.c: see gpu_tracker.h. */
#include "record/foreign/gpu_tracker.h"

#include <stdio.h>
#include <string.h>

#define PERCENT 100.0
#define GB      1e-9

// One column, one line.
// clang-format off
const struct gpu_tracker_column GPU_TRACKER_STATIC_COLUMNS[GPU_TRACKER_STATIC] = {
    {"ram_unit",                GPU_TRACKER_TEXT,  NULL, 0, 0, GT_AS_IT_IS, "gigabytes"},
    {"gpu_ram_unit",            GPU_TRACKER_TEXT,  NULL, 0, 0, GT_AS_IT_IS, "gigabytes"},
    {"time_unit",               GPU_TRACKER_TEXT,  NULL, 0, 0, GT_AS_IT_IS, "hours"},
    {"ram_system_capacity",     GPU_TRACKER_REAL,  "memory_total_bytes", VITALS_SCOPE_SYSTEM, GB, GT_RAM, NULL},
    {"gpu_ram_system_capacity", GPU_TRACKER_REAL,  "device_memory_total_bytes", VITALS_SCOPE_SYSTEM, GB, GT_GPU_RAM, NULL},
    {"system_core_count",       GPU_TRACKER_WHOLE, NULL, 0, 1, GT_SYSTEM_CORES, NULL},
    {"n_expected_cores",        GPU_TRACKER_WHOLE, NULL, 0, 1, GT_CORES, NULL},
    {"system_gpu_count",        GPU_TRACKER_WHOLE, "devices", VITALS_SCOPE_SYSTEM, 1, GT_AS_IT_IS, NULL},
    {"n_expected_gpus",         GPU_TRACKER_WHOLE, "devices", VITALS_SCOPE_SYSTEM, 1, GT_AS_IT_IS, NULL},
};

const struct gpu_tracker_column GPU_TRACKER_DATA_COLUMNS[GPU_TRACKER_DATA] = {
    {"main_ram",            GPU_TRACKER_REAL,  "memory_both_bytes", VITALS_SCOPE_ROOT, GB, GT_RAM, NULL},
    {"descendants_ram",     GPU_TRACKER_REAL,  "memory_both_bytes", VITALS_SCOPE_DESCENDANTS, GB, GT_RAM, NULL},
    {"combined_ram",        GPU_TRACKER_REAL,  "memory_both_bytes", VITALS_SCOPE_TREE, GB, GT_RAM, NULL},
    {"system_ram",          GPU_TRACKER_REAL,  "memory_used_bytes", VITALS_SCOPE_SYSTEM, GB, GT_RAM, NULL},
    {"main_gpu_ram",        GPU_TRACKER_REAL,  "gpu_memory_bytes", VITALS_SCOPE_ROOT, GB, GT_GPU_RAM, NULL},
    {"descendants_gpu_ram", GPU_TRACKER_REAL,  "gpu_memory_bytes", VITALS_SCOPE_DESCENDANTS, GB, GT_GPU_RAM, NULL},
    {"combined_gpu_ram",    GPU_TRACKER_REAL,  "gpu_memory_bytes", VITALS_SCOPE_TREE, GB, GT_GPU_RAM, NULL},
    {"system_gpu_ram",      GPU_TRACKER_REAL,  "device_memory_used_bytes", VITALS_SCOPE_SYSTEM, GB, GT_GPU_RAM, NULL},
    {"gpu_sum_utilization_percent",      GPU_TRACKER_REAL, "device_utilization_ratio", VITALS_SCOPE_SYSTEM, PERCENT, GT_AS_IT_IS, NULL},
    {"gpu_hardware_utilization_percent", GPU_TRACKER_REAL, "device_utilization_ratio", VITALS_SCOPE_SYSTEM, PERCENT, GT_GPUS, NULL},
    {"main_n_threads",        GPU_TRACKER_WHOLE, "threads", VITALS_SCOPE_ROOT, 1, GT_AS_IT_IS, NULL},
    {"descendants_n_threads", GPU_TRACKER_WHOLE, "threads", VITALS_SCOPE_DESCENDANTS, 1, GT_AS_IT_IS, NULL},
    {"combined_n_threads",    GPU_TRACKER_WHOLE, "threads", VITALS_SCOPE_TREE, 1, GT_AS_IT_IS, NULL},
    {"cpu_system_sum_utilization_percent",           GPU_TRACKER_REAL, "cpu_cores", VITALS_SCOPE_SYSTEM, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_system_hardware_utilization_percent",      GPU_TRACKER_REAL, "cpu_ratio", VITALS_SCOPE_SYSTEM, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_main_sum_utilization_percent",             GPU_TRACKER_REAL, "cpu_cores", VITALS_SCOPE_ROOT, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_main_hardware_utilization_percent",        GPU_TRACKER_REAL, "cpu_ratio", VITALS_SCOPE_ROOT, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_descendants_sum_utilization_percent",      GPU_TRACKER_REAL, "cpu_cores", VITALS_SCOPE_DESCENDANTS, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_descendants_hardware_utilization_percent", GPU_TRACKER_REAL, "cpu_ratio", VITALS_SCOPE_DESCENDANTS, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_combined_sum_utilization_percent",         GPU_TRACKER_REAL, "cpu_cores", VITALS_SCOPE_TREE, PERCENT, GT_AS_IT_IS, NULL},
    {"cpu_combined_hardware_utilization_percent",    GPU_TRACKER_REAL, "cpu_ratio", VITALS_SCOPE_TREE, PERCENT, GT_AS_IT_IS, NULL},
    {"timestamp",             GPU_TRACKER_REAL, NULL, 0, 0, GT_TIME, NULL},
};
// clang-format on

const char *const GPU_TRACKER_SUB_COLUMNS[4] = {"process_id", "code_block_name", "position",
                                                "timestamp"};

static double measured(const char *measure, vitals_scope scope, const struct record_sample *sample)
{
    const vitals_usage_value *value = sample_find(sample, measure, scope);
    return value != NULL && value->state > 0 ? value->value : 0;
}

/* Reads the host's row; returns 0 if the sample has no snapshot. */
static double system_cores(const struct record_sample *sample)
{
    double cores = 0;
    const vitals_row *host = sample->snapshot != NULL
                                 ? vitals_snapshot_next(sample->snapshot, VITALS_HOST, NULL)
                                 : NULL;
    return host != NULL && vitals_row_number(host, VITALS_HOST_CPUS, &cores) > 0 ? cores : 0;
}

double gpu_tracker_value(const struct gpu_tracker_column *column,
                         const struct record_sample *sample, double expected_cores)
{
    double devices;
    switch (column->kind) {
    case GT_TIME: return (double)(sample->realtime_ns / 1000) / 1e6;
    case GT_CORES: return expected_cores > 0 ? expected_cores : system_cores(sample);
    case GT_SYSTEM_CORES: return system_cores(sample);
    case GT_GPUS:
        devices = measured("devices", VITALS_SCOPE_SYSTEM, sample);
        return devices > 0 ? measured(column->measure, column->scope, sample) * PERCENT / devices
                           : 0;
    case GT_AS_IT_IS:
    case GT_RAM:
    case GT_GPU_RAM: break;
    }
    return measured(column->measure, column->scope, sample) * column->scale;
}

void gpu_tracker_beside(const char *path, char *out, size_t capacity)
{
    const char *base = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot != NULL && (base == NULL || dot > base) ? (size_t)(dot - path) : strlen(path);
    (void)snprintf(out, capacity, "%.*s.sub%s", (int)stem, path, path + stem);
}
