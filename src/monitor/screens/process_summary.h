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

/* What would be free if processes ended: memory of devices, and of the machine. Of that their pages
 * that are not of files or shared memory are counted, which waits for no lock of a process. */
enum { FREED_GPUS = 8 };
struct freed_gpu {
    char label[24];
    double free, total; /* when they have ended */
};
struct freed {
    double device, host;
    unsigned processes, devices, hosts; /* of how many something of it is known */
    bool device_least;                  /* more is held, or may be */
    bool host_least;
    struct freed_gpu gpus[FREED_GPUS]; /* the first ones that they use */
    size_t gpu_count;
};

/* Adds a process. `row`: an answer of it with its resident and its shared size; NULL: there is
 * none. */
void freed_add(struct freed *freed, const struct model *model, const struct identity *identity,
               const vitals_row *row);

/* "44.00GiB of GPU memory, about 18.38GiB of RAM". False: nothing is known. And what is free then
 * of each device: "GPU 0: 69.7 of 80GiB, GPU 1: 78.0 of 80GiB". */
enum { FREED_WORDS = 384 };
bool freed_words(const struct freed *freed, char out[static FREED_WORDS]);
bool freed_gpu_words(const struct freed *freed, char out[static FREED_WORDS]);

/* What a process waits for that sleeps in a function of the kernel; NULL: that is not known. */
const char *wait_channel_words(const char *channel);

void process_summary_paint(const struct process_summary *summary, struct paint *paint);
