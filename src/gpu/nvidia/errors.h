/* errors.h: what the driver's return codes mean to us. Pure. */
#ifndef VITALS_GPU_NVIDIA_ERRORS_H
#define VITALS_GPU_NVIDIA_ERRORS_H

#include "gpu/nvidia/nvml.h"
#include <stdbool.h>
#include <stddef.h>
#include <vitals/availability.h>

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
