/* panel.h: the parts of the one-shot report. One file each. */
#ifndef VITALS_REPORT_PANEL_H
#define VITALS_REPORT_PANEL_H

#include "report/paint.h"

/* What panels are made of. */
struct view {
    const vitals_snapshot *now;
    const vitals_snapshot *older; /* may be NULL */
    const struct report_options *options;
    size_t width; /* of the whole report */
};

enum { NARROW = 79, WIDE = 100, WIDEST = 123, COMFORTABLE = 140 };

void panel_devices(struct paint *paint, const struct view *view);
void panel_host(struct paint *paint, const struct view *view);
void panel_processes(struct paint *paint, const struct view *view);

/* The columns that the widest process line would like. */
size_t panel_processes_width(const struct view *view);

/* Whether a device is among those asked for; a partition goes with its device. */
bool panel_shows_device(const struct view *view, const vitals_row *gpu);

/* How busy a device is, for coloring: the heavier of memory and utilization; dim where that is not
 * fresh. Of a device that does not answer a color that no busy one has. */
enum color panel_device_color(const struct view *view, const vitals_row *gpu);

/* Ratio of two counts of a row. */
vitals_availability panel_ratio(const vitals_row *row, vitals_metric part, vitals_metric whole,
                                double *out);

/* A value in words; "N/A" where there is none. Written into `out`, which is returned. */
enum { PANEL_TEXT = 64 };
char *panel_percent(const vitals_row *row, vitals_metric metric, char *out);
char *panel_bytes(const vitals_row *row, vitals_metric metric, char *out);
char *panel_number(const vitals_row *row, vitals_metric metric, const char *format, char *out);

/* Text from outside, safe. Whole lines: `capacity` may be large. Returns `out`. */
char *panel_text(const struct view *view, const vitals_row *row, vitals_metric metric, char *out,
                 size_t capacity);

#endif
