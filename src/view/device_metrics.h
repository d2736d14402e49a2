/* device_metrics.h: the metrics of a device as people read them: the section, the label and the
 * words of each. Used by `vitals device`, `vitals topo` and the monitor's screen of a device. Pure.
 *
 * A new metric is a row in device_metrics.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

enum { DEVICE_LABEL = 64, DEVICE_VALUE = 512, DEVICE_COLUMNS = 14 };

/* In the order of `vitals device`. */
// clang-format off
enum device_section {
    DEVICE_IDENTITY, DEVICE_DRIVER, DEVICE_LOAD, DEVICE_MEMORY, DEVICE_CLOCKS, DEVICE_POWER,
    DEVICE_SENSORS, DEVICE_PCIE, DEVICE_LINKS, DEVICE_ERRORS, DEVICE_SECTIONS
};
// clang-format on

struct device_section_form {
    const char *title;
    vitals_table table;                    /* below its metrics; 0: none */
    vitals_metric columns[DEVICE_COLUMNS]; /* of the table, behind the label; ends with 0 */
};
extern const struct device_section_form device_sections[DEVICE_SECTIONS];

enum {
    DEVICE_YES_NO = 1, /* 0 and 1 are words */
    DEVICE_ON_OFF = 2,
    DEVICE_WARNING = 4, /* anything but 0 deserves a look */
    DEVICE_ALARM = 8,   /* likewise, and is a fault */
    DEVICE_ALWAYS = 16  /* the monitor also says why it is missing */
};

struct device_metric {
    enum device_section section;
    vitals_metric metric;
    const char *label; /* NULL: the name of the metric */
    const char *brief; /* on the monitor's screen; NULL: it is not there */
    unsigned flags;
    vitals_metric of;  /* what it is a part of, or 0 */
    const char *owner; /* only devices of this vendor have it; "": only partitions; NULL: all */
};
extern const struct device_metric device_metrics[];
extern const size_t device_metric_count;

/* NULL: it is in no section. */
const struct device_metric *device_metric_find(vitals_metric metric);

/* "power limit" for power_limit_watts. */
void device_label(vitals_metric metric, char out[static DEVICE_LABEL]);

/* Reads a number of a row. If the driver does not give a share, it is the growth of the busy time
 * since `older`, which may be NULL. */
vitals_availability device_metric_number(const vitals_row *row, const vitals_snapshot *older,
                                         vitals_metric metric, double *out);

struct device_form {
    bool ascii;
    bool bytes;   /* bytes as a plain number */
    bool compact; /* "41°C" and "42%" rather than "41 °C" and "42 %" */
};

/* A number with its unit: "28.45GiB", "41 °C", "on", "P0". */
void device_number_words(vitals_metric metric, double number, const struct device_form *form,
                         char out[static DEVICE_VALUE]);

/* A value of a row as safe text; "N/A" if there is none. Returns its availability. */
vitals_availability device_value(const vitals_row *row, const vitals_snapshot *older,
                                 vitals_metric metric, const struct device_form *form,
                                 char out[static DEVICE_VALUE]);
