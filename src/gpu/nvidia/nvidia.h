/* nvidia.h: the back end for NVIDIA devices, by the driver's own library (NVML). */
#ifndef VITALS_GPU_NVIDIA_NVIDIA_H
#define VITALS_GPU_NVIDIA_NVIDIA_H

#include "gpu/backend.h"

extern const struct gpu_backend gpu_backend_nvidia;

#endif
