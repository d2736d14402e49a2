/*
 * call.h - one call of the simulated library, from its entry to its return.
 *
 * call_enter counts it, applies the scenario's rules (sleeping without the mutex) and, if the call
 * is to be answered, holds the mutex until call_leave has logged it. The answer_ functions run in
 * between: they may read and move anything, and must not block.
 */
#ifndef SIMULATED_CALL_H
#define SIMULATED_CALL_H

#include "scenario.h"

enum call_id {
#define CALL(since, name) CALL_##name,
#include "calls.def"
#undef CALL
    CALL_COUNT
};

struct call {
    enum call_id id;
    bool takes_device;
    nvml_device handle; /* as given */
    struct device *(*finder)(const struct scenario *scenario, const void *key);
    const void *key;           /* the finder's */
    uint64_t begun_ns;         /* by the monotonic clock */
    int gpu, mig;              /* -1: none */
    struct device *device;     /* set where one was named and exists */
    struct scenario *scenario; /* the same for every call until nvmlShutdown */
    uint64_t elapsed_ns;       /* since nvmlInit */
};

nvml_return call_enter(struct call *call);
nvml_return call_leave(struct call *call, nvml_return result);

/* nvmlInit and nvmlShutdown in their several spellings. */
nvml_return call_init(enum call_id id);
nvml_return call_shutdown(void);

nvml_device handle_of(const struct device *device);
/* NULL if the handle is none of ours. */
struct device *device_of(const struct scenario *scenario, nvml_device handle);

/* One row of the called device, moving values moving on. */
nvml_return read_field(struct call *call, enum device_field field, uint64_t *out);
/* The same for a parameter of the caller, which may be NULL. */
nvml_return answer_number(struct call *call, enum device_field field, unsigned *out);
nvml_return answer_pair(struct call *call, enum device_field first, enum device_field second,
                        unsigned *out_first, unsigned *out_second);
nvml_return answer_choice(struct call *call, enum device_field first, unsigned count,
                          unsigned which, unsigned *out);
nvml_return answer_wide(struct call *call, enum device_field field, uint64_t *out);
nvml_return answer_text(struct call *call, const struct value *text, char *out, unsigned size);
nvml_return answer_handle(struct call *call, nvml_return missing, nvml_device *out);
nvml_return answer_processes(struct call *call, unsigned kinds, enum process_layout layout,
                             unsigned *count, void *entries);

struct device *find_by_index(const struct scenario *scenario, const void *key);
struct device *find_by_bus_id(const struct scenario *scenario, const void *key);
struct device *find_by_serial(const struct scenario *scenario, const void *key);
struct device *find_by_uuid(const struct scenario *scenario, const void *key);
struct device *find_by_uuid_struct(const struct scenario *scenario, const void *key);

/* answer_<name> of every DEVICE and LIBRARY row. */
#define UNWRAP(...) __VA_ARGS__
#define CHOICE(since, name, first, count)
#define DEVICE(since, name, parameters, arguments) \
    nvml_return answer_##name(struct call *call, UNWRAP parameters);
#define LIBRARY(since, name, parameters, arguments) DEVICE(since, name, parameters, arguments)
#define LOOKUP(since, name, key, finder, missing)
#define NUMBER(since, name, field)
#define PAIR(since, name, first, second)
#define PROCESSES(since, name, kinds, layout)
#define SPECIAL(since, name)
#define TEXT(since, name, field)
#define WIDE(since, name, field)
#include "calls.def"

#endif
