/* modes.c: how a device has been set up. */
#include "gpu/nvidia/errors.h"
#include "gpu/nvidia/reader.h"

/* A number that has no word is nonsense. */
static void set_word(struct nvidia_reader *reader, vitals_metric metric, nvml_return code,
                     const char *const *words, size_t count, unsigned number)
{
    if (code == NVML_SUCCESS && number >= count)
        code = NVML_UNKNOWN;
    reader_set_text(reader, metric, code, code == NVML_SUCCESS ? words[number] : "");
}

void nvidia_read_compute_mode(struct nvidia_reader *reader)
{
    static const char *const words[] = {"default", "exclusive_thread", "prohibited",
                                        "exclusive_process"};
    unsigned mode = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetComputeMode, &mode);
    set_word(reader, VITALS_GPU_COMPUTE_MODE, code, words, ARRAY_COUNT(words), mode);
}

void nvidia_read_driver_model(struct nvidia_reader *reader)
{
    static const char *const words[] = {"wddm", "wdm", "mcdm"};
    unsigned model = 0, pending = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetDriverModel_v2, &model, &pending);
    if (nvml_lacks(code))
        code = READER_ASK(reader, 0, nvmlDeviceGetDriverModel, &model, &pending);
    set_word(reader, VITALS_GPU_DRIVER_MODEL, code, words, ARRAY_COUNT(words), model);
}

void nvidia_read_mig_mode(struct nvidia_reader *reader)
{
    unsigned mode = 0, pending = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetMigMode, &mode, &pending);
    reader_set(reader, VITALS_GPU_MIG_MODE, code, nvml_count(mode, 1));
    reader_set(reader, VITALS_GPU_MIG_MODE_PENDING, code, nvml_count(pending, 1));
}

void nvidia_read_ecc_mode(struct nvidia_reader *reader)
{
    unsigned mode = 0, pending = 0;
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetEccMode, &mode, &pending);
    reader_set(reader, VITALS_GPU_ECC_MODE, code, nvml_count(mode, 1));
    reader_set(reader, VITALS_GPU_ECC_MODE_PENDING, code, nvml_count(pending, 1));
}
