/* process_summary.h: what a process is and how it is, in the lines that its overview begins with:
 * user, work, each of its devices, what its end would free, and its state. Pure. */
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

/* What would be free if processes ended: memory of devices, and of the machine. */
struct freed {
    double device, host;
    unsigned processes, devices, hosts; /* of how many something of it is known */
    bool device_least;                  /* more is held, or may be */
    bool host_least;
    bool host_about; /* without what forked processes share */
};

/* Adds a process. `row`: an answer of it with its USS, or its resident and its shared size; NULL:
 * there is none. */
void freed_add(struct freed *freed, const struct model *model, const struct identity *identity,
               const vitals_row *row);

/* "44.00GiB of GPU memory, at least 19.20GiB of RAM". False: nothing is known. */
enum { FREED_WORDS = 128 };
bool freed_words(const struct freed *freed, char out[static FREED_WORDS]);

void process_summary_paint(const struct process_summary *summary, struct paint *paint);
