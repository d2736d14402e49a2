/* library.h: the driver's library, opened at run time. */
#pragma once

#include "gpu/backend.h"
#include "gpu/nvidia/nvml.h"

/* A function that the library lacks is NULL. */
struct nvml {
    void *library;
    char path[128]; /* as opened */
    unsigned found; /* number of functions */
#define SYMBOL(need, name, ...) nvml_return (*name)(__VA_ARGS__);
#include "gpu/nvidia/symbols.def"
#undef SYMBOL
};

enum {
    NVML_FUNCTIONS = 0
#define SYMBOL(need, name, ...) +1
#include "gpu/nvidia/symbols.def"
#undef SYMBOL
};

/* NVML_CALL(nvml, nvmlDeviceGetName, device, …): the function's return code, or one that says that
 * the library lacks it. */
#define NVML_CALL(nvml, name, ...) \
    ((nvml)->name ? (nvml)->name(__VA_ARGS__) : (nvml_return)NVML_FUNCTION_NOT_FOUND)

/* Why the library could not be used. */
struct nvml_failure {
    vitals_availability state;
    char message[GPU_MESSAGE]; /* what happened and what to do, for a person */
    nvml_return code;          /* return code of nvmlInit; NVML_SUCCESS: it was not called */
    char version[80];          /* version of the library, or "" */
};

/* Loads and initializes the library. Returns 0, or -1 with the reason in *why. May block for
 * seconds: only on a worker. */
int nvml_open(struct nvml *nvml, const vitals_context *context, struct nvml_failure *why);
void nvml_close(struct nvml *nvml);

/* ---- meaning of return codes ---- */

/* Converts a return code to an availability; the only place that does. */
vitals_availability nvml_availability(nvml_return code);

/* True if the code says that the driver lacks the function, even if its library has the name: an
 * older function may then work. */
bool nvml_lacks(nvml_return code);
