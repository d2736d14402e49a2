/* nvml.h: what we use of NVIDIA's management library, in declarations of our own.
 *
 * Layouts and numbers are facts of its binary interface (those of nvidia-ml-py); functions are in
 * symbols.def. A versioned struct begins with its size and, in the top byte, its version. */
#pragma once

#include <stdint.h>

typedef unsigned nvml_return;
typedef struct nvml_device_opaque *nvml_device;
typedef struct nvml_event_set_opaque *nvml_event_set;
typedef struct nvml_gpm_sample_opaque *nvml_gpm_sample;

// clang-format off
enum {
    NVML_SUCCESS = 0, NVML_UNINITIALIZED = 1, NVML_INVALID_ARGUMENT = 2, NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4, NVML_NOT_FOUND = 6, NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9, NVML_TIMEOUT = 10, NVML_LIBRARY_NOT_FOUND = 12,
    NVML_FUNCTION_NOT_FOUND = 13, NVML_GPU_IS_LOST = 15, NVML_RESET_REQUIRED = 16,
    NVML_OPERATING_SYSTEM = 17, NVML_LIB_RM_VERSION_MISMATCH = 18, NVML_NO_DATA = 21,
    NVML_VGPU_ECC_NOT_SUPPORTED = 22, NVML_FREQ_NOT_SUPPORTED = 24,
    NVML_ARGUMENT_VERSION_MISMATCH = 25, NVML_DEPRECATED = 26, NVML_NOT_READY = 27,
    NVML_GPU_NOT_FOUND = 28, NVML_UNKNOWN = 999
};
// clang-format on

enum { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEMORY, NVML_CLOCK_VIDEO };
enum { NVML_TEMPERATURE_GPU = 0 };
enum { NVML_THRESHOLD_SHUTDOWN, NVML_THRESHOLD_SLOWDOWN, NVML_THRESHOLD_MEMORY_MAX };
enum { NVML_ERROR_CORRECTED, NVML_ERROR_UNCORRECTED };
enum { NVML_ECC_VOLATILE, NVML_ECC_AGGREGATE };
enum { NVML_RETIRED_SINGLE_BIT, NVML_RETIRED_DOUBLE_BIT };
enum { NVML_POLICY_POWER, NVML_POLICY_THERMAL };
enum { NVML_PCIE_TRANSMITTED, NVML_PCIE_RECEIVED };
enum { NVML_LINK_REPLAY, NVML_LINK_RECOVERY, NVML_LINK_CRC_FLIT };
enum { NVML_EVENT_XID = 8 };

/* Field values, and the types of their numbers. */
enum {
    NVML_FIELD_MEMORY_TEMPERATURE = 82,
    NVML_FIELD_LINK_SPEED_COMMON = 90, /* MB/s */
    NVML_FIELD_LINK_COUNT = 91,
    NVML_FIELD_LINK_TRANSMITTED = 138, /* KiB, of link `scope` */
    NVML_FIELD_LINK_RECEIVED = 139,
    NVML_FIELD_LINK_SPEED = 164 /* MB/s, of link `scope` */
};
enum {
    NVML_VALUE_DOUBLE,
    NVML_VALUE_U32,
    NVML_VALUE_ULONG,
    NVML_VALUE_U64,
    NVML_VALUE_I64,
    NVML_VALUE_I32,
    NVML_VALUE_U16
};

/* Reasons why clocks are reduced: bits. */
enum {
    NVML_REASON_IDLE = 1 << 0,
    NVML_REASON_SET = 1 << 1, /* set by the user */
    NVML_REASON_POWER_CAP = 1 << 2,
    NVML_REASON_HARDWARE = 1 << 3, /* one of the hardware reasons below, or another one */
    NVML_REASON_SYNC_BOOST = 1 << 4,
    NVML_REASON_SOFTWARE_THERMAL = 1 << 5,
    NVML_REASON_HARDWARE_THERMAL = 1 << 6,
    NVML_REASON_POWER_BRAKE = 1 << 7,
    NVML_REASON_DISPLAY = 1 << 8,
    NVML_REASON_BOARD_LIMIT = 1 << 9,
    NVML_REASON_RELIABILITY = 1 << 10
};

/* Metrics of the performance monitor (GPM). */
enum {
    NVML_GPM_GRAPHICS = 1, /* graphics and compute: share of time in which any engine had work */
    NVML_GPM_SM_ACTIVE = 2,
    NVML_GPM_SM_OCCUPANCY = 3,
    NVML_GPM_TENSOR_ACTIVE = 5,
    NVML_GPM_MEMORY_BANDWIDTH = 10,
    NVML_GPM_METRICS = 477 /* of the newest driver; only requested entries are touched */
};

