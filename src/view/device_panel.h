/* device_panel.h: the box of devices that `vitals -1` prints and the monitor shows. Pure: it draws
 * what follows from its fields alone. */
#pragma once

#include "feed/trouble.h"
#include "view/draw.h"
#include "view/selection.h"

/* Widths from which nvitop shows more. */
enum { NARROW = 79, WIDE = 100, WIDEST = 123 };

/* How high the devices are drawn: two lines each, one, or one and no rule between them. */
enum form { FORM_FULL, FORM_COMPACT, FORM_DENSE };

struct device_panel {
    const vitals_snapshot *now; /* NULL: nothing has been read yet */
    const struct look *look;
    struct selection selection;
    int width;
    enum form form;

    bool tracked; /* its bars: as in struct bar */

    uint64_t chosen;   /* key of the device that keys act on; 0: none */
    uint64_t selected; /* key of the device of the selected process; 0: none */

    /* Writes a note about a device that has no trouble; returns false if there is none. NULL: there
     * never is. */
    bool (*note)(const void *data, const vitals_row *gpu, char out[static TROUBLE_WORDS]);
    const void *data;
};

/* Rows that the panel takes. */
int device_panel_rows(const struct device_panel *panel);

/* Returns the device or partition in a row of the panel, counted from its top, or NULL. */
const vitals_row *device_panel_at(const struct device_panel *panel, int row);

/* The vertical lines at the bottom, which the rule below the panel joins; none without devices. */
void device_panel_edges(const struct device_panel *panel, struct edges *out);

void device_panel_draw(struct pen *pen, const struct device_panel *panel, int y);

/* The next device that is shown, without partitions; NULL at the end. */
const vitals_row *device_panel_next(const struct device_panel *panel, const vitals_row *previous);

/* True if the devices are invented. */
bool device_panel_is_demo(const vitals_snapshot *snapshot);

/* Why no device is shown, in one line. */
void device_panel_missing(const struct device_panel *panel, char *out, size_t capacity);

/* How busy a device is: the heavier of memory and utilization; dim if that is not fresh. A device
 * that does not answer has a color that no busy one has. */
ink device_style(const struct look *look, const vitals_row *gpu);
enum { STYLE_TROUBLE = STYLE_BOLD | STYLE_MAGENTA }; /* of words and figures about a fault */
