/* nvml.h: what we use of NVIDIA's management library, in declarations of our own.
 *
 * Layouts and numbers are facts of its binary interface (those of nvidia-ml-py); functions are in
 * symbols.def. A versioned struct begins with its size and, in the top byte, its version. */
#ifndef VITALS_GPU_NVIDIA_NVML_H
#define VITALS_GPU_NVIDIA_NVML_H

#include <stdint.h>

typedef unsigned nvml_return;
typedef struct nvml_device_opaque *nvml_device;

enum {
    NVML_SUCCESS = 0,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_LIBRARY_NOT_FOUND = 12,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_OPERATING_SYSTEM = 17,
    NVML_LIB_RM_VERSION_MISMATCH = 18,
    NVML_NO_DATA = 21,
    NVML_VGPU_ECC_NOT_SUPPORTED = 22,
    NVML_FREQ_NOT_SUPPORTED = 24,
    NVML_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_DEPRECATED = 26,
    NVML_NOT_READY = 27,
    NVML_GPU_NOT_FOUND = 28
};

enum { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEMORY, NVML_CLOCK_VIDEO };
enum { NVML_TEMPERATURE_GPU = 0 };
enum { NVML_ERROR_TYPE_UNCORRECTED = 1, NVML_ECC_VOLATILE = 0 };
enum { NVML_FIELD_MEMORY_TEMPERATURE = 82, NVML_VALUE_UNSIGNED = 1 };

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

/* What a process list has been made of: 16 bytes, 24, and in 535.54 alone 32. Each layout is the
 * beginning of the next. */
struct nvml_process {
    unsigned pid;
    uint64_t memory_bytes;                   /* the 16 bytes end here */
    unsigned gpu_instance, compute_instance; /* and the 24 here */
    uint64_t protected_bytes;
};
enum { NVML_PROCESS_V1 = 16, NVML_PROCESS_V2 = 24, NVML_PROCESS_CONFIDENTIAL = 32 };

struct nvml_process_sample {
    unsigned pid;
    uint64_t timestamp_us; /* since 1970 */
    unsigned sm, memory, encoder, decoder;
};

_Static_assert(sizeof(struct nvml_memory) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct nvml_bar1_memory) == 24, "nvmlBAR1Memory_t");
_Static_assert(sizeof(struct nvml_utilization) == 8, "nvmlUtilization_t");
_Static_assert(sizeof(struct nvml_temperature) == 12, "nvmlTemperature_v1_t");
_Static_assert(sizeof(struct nvml_pci_info) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct nvml_attributes) == 40, "nvmlDeviceAttributes_t");
_Static_assert(sizeof(struct nvml_field_value) == 40, "nvmlFieldValue_t");
_Static_assert(sizeof(struct nvml_process) == NVML_PROCESS_CONFIDENTIAL, "nvmlProcessInfo_t");
_Static_assert(sizeof(struct nvml_process_sample) == 32, "nvmlProcessUtilizationSample_t");

/* The shapes of functions. */
typedef nvml_return nvml_plain_call(void);
typedef nvml_return nvml_count_call(unsigned *count);
typedef nvml_return nvml_system_text_call(char *out, unsigned size);
typedef nvml_return nvml_system_i32_call(int *out);
typedef nvml_return nvml_handle_call(unsigned index, nvml_device *out);
typedef nvml_return nvml_part_call(nvml_device device, unsigned index, nvml_device *out);
typedef nvml_return nvml_text_call(nvml_device device, char *out, unsigned size);
typedef nvml_return nvml_u32_call(nvml_device device, unsigned *out);
typedef nvml_return nvml_u64_call(nvml_device device, uint64_t *out);
typedef nvml_return nvml_pair_call(nvml_device device, unsigned *first, unsigned *second);
typedef nvml_return nvml_choice_call(nvml_device device, unsigned which, unsigned *out);
typedef nvml_return nvml_ecc_call(nvml_device device, unsigned type, unsigned counter,
                                  uint64_t *out);
typedef nvml_return nvml_pci_call(nvml_device device, struct nvml_pci_info *out);
typedef nvml_return nvml_memory_call(nvml_device device, struct nvml_memory *out);
typedef nvml_return nvml_memory_v2_call(nvml_device device, struct nvml_memory_v2 *out);
typedef nvml_return nvml_bar1_call(nvml_device device, struct nvml_bar1_memory *out);
typedef nvml_return nvml_utilization_call(nvml_device device, struct nvml_utilization *out);
typedef nvml_return nvml_temperature_call(nvml_device device, struct nvml_temperature *out);
typedef nvml_return nvml_attributes_call(nvml_device device, struct nvml_attributes *out);
typedef nvml_return nvml_fields_call(nvml_device device, int count, struct nvml_field_value *out);
typedef nvml_return nvml_processes_call(nvml_device device, unsigned *count, void *entries);
typedef nvml_return nvml_samples_call(nvml_device device, struct nvml_process_sample *out,
                                      unsigned *count, uint64_t last_seen_us);

#endif
