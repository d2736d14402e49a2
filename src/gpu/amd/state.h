/* state.h: the state of the AMD back end, and its files. Private to this folder. */
#pragma once

#include "gpu/amd/kfd.h"
#include "gpu/amd/metrics.h"
#include "gpu/clients.h"
#include "gpu/fill.h"
#include "gpu/pci.h"

/* A card that is divided again has new partitions, and slots are never freed. */
enum { AMD_SLOTS_MAX = 1024 };

/* A sensor of the card's folder hwmon: "temp1", and its name in rows. */
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
        struct value value; /* for a text: its state */
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
    /* set once, before the slot is visible to other threads */
    struct gpu_identity who;
    char folder[OS_SYS_PATH]; /* of the PCI device; for a partition, that of its card */
    int32_t partition;        /* its number; -1: a whole card */
    bool partitioned;         /* its processes are listed with its partitions */
    uint32_t node_count;      /* nodes in KFD; for a divided card all of them */
    struct kfd_node nodes[AMD_PARTITIONS];

    /* used by the scan only */
    uint64_t scanned; /* the number of the last scan that listed it */

    /* used by the thread that reads the device */
    bool sensors_known;
    bool unified;            /* its memory is the machine's; valid with sensors_known */
    char hwmon[OS_SYS_PATH]; /* "": none */
    uint32_t sensor_count;
    struct amd_sensor sensors[AMD_SENSORS_MAX];
    double busy_seconds;
    bool busy_doubted; /* a part of it is only an upper bound */
    uint64_t busy_ns;  /* when utilization was last read; 0: never, or the last read failed */
    struct value residencies[AMD_RESIDENCIES]; /* of the last record */
    uint64_t links_generation;                 /* generation of KFD's topology; 0: not read yet */
    uint32_t link_count;
    struct amd_link links[KFD_LINKS_MAX];
    struct clients clients;
    struct amd_kept *kept;          /* its last readings, if it may suspend; else NULL */
    struct metric_set kept_metrics; /* metrics that these readings were requested with */
    uint64_t kept_ns;               /* when they were read; 0: the card may be read */
};

struct amd {
    const vitals_context *context;

    /* used by the scan only */
    uint64_t scans;
    struct kfd_topology topology;

    struct amd_device *devices[AMD_SLOTS_MAX]; /* by slot; set once */
    uint32_t count;
};

void amd_scan(void *state, struct gpu_scan *out);                    /* devices.c */
void amd_sample(void *state, uint32_t slot, struct gpu_sample *out); /* sample.c */
void amd_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                   const struct metric_set *wanted, struct gpu_processes *out);

/* Returns how many cards have the driver amdgpu. 0 also if the driver is missing; if cards cannot
 * be listed, *error is a negative errno, else 0. Writes nothing, wakes nothing. devices.c */
uint32_t amd_count_cards(const struct os *os, int *error);

/* ---- one reading of a device ---- */

struct amd_reader {
    const struct os *os;
    struct amd_device *device;
    struct gpu_sample *sample;
    struct value utilization; /* of gpu_busy_percent, where it was read */
    bool refused;             /* the driver answered "not now": the card sleeps or is being reset */
    bool record_known;        /* gpu_metrics was read */
    struct amd_metrics *record; /* NULL: no record in a known form */
    struct amd_metrics room;
};

static inline bool amd_wants(const struct amd_reader *reader, vitals_metric metric)
{
    return gpu_fill_wants(reader->sample, metric);
}

/* Returns the meaning of a read error of one file. A missing feature is unsupported, whichever
 * error the driver returns; EPERM and EBUSY do not mean a lack of permission: the card sleeps or is
 * being reset. */
vitals_availability amd_availability(struct amd_reader *reader, int error);

/* Read files of the device's folder: a number, in its base unit, failed if it is above `most`; and
 * text, empty if there is none, with the reason in *state. */
struct value amd_read_number(struct amd_reader *reader, const char *file);
struct value amd_read_scaled(struct amd_reader *reader, const char *file, double factor,
                             uint64_t most);
struct span amd_read_text(struct amd_reader *reader, const char *file, char *out, size_t capacity,
                          signed char *state);

/* Reads gpu_metrics on the first call; returns NULL if there is none in a known form. */
const struct amd_metrics *amd_record(struct amd_reader *reader);

/* True if the row has a value of this metric. */
bool amd_has_child(const struct amd_reader *reader, vitals_metric metric, const char *label);

/* Lists the row even if this metric was not requested. */
void amd_list_child(struct amd_reader *reader, vitals_metric metric, const char *label);

/* For a whole card: amd_keep stores the readings of an idle card that may fall asleep.
 * amd_runtime_suspended repeats them while the card must be left alone for that, and returns false
 * otherwise. runtime_suspend.c */
void amd_keep(struct amd_reader *reader);
bool amd_runtime_suspended(struct amd_reader *reader);

/* Finds the folder hwmon and its sensors, once. sensors.c */
void amd_learn_sensors(struct amd_reader *reader);

/* Groups of readings: each first checks if one of its metrics is wanted. */
void amd_read_files(struct amd_reader *reader);   /* files.c */
void amd_read_memory(struct amd_reader *reader);  /* memory.c */
void amd_read_sensors(struct amd_reader *reader); /* sensors.c */
void amd_read_clocks(struct amd_reader *reader);  /* clocks.c */
void amd_read_pcie(struct amd_reader *reader);    /* clocks.c */
void amd_read_errors(struct amd_reader *reader);  /* ras.c */
void amd_read_links(struct amd_reader *reader);   /* links.c */
void amd_read_record(struct amd_reader *reader);  /* gpu_metrics_rows.c; the values still missing */
void amd_read_partition(struct amd_reader *reader); /* gpu_metrics_rows.c; for a partition */
