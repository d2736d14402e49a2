/*
 * calls.c - the exported entry points, made from calls.def. Compiled once for each driver variant;
 * nothing here decides anything but which names exist.
 */
#include "call.h"
#include "variant.h"

#define EXPORT __attribute__((visibility("default")))

#ifndef SIMULATED_DRIVER
#define SIMULATED_DRIVER DRIVER_R580
#endif

#define SINCE_R390(...) __VA_ARGS__
#if SIMULATED_DRIVER >= DRIVER_R470
#define SINCE_R470(...) __VA_ARGS__
#else
#define SINCE_R470(...)
#endif
#if SIMULATED_DRIVER >= DRIVER_R535_54
#define SINCE_R535_54(...) __VA_ARGS__
#else
#define SINCE_R535_54(...)
#endif
#if SIMULATED_DRIVER >= DRIVER_R535
#define SINCE_R535(...) __VA_ARGS__
#else
#define SINCE_R535(...)
#endif
#if SIMULATED_DRIVER >= DRIVER_R550
#define SINCE_R550(...) __VA_ARGS__
#else
#define SINCE_R550(...)
#endif
#if SIMULATED_DRIVER >= DRIVER_R580
#define SINCE_R580(...) __VA_ARGS__
#else
#define SINCE_R580(...)
#endif

const struct variant simulated_variant = {
    .number = SIMULATED_DRIVER,
#if SIMULATED_DRIVER == DRIVER_R390
    .name = "r390",
    .driver_version = "390.12",
    .nvml_version = "9.390.12",
    .cuda_version = 9010,
#elif SIMULATED_DRIVER == DRIVER_R470
    .name = "r470",
    .driver_version = "470.57.02",
    .nvml_version = "11.470.57.02",
    .cuda_version = 11040,
#elif SIMULATED_DRIVER == DRIVER_R535_54
    .name = "r535_54",
    .driver_version = "535.54.03",
    .nvml_version = "12.535.54.03",
    .cuda_version = 12020,
#elif SIMULATED_DRIVER == DRIVER_R535
    .name = "r535",
    .driver_version = "535.104.05",
    .nvml_version = "12.535.104.05",
    .cuda_version = 12020,
#elif SIMULATED_DRIVER == DRIVER_R550
    .name = "r550",
    .driver_version = "550.54.14",
    .nvml_version = "12.550.54.14",
    .cuda_version = 12040,
#else
    .name = "r580",
    .driver_version = "580.65.06",
    .nvml_version = "13.580.65.06",
    .cuda_version = 13000,
#endif
};

/* An exported function of a device: its parameters beyond the handle, and how it is answered. */
#define DEVICE_FUNCTION(since, function, parameters, answer)                              \
    SINCE_##since(EXPORT nvml_return function(nvml_device device, UNWRAP parameters);     \
                  nvml_return function(nvml_device device, UNWRAP parameters) {           \
                      struct call call = {                                                \
                          .id = CALL_##function, .takes_device = true, .handle = device}; \
                      nvml_return result = call_enter(&call);                             \
                      if (result == NVML_SUCCESS)                                         \
                          result = answer;                                                \
                      return call_leave(&call, result);                                   \
                  })

#define CHOICE(since, name, first, count)                         \
    DEVICE_FUNCTION(since, name, (unsigned which, unsigned *out), \
                    answer_choice(&call, FIELD_##first, count, which, out))
#define DEVICE(since, name, parameters, arguments) \
    DEVICE_FUNCTION(since, name, parameters, answer_##name(&call, UNWRAP arguments))
#define NUMBER(since, name, field) \
    DEVICE_FUNCTION(since, name, (unsigned *out), answer_number(&call, FIELD_##field, out))
#define PAIR(since, name, first, second)                     \
    DEVICE_FUNCTION(since, name, (unsigned *a, unsigned *b), \
                    answer_pair(&call, FIELD_##first, FIELD_##second, a, b))
#define PROCESSES(since, name, kinds, layout)                      \
    DEVICE_FUNCTION(since, name, (unsigned *count, void *entries), \
                    answer_processes(&call, kinds, layout, count, entries))
#define TEXT(since, name, field)                             \
    DEVICE_FUNCTION(since, name, (char *out, unsigned size), \
                    answer_text(&call, &call.device->fields[FIELD_##field], out, size))
#define WIDE(since, name, field) \
    DEVICE_FUNCTION(since, name, (uint64_t * out), answer_wide(&call, FIELD_##field, out))

#define LIBRARY(since, name, parameters, arguments)                        \
    SINCE_##since(EXPORT nvml_return name(UNWRAP parameters);              \
                  nvml_return name(UNWRAP parameters) {                    \
                      struct call call = {.id = CALL_##name};              \
                      nvml_return result = call_enter(&call);              \
                      if (result == NVML_SUCCESS)                          \
                          result = answer_##name(&call, UNWRAP arguments); \
                      return call_leave(&call, result);                    \
                  })

#define LOOKUP(since, name, key_type, key_finder, missing)                                       \
    SINCE_##since(EXPORT nvml_return name(key_type key, nvml_device *out);                       \
                  nvml_return name(key_type key, nvml_device * out) {                            \
                      struct call call = {.id = CALL_##name, .finder = key_finder, .key = &key}; \
                      nvml_return result = call_enter(&call);                                    \
                      if (result == NVML_SUCCESS)                                                \
                          result = answer_handle(&call, missing, out);                           \
                      return call_leave(&call, result);                                          \
                  })

#define SPECIAL(since, name)

#include "calls.def"

EXPORT nvml_return nvmlInit(void);
EXPORT nvml_return nvmlInit_v2(void);
EXPORT nvml_return nvmlInitWithFlags(unsigned flags);
EXPORT nvml_return nvmlShutdown(void);
EXPORT const char *nvmlErrorString(nvml_return result);

nvml_return nvmlInit(void)
{
    return call_init(CALL_nvmlInit);
}

nvml_return nvmlInit_v2(void)
{
    return call_init(CALL_nvmlInit_v2);
}

nvml_return nvmlInitWithFlags(unsigned flags)
{
    (void)flags;
    return call_init(CALL_nvmlInitWithFlags);
}

nvml_return nvmlShutdown(void)
{
    return call_shutdown();
}

const char *nvmlErrorString(nvml_return result)
{
    static const struct {
        nvml_return result;
        const char *text;
    } texts[] = {
        {0, "Success"},
        {1, "Uninitialized"},
        {2, "Invalid Argument"},
        {3, "Not Supported"},
        {4, "Insufficient Permissions"},
        {6, "Not Found"},
        {7, "Insufficient Size"},
        {9, "Driver Not Loaded"},
        {10, "Timeout"},
        {12, "NVML Shared Library Not Found"},
        {13, "Function Not Found"},
        {15, "GPU is lost"},
        {16, "GPU requires reset"},
        {18, "Driver/library version mismatch"},
        {19, "In use by another client"},
        {20, "Insufficient Memory"},
        {21, "No data"},
        {25, "Argument version mismatch"},
        {28, "GPU not found"},
        {999, "Unknown Error"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].result == result)
            return texts[i].text;
    }
    return "Unknown Error code";
}
