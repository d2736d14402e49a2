/* reader.c: see reader.h; and the cache of unsupported calls, which are repeated once a minute and
 * not at each tick: a GeForce has no error correction, a partition no fan. A feature may appear,
 * such as utilization when a device is no longer partitioned. */
#include "gpu/nvidia/reader.h"

#include <string.h>

nvml_return reader_check(struct nvidia_reader *reader, nvml_return code)
{
    reader->lost = reader->lost || code == NVML_GPU_IS_LOST;
    return code;
}

void reader_set(struct nvidia_reader *reader, vitals_metric metric, nvml_return code,
                struct value value)
{
    bool good = reader_check(reader, code) == NVML_SUCCESS;
    gpu_fill(reader->sample, metric, good ? value : value_missing(nvml_availability(code)));
}

void reader_set_text(struct nvidia_reader *reader, vitals_metric metric, nvml_return code,
                     const char *text)
{
    if (reader_check(reader, code) == NVML_SUCCESS)
        gpu_fill_text(reader->sample, metric, text);
    else
        gpu_fill(reader->sample, metric, value_missing(nvml_availability(code)));
}

void reader_set_child(struct nvidia_reader *reader, vitals_metric metric, const char *label,
                      nvml_return code, struct value value)
{
    bool good = reader_check(reader, code) == NVML_SUCCESS;
    gpu_fill_child(reader->sample, metric, label,
                   good ? value : value_missing(nvml_availability(code)));
}

nvml_return reader_call_u32(struct nvidia_reader *reader, size_t function, unsigned *out)
{
    nvml_u32_call *call;
    memcpy(&call, (const char *)reader->nvml + function, sizeof call);
    *out = 0;
    nvml_return code = nvidia_absence(reader->device, function, 0);
    if (code == NVML_SUCCESS)
        code = call ? call(reader->handle, out) : (nvml_return)NVML_FUNCTION_NOT_FOUND;
    return reader_check(reader, nvidia_note(reader->device, function, 0, code));
}

nvml_return reader_call_choice(struct nvidia_reader *reader, size_t function, unsigned which,
                               unsigned *out)
{
    nvml_choice_call *call;
    memcpy(&call, (const char *)reader->nvml + function, sizeof call);
    *out = 0;
    nvml_return code = nvidia_absence(reader->device, function, which);
    if (code == NVML_SUCCESS)
        code = call ? call(reader->handle, which, out) : (nvml_return)NVML_FUNCTION_NOT_FOUND;
    return reader_check(reader, nvidia_note(reader->device, function, which, code));
}

/* Returns the index of a field in the function's cache; all links share one. */
static unsigned which_field(const struct nvml_field_value *field)
{
    return field->field % NVIDIA_WHICH_MAX;
}

void reader_call_fields(struct nvidia_reader *reader, struct nvml_field_value *fields, int count)
{
    const size_t function = offsetof(struct nvml, nvmlDeviceGetFieldValues);
    nvml_return code = NVML_NOT_SUPPORTED;
    fields[count] = (struct nvml_field_value){0};
    bool has_any = false;
    for (int i = 0; i < count; i++)
        has_any |= nvidia_absence(reader->device, function, which_field(&fields[i])) ==
                   NVML_SUCCESS;
    if (has_any)
        code = reader_check(reader, NVML_CALL(reader->nvml, nvmlDeviceGetFieldValues,
                                              reader->handle, count, fields));
    for (int i = 0; i < count; i++) {
        if (code != NVML_SUCCESS)
            fields[i].result = code;
        if (fields[i].scope == 0)
            (void)nvidia_note(reader->device, function, which_field(&fields[i]), fields[i].result);
    }
}

uint64_t nvml_field_number(const struct nvml_field_value *field, nvml_return *code)
{
    *code = field->result;
    if (*code != NVML_SUCCESS)
        return 0;
    switch (field->type) {
    case NVML_VALUE_U32: return field->value.u32;
    case NVML_VALUE_ULONG:
    case NVML_VALUE_U64: return field->value.u64;
    case NVML_VALUE_I32:
    case NVML_VALUE_I64:
        if (field->type == NVML_VALUE_I32 && (int32_t)field->value.u32 >= 0)
            return field->value.u32;
        if (field->type == NVML_VALUE_I64 && (int64_t)field->value.u64 >= 0)
            return field->value.u64;
    }
    *code = NVML_UNKNOWN;
    return 0;
}

/* True for "not known", all bits set in the width of the number. */
static bool is_unknown(uint64_t number, uint64_t most)
{
    return number == (most > UINT32_MAX ? NVML_NOT_AVAILABLE_64 : NVML_NOT_AVAILABLE_32);
}

struct value nvml_count(uint64_t number, uint64_t most)
{
    if (is_unknown(number, most))
        return value_missing(VITALS_UNSUPPORTED);
    return number <= most ? value_u64(number) : value_missing(VITALS_FAILED);
}

struct value nvml_amount(uint64_t number, double factor, uint64_t most)
{
    if (is_unknown(number, most))
        return value_missing(VITALS_UNSUPPORTED);
    return gpu_fill_scaled(number, factor, most);
}

#define ASK_AGAIN_NS (60 * NS_PER_SECOND)

void nvidia_refresh_unsupported(const struct nvidia *nvidia, struct nvidia_device *device)
{
    struct nvidia_unsupported *absent = &device->absent;
    uint64_t now_ns = os_now_ns(&nvidia->context->os);
    if (absent->since_ns != 0 && absent->opened == nvidia->opened &&
        now_ns - absent->since_ns < ASK_AGAIN_NS)
        return;
    memset(absent, 0, sizeof *absent);
    absent->since_ns = now_ns;
    absent->opened = nvidia->opened;
}

static size_t index_of(size_t function)
{
    return (function - offsetof(struct nvml, nvmlInit_v2)) / sizeof(nvml_plain_call *);
}

nvml_return nvidia_absence(const struct nvidia_device *device, size_t function, unsigned which)
{
    size_t index = index_of(function);
    uint64_t bit = UINT64_C(1) << which % 64;
    if (which >= NVIDIA_WHICH_MAX)
        return NVML_SUCCESS;
    if (device->absent.unknown[index][which / 64] & bit)
        return NVML_FUNCTION_NOT_FOUND;
    return device->absent.unsupported[index][which / 64] & bit ? NVML_NOT_SUPPORTED : NVML_SUCCESS;
}

nvml_return nvidia_note(struct nvidia_device *device, size_t function, unsigned which,
                        nvml_return code)
{
    size_t index = index_of(function);
    if (which >= NVIDIA_WHICH_MAX || nvml_availability(code) != VITALS_UNSUPPORTED)
        return code;
    uint64_t *bits = nvml_lacks(code) ? device->absent.unknown[index]
                                      : device->absent.unsupported[index];
    bits[which / 64] |= UINT64_C(1) << which % 64;
    return code;
}
