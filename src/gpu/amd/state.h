/* state.h: what the back end keeps, and the files it is made of. Private to this folder. */
#ifndef VITALS_GPU_AMD_STATE_H
#define VITALS_GPU_AMD_STATE_H

#include "gpu/amd/kfd.h"
#include "gpu/amd/metrics.h"
#include "gpu/clients.h"
#include "gpu/fill.h"
#include "gpu/pci.h"

#include <stdatomic.h>

/* A card that is divided anew has new partitions, and slots stand for ever. */
enum { AMD_SLOTS_MAX = 1024 };

/* A sensor of the card's folder hwmon: "temp1", and what it is called in rows. */
enum amd_sensor_kind {
    AMD_SENSOR_TEMPERATURE,
    AMD_SENSOR_FAN,
    AMD_SENSOR_VOLTAGE,
    AMD_SENSOR_POWER,
    AMD_SENSOR_CLOCK,
    AMD_SENSOR_KINDS
};
enum { AMD_SENSORS_MAX = 24 };
struct amd_sensor {
    enum amd_sensor_kind kind;
    char stem[12];
    char label[GPU_LABEL];
};

struct amd_kept {
    uint32_t count;
    struct amd_kept_value {
        vitals_metric metric; /* number 0: the row has no value */
        char label[GPU_LABEL];
        struct value value; /* of a text: its state */
        char text[GPU_NAME];
    } values[GPU_FILL_MAX];
};

struct amd_link {
    char remote_kind[8]; /* gpu, cpu */
    char remote_pci_bus_id[PCI_BUS_ID];
    uint64_t megabytes_per_second;
};

/* A card or a partition of one. */
struct amd_device {
    /* set once, before the slot is told to anybody */
    struct gpu_identity who;
    char folder[OS_SYS_PATH]; /* of its PCI device, as of the card of a partition */
    int32_t partition;        /* its number; -1: a whole card */
    bool partitioned;         /* its processes are its partitions' */
    uint32_t node_count;      /* of KFD: of a divided card all of them */
    struct kfd_node nodes[AMD_PARTITIONS];

    /* the scan's alone */
    uint64_t scanned; /* the number of the last scan that listed it */

    /* the thread that reads the device */
    bool sensors_known;
    bool unified;            /* its memory is the machine's; valid with sensors_known */
    char hwmon[OS_SYS_PATH]; /* "": it has none */
    uint32_t sensor_count;
    struct amd_sensor sensors[AMD_SENSORS_MAX];
    double busy_seconds;
    bool busy_doubted; /* of a part of it only the most is known */
    uint64_t busy_ns;  /* when utilization was read last; 0: not, or not well */
    struct value residencies[AMD_RESIDENCIES]; /* of the last record */
    uint64_t links_generation;                 /* of KFD's topology; 0: not read yet */
    uint32_t link_count;
    struct amd_link links[KFD_LINKS_MAX];
    struct clients clients;
    struct amd_kept *kept;          /* its last readings, where it may sleep; else NULL */
    struct metric_set kept_metrics; /* that were wanted of them */
    uint64_t kept_ns;               /* when they were read; 0: it is not to be left alone */
};

struct amd {
    const vitals_context *context;

    /* the scan's alone */
    uint64_t scans;
    struct kfd_topology topology;

    struct amd_device *devices[AMD_SLOTS_MAX]; /* by slot; set once */
    uint32_t count;
};

void amd_scan(void *state, struct gpu_scan *out);                    /* devices.c */
void amd_sample(void *state, uint32_t slot, struct gpu_sample *out); /* sample.c */
void amd_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                   const struct metric_set *wanted, struct gpu_processes *out);

/* How many cards the driver amdgpu has; 0 also where it is not there, or *error (negative errno,
 * else 0) says why it cannot be listed. Writes nothing, wakes nothing. devices.c */
uint32_t amd_count_cards(const struct os *os, int *error);

/* ---- one reading of a device ---- */

struct amd_reader {
    const struct os *os;
    struct amd_device *device;
    struct gpu_sample *sample;
    struct value utilization;   /* of gpu_busy_percent, where it was read */
    bool refused;               /* the driver said "not now": it sleeps, or is being reset */
    bool record_known;          /* gpu_metrics was asked for, */
    struct amd_metrics *record; /* and this is it; NULL: there is none that we know */
    struct amd_metrics room;
};

static inline bool amd_wants(const struct amd_reader *reader, vitals_metric metric)
{
    return gpu_fill_wants(reader->sample, metric);
}

/* What the driver's refusal of one file means. What a card does not have is unsupported, however
 * the driver says it; EPERM and EBUSY are not of permission: it sleeps or is being reset. */
vitals_availability amd_availability(struct amd_reader *reader, int error);

/* Files of the device's folder: a number, in its base unit, failed where it is above `most`; and
 * text, of which the span is empty where there is none, and *state says why. */
struct value amd_read_number(struct amd_reader *reader, const char *file);
struct value amd_read_scaled(struct amd_reader *reader, const char *file, double factor,
                             uint64_t most);
struct span amd_read_text(struct amd_reader *reader, const char *file, char *out, size_t capacity,
                          signed char *state);

/* gpu_metrics, read when first asked for; NULL where there is none that we know. */
const struct amd_metrics *amd_record(struct amd_reader *reader);

/* Whether the row's value was filled in. */
bool amd_has_child(const struct amd_reader *reader, vitals_metric metric, const char *label);

/* Lists the row even if this metric was not requested. */
void amd_list_child(struct amd_reader *reader, vitals_metric metric, const char *label);

/* For a whole card: amd_keep stores the readings of an idle card that may fall asleep.
 * amd_runtime_suspended repeats them while the card must be left alone for that, and returns false
 * otherwise. runtime_suspend.c */
void amd_keep(struct amd_reader *reader);
bool amd_runtime_suspended(struct amd_reader *reader);

/* Finds the folder hwmon and what is in it, once. sensors.c */
void amd_learn_sensors(struct amd_reader *reader);

/* Groups of readings: each asks first what of it is wanted. */
void amd_read_files(struct amd_reader *reader);   /* files.c */
void amd_read_memory(struct amd_reader *reader);  /* memory.c */
void amd_read_sensors(struct amd_reader *reader); /* sensors.c */
void amd_read_clocks(struct amd_reader *reader);  /* clocks.c */
void amd_read_pcie(struct amd_reader *reader);    /* clocks.c */
void amd_read_errors(struct amd_reader *reader);  /* ras.c */
void amd_read_links(struct amd_reader *reader);   /* links.c */
void amd_read_record(
    struct amd_reader *reader); /* gpu_metrics_rows.c; what others have not filled in */
void amd_read_partition(struct amd_reader *reader); /* gpu_metrics_rows.c; of a partition */

#endif
