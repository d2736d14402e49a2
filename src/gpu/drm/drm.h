/* drm.h: the back end for every DRM and accel driver that has none of its own: msm, panthor,
 * panfrost, lima, v3d, etnaviv, nouveau, radeon, amdxdna, ivpu, and what comes.
 *
 * What all of them have is the kernel's: processes and engines by the descriptors that are open
 * (clients.h), a clock by devfreq, sensors by hwmon. Engines of the device are sums over processes
 * that we may see, a lower bound. */
#ifndef VITALS_GPU_DRM_DRM_H
#define VITALS_GPU_DRM_DRM_H

#include "gpu/backend.h"

extern const struct gpu_backend gpu_backend_drm;

#endif
