/* nvitop.h: the families of nvitop-exporter, for dashboards that were made for it.
 *
 * Names, labels and units are its own; data alone, for both halves. What it writes as NaN because a
 * device has none of it has no sample here. */
#ifndef VITALS_EXPORT_PROMETHEUS_NVITOP_H
#define VITALS_EXPORT_PROMETHEUS_NVITOP_H

#include <stddef.h>

#include <vitals/vitals.h>

/* Which rows a family has a sample for. */
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

/* How a value is made of what it reads, before it is scaled. */
enum nvitop_value {
    NVITOP_PLAIN,    /* the first */
    NVITOP_SHARE,    /* the first of the second */
    NVITOP_REST,     /* what the first leaves of the second, of the second */
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
    const char *child; /* the label of the row below a device that has the value; NULL: its own */
    double scale;
    vitals_metric reads[NVITOP_READS]; /* to the first 0 */
    unsigned char rows, value;
};

extern const struct nvitop_family nvitop_families[];
extern const size_t nvitop_families_count;

/* What labels and information are made of, 0 at the end. */
extern const vitals_metric nvitop_identities[];

#endif
