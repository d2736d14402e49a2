/* device_sheet.h: all that is known of a device, as short lines under titles: a table.
 *
 * A new metric is a row in device_sheet.c; what is not there and has a reason stands under "Not
 * available", so that nothing is left out in silence. Pure: made of snapshots alone. One thread. */
#pragma once

#include "monitor/model.h"

/* A line. A title has no text. */
enum { FACT_LABEL = 24, FACT_TEXT = 160, FACTS_MOST = 1024 };
struct fact {
    char label[FACT_LABEL];
    char text[FACT_TEXT];
    ink style;
    bool title;
};

/* One of zeros is empty. */
struct device_sheet {
    struct fact *items;
    size_t count, capacity;
    int columns; /* that a line may take */
};
void device_sheet_done(struct device_sheet *sheet);

enum { FACT_INDENT = 15 }; /* where the text of a line begins */

/* The device, and the snapshot that rates are made with. */
struct sheet_view {
    const struct model *model;
    const vitals_row *gpu;        /* with all of its tables */
    const vitals_snapshot *older; /* for rates; NULL */
    bool load_first;              /* no chart tells it; else clocks, which have none, are first */
    bool has_energy;              /* since the screen was opened */
    double energy_joules;
};

/* Anew; false where memory ran out, and lines are missing. */
bool device_sheet_fill(struct device_sheet *sheet, const struct sheet_view *view, int columns);

/* ---- device_users.c: the processes that use a device, a line each ---- */

/* Lines that the table takes, its titles included. */
int device_users_rows(const struct model *model, const vitals_row *gpu);

/* Draws its lines from `first` on into a box. */
void device_users_draw(struct pen *pen, const struct model *model, const vitals_row *gpu,
                       const struct box *box, int first);