#define NVML_NOT_AVAILABLE_64             UINT64_MAX
#define NVML_NOT_AVAILABLE_32             UINT32_MAX
#define NVML_STRUCT_VERSION(type, number) ((unsigned)sizeof(type) | (number##u << 24))

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
struct nvml_temperature {
    unsigned version, sensor;
    int celsius;
};
struct nvml_pci_info {
    char bus_id_short[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
struct nvml_attributes {
    unsigned multiprocessors, copy_engines, decoders, encoders, jpegs, ofas, gpu_slices,
        compute_slices;
    uint64_t memory_mib;
};
struct nvml_field_value {
    unsigned field, scope;
    int64_t timestamp_us, latency_us;
    unsigned type;
    nvml_return result;
    union {
        unsigned u32;
        uint64_t u64;
        double f64;
    } value;
};

/* An entry of a process list: 16 bytes, 24, or (only in 535.54) 32. Each layout is the beginning of
 * the next. */
struct nvml_process {
    unsigned pid;
    uint64_t memory_bytes;                   /* the 16 bytes end here */
    unsigned gpu_instance, compute_instance; /* and the 24 here */
    uint64_t protected_bytes;
};
enum { NVML_PROCESS_V1 = 16, NVML_PROCESS_V2 = 24, NVML_PROCESS_CONFIDENTIAL = 32 };

/* Utilization of a process, in percent, up to a time since 1970: from the older function, and from
 * that of R550. */
struct nvml_process_sample_old {
    unsigned pid;
    uint64_t timestamp_us;
    unsigned sm, memory, encoder, decoder;
};
struct nvml_process_sample {
    uint64_t timestamp_us;
    unsigned pid, sm, memory, encoder, decoder, jpeg, optical_flow;
};
struct nvml_process_samples {
    unsigned version, count;
    uint64_t last_seen_us;
    struct nvml_process_sample *entries;
};

struct nvml_fan_rpm {
    unsigned version, fan, rpm;
};
struct nvml_violation {
    uint64_t reference_ns, violation_ns;
};
struct nvml_accounting {
    unsigned utilization, memory_utilization; /* percent */
    uint64_t max_memory_bytes, time_ms, start_us;
    unsigned running, reserved[5];
};
struct nvml_event {
    nvml_device device;
    uint64_t type, data;
    unsigned gpu_instance, compute_instance; /* of the second version */
};
struct nvml_gpm_support {
    unsigned version, supported;
};
struct nvml_gpm_metric {
    unsigned metric;
    nvml_return result;
    double value;
    const char *names[3];
};
struct nvml_gpm_request {
    unsigned version, count;
    nvml_gpm_sample older, newer;
    struct nvml_gpm_metric metrics[NVML_GPM_METRICS];
};
enum { NVML_GPM_VERSION = 1 };

_Static_assert(sizeof(struct nvml_memory) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct nvml_bar1_memory) == 24, "nvmlBAR1Memory_t");
_Static_assert(sizeof(struct nvml_utilization) == 8, "nvmlUtilization_t");
_Static_assert(sizeof(struct nvml_temperature) == 12, "nvmlTemperature_v1_t");
_Static_assert(sizeof(struct nvml_pci_info) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct nvml_attributes) == 40, "nvmlDeviceAttributes_t");
_Static_assert(sizeof(struct nvml_field_value) == 40, "nvmlFieldValue_t");
_Static_assert(sizeof(struct nvml_process) == NVML_PROCESS_CONFIDENTIAL, "nvmlProcessInfo_t");
_Static_assert(sizeof(struct nvml_process_sample_old) == 32, "nvmlProcessUtilizationSample_t");
_Static_assert(sizeof(struct nvml_process_sample) == 40, "nvmlProcessUtilizationInfo_v1_t");
_Static_assert(sizeof(struct nvml_process_samples) == 24, "nvmlProcessesUtilizationInfo_v1_t");
_Static_assert(sizeof(struct nvml_fan_rpm) == 12, "nvmlFanSpeedInfo_v1_t");
_Static_assert(sizeof(struct nvml_violation) == 16, "nvmlViolationTime_t");
_Static_assert(sizeof(struct nvml_accounting) == 56, "nvmlAccountingStats_t");
_Static_assert(sizeof(struct nvml_event) == 32, "nvmlEventData_t");
_Static_assert(sizeof(struct nvml_gpm_support) == 8, "nvmlGpmSupport_t");
_Static_assert(sizeof(struct nvml_gpm_metric) == 40, "nvmlGpmMetric_t");
_Static_assert(sizeof(struct nvml_gpm_request) == 24 + 40 * NVML_GPM_METRICS,
               "nvmlGpmMetricsGet_t");

/* Types of functions that are called by their place in struct nvml. */
typedef nvml_return nvml_plain_call(void);
typedef nvml_return nvml_text_call(nvml_device device, char *out, unsigned size);
typedef nvml_return nvml_u32_call(nvml_device device, unsigned *out);
typedef nvml_return nvml_pair_call(nvml_device device, unsigned *first, unsigned *second);
typedef nvml_return nvml_choice_call(nvml_device device, unsigned which, unsigned *out);
typedef nvml_return nvml_processes_call(nvml_device device, unsigned *count, void *entries);
