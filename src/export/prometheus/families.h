/* families.h: the Prometheus families: their names and help, and the metrics that they read.
 *
 * Constant data for both programs: the command samples the listed metrics, the
 * exporter writes them (exposition.h), and docs/prometheus.md is printed from them. A new family is
 * a row in families.c, which states only what does not follow from its first metric. A family that
 * is not simply the rows of a table names its writer (family_writers.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

enum { FAMILY_PARTS = 10, FAMILY_NAME_SIZE = 80, FAMILY_LABELS_SIZE = 200 };

enum family_type { FAMILY_GAUGE, FAMILY_COUNTER };

/* How the samples of a family are made. */
enum family_writer {
    FAMILY_ROWS, /* a sample for each row of the parts' tables that has the value */
    FAMILY_BUILD,
    FAMILY_COLLECTOR_SUCCESS,
    FAMILY_COLLECTOR_DURATION,
    FAMILY_COLLECTOR_LAST,
    FAMILY_DROPPED,
    FAMILY_REQUESTS,
    FAMILY_REJECTED,
    FAMILY_GPU_INFO,
    FAMILY_GPU_PROCESSES,
    FAMILY_GPU_JOB,
    FAMILY_GPU_LINKS,
    FAMILY_XID_LAST,
    FAMILY_PARTITION_INFO,
    FAMILY_PARTITION,
    FAMILY_PROCESS_INFO,
    FAMILY_PROCESS_START,
    FAMILY_WORKLOAD_INFO,
    FAMILY_WORKLOAD_GPU,
    FAMILY_WORKLOAD_GPU_BUSY,
    FAMILY_RUN, /* a measure of each sample, and a figure of the account */
    FAMILY_RUN_INFO,
    FAMILY_RUN_START,
    FAMILY_RUN_END,
    FAMILY_RUN_EXIT,
    FAMILY_WRITERS
};

/* The rows of processes that become series, and from which level on a family is exported. */
enum exposition_level {
    EXPOSITION_OFF,
    EXPOSITION_WORKLOAD, /* sums per workload */
    EXPOSITION_PID,      /* workloads and each process */
    EXPOSITION_RUN       /* of families alone: only in the file of a run */
};

/* A metric, and the label value that distinguishes the parts of a family. */
struct family_part {
    vitals_metric metric;
    const char *value; /* NULL: the row's own label */
};

struct metric_family {
    const char *name;      /* without the prefix; NULL: TABLE_METRIC, with _total for a counter */
    const char *help;      /* NULL: the metric's */
    const char *labels;    /* for the documentation; NULL: those of the table and the two below */
    const char *row_label; /* the label for the row's own name; NULL: the table's, if it has one */
    const char *part_label;
    struct family_part parts[FAMILY_PARTS]; /* ended by the first without a metric */
    const char *measure;                    /* of a run */
    const char *figure;                     /* NULL: a current value, which ends with the run */
    unsigned char writer, level;            /* level 0: that of its first metric's table */
    bool unsummed;                          /* a gauge that cannot be summed over rows, as a peak */
};

#define FAMILY_PREFIX "vitals_"

/* Names of the machine's families begin with this, ours and nvitop-exporter's. */
#define HOST_NAMES "host_"

extern const struct metric_family families[];
extern const size_t families_count;

/* A table whose rows have samples: from which level on, and their labels. */
struct family_table {
    vitals_table entity;
    enum exposition_level level;
    bool of_gpu;     /* begins with the labels of the device above it */
    const char *own; /* the label for the row's own name; NULL: none */
    struct {
        const char *name;
        vitals_metric metric;
    } more[2];
    const char *row_label; /* of a family that names none; NULL: none */
};

/* In the order of tables: those of a row precede those that contain them. */
extern const struct family_table family_tables[];
extern const size_t family_tables_count;

/* Return what the row states, or what follows from its first metric. `family_name` may write to
 * `out`. */
const char *family_name(const struct metric_family *family, char out[FAMILY_NAME_SIZE]);
const char *family_help(const struct metric_family *family);
const char *family_row_label(const struct metric_family *family); /* NULL: none */
enum exposition_level family_level(const struct metric_family *family);
void family_labels(const struct metric_family *family, char out[FAMILY_LABELS_SIZE]);

/* By the end of the name: _total is a counter; "bytes", or "" for a count. */
enum family_type family_type(const char *name);
const char *family_unit(const char *name);

/* The metrics that labels are made of, 0 at the end. */
extern const vitals_metric families_identities[];

/* ---- what must be sampled ---- */

/* Returns whether a family is exported at a level; those of runs never are. */
bool family_is_exported(const struct metric_family *family, enum exposition_level level);

/* Adds every metric that the families read, and those of nvitop-exporter's names if `nvitop`. Does
 * not choose processes. Errors: EARGUMENT, EMEMORY. */
int metric_selection_add(vitals_request *request, enum exposition_level level, bool nvitop,
                         vitals_error *error);

/* ---- the families of nvitop-exporter, for dashboards that were made for it ----
 *
 * Names, labels and units are nvitop-exporter's. Values that it writes as NaN have no sample here.
 */

/* The rows that a family has samples of. */
enum nvitop_rows {
    NVITOP_HOST,
    NVITOP_NETWORKS,
    NVITOP_DISKS,
    NVITOP_FILESYSTEMS,
    NVITOP_DEVICES,
    NVITOP_LINKS,
    NVITOP_PROCESSES,
    NVITOP_ROWS
};

/* How a value is computed from what is read, before it is scaled. */
enum nvitop_value {
    NVITOP_PLAIN,    /* the first */
    NVITOP_SHARE,    /* share of the first in the second */
    NVITOP_REST,     /* share of the second that the first leaves */
    NVITOP_RATE,     /* the first, per second */
    NVITOP_PART,     /* growth of the first, of the second's */
    NVITOP_SINCE,    /* from the first to the second */
    NVITOP_LINK_SUM, /* per second, of all links */
    NVITOP_LINK_MEAN,
    NVITOP_VALUES
};

enum { NVITOP_READS = 3 };

struct nvitop_family {
    const char *name, *help;
    const char *child; /* the label of the row below a device that has the value; NULL: the device's
                          own row */
    double scale;
    vitals_metric reads[NVITOP_READS]; /* ended by the first 0 */
    unsigned char rows, value;
};

extern const struct nvitop_family nvitop_families[];
extern const size_t nvitop_families_count;

/* The metrics of labels and information, 0 at the end. */
extern const vitals_metric nvitop_identities[];
