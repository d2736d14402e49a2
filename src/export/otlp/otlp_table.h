/* otlp_table.h: what each of our metrics is called in OpenTelemetry: the one place that says it.
 *
 * Names of the semantic conventions where they have one, with their unit, instrument and
 * attributes; else `vitals.` and our own name without its unit, which a Prometheus behind a
 * collector turns back into ours. Both forms of OTLP are written from it. Constant. */
#ifndef VITALS_EXPORT_OTLP_OTLP_TABLE_H
#define VITALS_EXPORT_OTLP_OTLP_TABLE_H

#include <vitals/vitals.h>

#include "export/otlp/otlp_writer.h"

/* Whose conventions: https://opentelemetry.io/schemas/ and this. */
#define OTLP_SCHEMA_URL "https://opentelemetry.io/schemas/1.44.0"

/* Which attributes say what a row is (otlp_describe). */
enum otlp_subject {
    OTLP_HOST,
    OTLP_CPU,
    OTLP_DISK,
    OTLP_INTERFACE,      /* network.interface.name */
    OTLP_NETWORK_DEVICE, /* the same as system.device: the conventions are not of one mind */
    OTLP_FILESYSTEM,
    OTLP_PRESSURE,
    OTLP_GPU,        /* all that hw.gpu.* recommend */
    OTLP_OUR_GPU,    /* its id and its name: enough for what is not theirs */
    OTLP_HARDWARE,   /* hw.type is gpu */
    OTLP_GPU_PART,   /* of a device: its engine, clock, pool or link, under `part` */
    OTLP_GPU_SENSOR, /* hardware of its own, whose parent is the device */
    OTLP_PROCESS,
    OTLP_GPU_PROCESS,
    OTLP_WORKLOAD,
};

/* Since when a sum counts, where it never ran backwards. */
enum otlp_origin { OTLP_SINCE_BOOT, OTLP_SINCE_START_OF_PROCESS, OTLP_SINCE_WE_LOOK };

struct otlp_source {
    struct otlp_metric as; /* help NULL: that of `metric` */
    enum otlp_subject subject;
    enum otlp_origin origin;
    vitals_metric metric;         /* of the table that is walked */
    vitals_metric plus, minus[3]; /* 0: none; of the same type */
    /* Another way to the value; `metric` still says which table. */
    vitals_availability (*value)(const vitals_row *row, double *out);
    /* False: this row is told in another way. NULL: never. */
    bool (*holds)(const vitals_row *row);
    const char *part;                /* the key of a part's label, or NULL */
    const char *only;                /* of parts, the one of this label, which needs no key */
    const char *other_than[2];       /* of parts, all but these */
    const char *keys[2], *values[2]; /* attributes of its own */
};

/* In an order in which all of one name stand together. */
extern const struct otlp_source otlp_sources[];
extern const size_t otlp_sources_count;

/* The unit of OpenTelemetry for one of ours: "bytes" is "By"; of counts "{" name "}" in `out`. */
const char *otlp_unit(const char *unit, const char *name, char *out, size_t capacity);

/* The length of a name of ours without its unit: `cpu_seconds` is `cpu`, `cpu_ratio` stays. */
size_t otlp_stem(const char *name, const char *unit);

#endif
