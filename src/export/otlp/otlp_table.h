/* otlp_table.h: the OpenTelemetry name of each metric; the only place that defines it.
 *
 * Names of the semantic conventions, with their unit, instrument and attributes, if they have one;
 * else `vitals.` and our own name without its unit, which a Prometheus behind a collector restores.
 * Constant. */
#pragma once

#include <vitals/vitals.h>

#include "export/otlp/otlp_writer.h"

/* The attributes that describe a row (otlp_describe). */
enum otlp_subject {
    OTLP_HOST,
    OTLP_CPU,
    OTLP_DISK,
    OTLP_INTERFACE,      /* network.interface.name */
    OTLP_NETWORK_DEVICE, /* the same as system.device: the conventions have both */
    OTLP_FILESYSTEM,
    OTLP_PRESSURE,
    OTLP_GPU,        /* all attributes that hw.gpu.* recommend */
    OTLP_OUR_GPU,    /* id and name, for metrics that are not of the conventions */
    OTLP_HARDWARE,   /* with hw.type gpu */
    OTLP_GPU_PART,   /* of a device: its engine, clock, pool or link, as `part` */
    OTLP_GPU_SENSOR, /* hardware of its own, whose parent is the device */
    OTLP_PROCESS,
    OTLP_GPU_PROCESS,
    OTLP_WORKLOAD,
};

/* The start of a sum that was never reset. */
enum otlp_origin { OTLP_SINCE_BOOT, OTLP_SINCE_START_OF_PROCESS, OTLP_SINCE_WE_LOOK };

struct otlp_source {
    struct otlp_metric as; /* help NULL: the metric's */
    enum otlp_subject subject;
    enum otlp_origin origin;
    vitals_metric metric;         /* of the table that is walked */
    vitals_metric plus, minus[3]; /* 0 for none; of the same type */
    /* Computes the value instead; `metric` selects the table. */
    vitals_availability (*value)(const struct otlp_source *source, const vitals_row *row,
                                 double *out);
    /* Returns false if the row is exported otherwise. NULL: never. */
    bool (*holds)(const vitals_row *row);
    const char *part;           /* the key of a part's label, or NULL */
    const char *only;           /* of parts, only the one with this label, which needs no key */
    const char *other_than[2];  /* of parts, all but these */
    const char *key, *constant; /* an attribute that is the same for all rows; NULL: none */
};

/* Sources of one name are adjacent. */
extern const struct otlp_source otlp_sources[];
extern const size_t otlp_sources_count;

/* Returns OpenTelemetry's unit: "By" for "bytes"; for counts "{" name "}" in `out`. */
const char *otlp_unit(const char *unit, const char *name, char *out, size_t capacity);

/* Returns the length of a name without its unit: `cpu_seconds` is `cpu`; `cpu_ratio` stays. */
size_t otlp_stem(const char *name, const char *unit);
