/* idle_gpus.h: memory of devices that is held without being used: by which processes, and for how
 * long.
 *
 * It is given each reading in turn and remembers the start; with a recording also the readings
 * before the first one, backwards. Nothing is claimed about times that were not seen: a gap between
 * two readings starts anew, as does a time at which it is not known whether the device worked. One
 * thread. */
#ifndef VITALS_MONITOR_LIST_IDLE_GPUS_H
#define VITALS_MONITOR_LIST_IDLE_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

/* A row that holds memory and does nothing; ascending keys. */
struct idle_row {
    uint64_t key; /* of a row */
    uint64_t since_ns;
    bool open; /* since the oldest reading, and perhaps before that */
};
struct idle_rows {
    struct idle_row *items;
    size_t count, capacity;
};

/* One of zeros knows nothing. */
struct idle_gpus {
    struct idle_rows devices, users; /* rows of gpu, of gpu_process */
    struct idle_rows spare;          /* room for the next reading */
    uint64_t newest_ns, oldest_ns;
    uint64_t stream; /* that keys are of */
};

void idle_gpus_update(struct idle_gpus *idle, const vitals_snapshot *snapshot);
/* The reading before the oldest one that it knows. */
void idle_gpus_update_before(struct idle_gpus *idle, const vitals_snapshot *older);

/* True if an older reading may extend a span. */
bool idle_gpus_goes_back(const struct idle_gpus *idle);

void idle_gpus_done(struct idle_gpus *idle);

/* Seconds of idleness up to a time; returns false if it is not idle or not known. A device is idle
 * if a process holds its memory and it did not work; a process if it did not. */
bool idle_rows_find(const struct idle_rows *rows, uint64_t key, uint64_t now_ns, double *seconds);

/* "held 23 min" */
enum { IDLE_WORDS = 24 };
char *idle_words(double seconds, char out[static IDLE_WORDS]);

#endif
