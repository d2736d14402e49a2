/* ecc.c: errors of memory, and what was taken out of use for them. */
#include "gpu/nvidia/errors.h"
#include "gpu/nvidia/reader.h"

/* A counter: which errors, and since when. */
struct ecc_counter {
    vitals_metric metric;
    unsigned type, since;
};

/* ---- of the whole device ---- */

void nvidia_read_ecc(struct nvidia_reader *reader)
{
    static const struct ecc_counter counters[] = {
        {VITALS_GPU_ECC_ERRORS_UNCORRECTED, NVML_ERROR_UNCORRECTED, NVML_ECC_VOLATILE},
        {VITALS_GPU_ECC_ERRORS_CORRECTED, NVML_ERROR_CORRECTED, NVML_ECC_VOLATILE},
        {VITALS_GPU_ECC_ERRORS_UNCORRECTED_EVER, NVML_ERROR_UNCORRECTED, NVML_ECC_AGGREGATE},
        {VITALS_GPU_ECC_ERRORS_CORRECTED_EVER, NVML_ERROR_CORRECTED, NVML_ECC_AGGREGATE},
    };
    for (size_t i = 0; i < ARRAY_COUNT(counters) && !reader->lost; i++) {
        if (!reader_wants(reader, counters[i].metric))
            continue;
        uint64_t errors = 0;
        nvml_return code = READER_ASK(reader, (unsigned)i, nvmlDeviceGetTotalEccErrors,
                                      counters[i].type, counters[i].since, &errors);
        reader_set(reader, counters[i].metric, code, nvml_count(errors, EXACT_MAX));
    }
}

/* ---- by where they were ---- */

/* A place of which the device counts no errors has no row. */
static void read_location(struct nvidia_reader *reader, unsigned location, const char *label)
{
    static const struct ecc_counter counters[] = {
        {VITALS_GPU_ERROR_CORRECTED, NVML_ERROR_CORRECTED, NVML_ECC_VOLATILE},
        {VITALS_GPU_ERROR_UNCORRECTED, NVML_ERROR_UNCORRECTED, NVML_ECC_VOLATILE},
        {VITALS_GPU_ERROR_CORRECTED_EVER, NVML_ERROR_CORRECTED, NVML_ECC_AGGREGATE},
        {VITALS_GPU_ERROR_UNCORRECTED_EVER, NVML_ERROR_UNCORRECTED, NVML_ECC_AGGREGATE},
    };
    struct value values[ARRAY_COUNT(counters)] = {0};
    bool asked = false, counted = false;
    for (size_t i = 0; i < ARRAY_COUNT(counters) && !reader->lost; i++) {
        if (!reader_wants(reader, counters[i].metric))
            continue;
        uint64_t errors = 0;
        nvml_return code = reader_check(
            reader, READER_ASK(reader, location * 4 + (unsigned)i, nvmlDeviceGetMemoryErrorCounter,
                               counters[i].type, counters[i].since, location, &errors));
        if (code == NVML_INVALID_ARGUMENT) /* a device that does not know the place */
            code = nvidia_note(reader->device,
                               offsetof(struct nvml, nvmlDeviceGetMemoryErrorCounter),
                               location * 4 + (unsigned)i, NVML_NOT_SUPPORTED);
        bool absent = nvml_availability(code) == VITALS_UNSUPPORTED;
        values[i] = code == NVML_SUCCESS ? nvml_count(errors, EXACT_MAX)
                                         : value_missing(nvml_availability(code));
        asked = true;
        counted = counted || !absent;
    }
    if (asked && !counted)
        return;
    reader_list(reader, VITALS_GPU_ERROR_CORRECTED, label);
    for (size_t i = 0; i < ARRAY_COUNT(counters); i++) {
        if (values[i].state != VITALS_UNSET)
            gpu_fill_child(reader->fill, counters[i].metric, label, values[i]);
    }
}

void nvidia_read_error_locations(struct nvidia_reader *reader)
{
    static const char *const labels[] = {
        "l1_cache",       "l2_cache",       "device_memory", "register_file",
        "texture_memory", "texture_shared", "cbu",           "sram"};
    for (unsigned i = 0; i < ARRAY_COUNT(labels) && !reader->lost; i++)
        read_location(reader, i, labels[i]);
}

/* ---- what was taken out of use ---- */

/* Without room the driver only says how many there are. */
void nvidia_read_retired_pages(struct nvidia_reader *reader)
{
    static const struct {
        vitals_metric metric;
        unsigned cause;
    } rows[] = {{VITALS_GPU_RETIRED_PAGES_CORRECTED, NVML_RETIRED_SINGLE_BIT},
                {VITALS_GPU_RETIRED_PAGES_UNCORRECTED, NVML_RETIRED_DOUBLE_BIT}};
    for (size_t i = 0; i < ARRAY_COUNT(rows) && !reader->lost; i++) {
        if (!reader_wants(reader, rows[i].metric))
            continue;
        unsigned count = 0;
        nvml_return code = READER_ASK(reader, (unsigned)i, nvmlDeviceGetRetiredPages, rows[i].cause,
                                      &count, NULL);
        if (code == NVML_INSUFFICIENT_SIZE)
            code = NVML_SUCCESS;
        reader_set(reader, rows[i].metric, code, nvml_count(count, 1 << 24));
    }
}

void nvidia_read_remapped_rows(struct nvidia_reader *reader)
{
    static const struct {
        vitals_metric metric;
        unsigned most;
    } rows[] = {{VITALS_GPU_REMAPPED_ROWS_CORRECTED, 1 << 24},
                {VITALS_GPU_REMAPPED_ROWS_UNCORRECTED, 1 << 24},
                {VITALS_GPU_REMAPPED_ROWS_PENDING, 1},
                {VITALS_GPU_REMAPPED_ROWS_FAILED, 1}};
    unsigned now[ARRAY_COUNT(rows)] = {0};
    nvml_return code = READER_ASK(reader, 0, nvmlDeviceGetRemappedRows, &now[0], &now[1], &now[2],
                                  &now[3]);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        reader_set(reader, rows[i].metric, code, nvml_count(now[i], rows[i].most));
}
