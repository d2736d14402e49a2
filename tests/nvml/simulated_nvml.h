/*
 * simulated_nvml.h - the driver library's types and return codes, as far as the simulation speaks
 * them.
 *
 * Layouts and numbers are those of nvidia-ml-py; test_layouts.py compares every struct of the
 * STRUCTS list with that package. Wording and names are our own. What is not simulated is absent.
 */
#ifndef SIMULATED_NVML_H
#define SIMULATED_NVML_H

#include <stdint.h>

/* A handle is a number in a pointer's clothing: 0x6e760000 | (gpu + 1) << 8 | (mig + 1). Following
 * it is a crash, as it should be. */
typedef struct nvml_device_opaque *nvml_device;
typedef unsigned int nvml_return;

/* Likewise: 0x65767300 or 0x67706d00, and which. */
typedef struct nvml_event_set_opaque *nvml_event_set;
typedef struct nvml_gpm_sample_opaque *nvml_gpm_sample;

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NO_PERMISSION = 4,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_TIMEOUT = 10,
    NVML_ERROR_LIBRARY_NOT_FOUND = 12,
    NVML_ERROR_FUNCTION_NOT_FOUND = 13,
    NVML_ERROR_GPU_IS_LOST = 15,
    NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_ERROR_UNKNOWN = 999,
};

/* A versioned struct begins with its size and, in the top byte, its version. */
#define NVML_STRUCT_VERSION(type, number) ((unsigned int)sizeof(type) | (number##u << 24))

#define NVML_NOT_AVAILABLE_64 UINT64_MAX
#define NVML_NOT_AVAILABLE_32 UINT32_MAX

