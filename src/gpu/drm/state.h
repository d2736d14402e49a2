/* state.h: the state of the generic back end: a slot for each device. Its identity is written once,
 * when a scan finds it, and read by all threads; `clients` is used by `processes` and `sample`,
 * which never run at once for one device. */
#pragma once

#include "gpu/clients.h"
#include "gpu/pci.h"

enum { DRM_SENSORS = 24, DRM_FOLDER = 256, DRM_NAME = 48 };

/* Properties of a driver that the kernel's interfaces do not report. */
struct drm_driver {
    const char *name; /* name of the kernel module; also a prefix */
    const char *vendor;
    bool is_unified; /* on a PCI bus, but without memory of its own */
};

/* A file of a hwmon chip. */
struct drm_sensor {
    vitals_metric metric; /* of VITALS_TABLE_GPU_SENSOR */
    double factor, most;  /* most: in the metric's unit; a larger value is invalid */
    char label[GPU_LABEL];
    char path[DRM_FOLDER + 64];
};

struct drm_slot {
    /* its identity */
    char folder[DRM_FOLDER];     /* its place: "devices/platform/soc/3d00000.gpu" */
    struct gpu_identity who;     /* but for `index` */
    char driver[DRM_NAME];       /* name of the kernel module */
    char node[DRM_NAME];         /* "/dev/dri/renderD128", "/dev/accel/accel0" */
    char frequency[OS_SYS_PATH]; /* its devfreq folder; "": none */
    bool is_unified;
    /* used by the sampling thread */
    uint32_t looked_for; /* searches for sensors without a result */
    uint32_t sensor_count;
    struct drm_sensor sensors[DRM_SENSORS];
    uint64_t busy_us, busy_ns; /* last counter of an NPU, and its time; 0: never */
    struct value npu_ratio;
    uint64_t integrated_ns; /* busy_seconds counts up to this time */
    double busy_seconds;
    /* used by `processes` and, between its calls, by the sampling thread */
    struct clients clients;
};

struct drm {
    const vitals_context *context;
    uint32_t count; /* used by the scanning thread */
    struct drm_slot *slots[GPU_DEVICES_MAX];
};

/* True if there is any device for this back end; *error says why devices cannot be listed, or 0. */
bool drm_has_device(const struct os *os, int *error);

void drm_scan(void *state, struct gpu_scan *out);

void drm_sample(void *state, uint32_t at, struct gpu_sample *out);

/* Searches for hwmon chips, a few times until there are some. sensors.c */
void drm_find_sensors(const struct os *os, struct drm_slot *slot);
void drm_forget_sensors(struct drm_slot *slot);
void drm_fill_sensors(const struct os *os, const struct drm_slot *slot, bool is_asleep,
                      struct gpu_sample *sample);
