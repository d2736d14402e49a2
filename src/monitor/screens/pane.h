/* pane.h: the parts of the main screen, one file each, and where they stand. Pure: what they draw
 * follows from the model and the size alone. */
#ifndef VITALS_MONITOR_SCREENS_PANE_H
#define VITALS_MONITOR_SCREENS_PANE_H

#include "monitor/list/columns.h"

/* Widths from which nvitop shows more. */
enum { NARROW = 79, WIDE = 100, WIDEST = 123 };

/* How high the devices are drawn: two lines each, one, or one and no rule between them. */
enum form { FORM_FULL, FORM_COMPACT, FORM_DENSE };

/* Where what stands on the main screen; rows count from the top of all of it, of which `lift` rows
 * may be moved out of sight. */
struct layout {
    enum form devices;
    bool host_full;
    bool traffic;                  /* disks and networks, where there are devices */
    bool traffic_fits;             /* the list leaves that much empty */
    bool rules;                    /* between the processes of two devices */
    int devices_y, host_y, list_y; /* the list's title; the rule above it is one row higher */
    int lines_y;                   /* the first line of the list */
    int lines;                     /* how many are seen */
    int height;                    /* of everything */
    int lift_most;                 /* rows that may be moved out of sight */
};
void layout_of(const struct model *model, struct layout *layout);

/* Rows that a panel takes. `traffic` as in struct layout. */
int pane_devices_rows(const struct model *model, enum form form);
int pane_host_rows(const struct model *model, bool full, bool traffic);

/* Whether there are devices, and something is known of disks or networks. */
bool pane_host_has_traffic(const struct model *model);

/* The device or partition in a row of the panel, which counts from its top; NULL: none. */
const vitals_row *pane_devices_at(const struct model *model, enum form form, int row);

void pane_devices(struct pen *pen, const struct model *model, int y, enum form form);
void pane_host(struct pen *pen, const struct model *model, int y, bool full, bool traffic);
void pane_processes(struct pen *pen, const struct model *model, const struct layout *layout,
                    int lift);

/* The vertical lines at the bottom of the devices, which the rule below them joins. */
void pane_devices_edges(const struct model *model, struct edges *out);

/* How busy a device is: the heavier of memory and utilization; dim where that is not fresh. Of a
 * device that does not answer a color that no busy one has. */
ink pane_device_style(const struct model *model, const vitals_row *gpu);
enum { STYLE_TROUBLE = STYLE_BOLD | STYLE_MAGENTA }; /* of words and figures that tell of a fault */

/* What a command's cell says, also where nothing is known of the process; and whether it is. */
bool pane_command(const struct model *model, const struct item *item,
                  char out[static WORDS_COMMAND]);

#endif