struct nvml_pci_info_v2 { /* unsuffixed and _v2 */
    char bus_id[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id, reserved[4];
};
struct nvml_pci_info { /* _v3 */
    char bus_id_short[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
struct nvml_pci_info_extended {
    unsigned version, domain, bus, device, pci_device_id, pci_subsystem_id, base_class, sub_class;
    char bus_id[32];
};
struct nvml_memory {
    uint64_t total, free, used;
};
struct nvml_memory_v2 {
    unsigned version;
    uint64_t total, reserved, free, used;
};
struct nvml_bar1_memory {
    uint64_t total, free, used;
};
struct nvml_utilization {
    unsigned gpu, memory;
};
struct nvml_ecc_counts {
    uint64_t l1_cache, l2_cache, device_memory, register_file;
};
struct nvml_temperature {
    unsigned version, sensor;
    int temperature;
};
struct nvml_margin_temperature {
    unsigned version;
    int margin;
};
struct nvml_fan_speed_rpm {
    unsigned version, fan, speed;
};
struct nvml_uuid {
    unsigned version, type;
    union {
        char text[41];
        unsigned char bytes[16];
    } value;
};
struct nvml_driver_branch {
    unsigned version;
    char branch[80];
};

/* The layouts that a list of running processes has had: 16, 24 and, briefly, 32 bytes an entry. */
struct nvml_process_v1 {
    unsigned pid;
    uint64_t memory;
};
struct nvml_process_v2 {
    unsigned pid;
    uint64_t memory;
    unsigned gpu_instance, compute_instance;
};
struct nvml_process_confidential {
    unsigned pid;
    uint64_t memory;
    unsigned gpu_instance, compute_instance;
    uint64_t protected_memory;
};
struct nvml_process_list {
    unsigned version, mode, count;
    struct nvml_process_confidential *entries;
};
struct nvml_process_sample {
    unsigned pid;
    uint64_t timestamp_us;
    unsigned sm, memory, encoder, decoder;
};
struct nvml_process_sample_v1 { /* the 550 generation's, with JPEG and optical flow */
    uint64_t timestamp_us;
    unsigned pid, sm, memory, encoder, decoder, jpeg, ofa;
};
struct nvml_process_samples {
    unsigned version, count;
    uint64_t last_seen_us;
    struct nvml_process_sample_v1 *entries;
};
struct nvml_accounting {
    unsigned gpu_utilization, memory_utilization;
    uint64_t max_memory, time_ms, start_us;
    unsigned running, reserved[5];
};

union nvml_value {
    double real;
    unsigned u32;
    unsigned long ulong_value;
    uint64_t u64;
    int64_t i64;
    int i32;
    unsigned short u16;
};
enum {
    NVML_TYPE_DOUBLE,
    NVML_TYPE_U32,
    NVML_TYPE_ULONG,
    NVML_TYPE_U64,
    NVML_TYPE_I64,
    NVML_TYPE_I32
};
struct nvml_field_value {
    unsigned field, scope;
    int64_t timestamp_us, latency_us;
    unsigned type;
    nvml_return result;
    union nvml_value value;
};
struct nvml_sample {
    uint64_t timestamp_us;
    union nvml_value value;
};
struct nvml_violation_time {
    uint64_t reference_ns, violation_ns;
};
struct nvml_row_remapper_histogram {
    unsigned max, high, partial, low, none;
};
struct nvml_attributes {
    unsigned multiprocessors, copy_engines, decoders, encoders, jpegs, ofas, gpu_slices,
        compute_slices;
    uint64_t memory_mib;
};
struct nvml_confidential_memory {
    uint64_t protected_kib, unprotected_kib;
};
struct nvml_event { /* the older function's ends before the instances */
    nvml_device device;
    uint64_t type, data;
    unsigned gpu_instance, compute_instance;
};
struct nvml_gpm_support {
    unsigned version, supported;
};
struct nvml_gpm_metric {
    unsigned number;
    nvml_return result;
    double value;
    const char *names[3];
};
enum { NVML_GPM_METRICS = 477 };
struct nvml_gpm_metrics {
    unsigned version, count;
    nvml_gpm_sample first, second;
    struct nvml_gpm_metric metrics[NVML_GPM_METRICS];
};

/* nvidia-ml-py's class, our struct. */
#define STRUCTS(STRUCT)                                                          \
    STRUCT(nvmlPciInfo_v2_t, struct nvml_pci_info_v2)                            \
    STRUCT(nvmlPciInfo_t, struct nvml_pci_info)                                  \
    STRUCT(nvmlPciInfoExt_v1_t, struct nvml_pci_info_extended)                   \
    STRUCT(c_nvmlMemory_t, struct nvml_memory)                                   \
    STRUCT(c_nvmlMemory_v2_t, struct nvml_memory_v2)                             \
    STRUCT(c_nvmlBAR1Memory_t, struct nvml_bar1_memory)                          \
    STRUCT(c_nvmlUtilization_t, struct nvml_utilization)                         \
    STRUCT(c_nvmlEccErrorCounts_t, struct nvml_ecc_counts)                       \
    STRUCT(c_nvmlTemperature_v1_t, struct nvml_temperature)                      \
    STRUCT(c_nvmlMarginTemperature_v1_t, struct nvml_margin_temperature)         \
    STRUCT(c_nvmlFanSpeedInfo_t, struct nvml_fan_speed_rpm)                      \
    STRUCT(c_nvmlUUID_t, struct nvml_uuid)                                       \
    STRUCT(c_nvmlSystemDriverBranchInfo_v1_t, struct nvml_driver_branch)         \
    STRUCT(c_nvmlProcessInfo_v2_t, struct nvml_process_v2)                       \
    STRUCT(c_nvmlProcessDetail_v1_t, struct nvml_process_confidential)           \
    STRUCT(c_nvmlProcessDetailList_v1_t, struct nvml_process_list)               \
    STRUCT(c_nvmlProcessUtilizationSample_t, struct nvml_process_sample)         \
    STRUCT(c_nvmlProcessUtilizationInfo_v1_t, struct nvml_process_sample_v1)     \
    STRUCT(c_nvmlProcessesUtilizationInfo_v1_t, struct nvml_process_samples)     \
    STRUCT(c_nvmlAccountingStats_t, struct nvml_accounting)                      \
    STRUCT(c_nvmlValue_t, union nvml_value)                                      \
    STRUCT(c_nvmlFieldValue_t, struct nvml_field_value)                          \
    STRUCT(c_nvmlSample_t, struct nvml_sample)                                   \
    STRUCT(c_nvmlViolationTime_t, struct nvml_violation_time)                    \
    STRUCT(c_nvmlRowRemapperHistogramValues, struct nvml_row_remapper_histogram) \
    STRUCT(c_nvmlDeviceAttributes, struct nvml_attributes)                       \
    STRUCT(c_nvmlConfComputeMemSizeInfo_t, struct nvml_confidential_memory)      \
    STRUCT(c_nvmlEventData_t, struct nvml_event)                                 \
    STRUCT(c_nvmlGpmSupport_t, struct nvml_gpm_support)                          \
    STRUCT(c_nvmlGpmMetric_t, struct nvml_gpm_metric)                            \
    STRUCT(c_nvmlGpmMetricsGet_t, struct nvml_gpm_metrics)

_Static_assert(sizeof(struct nvml_process_v1) == 16, "process list, first layout");
_Static_assert(sizeof(struct nvml_process_v2) == 24, "process list, second layout");
_Static_assert(sizeof(struct nvml_process_confidential) == 32, "process list, confidential layout");
_Static_assert(sizeof(struct nvml_pci_info) == 68, "PCI information");
_Static_assert(sizeof(struct nvml_field_value) == 40, "field value");
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "memory, second layout");

#endif
