/* nvitop.h: the families of nvitop-exporter, for dashboards that were made for it.
 *
 * Names, labels and units are nvitop-exporter's. Constant data for both programs. Values that it
 * writes as NaN have no sample here. */
#ifndef VITALS_EXPORT_PROMETHEUS_NVITOP_H
#define VITALS_EXPORT_PROMETHEUS_NVITOP_H

#include <stddef.h>

#include <vitals/vitals.h>

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

#endif
