/* amd.h: AMD's devices, by the files of the kernel's drivers amdgpu and KFD: no library of AMD's is
 * needed. */
#ifndef VITALS_GPU_AMD_AMD_H
#define VITALS_GPU_AMD_AMD_H

#include "gpu/backend.h"

extern const struct gpu_backend gpu_backend_amd;

#endif
