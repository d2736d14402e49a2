/* process_summary.h: what a process is and how it is, in the lines that its overview begins with:
 * user, work, each of its devices, and its state. Pure. */
#pragma once

#include "monitor/model.h"
#include "view/paint.h"

struct process_summary {
    const struct model *model;
    const struct identity *identity;
    const vitals_row *answered; /* its row in its newest answer; NULL: there is none */
    const char *absence;        /* in place of its state: "ended"; NULL: it is there */
    size_t width;               /* columns of the page */
};

void process_summary_paint(const struct process_summary *summary, struct paint *paint);
