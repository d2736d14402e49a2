/* families.h: what each family of Prometheus' is: its name, what it says, and which metrics it
 * reads.
 *
 * Data alone, for both halves: the command asks the sampler for what is listed here (wanted.h), the
 * other program writes it (exposition.h), and docs/prometheus.md is printed of it. A new family is
 * a row in families.c, which states only what does not follow from the first metric; one that is
 * not simply the rows of a table names its way. */
#ifndef VITALS_EXPORT_PROMETHEUS_FAMILIES_H
#define VITALS_EXPORT_PROMETHEUS_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

enum { FAMILY_PARTS = 10, FAMILY_NAME_SIZE = 80, FAMILY_LABELS_SIZE = 200 };

enum family_type { FAMILY_GAUGE, FAMILY_COUNTER };

/* How its samples are made. */
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
    FAMILY_RUN, /* the measure of each sample, and the figure of the account */
    FAMILY_RUN_INFO,
    FAMILY_RUN_START,
    FAMILY_RUN_END,
    FAMILY_RUN_EXIT,
    FAMILY_WRITERS
};

enum family_level {
    FAMILY_LEVEL_OF_TABLE, /* as the table of its first metric has it */
    FAMILY_ALWAYS,
    FAMILY_OF_WORKLOADS,
    FAMILY_OF_PROCESSES,
    FAMILY_OF_RUNS,
};

/* A metric, and the value of the label that tells the parts of a family apart. */
struct family_part {
    vitals_metric metric;
    const char *value; /* NULL: the row's own label */
};

struct metric_family {
    const char *name;      /* without the prefix; NULL: TABLE_METRIC, with _total for a counter */
    const char *help;      /* NULL: the metric's */
    const char *labels;    /* as the documentation lists them; NULL: those of the table and below */
    const char *row_label; /* of the row's own label; NULL: the table's, if it has one */
    const char *part_label;
    struct family_part parts[FAMILY_PARTS]; /* to the first without a metric */
    const char *measure;                    /* of a run */
    const char *figure;                     /* NULL: it is of now, and ends with the run */
    unsigned char writer, level;
    bool unsummed; /* a gauge whose values of several rows make no sum, as a peak's do not */
};

#define FAMILY_PREFIX "vitals_"

/* How the names of what is the whole machine's begin, ours and nvitop-exporter's. */
#define HOST_NAMES "host_"

extern const struct metric_family families[];
extern const size_t families_count;

/* What a row states, or else what follows from its first metric. `family_name` may write to `out`.
 */
const char *family_name(const struct metric_family *family, char out[FAMILY_NAME_SIZE]);
const char *family_help(const struct metric_family *family);
const char *family_row_label(const struct metric_family *family); /* NULL: none */
enum family_level family_level(const struct metric_family *family);
void family_labels(const struct metric_family *family, char out[FAMILY_LABELS_SIZE]);

/* By the end of the name: _total is a counter; "bytes", or "" for a count. */
enum family_type family_type(const char *name);
const char *family_unit(const char *name);

/* What stands where no rows are: the metrics that labels are made of, 0 at the end. */
extern const vitals_metric families_identities[];

#endif
