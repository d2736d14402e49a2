/* history.h: how a number has been, a value a second.
 *
 * A ring with fixed room. Values that come more often are averaged; a gap of a few seconds is
 * filled by a straight line, a longer one stays empty: nothing is drawn where nothing is known. One
 * thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTORY_ROOM = 4096 }; /* an hour, and what a graph shows before it */

struct history {
    uint64_t begin;  /* the second of the first value */
    uint64_t newest; /* second of the newest value; 0: there is none */
    size_t count;
    double sum; /* of the newest second */
    unsigned parts;
    double first_sum; /* of the oldest one, where it was added before others */
    unsigned first_parts;
    float values[HISTORY_ROOM]; /* NaN: not known; filled from the front: what a short life does not
                                   reach takes no memory */
};

/* One of zeros is empty. `value` may be NaN. A time before the newest is passed over. */
void history_add(struct history *history, uint64_t time_ns, double value);

/* An older value than all there are; of one that is newer than the oldest nothing is taken. */
void history_add_before(struct history *history, uint64_t time_ns, double value);

/* A value that was read at an earlier time and came late: taken where nothing is known of that
 * second. */
void history_add_late(struct history *history, uint64_t time_ns, double value);

/* The second of a time, as `newest` counts them. */
uint64_t history_second(uint64_t time_ns);

/* The value so many seconds before the newest; NaN if there is none. */
double history_get(const struct history *history, size_t ago);

/* Over the newest `seconds`, `ago` left out: false where nothing is known. */
bool history_mean(const struct history *history, size_t ago, size_t seconds, double *out);
bool history_most(const struct history *history, size_t ago, size_t seconds, double *out);
