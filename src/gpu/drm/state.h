/* state.h: what the generic back end keeps: a slot per device.
 *
 * Its identity is written once, when a scan finds it, and read by all threads; `clients` is touched
 * by `processes` and `sample`, which never run at once for one device. */
#ifndef VITALS_GPU_DRM_STATE_H
#define VITALS_GPU_DRM_STATE_H

#include "gpu/clients.h"
#include "gpu/pci.h"

enum { DRM_SENSORS = 24, DRM_FOLDER = 256, DRM_NAME = 48 };

/* What is known of a driver beyond what the kernel tells of all. */
struct drm_driver {
    const char *name; /* of the kernel module; what begins so is meant too */
    const char *vendor;
    bool is_unified; /* on a PCI bus and yet without memory of its own */
};

/* A file of a hwmon chip. */
struct drm_sensor {
    vitals_metric metric; /* of VITALS_TABLE_GPU_SENSOR */
    double factor, most;  /* most: in the metric's unit; beyond, it is no reading */
    char label[GPU_LABEL];
    char path[DRM_FOLDER + 64];
};

struct drm_slot {
    /* its identity */
    char folder[DRM_FOLDER];    /* where it stands: "devices/platform/soc/3d00000.gpu" */
    char bus_id[PCI_BUS_ID];    /* "": not on a PCI bus */
    char driver[DRM_NAME];      /* of the kernel */
    char node[DRM_NAME];        /* "/dev/dri/renderD128", "/dev/accel/accel0" */
    char frequency[DRM_FOLDER]; /* its folder of devfreq; "": none */
    bool is_unified;
    uint32_t node_count;
    struct gpu_node nodes[GPU_NODES_MAX];
    /* of the sampling thread */
    uint32_t looked_for; /* how often sensors were, in vain */
    uint32_t sensor_count;
    struct drm_sensor sensors[DRM_SENSORS];
    uint64_t busy_us, busy_ns; /* what an NPU's counter was, and when; 0: never */
    struct value npu_ratio;
    uint64_t integrated_ns; /* until when busy_seconds counts */
    double busy_seconds;
    /* of `processes` and, between its calls, of the sampling thread */
    struct clients clients;
};

struct drm {
    const vitals_context *context;
    uint32_t count; /* of the scanning thread */
    struct drm_slot *slots[GPU_DEVICES_MAX];
};

/* Whether there is any device that is ours; *error is why none could be looked for, or 0. */
bool drm_has_device(const struct os *os, int *error);

void drm_scan(void *state, struct gpu_scan *out);

/* devices.c's: NULL for a driver that nothing is known of. */
const struct drm_driver *drm_find_driver(const char *name);

void drm_sample(void *state, uint32_t at, struct gpu_sample *out);

/* sensors.c's: looks for hwmon chips until there are some, a few times. */
void drm_find_sensors(const struct os *os, struct drm_slot *slot);
void drm_forget_sensors(struct drm_slot *slot);
void drm_fill_sensors(const struct os *os, const struct drm_slot *slot, bool is_asleep,
                      struct gpu_sample *sample);

#endif
