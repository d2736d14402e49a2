/* library.h: the driver's library, opened at run time. */
#ifndef VITALS_GPU_NVIDIA_LIBRARY_H
#define VITALS_GPU_NVIDIA_LIBRARY_H

#include "gpu/backend.h"
#include "gpu/nvidia/nvml.h"

/* A function that the library lacks is NULL. */
struct nvml {
    void *library;
    char path[128]; /* as it was opened */
    unsigned found; /* functions */
#define SYMBOL(need, shape, name) shape *name;
#include "gpu/nvidia/symbols.def"
#undef SYMBOL
};

enum {
    NVML_FUNCTIONS = 0
#define SYMBOL(need, shape, name) +1
#include "gpu/nvidia/symbols.def"
#undef SYMBOL
};

/* NVML_CALL(nvml, nvmlDeviceGetName, device, …): the function's answer, or that there is none. */
#define NVML_CALL(nvml, name, ...) \
    ((nvml)->name ? (nvml)->name(__VA_ARGS__) : (nvml_return)NVML_FUNCTION_NOT_FOUND)

/* Why the library could not be used. */
struct nvml_failure {
    vitals_availability state;
    char message[GPU_MESSAGE]; /* what happened and what to do, for a person */
    nvml_return code;          /* nvmlInit's; NVML_SUCCESS: it did not come to that */
    char version[80];          /* the library's, or "" */
};

/* Loads and initializes. 0, or -1 and *why says what happened. May block for seconds: on a worker
 * only. */
int nvml_open(struct nvml *nvml, const vitals_context *context, struct nvml_failure *why);
void nvml_close(struct nvml *nvml);

/* ---- what return codes mean ---- */

/* The one place where a code becomes an availability. */
vitals_availability nvml_availability(nvml_return code);

/* Whether the code says that the driver does not know the function, though its library may have the
 * name: then an older function may still be asked. */
bool nvml_lacks(nvml_return code);

/* Why nvmlInit failed, in a line for a person that says what to do. `library` is the version of
 * the driver's library, or "". */
vitals_availability nvml_explain_init(nvml_return code, const char *library, char *out,
                                      size_t capacity);

#endif
